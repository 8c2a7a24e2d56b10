"""`tensorrt-broadcast-elimination`: what each pattern makes of a text, and when it keeps away."""

# ruff: noqa: E501  # MLIR has long lines

import numpy as np
import pytest
from rewritten import becomes, function, stays

from tests.oracles.tensorrt_numpy import functions, parsed, random_inputs

NAME = "tensorrt-broadcast-elimination"

REWRITES = {
    "element_wise takes in the first operand": (
        "(%x: tensor<1x10xf32>, %y: tensor<5x10xf32>) -> tensor<5x10xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
        %1 = tensorrt.element_wise <kSUB>(%0, %y : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
        return %1 : tensor<5x10xf32>
        """,
        """
        %1 = tensorrt.element_wise <kSUB>(%x, %y : tensor<1x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
        return %1 : tensor<5x10xf32>
        """,
    ),
    "element_wise takes in both, each in its own dimension": (
        "(%x: tensor<1x10xf32>, %y: tensor<5x1xf32>) -> tensor<5x10xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
        %1 = tensorrt.broadcast %y broadcast_dims<0, 1> : tensor<5x1xf32> to tensor<5x10xf32>
        %2 = tensorrt.element_wise <kDIV>(%0, %1 : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
        return %2 : tensor<5x10xf32>
        """,
        """
        %2 = tensorrt.element_wise <kDIV>(%x, %y : tensor<1x10xf32>, tensor<5x1xf32>) -> tensor<5x10xf32>
        return %2 : tensor<5x10xf32>
        """,
    ),
    "a broadcast of dimensions in another order is a transpose first": (
        "(%x: tensor<10x5xf32>, %y: tensor<5x10xf32>) -> tensor<5x10xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<1, 0> : tensor<10x5xf32> to tensor<5x10xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
        return %1 : tensor<5x10xf32>
        """,
        """
        %0 = tensorrt.transpose SWAP %x : tensor<10x5xf32> to tensor<5x10xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
        return %1 : tensor<5x10xf32>
        """,
    ),
    "a broadcast that adds dimensions is an expand_rank first": (
        "(%x: tensor<10xf32>, %y: tensor<5x10x2xf32>) -> tensor<5x10x2xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<1> : tensor<10xf32> to tensor<5x10x2xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<5x10x2xf32>, tensor<5x10x2xf32>) -> tensor<5x10x2xf32>
        return %1 : tensor<5x10x2xf32>
        """,
        """
        %0 = tensorrt.expand_rank %x : tensor<10xf32> to tensor<1x10x1xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<1x10x1xf32>, tensor<5x10x2xf32>) -> tensor<5x10x2xf32>
        return %1 : tensor<5x10x2xf32>
        """,
    ),
    "a scalar, too": (
        "(%x: tensor<f32>) -> tensor<2x3xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<> : tensor<f32> to tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
        """,
        """
        %0 = tensorrt.expand_rank %x : tensor<f32> to tensor<1x1xf32>
        %1 = tensorrt.broadcast %0 broadcast_dims<0, 1> : tensor<1x1xf32> to tensor<2x3xf32>
        return %1 : tensor<2x3xf32>
        """,
    ),
    "and dimensions in another order between new ones": (
        "(%x: tensor<3x2xf32>) -> tensor<2x4x3xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<2, 0> : tensor<3x2xf32> to tensor<2x4x3xf32>
        return %0 : tensor<2x4x3xf32>
        """,
        """
        %0 = tensorrt.transpose SWAP %x : tensor<3x2xf32> to tensor<2x3xf32>
        %1 = tensorrt.expand_rank %0 : tensor<2x3xf32> to tensor<2x1x3xf32>
        %2 = tensorrt.broadcast %1 broadcast_dims<0, 1, 2> : tensor<2x1x3xf32> to tensor<2x4x3xf32>
        return %2 : tensor<2x4x3xf32>
        """,
    ),
    "collapse_rank comes first": (
        "(%x: tensor<1x1x10xf32>) -> tensor<7x10xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<1x1x10xf32> to tensor<1x7x10xf32>
        %1 = tensorrt.collapse_rank %0 : tensor<1x7x10xf32> to tensor<7x10xf32>
        return %1 : tensor<7x10xf32>
        """,
        """
        %0 = tensorrt.collapse_rank %x : tensor<1x1x10xf32> to tensor<1x10xf32>
        %1 = tensorrt.broadcast %0 broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<7x10xf32>
        return %1 : tensor<7x10xf32>
        """,
    ),
    "select takes in all three, each brings a size": (
        "(%c: tensor<1x1x4xi1>, %x: tensor<1x3x1xf32>, %y: tensor<2x1x1xf32>) -> tensor<2x3x4xf32>",
        """
        %0 = tensorrt.broadcast %c broadcast_dims<0, 1, 2> : tensor<1x1x4xi1> to tensor<2x3x4xi1>
        %1 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<1x3x1xf32> to tensor<2x3x4xf32>
        %2 = tensorrt.broadcast %y broadcast_dims<0, 1, 2> : tensor<2x1x1xf32> to tensor<2x3x4xf32>
        %3 = tensorrt.select ins(%0, %1, %2 : tensor<2x3x4xi1>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
        return %3 : tensor<2x3x4xf32>
        """,
        """
        %3 = tensorrt.select ins(%c, %x, %y : tensor<1x1x4xi1>, tensor<1x3x1xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32>
        return %3 : tensor<2x3x4xf32>
        """,
    ),
    "matrix_multiply takes in the batch of a side": (
        "(%x: tensor<1x2x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x2x4xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<1x2x3xf32> to tensor<5x2x3xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
        return %1 : tensor<5x2x4xf32>
        """,
        """
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %y : tensor<1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
        return %1 : tensor<5x2x4xf32>
        """,
    ),
    "of a vector, too": (
        "(%x: tensor<1x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x4xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x3xf32> to tensor<5x3xf32>
        %1 = tensorrt.matrix_multiply VECTOR ins(%0, %y : tensor<5x3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
        return %1 : tensor<5x4xf32>
        """,
        """
        %1 = tensorrt.matrix_multiply VECTOR ins(%x, %y : tensor<1x3xf32>, tensor<5x3x4xf32>) -> tensor<5x4xf32>
        return %1 : tensor<5x4xf32>
        """,
    ),
    "of both sides one stays, which brings the size": (
        "(%x: tensor<1x2x3xf32>, %y: tensor<1x3x4xf32>) -> tensor<5x2x4xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<1x2x3xf32> to tensor<5x2x3xf32>
        %1 = tensorrt.broadcast %y broadcast_dims<0, 1, 2> : tensor<1x3x4xf32> to tensor<5x3x4xf32>
        %2 = tensorrt.matrix_multiply PLAIN ins(%0, %1 : tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
        return %2 : tensor<5x2x4xf32>
        """,
        """
        %1 = tensorrt.broadcast %y broadcast_dims<0, 1, 2> : tensor<1x3x4xf32> to tensor<5x3x4xf32>
        %2 = tensorrt.matrix_multiply PLAIN ins(%x, %1 : tensor<1x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
        return %2 : tensor<5x2x4xf32>
        """,
    ),
    "a broadcast that other ops use stays for them": (
        "(%x: tensor<1x10xf32>, %y: tensor<5x10xf32>) -> (tensor<5x10xf32>, tensor<5x10xf32>)",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
        return %0, %1 : tensor<5x10xf32>, tensor<5x10xf32>
        """,
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
        %1 = tensorrt.element_wise <kSUM>(%x, %y : tensor<1x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
        return %0, %1 : tensor<5x10xf32>, tensor<5x10xf32>
        """,
    ),
}
DYNAMIC = {
    "unknown sizes are believed to agree": (
        "(%x: tensor<1x?xf32>, %y: tensor<?x1xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> shape(%s : tensor<2xi32>) : tensor<1x?xf32> to tensor<?x?xf32>
        %1 = tensorrt.broadcast %y broadcast_dims<0, 1> shape(%s : tensor<2xi32>) : tensor<?x1xf32> to tensor<?x?xf32>
        %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
        return %2 : tensor<?x?xf32>
        """,
        """
        %2 = tensorrt.element_wise <kSUM>(%x, %y : tensor<1x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
        return %2 : tensor<?x?xf32>
        """,
        {0: (1, 4), 1: (3, 1)},
        (3, 4),
    ),
    "one unknown size needs no computed shape": (
        "(%x: tensor<?xf32>, %s: tensor<3xi32>) -> tensor<2x?x4xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<1> shape(%s : tensor<3xi32>) : tensor<?xf32> to tensor<2x?x4xf32>
        return %0 : tensor<2x?x4xf32>
        """,
        """
        %0 = tensorrt.expand_rank %x : tensor<?xf32> to tensor<1x?x1xf32>
        %1 = tensorrt.broadcast %0 broadcast_dims<0, 1, 2> shape(%s : tensor<3xi32>) : tensor<1x?x1xf32> to tensor<2x?x4xf32>
        return %1 : tensor<2x?x4xf32>
        """,
        {0: (5,)},
        (2, 5, 4),
    ),
    "two do": (
        "(%x: tensor<?x4x?xf32>, %s: tensor<4xi32>) -> tensor<?x2x4x?xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 2, 3> shape(%s : tensor<4xi32>) : tensor<?x4x?xf32> to tensor<?x2x4x?xf32>
        return %0 : tensor<?x2x4x?xf32>
        """,
        """
        %four = tensorrt.constant dense<4> : tensor<1xi32>
        %one = tensorrt.constant dense<1> : tensor<1xi32>
        %0 = tensorrt.shape %x : tensor<?x4x?xf32> -> tensor<3xi32>
        %1 = tensorrt.slice %0[0][1][1] : tensor<3xi32> to tensor<1xi32>
        %2 = tensorrt.slice %0[2][1][1] : tensor<3xi32> to tensor<1xi32>
        %3 = tensorrt.concatenation {axis = 0 : i32} ins(%1, %one, %four, %2 : tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
        %4 = tensorrt.reshape %x shape(%3 : tensor<4xi32>) : tensor<?x4x?xf32> to tensor<?x1x4x?xf32>
        %5 = tensorrt.broadcast %4 broadcast_dims<0, 1, 2, 3> shape(%s : tensor<4xi32>) : tensor<?x1x4x?xf32> to tensor<?x2x4x?xf32>
        return %5 : tensor<?x2x4x?xf32>
        """,
        {0: (3, 4, 5)},
        (3, 2, 4, 5),
    ),
    "a transpose of one unknown size has a reshape after it": (
        "(%x: tensor<?x4xf32>, %s: tensor<2xi32>) -> tensor<4x?xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<1, 0> shape(%s : tensor<2xi32>) : tensor<?x4xf32> to tensor<4x?xf32>
        return %0 : tensor<4x?xf32>
        """,
        """
        %0 = tensorrt.transpose SWAP %x : tensor<?x4xf32> to tensor<4x?xf32>
        %1 = tensorrt.reshape %0 : tensor<4x?xf32> to tensor<4x?xf32>
        %2 = tensorrt.broadcast %1 broadcast_dims<0, 1> shape(%s : tensor<2xi32>) : tensor<4x?xf32> to tensor<4x?xf32>
        return %2 : tensor<4x?xf32>
        """,
        {0: (3, 4)},
        (4, 3),
    ),
    "a transpose of unknown sizes needs no reshape": (
        "(%x: tensor<?x?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<1, 0> shape(%s : tensor<2xi32>) : tensor<?x?xf32> to tensor<?x?xf32>
        return %0 : tensor<?x?xf32>
        """,
        """
        %0 = tensorrt.transpose SWAP %x : tensor<?x?xf32> to tensor<?x?xf32>
        %1 = tensorrt.broadcast %0 broadcast_dims<0, 1> shape(%s : tensor<2xi32>) : tensor<?x?xf32> to tensor<?x?xf32>
        return %1 : tensor<?x?xf32>
        """,
        {0: (4, 3)},
        (3, 4),
    ),
    "the shape loses what collapse_rank drops": (
        "(%x: tensor<1x?xf32>, %s: tensor<3xi32>) -> tensor<?x?xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 2> shape(%s : tensor<3xi32>) : tensor<1x?xf32> to tensor<1x?x?xf32>
        %1 = tensorrt.collapse_rank %0 : tensor<1x?x?xf32> to tensor<?x?xf32>
        return %1 : tensor<?x?xf32>
        """,
        """
        %places = tensorrt.constant dense<[1, 2]> : tensor<2xi32>
        %2 = tensorrt.gather {axis = 0 : i64} ins(%s, %places : tensor<3xi32>, tensor<2xi32>) -> tensor<2xi32>
        %3 = tensorrt.broadcast %x broadcast_dims<0, 1> shape(%2 : tensor<2xi32>) : tensor<1x?xf32> to tensor<?x?xf32>
        return %3 : tensor<?x?xf32>
        """,
        {0: (1, 4)},
        (1, 3, 4),
    ),
}
KEPT = {
    "collapse_rank to one dimension": (
        "(%x: tensor<1x1xf32>) -> tensor<7xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x1xf32> to tensor<1x7xf32>
        %1 = tensorrt.collapse_rank %0 : tensor<1x7xf32> to tensor<7xf32>
        return %1 : tensor<7xf32>
        """,
    ),
    "both operands would lose the size": (
        "(%x: tensor<1x10xf32>, %y: tensor<1x10xf32>) -> tensor<5x10xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
        %1 = tensorrt.broadcast %y broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
        %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<5x10xf32>, tensor<5x10xf32>) -> tensor<5x10xf32>
        return %2 : tensor<5x10xf32>
        """,
    ),
    "all operands of select would": (
        "(%c: tensor<1xi1>, %x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<5xf32>",
        """
        %0 = tensorrt.broadcast %c broadcast_dims<0> : tensor<1xi1> to tensor<5xi1>
        %1 = tensorrt.broadcast %x broadcast_dims<0> : tensor<1xf32> to tensor<5xf32>
        %2 = tensorrt.broadcast %y broadcast_dims<0> : tensor<1xf32> to tensor<5xf32>
        %3 = tensorrt.select ins(%0, %1, %2 : tensor<5xi1>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
        return %3 : tensor<5xf32>
        """,
    ),
    "a product of matrices does not broadcast them": (
        "(%x: tensor<5x1x3xf32>, %y: tensor<5x3x4xf32>) -> tensor<5x2x4xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> : tensor<5x1x3xf32> to tensor<5x2x3xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<5x2x3xf32>, tensor<5x3x4xf32>) -> tensor<5x2x4xf32>
        return %1 : tensor<5x2x4xf32>
        """,
    ),
    "collapse_rank of other dimensions": (
        "(%x: tensor<1x10xf32>, %y: tensor<1x10xf32>) -> (tensor<5x10xf32>, tensor<10xf32>)",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1> : tensor<1x10xf32> to tensor<5x10xf32>
        %1 = tensorrt.collapse_rank %y : tensor<1x10xf32> to tensor<10xf32>
        return %0, %1 : tensor<5x10xf32>, tensor<10xf32>
        """,
    ),
}
UNKNOWN_KEPT = {
    "two ones become an unknown size": (
        "(%x: tensor<1xf32>, %y: tensor<1xf32>, %s: tensor<1xi32>) -> tensor<?xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0> shape(%s : tensor<1xi32>) : tensor<1xf32> to tensor<?xf32>
        %1 = tensorrt.broadcast %y broadcast_dims<0> shape(%s : tensor<1xi32>) : tensor<1xf32> to tensor<?xf32>
        %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        return %2 : tensor<?xf32>
        """,
        {},
        (7,),
    ),
    "unknown sizes, one of which may be 1, become a number": (
        "(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<7xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0> : tensor<?xf32> to tensor<7xf32>
        %1 = tensorrt.broadcast %y broadcast_dims<0> : tensor<?xf32> to tensor<7xf32>
        %2 = tensorrt.element_wise <kSUM>(%0, %1 : tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
        return %2 : tensor<7xf32>
        """,
        {0: (1,), 1: (1,)},
        None,
    ),
    "the matrix of a product is of unknown size": (
        "(%x: tensor<1x?x3xf32>, %y: tensor<5x3x4xf32>, %s: tensor<3xi32>) -> tensor<5x?x4xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<0, 1, 2> shape(%s : tensor<3xi32>) : tensor<1x?x3xf32> to tensor<5x?x3xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<5x?x3xf32>, tensor<5x3x4xf32>) -> tensor<5x?x4xf32>
        return %1 : tensor<5x?x4xf32>
        """,
        {0: (1, 1, 3)},
        (5, 6, 3),
    ),
}


@pytest.mark.parametrize("name", REWRITES)
def test_rewrites(name):
    """What was broadcast is taken in, or the broadcast is closer to what may take it in."""
    signature, before, after = REWRITES[name]
    becomes(function(signature, before), function(signature, after), NAME)


@pytest.mark.parametrize("name", KEPT)
def test_is_kept(name):
    """Where the result would have another size, or nothing is won."""
    signature, body = KEPT[name]
    stays(function(signature, body), NAME)


@pytest.mark.parametrize("name", DYNAMIC)
def test_rewrites_unknown_sizes(name):
    """Sizes that are known when the function runs: the shape is an input."""
    signature, before, after, dynamic, shape = DYNAMIC[name]
    texts = function(signature, before), function(signature, after)
    becomes(*texts, NAME, inputs=inputs_of(texts[0], dynamic, shape))


@pytest.mark.parametrize("name", UNKNOWN_KEPT)
def test_unknown_sizes_are_kept(name):
    """Where a size that is not known may be a 1 that must be repeated."""
    signature, body, dynamic, shape = UNKNOWN_KEPT[name]
    text = function(signature, body)
    stays(text, NAME, inputs=inputs_of(text, dynamic, shape))


def inputs_of(text, dynamic, shape):
    """Random inputs, of which the last is a shape, if there is one."""
    found = random_inputs(functions(parsed(text))["main"], dynamic)
    return found if shape is None else [*found[:-1], np.array(shape, np.int32)]

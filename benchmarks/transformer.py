"""A transformer in the `tensorrt` dialect, written as frameworks write one.

Weights are expanded and broadcast before products, heads are reshaped and transposed, masks and
scales are broadcast, layer norms and GELU are their parts: what the passes are for.
"""

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseResourceAttr,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.mlir import elements

BLOCKS, WIDTH, HEADS, TOKENS, BATCH = 5, 768, 12, 128, 2


def sizes(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a value; all of them are static here."""
    return cast("TensorType[Any]", value.type).get_shape()


class Body:
    """The ops of a function, one after the other."""

    def __init__(self, *shapes: tuple[int, ...]) -> None:
        self.block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
        self.weights = 0

    def __call__(self, op_class: Any, *operands: Any, **attributes: Any) -> SSAValue:
        op: Operation = op_class.make(*operands, **attributes)
        self.block.add_op(op)
        return op.results[0]

    def weight(self, *shape: int) -> SSAValue:
        self.weights += 1
        type = TensorType(f32, shape)
        attribute = DenseResourceAttr(StringAttr(f"w{self.weights}"), type)
        return self(dialect.ConstantOp, weights=attribute, result_types=[type])

    def number(self, value: float, rank: int) -> SSAValue:
        type = TensorType(f32, [])
        weights = elements.from_numpy(np.array(value, np.float32), type)
        scalar = self(dialect.ConstantOp, weights=weights, result_types=[type])
        return self(dialect.ExpandRankOp, scalar, result_types=[TensorType(f32, [1] * rank)])

    def binary(self, kind: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self(dialect.ElementWiseOp, a, b, elementwise_operation=kind)

    def expand(self, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """Ones in front, then a broadcast."""
        own = sizes(value)
        ones = (*[1] * (len(shape) - len(own)), *own)
        value = self(dialect.ExpandRankOp, value, result_types=[TensorType(f32, ones)])
        return self(
            dialect.BroadcastOp,
            value,
            broadcast_dims=range(len(shape)),
            result_types=[TensorType(f32, shape)],
        )

    def transpose(self, value: SSAValue, *order: int) -> SSAValue:
        exprs = tuple(map(AffineDimExpr, order))
        permutation = AffineMapAttr(AffineMap(len(order), 0, exprs))
        return self(dialect.TransposeOp, value, permutation=permutation)

    def reshape(self, value: SSAValue, *shape: int) -> SSAValue:
        return self(dialect.ReshapeOp, value, result_types=[TensorType(f32, shape)])

    def product(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return self(dialect.MatrixMultiplyOp, a, b, op0="kNONE", op1="kNONE")

    def linear(self, x: SSAValue, width: int) -> SSAValue:
        *outer, inner = sizes(x)
        kernel = self.expand(self.weight(inner, width), (outer[0], inner, width))
        found = self.product(x, kernel)
        return self.binary("kSUM", found, self.expand(self.weight(width), sizes(found)))

    def mean(self, x: SSAValue) -> SSAValue:
        axis = len(sizes(x)) - 1
        return self(
            dialect.ReduceOp, x, reduce_operation="kAVG", reduce_axes=(axis,), keep_dimensions=True
        )

    def layer_norm(self, x: SSAValue) -> SSAValue:
        centred = self.binary("kSUB", x, self.mean(x))
        variance = self.mean(self.binary("kPROD", centred, centred))
        shifted = self.binary("kSUM", variance, self.number(1e-5, 3))
        inverse = self(dialect.UnaryOp, shifted, unary_operation="kRECIP")
        inverse = self(dialect.UnaryOp, inverse, unary_operation="kSQRT")
        normal = self.binary("kPROD", centred, inverse)
        scaled = self.binary("kPROD", normal, self.expand(self.weight(WIDTH), sizes(x)))
        return self.binary("kSUM", scaled, self.expand(self.weight(WIDTH), sizes(x)))

    def gelu(self, x: SSAValue) -> SSAValue:
        cube = self.binary("kPROD", self.binary("kPROD", x, x), x)
        inner = self.binary("kSUM", x, self.binary("kPROD", cube, self.number(0.044715, 3)))
        scaled = self.binary("kPROD", inner, self.number(0.79788458, 3))
        tanh = self(dialect.ActivationOp, scaled, activation_type="kTANH")
        half = self.binary(
            "kPROD", self.binary("kSUM", tanh, self.number(1, 3)), self.number(0.5, 3)
        )
        return self.binary("kPROD", x, half)

    def attention(self, x: SSAValue, mask: SSAValue) -> SSAValue:
        batch, tokens, width = sizes(x)
        joined = self.linear(x, 3 * width)
        heads = []
        for at in range(3):
            part = self(
                dialect.SliceOp,
                joined,
                static_start=(0, 0, at * width),
                static_size=(batch, tokens, width),
                static_stride=(1, 1, 1),
            )
            split = self.reshape(part, batch, tokens, HEADS, width // HEADS)
            heads.append(self.transpose(split, 0, 2, 1, 3))
        query, key, value = heads
        scores = self.product(query, self.transpose(key, 0, 1, 3, 2))
        scores = self.binary("kPROD", scores, self.number((width // HEADS) ** -0.5, 4))
        scores = self.binary("kSUM", scores, self.expand(mask, sizes(scores)))
        found = self.product(self(dialect.SoftMaxOp, scores, axis=3), value)
        return self.linear(
            self.reshape(self.transpose(found, 0, 2, 1, 3), batch, tokens, width), width
        )


def module(blocks: int = BLOCKS) -> ModuleOp:
    """Make the whole transformer."""
    body = Body((BATCH, TOKENS, WIDTH), (TOKENS, TOKENS))
    x: SSAValue
    x, mask = body.block.args
    for _ in range(blocks):
        x = body.binary("kSUM", x, body.attention(body.layer_norm(x), mask))
        wide = body.gelu(body.linear(body.layer_norm(x), 4 * WIDTH))
        x = body.binary("kSUM", x, body.linear(wide, WIDTH))
    x = body.layer_norm(x)
    body.block.add_op(ReturnOp(x))
    kind = FunctionType.from_lists([each.type for each in body.block.args], [x.type])
    return ModuleOp([FuncOp("main", kind, Region(body.block))])

"""`tensorrt-reshape-elimination`: a product between two reshapes becomes a batched product.

Frameworks flatten tensors for products of matrices and give the result its dimensions back. A
reshape after a product keeps what follows from being fused with it.

Invariant: the product is the same one. The dimensions that the reshapes merge and split again are
rows of the left side, or the batch; the dimension that is summed, the columns, and the batch's
alignment with the other side are checked (mlir-tensorrt leaves the last two to chance).
"""

from xdsl.dialects.builtin import ModuleOp

from tripybuild.tensorrt.dialect import MatrixMultiplyOp, ReshapeOp
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.canonicalize import FOLDERS, reshapes
from tripybuild.tensorrt.passes.elimination.layouts import Sizes, make_reshape, num_dynamic_dims
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy
from tripybuild.tensorrt.passes.rewriting.values import defining_op


def _product(op: ReshapeOp) -> MatrixMultiplyOp | None:
    """The plain product whose result a reshape gives more dimensions."""
    product = defining_op(op.input, MatrixMultiplyOp)
    if product is None or len(sizes(op.input)) >= len(sizes(op.result)):
        return None
    plain = product.value("op0") == product.value("op1") == "kNONE"
    return product if plain else None


def _flattening_reshape(product: MatrixMultiplyOp, index: int) -> ReshapeOp | None:
    """The reshape of a tensor of known sizes that a product's operand is."""
    reshape = defining_op(product.operands[index], ReshapeOp)
    return reshape if reshape is not None and not num_dynamic_dims(sizes(reshape.input)) else None


def _same_batch(batch: Sizes, flat: Sizes, full: Sizes) -> bool:
    """Whether a batch belongs to the same dimensions before and after flattening."""
    last = max((index for index, size in enumerate(batch) if size != 1), default=-1)
    return flat[: last + 1] == full[: last + 1]


def _rows(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """`reshape(matrix_multiply(reshape(x), y))` is `matrix_multiply(x, expand_rank(y))`."""
    product = _product(op)
    reshape = _flattening_reshape(product, 0) if product is not None else None
    if product is None or reshape is None:
        return False
    full, flat, right = (sizes(v) for v in (reshape.input, reshape.result, product.input1))
    if full[:-1] != sizes(op.result)[:-1] or full[-1] != flat[-1] or full[-2] == flat[-2]:
        return False
    if not _same_batch(right[:-2], flat, full[:-1]):
        return False
    units = (1,) * (len(full) - len(right))
    return rewriter.replace_with(
        op,
        MatrixMultiplyOp,
        reshape.input,
        make_reshape(product.input1, (*right[:-2], *units, *right[-2:]), rewriter),
        op0="kNONE",
        op1="kNONE",
    )


def _batch(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """`reshape(matrix_multiply(x, reshape(y)))` is `matrix_multiply(reshape(x), y)`."""
    product = _product(op)
    reshape = _flattening_reshape(product, 1) if product is not None else None
    if product is None or reshape is None:
        return False
    full, flat, left = (sizes(v) for v in (reshape.input, reshape.result, product.input0))
    result = sizes(op.result)
    if full[:-2] != result[:-2] or full[-2:] != flat[-2:] or result[-2:] != (left[-2], full[-1]):
        return False
    if all(size == 1 for size in left[:-2]):
        batch: Sizes = (1,) * (len(full) - 2)
    elif left[:-2] == flat[:-2]:
        batch = full[:-2]
    else:
        return False
    if num_dynamic_dims(left[-2:]) > 1:
        return False
    return rewriter.replace_with(
        op,
        MatrixMultiplyOp,
        make_reshape(product.input0, (*batch, *left[-2:]), rewriter),
        reshape.input,
        op0="kNONE",
        op1="kNONE",
    )


PATTERNS = (
    Pattern("rows", ReshapeOp, _rows, "the left side keeps its dimensions"),
    Pattern("batch", ReshapeOp, _batch, "the right side keeps its dimensions"),
)


def run(module: ModuleOp) -> bool:
    """Run the pass on a module, in place; whether it changed anything."""
    return greedy(module, (*PATTERNS, *reshapes.RESHAPES), FOLDERS)

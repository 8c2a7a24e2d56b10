"""`tensorrt-apply-wars`: workarounds for what TensorRT does not support."""

from collections.abc import Iterator

import numpy as np
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness, TensorType, f16, f32, i8, i32
from xdsl.ir import Attribute, SSAValue

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.dialect import (
    CollapseRankOp,
    ElementWiseOp,
    ExpandRankOp,
    IdentityOp,
    MatrixMultiplyOp,
    ShapeOp,
    SliceOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import element, tensor_type
from tripybuild.tensorrt.passes.canonicalize import FOLDERS
from tripybuild.tensorrt.passes.elimination.layouts import sizes_of
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy
from tripybuild.tensorrt.passes.rewriting.values import defining_op

_UI8 = IntegerType(8, Signedness.UNSIGNED)


def run(
    module: ModuleOp,
    *,
    tensorrt_version: str = "8.5",
    tensorrt_strongly_typed: bool = False,
    force_default_slice_in_bounds: bool = False,
) -> bool:
    """Apply the workarounds that a TensorRT version needs."""
    major, minor = _version(tensorrt_version)
    patterns = [_IDENTITY]
    if major == 8 and minor <= 6:
        patterns.append(_UNARY)
    if tensorrt_strongly_typed:
        patterns.append(_PRODUCT)
    slices = [op for op in module.walk() if isinstance(op, SliceOp) and _needs_clamp(op)]
    if force_default_slice_in_bounds:
        for op in slices:
            _clamp_operands(op)
    return greedy(module, patterns, FOLDERS) or (force_default_slice_in_bounds and bool(slices))


def _version(text: str) -> tuple[int, int]:
    parts = text.split(".")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        message = f'failed to parse version string "{text}"'
        hint = "a TensorRT version has the form MAJOR.MINOR"
        raise DiagnosticError(Diagnostic("pipeline-syntax", message, hint=hint))
    return int(parts[0]), int(parts[1])


def _through_f32(op: IdentityOp, rewriter: PatternRewriter) -> bool:
    """A byte is converted from and to floats only."""
    source, target = element(op.input), element(op.result)
    if not (
        (source == _UI8 and target not in (f16, f32))
        or (target == _UI8 and source not in (f16, f32))
    ):
        return False
    middle = rewriter.create(
        IdentityOp, op.input, result_types=[tensor_type(sizes_of(op.input), f32)]
    )
    rewriter.replace(
        op, rewriter.create(IdentityOp, middle.results[0], result_types=[op.result.type])
    )
    return True


def _as_matrix(op: UnaryOp, rewriter: PatternRewriter) -> bool:
    """Functions of i8 take two dimensions or more."""
    shape = sizes_of(op.input)
    if element(op.input) != i8 or len(shape) >= 2:
        return False
    matrix = tensor_type((*[1] * (2 - len(shape)), *shape), i8)
    wide = rewriter.create(ExpandRankOp, op.input, result_types=[matrix])
    found = rewriter.create(UnaryOp, wide.results[0], unary_operation=op.value("unary_operation"))
    rewriter.replace(
        op, rewriter.create(CollapseRankOp, found.results[0], result_types=[op.result.type])
    )
    return True


def _as_vectors(op: CollapseRankOp, rewriter: PatternRewriter) -> bool:
    """A product of a row and a column that becomes a scalar is one of vectors."""
    product = defining_op(op.input, MatrixMultiplyOp)
    if product is None or len(sizes_of(op.result)) or len(sizes_of(op.input)) != 2:
        return False
    found = (
        _vector(product.input0, product.value("op0"), 1),
        _vector(product.input1, product.value("op1"), 0),
    )
    if None in found:
        return False
    vectors = [
        rewriter.create(CollapseRankOp, value, result_types=[type]).results[0]
        for value, type in zip((product.input0, product.input1), found, strict=True)
    ]
    rewriter.replace(op, rewriter.create(MatrixMultiplyOp, *vectors, op0="kVECTOR", op1="kVECTOR"))
    return True


def _vector(value: SSAValue, operation: str, contracted: int) -> Attribute | None:
    """The type of a matrix with one row (or column) as a vector; None for other values."""
    shape = sizes_of(value)
    if operation == "kVECTOR" or len(shape) != 2:
        return None
    axis = contracted if operation == "kNONE" else 1 - contracted
    return tensor_type((shape[axis],), element(value)) if shape[1 - axis] == 1 else None


def _needs_clamp(op: SliceOp) -> bool:
    return op.value("mode") == "kDEFAULT" and (op.start is not None or op.size is not None)


def _clamp_operands(op: SliceOp) -> None:
    """Offsets and sizes that only a call knows stay inside of the input."""
    rewriter = PatternRewriter()
    rewriter.start(op)
    shape = _shape(op.input, rewriter)
    if op.start is not None:
        last = _binary("kSUB", shape, _splat(1, shape, rewriter), rewriter)
        start = _clamp(op.start, last, rewriter)
        _replace_operand(op, op.start, start)
    if op.size is not None:
        _replace_operand(op, op.size, _clamp(op.size, shape, rewriter))


def _replace_operand(op: SliceOp, old: SSAValue, new: SSAValue) -> None:
    """Give the index operand another value; start and size may be one value."""
    for index in _index_operands(op):
        if op.operands[index] is old:
            op.operands[index] = new
            return


def _index_operands(op: SliceOp) -> Iterator[int]:
    yield from range(1 + (op.fill is not None), len(op.operands))


def _clamp(value: SSAValue, most: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    low = _binary("kMIN", value, most, rewriter)
    return _binary("kMAX", low, _splat(0, value, rewriter), rewriter)


def _binary(kind: str, a: SSAValue, b: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    return rewriter.create(ElementWiseOp, a, b, elementwise_operation=kind).results[0]


def _splat(number: int, like: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    (count,) = sizes_of(like)
    assert count is not None
    return rewriter.constant(np.full([count], number, np.int32), TensorType(i32, [count]))


def _shape(value: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    shape = sizes_of(value)
    if None in shape:
        return rewriter.create(ShapeOp, value).results[0]
    return rewriter.constant(np.array(shape), TensorType(i32, [len(shape)]))


_IDENTITY = Pattern("byte-through-f32", IdentityOp, _through_f32, "TensorRT refuses the rest")
_UNARY = Pattern("i8-as-matrix", UnaryOp, _as_matrix, "TensorRT 8.6 refuses fewer dimensions")
_PRODUCT = Pattern(
    "product-of-vectors", CollapseRankOp, _as_vectors, "strong typing refuses the matrices"
)

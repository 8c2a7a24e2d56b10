"""`tensorrt-apply-wars`: workarounds for what TensorRT does not support."""

import numpy as np
from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness, TensorType, f16, f32, i8, i32
from xdsl.ir import Attribute, SSAValue

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.dialect import (
    CollapseRankOp,
    ExpandRankOp,
    IdentityOp,
    MatrixMultiplyOp,
    ShapeOp,
    SliceOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes, tensor_type
from tripybuild.tensorrt.passes.canonicalize import FOLDERS
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy
from tripybuild.tensorrt.passes.rewriting.op_builder import OpBuilder
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
    middle = rewriter.value(IdentityOp, op.input, result_types=[tensor_type(sizes(op.input), f32)])
    return rewriter.replace_with(op, IdentityOp, middle)


def _as_matrix(op: UnaryOp, rewriter: PatternRewriter) -> bool:
    """Functions of i8 take two dimensions or more."""
    shape = sizes(op.input)
    if element(op.input) != i8 or len(shape) >= 2:
        return False
    matrix = tensor_type((*[1] * (2 - len(shape)), *shape), i8)
    wide = rewriter.value(ExpandRankOp, op.input, result_types=[matrix])
    found = rewriter.value(UnaryOp, wide, unary_operation=op.value("unary_operation"))
    return rewriter.replace_with(op, CollapseRankOp, found)


def _as_vectors(op: CollapseRankOp, rewriter: PatternRewriter) -> bool:
    """A product of a row and a column that becomes a scalar is one of vectors."""
    product = defining_op(op.input, MatrixMultiplyOp)
    if product is None or len(sizes(op.result)) or len(sizes(op.input)) != 2:
        return False
    found = (
        _vector(product.input0, product.value("op0"), 1),
        _vector(product.input1, product.value("op1"), 0),
    )
    if None in found:
        return False
    vectors = [
        rewriter.value(CollapseRankOp, value, result_types=[type])
        for value, type in zip((product.input0, product.input1), found, strict=True)
    ]
    return rewriter.replace_with(op, MatrixMultiplyOp, *vectors, op0="kVECTOR", op1="kVECTOR")


def _vector(value: SSAValue, operation: str, contracted: int) -> Attribute | None:
    """The type of a matrix with one row (or column) as a vector; None for other values."""
    shape = sizes(value)
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
    make = OpBuilder(rewriter)
    known = sizes(op.input)
    shape = (
        make.make(ShapeOp, op.input)
        if None in known
        else rewriter.constant(np.array(known), TensorType(i32, [len(known)]))
    )
    first = 1 + (op.fill is not None)  # start and size may be one value
    if op.start is not None:
        last = make.binary("kSUB", shape, _splat(1, shape, rewriter))
        op.operands[first] = _clamp(op.start, last, make, rewriter)
        first += 1
    if op.size is not None:
        op.operands[first] = _clamp(op.size, shape, make, rewriter)


def _clamp(value: SSAValue, most: SSAValue, make: OpBuilder, rewriter: PatternRewriter) -> SSAValue:
    return make.binary("kMAX", make.binary("kMIN", value, most), _splat(0, value, rewriter))


def _splat(number: int, like: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    (count,) = sizes(like)
    assert count is not None
    return rewriter.constant(np.full([count], number, np.int32), TensorType(i32, [count]))


_IDENTITY = Pattern("byte-through-f32", IdentityOp, _through_f32, "TensorRT refuses the rest")
_UNARY = Pattern("i8-as-matrix", UnaryOp, _as_matrix, "TensorRT 8.6 refuses fewer dimensions")
_PRODUCT = Pattern(
    "product-of-vectors", CollapseRankOp, _as_vectors, "strong typing refuses the matrices"
)

"""`tensorrt-legalize-int8`: int8 tensors in the form that TensorRT accepts.

In a function that quantizes, TensorRT wants each int8 input to be dequantized and each int8 result
to be quantized: both are done with a scale of one where they are not. In other functions TensorRT
refuses int8 constants: they are kept as int32 and converted.
"""

import numpy as np
from xdsl.dialects.builtin import (
    ModuleOp,
    TensorType,
    f32,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.dialect import ConstantOp, DequantizeOp, IdentityOp, QuantizeOp, types
from tripybuild.tensorrt.dialect.base import element, sizes, tensor_type
from tripybuild.tensorrt.mlir import elements, locations
from tripybuild.tensorrt.passes.rewriting.driver import PatternRewriter
from tripybuild.tensorrt.passes.rewriting.effects import walk_ops
from tripybuild.tensorrt.passes.rewriting.values import dense_of, retype

_QUANTIZING = (QuantizeOp, DequantizeOp)


def run(module: ModuleOp) -> bool:
    """Make int8 fit in each function."""
    changes = [_legalize(op) for op in list(walk_ops(module)) if type(op) is FuncOp]
    return any(changes)


def _legalize(function: FuncOp) -> bool:
    ops = list(walk_ops(function))
    if any(type(op) in _QUANTIZING for op in ops):
        return _bracket(function)
    constants = [op for op in ops if type(op) is ConstantOp and _is_int8(op.result)]
    for op in constants:
        _widen(op)
    return bool(constants)


def _is_int8(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and types.I8.accepts(element(value))


def _bracket(function: FuncOp) -> bool:
    """Dequantize and quantize the inputs and results that nothing does it to."""
    block = function.body.blocks.first
    if block is None or block.first_op is None or block.last_op is None:
        return False
    rewriter = PatternRewriter()
    rewriter.start(block.first_op)
    for argument in block.args:
        if _is_int8(argument) and not _has_dequantize_user(argument):
            _pass_through(argument, rewriter)
    rewriter.start(block.last_op)
    for value in list(block.last_op.operands):
        quantized = isinstance(value.owner, QuantizeOp)
        if _is_int8(value) and not quantized and not _has_dequantize_user(value):
            _pass_through(value, rewriter)
    return rewriter.changed


def _has_dequantize_user(value: SSAValue) -> bool:
    return any(isinstance(use.operation, DequantizeOp) for use in value.uses)


def _pass_through(value: SSAValue, rewriter: PatternRewriter) -> None:
    """Let all that use an int8 value use it after a round through floats."""
    owner = value.owner
    location = owner.location if isinstance(owner, Operation) else None
    scale = rewriter.constant(np.ones((), np.float32), TensorType(f32, []))
    kind = tensor_type(sizes(value), f32)
    floats = rewriter.create(DequantizeOp, value, scale, location=location, result_types=[kind])
    again = rewriter.value(
        QuantizeOp, floats.results[0], scale, location=location, result_types=[value.type]
    )
    rewriter.replace_uses(value, again, unless=[floats])


def _widen(op: ConstantOp) -> None:
    """Keep elements as int32; of a resource, only the mark of elided elements is known here."""
    type, found = tensor_type(sizes(op.result), i32), dense_of(op.result)
    wide = retype(op.weights, type) if found is None else elements.to_numpy(found)
    if wide is None:
        message = "'tensorrt.constant' op failed to convert value to i32 tensor"
        hint = "an int8 constant that is not quantized stands in the text, not in a resource"
        place = locations.span_of(op.location)
        raise DiagnosticError(Diagnostic("mlir-invalid", message, place, hint=hint))
    rewriter = PatternRewriter()
    rewriter.start(op)
    rewriter.replace_with(op, IdentityOp, rewriter.constant(wide, type))

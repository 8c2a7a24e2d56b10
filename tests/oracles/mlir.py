"""MLIR itself, as jaxlib brings it: parses a module and prints it again."""

from functools import cache

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext


@cache
def _context():
    context, registry = ir.Context(), ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.allow_unregistered_dialects = True
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    return context


def printed(text, *, generic=False, locations=False):
    """Give the text as MLIR prints it; MLIR's error where it does not read it."""
    with _context():
        module = ir.Module.parse(text)
        return module.operation.get_asm(
            print_generic_op_form=generic, enable_debug_info=locations
        ).strip("\n")


def refused(text):
    """Whether MLIR does not read a text."""
    try:
        printed(text)
    except ir.MLIRError:
        return True
    return False

"""Untrusted StableHLO modules: pure computation is accepted, all else rejected.

A custom call names a function of the process by its name, or by its address, and XLA has some that
call whatever they are given. Nothing that is lowered here uses one. Other operations wait for what
never comes, or talk with other devices.
"""

from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.functions import call_plan, function_modules
from tripybuild.stablehlo.module import context
from tripybuild.stablehlo.sharding import OPERATIONS, has_mesh, sharded_context
from tripybuild.targets.xla import pjrt

DIALECTS = frozenset({"builtin", "func", "stablehlo", "chlo"})
REFUSED = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("custom_call", "infeed", "outfeed", "send", "recv", "create_token", "after_all"),
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("reduce_scatter", "cross-replica-sum", "partition_id", "replica_id"),
    )
)


def compile(module: bytes, options: Any) -> bytes:
    """Compile an untrusted module to a payload, as `pjrt.compile` does with our own.

    Raises:
        DiagnosticError: It is no module, or does more than compute.
        CompileError: The compiler cannot compile it.
    """
    check(module)
    with _context(module):
        whole = bindings.ir.Module.parse(module).operation
        plan = call_plan(whole)
        functions = [] if plan is None else function_modules(whole)
    if plan is None:
        return pjrt.compile(module, options)
    return pjrt.link(plan, [pjrt.compile(each, options) for each in functions])


def _context(module: bytes) -> Any:
    return sharded_context() if has_mesh(module) else context()


def check(module: bytes) -> None:
    """Refuse a module that does more than compute.

    Raises:
        DiagnosticError: It says which operation does so, or that it is no module.
    """
    ir = bindings.ir
    found: set[str] = set()

    def look(operation: Any) -> Any:
        found.add(operation.name)
        return ir.WalkResult.ADVANCE

    with _context(module):
        try:
            ir.Module.parse(module).operation.walk(look)
        except (ir.MLIRError, ValueError) as error:
            message = "the program in the executable is not readable StableHLO"
            lines = tuple(str(error).splitlines()[:5])
            raise DiagnosticError(Diagnostic("executable-altered", message, notes=lines)) from error
    found -= OPERATIONS
    wrong = sorted(name for name in found if name in REFUSED or name.split(".")[0] not in DIALECTS)
    if wrong:
        message = f"the program in the executable does more than compute: it has `{wrong[0]}`"
        hint = "nothing that tripybuild compiles has it; do not run the executable"
        raise DiagnosticError(Diagnostic("executable-altered", message, hint=hint))

"""Recompilation of untrusted executables: their native code is never loaded.

Digests prove that a file is whole, not where it came from, and a compiled program can do whatever
its process may. What stands beside it in StableHLO can compute and nothing else
(`targets.xla.foreign_module`), so that is compiled again on this machine, and takes the place of
the file's own programs.
"""

from collections.abc import Mapping
from typing import Any

from tripybuild.artifact.manifest_schema import manifest_error
from tripybuild.compiler.lowering.specialize import sizes_name
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.targets.compiled_model import CompiledModel
from tripybuild.targets.cpu.compile_module import compile_module
from tripybuild.targets.xla import pjrt


def recompile(model: CompiledModel, timeout: float | None = None) -> CompiledModel:
    """The same model with native code of this machine's compiler only.

    Args:
        model: One that was read from a file, and not called yet.
        timeout: Seconds that the compiler may take for each program.

    Raises:
        DiagnosticError: A module does more than compute, or the compiler refuses one.
    """
    manifest, members = dict(model.manifest), model.members
    specialisations: list[Mapping[str, Any]] = []
    warnings: list[Diagnostic] = []
    for each in manifest["specialisations"]:
        if sizes_name(each["sizes"]) != each["name"]:
            raise manifest_error("its `specialisations` cannot be understood")
        module = bytes(model.member(each["stablehlo"]))
        members[each["payload"]], said = compile_module(module, timeout, foreign=True)
        warnings += said
        specialisations.append({**each, "identity": pjrt.identity()})
    made = CompiledModel({**manifest, "specialisations": specialisations}, members)
    made.warnings += dict.fromkeys(warnings)
    return made

"""Recompilation of untrusted executables: their native code is never loaded.

Digests say that a file is whole, not who made it, and a compiled program can do whatever its
process may. What stands beside it in StableHLO can compute and nothing else
(`targets.xla.foreign_module`), so that is compiled again on this machine, and takes the place of
the file's own programs.
"""

from collections.abc import Mapping
from typing import Any

from tripybuild.artifact.manifest_schema import manifest_error
from tripybuild.compiler.executable import Executable
from tripybuild.compiler.specialize import compile_module, sizes_name
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.schema.target_names import ENGINES
from tripybuild.targets.xla import pjrt


def recompile(executable: Executable, timeout: float | None = None) -> Executable:
    """The same model with native code of this machine's compiler only.

    Args:
        executable: One that was read from a file, and not called yet.
        timeout: Seconds that the compiler may take for each program.

    Raises:
        DiagnosticError: It is an engine, a module does more than compute, or the compiler refuses
            one.
    """
    manifest, members = dict(executable.manifest), executable.members
    if manifest["target"] in ENGINES:
        raise DiagnosticError(_engine_diagnostic(manifest["target"]))
    specialisations: list[Mapping[str, Any]] = []
    warnings: list[Diagnostic] = []
    for each in manifest["specialisations"]:
        if sizes_name(each["sizes"]) != each["name"]:
            raise manifest_error("its `specialisations` cannot be understood")
        module = bytes(executable.member(each["stablehlo"]))
        members[each["payload"]], said = compile_module(module, timeout, foreign=True)
        warnings += said
        specialisations.append({**each, "identity": pjrt.identity()})
    made = Executable({**manifest, "specialisations": specialisations}, members)
    made.warnings += dict.fromkeys(warnings)
    return made


def _engine_diagnostic(target: str) -> Diagnostic:
    message = f"an executable for `{target}` cannot be rebuilt: its weights are in its engine alone"
    hint = "build the engine from the model's own files with `tripybuild compile`"
    return Diagnostic("cannot-rebuild", message, hint=hint)

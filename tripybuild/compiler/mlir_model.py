"""MLIR models: a function of the tensorrt dialect becomes an executable.

The compiler's process reads, checks and rewrites the text, so that nothing is read twice; what is
wrong comes back with its place in the file. What the module takes and gives is what the engine's
record says.
"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from tripybuild.compiler.engine import EngineArtifact, EngineSource, build_engine
from tripybuild.compiler.engine_manifest import manifest_of_record
from tripybuild.compiler.engine_model import pack_executable
from tripybuild.compiler.executable import Executable
from tripybuild.documents.document import read_text
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.schema.target_names import ENGINES, RTX, Target

SUFFIX = ".mlir"
EMITTED = "tensorrt"
MAIN = "main"


def is_mlir(path: Path) -> bool:
    """Whether a file is a module, and no spec."""
    return path.suffix == SUFFIX


def mlir_executable(
    path: Path,
    target: Target,
    timeout: float | None,
    tell: Callable[[str, float], None],
    function: str | None = None,
) -> Executable:
    """Build the engines of a module, by mlir-tensorrt's whole order of passes.

    Each function is an engine, as mlir-tensorrt has it. What is called when the executable runs is
    `main`, or else the first one.

    Args:
        path: The module's file.
        target: What runs it.
        timeout: Seconds that the compiler may take for each engine.
        tell: Told the name of each phase.
        function: The only function to build.

    Raises:
        DiagnosticError: The text is wrong, no engine is made for the target, or TensorRT refuses.
    """
    if target.name not in ENGINES:
        raise DiagnosticError(_no_engine(path, target))
    from tripybuild.tensorrt.passes.pipeline import PIPELINE  # noqa: PLC0415 - heavy

    began = perf_counter()
    tell("engine", 0.0)
    text = read_text(path)
    # Places are written without the folder, so that a copy elsewhere gives the same engine.
    source = EngineSource(text.encode(), path=path.name, folder=path.parent)
    names = [function] if function is not None else _functions(text, path)
    engines: list[EngineArtifact] = []
    found: list[Diagnostic] = []
    for name in names:
        try:
            options = {"function": name}
            engines.append(build_engine(source, target, PIPELINE, options, timeout))
        except DiagnosticError as error:
            found += error.diagnostics
    if found:
        raise DiagnosticError(*found)
    main, *others = sorted(engines, key=lambda each: each.record["function"] != MAIN)
    manifest: dict[str, Any] = manifest_of_record(main.record, path.stem, target.name)
    digest = sha256(text.encode()).hexdigest()
    manifest["provenance"] = {"specification": path.name, "sha256": digest, "used": []}
    tell("done", perf_counter() - began)
    return pack_executable(main, source.content, json.loads(json.dumps(manifest)), others)


def _functions(text: str, path: Path) -> list[str | None]:
    """The names of the functions to build; None where the process finds the only one by itself."""
    if text.count("func.func") <= 1:
        return [None]
    from tripybuild.tensorrt.mlir.reading import parser  # noqa: PLC0415 - heavy
    from tripybuild.tensorrt.runtime.engine import functions  # noqa: PLC0415 - heavy

    names = [each.sym_name.data for each in functions(parser.parse(text, path.as_posix()))]
    return [*names] or [None]


def emit_mlir(path: Path, kind: str) -> str:
    """The text of a module after mlir-tensorrt's passes, with the data of its resources.

    Raises:
        DiagnosticError: The text is wrong, or another form than `tensorrt` is asked for.
    """
    if kind != EMITTED:
        message = f"`{path}` is in the tensorrt dialect, and has no form `{kind}`"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=f"`--emit {EMITTED}`"))
    from tripybuild.tensorrt.mlir import verifier  # noqa: PLC0415 - heavy
    from tripybuild.tensorrt.mlir.reading import parser  # noqa: PLC0415
    from tripybuild.tensorrt.mlir.writing import printer  # noqa: PLC0415
    from tripybuild.tensorrt.passes import pipeline  # noqa: PLC0415

    module = parser.parse(read_text(path), path.as_posix())
    problems = verifier.problems(module)
    if problems:
        raise DiagnosticError(*problems)
    pipeline.run(module, pipeline.PIPELINE)
    return printer.text(module)


def refuse_sizes(path: Path, *, sizes: object, shapes: object) -> None:
    """A module says its sizes and ranges itself.

    Raises:
        DiagnosticError: Others are asked for.
    """
    found = []
    if sizes:
        message = f"`{path}` is a module, and has no sizes that can be set"
        hint = "`--set` is for specs; write the sizes into the module's types"
        found.append(Diagnostic("unknown-size", message, hint=hint))
    if shapes:
        message = f"`{path}` is a module, and declares the sizes that it is compiled for"
        hint = "`--shapes` is for specs; give arguments a `tensorrt.shape_profile`"
        found.append(Diagnostic("unknown-size", message, hint=hint))
    if found:
        raise DiagnosticError(*found)


def _no_engine(path: Path, target: Target) -> Diagnostic:
    message = f"`{path}` is in the tensorrt dialect, which the target `{target}` does not run"
    hint = f"build an engine of it: `--target {RTX}`"
    return Diagnostic("target-unfit", message, hint=hint)

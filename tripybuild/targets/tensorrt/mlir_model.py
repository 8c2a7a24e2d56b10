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
from typing import TYPE_CHECKING, Any

from tripybuild.documents.document import read_text
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets.compiled_model import CompiledModel
from tripybuild.targets.tensorrt.build import EngineArtifact, EngineSource, build_engine
from tripybuild.targets.tensorrt.manifest import manifest_of_record
from tripybuild.targets.tensorrt.model import pack_model

if TYPE_CHECKING:
    from tripybuild.targets.tensorrt.target import EngineTarget

MAIN = "main"


def compile_module(
    path: Path,
    target: "EngineTarget",
    timeout: float | None,
    tell: Callable[[str, float], None],
    function: str | None = None,
) -> CompiledModel:
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
        DiagnosticError: The text is wrong, or TensorRT refuses.
    """
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
    return pack_model(main, source.content, json.loads(json.dumps(manifest)), others)


def _functions(text: str, path: Path) -> list[str | None]:
    """The names of the functions to build; None where the process finds the only one by itself."""
    if text.count("func.func") <= 1:
        return [None]
    from tripybuild.tensorrt.mlir.reading import parser  # noqa: PLC0415 - heavy
    from tripybuild.tensorrt.runtime.engine import functions  # noqa: PLC0415 - heavy

    names = [each.sym_name.data for each in functions(parser.parse(text, path.as_posix()))]
    return [*names] or [None]


def emit_module(path: Path) -> str:
    """The text of a module after mlir-tensorrt's passes, with the data of its resources.

    Raises:
        DiagnosticError: The text is wrong.
    """
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

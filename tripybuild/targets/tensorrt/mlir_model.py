"""MLIR models: a function of the tensorrt dialect becomes an executable.

The compiler's process reads, checks and rewrites the text, so that nothing is read twice; what is
wrong comes back with its place in the file. What the module takes and gives is what the engine's
record says. There, a dynamic size is a symbol: dimensions of one `tensorrt.dimension_names` are one
size, as they are to TensorRT; one without a name is called after its input: `arg0_0`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from tripybuild.documents.document import read_text
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.schema.model.entry_points import UNNAMED
from tripybuild.symbolic.dims import symbol
from tripybuild.targets.compiled_model import CompiledModel
from tripybuild.targets.tensorrt.build import (
    EngineArtifact,
    EngineMembers,
    EngineSource,
    build_engine,
)
from tripybuild.tensorrt.passes import pipeline
from tripybuild.types.size_range import SizeRange
from tripybuild.version import VERSION

if TYPE_CHECKING:
    from tripybuild.targets.tensorrt.target import EngineTarget

MAIN = "main"
LONGEST_LAW = 3000  # characters; a longer one is left to TensorRT, which asks the same
Entry = Mapping[str, Any]


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
    began = perf_counter()
    tell("build the TensorRT engine", 0.0)
    text = read_text(path)
    # Places are written without the folder, so that a copy elsewhere gives the same engine.
    source = EngineSource(text.encode(), path=path.name, folder=path.parent)
    names = [function] if function is not None else _functions(text, path)
    engines: list[EngineArtifact] = []
    found: list[Diagnostic] = []
    for name in names:
        try:
            options = {"function": name}
            engines.append(build_engine(source, target, pipeline.PIPELINE, options, timeout))
        except DiagnosticError as error:
            found += error.diagnostics
    if found:
        raise DiagnosticError(*found)
    main, *others = sorted(engines, key=lambda each: each.record["function"] != MAIN)
    manifest: dict[str, Any] = manifest_of_record(main.record, path.stem, target.name)
    digest = sha256(text.encode()).hexdigest()
    manifest["provenance"] = {"specification": path.name, "sha256": digest, "used": []}
    members = EngineMembers()
    members.add(manifest["entries"][0], main, source.content, others)
    tell("done", perf_counter() - began)
    return members.model(manifest)


def _functions(text: str, path: Path) -> list[str | None]:
    """The names of the functions to build; None where the process finds the only one by itself."""
    if text.count("func.func") <= 1:
        return [None]
    from tripybuild.tensorrt.mlir.reading import parser  # noqa: PLC0415 - few modules need it here
    from tripybuild.tensorrt.runtime.engine import functions  # noqa: PLC0415

    names = [each.sym_name.data for each in functions(parser.parse(text, path.as_posix()))]
    return [*names] or [None]


def emit_module(path: Path) -> str:
    """The text of a module after mlir-tensorrt's passes, with the data of its resources.

    Raises:
        DiagnosticError: The text is wrong.
    """
    from tripybuild.tensorrt.mlir import verifier  # noqa: PLC0415 - the compiler's process has them
    from tripybuild.tensorrt.mlir.reading import parser  # noqa: PLC0415
    from tripybuild.tensorrt.mlir.writing import printer  # noqa: PLC0415

    module = parser.parse(read_text(path), path.as_posix())
    problems = verifier.problems(module)
    if problems:
        raise DiagnosticError(*problems)
    pipeline.run(module, pipeline.PIPELINE)
    return printer.text(module)


def manifest_of_record(record: Mapping[str, Any], name: str, target: str) -> dict[str, Any]:
    """The manifest of an engine that no spec describes.

    Args:
        record: What was made with the engine.
        name: What the model is called.
        target: What runs it.
    """
    names = _names([*record["inputs"], *record["outputs"]])
    profiles = _profiles(record["inputs"], names)
    entry = {
        "name": UNNAMED,
        "doc": "",
        "inputs": [_tensor(each, names) for each in record["inputs"]],
        "outputs": [_tensor(each, names) for each in record["outputs"]],
        "state": [],
        "ranges": {key: each.to_json() for key, each in _hull(profiles).items()},
        "laws": _profile_law(profiles, name),
        "arguments": [],
        "specialisations": [],
        "shapes": [{key: each.opt for key, each in profile.items()} for profile in profiles],
    }
    return {
        "kind": "model",
        "model": name,
        "doc": "",
        "target": target,
        "sizes": {},
        "entries": [entry],
        "versions": {"tripybuild": VERSION},
    }


def _names(ports: Sequence[Entry]) -> dict[tuple[str, int], str]:
    """The symbol of each dynamic dimension, by the input or output and its position."""
    dynamic = [
        (port, index) for port in ports for index, size in enumerate(port["shape"]) if size is None
    ]
    said = {(port["name"], index): _declared_name(port, index) for port, index in dynamic}
    taken = {each for each in said.values() if each is not None}
    names = {}
    for number, (port, index) in enumerate(dynamic):
        place = port["name"], index
        names[place] = said[place] or _unique_name(f"{port['name']}_{index}", number, taken)
        taken.add(names[place])
    return names


def _declared_name(port: Entry, index: int) -> str | None:
    name = port.get("dimension_names", {}).get(str(index))
    return name if name is not None and _is_symbol_name(name) else None


def _unique_name(wanted: str, number: int, taken: set[str]) -> str:
    """A name that no other dimension has."""
    name = wanted if _is_symbol_name(wanted) else f"size_{number}"
    while name in taken:
        name += "_"
    return name


def _is_symbol_name(name: str) -> bool:
    try:
        symbol(name)
    except ValueError:
        return False
    return True


def _tensor(port: Entry, names: Mapping[tuple[str, int], str]) -> dict[str, Any]:
    sizes = enumerate(port["shape"])
    shape = [names[port["name"], index] if size is None else size for index, size in sizes]
    return {"name": port["name"], "dtype": port["dtype"], "shape": shape}


def _profiles(
    inputs: Sequence[Entry], names: Mapping[tuple[str, int], str]
) -> list[dict[str, SizeRange]]:
    """What each optimization profile says of each symbol; what several inputs say holds at once."""
    count = max((len(each["profiles"]) for each in inputs), default=0)
    return [_intersect_limits(inputs, index, names) for index in range(count)]


def _intersect_limits(
    inputs: Sequence[Entry], index: int, names: Mapping[tuple[str, int], str]
) -> dict[str, SizeRange]:
    found: dict[str, SizeRange] = {}
    for port in inputs:
        for name, each in _limits(port, index, names):
            found[name] = found.setdefault(name, each).intersect(each)
    return found


def _limits(
    port: Entry, index: int, names: Mapping[tuple[str, int], str]
) -> Iterator[tuple[str, SizeRange]]:
    ranges = port["profiles"]
    if not ranges or port.get("of_values"):
        return
    profile = ranges[index if len(ranges) > 1 else 0]
    for position, size in enumerate(port["shape"]):
        if size is None:
            limits = (profile[key][position] for key in ("min", "opt", "max"))
            yield names[port["name"], position], SizeRange(*limits)


def _hull(profiles: Sequence[Mapping[str, SizeRange]]) -> dict[str, SizeRange]:
    """From the smallest `min` to the largest `max` of all profiles; `opt` is the first one's."""
    return {
        name: SizeRange(
            min(each[name].min for each in profiles),
            first.opt,
            max(each[name].max or 0 for each in profiles),
        )
        for name, first in (profiles[0] if profiles else {}).items()
    }


def _profile_law(profiles: Sequence[Mapping[str, SizeRange]], model: str) -> list[dict[str, Any]]:
    """Between several profiles there may be sizes that none of them takes."""
    hull, *spans = (
        {name: (each.min, each.max) for name, each in ranges.items()}
        for ranges in (_hull(profiles), *profiles)
    )
    if not profiles or hull in spans:
        return []
    text = " or ".join(f"({_profile_condition(each)})" for each in profiles)
    if len(text) > LONGEST_LAW:
        return []
    message = "no optimization profile of the engine takes these sizes"
    names = {name: {"size": name} for name in profiles[0]}
    law = {"code": "size-out-of-range", "that": text, "source": f"the profiles of `{model}`"}
    return [{**law, "line": 0, "message": message, "words": [], "names": names}]


def _profile_condition(profile: Mapping[str, SizeRange]) -> str:
    each = (f"{limits.min} <= {name} <= {limits.max}" for name, limits in profile.items())
    return " and ".join(each)

"""Imports public architectures, and compares each with PyTorch: as read, and as written.

What is found is kept below `out/architectures`, so that a run goes on where another one ended.
`--page` writes `docs/architectures.md` from all that is there.
"""

import argparse
import json
import math
import re
import signal
import sys
import textwrap
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import architecture_models as listed
import numpy as np
from architecture_models import Architecture

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.call_program import CallProgram
from tripybuild.importer.pytorch.exported_program import decompose, read_exported_program
from tripybuild.importer.spec_writer import write_spec
from tripybuild.importer.translation.program import translate
from tripybuild.schema.load import Registry, load_registries

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "out" / "architectures"
PAGE = ROOT / "docs" / "architectures.md"
TOLERANCE = 1e-4  # relative to the largest value of an output
LIMIT = 300  # seconds for one model
BOTH = (0, 1)  # the sets of sizes

Arrays = Mapping[str, np.ndarray[Any, Any]]


@dataclass
class Result:
    """What became of one model.

    Attributes:
        nodes: Of the program that PyTorch gives.
        parts: The definitions of the spec.
        lines: Of the spec.
        read: The largest difference of the calls that were read; None where there is none.
        written: That of the compiled spec.
        static: Why a size is static that could be dynamic.
        stage: What did not go well, and why in `reason`.
        seconds: Processor time of each stage.
    """

    name: str
    family: str
    nodes: int | None = None
    parts: int | None = None
    lines: int | None = None
    read: float | None = None
    written: float | None = None
    static: str = ""
    stage: str = ""
    reason: str = ""
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Remember where the model is, and how long that takes."""
        start = time.process_time()
        self.stage = name
        yield
        self.seconds[name] = round(time.process_time() - start, 2)
        self.stage = ""


class FailureError(Exception):
    """Says why a step of a model did not go well."""


def examine(entry: Architecture, folder: Path) -> Result:
    """Import one model and compare it; what goes wrong is in the result."""
    result = Result(entry.name, entry.family, static=entry.entry.get("why", ""))
    try:
        with warnings.catch_warnings(), time_limit(LIMIT):
            warnings.simplefilter("ignore")
            _examine(entry, folder, result)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is this model's result
        result.reason = _reason(error)
    return result


def _examine(entry: Architecture, folder: Path, result: Result) -> None:
    registry = declarations()
    with result.step("PyTorch"):
        module = entry.module()
        expected = [entry.expect(module, at) for at in BOTH]
    with result.step("export"):
        exported = entry.export(module)
    with result.step("decomposition"):
        exported = decompose(exported, registry)
        result.nodes = sum(node.op == "call_function" for node in exported.graph.nodes)
    with result.step("import"):
        program = translate(read_exported_program(exported, entry.name), registry)
    inputs = [_arrays(entry.inputs(at)) for at in BOTH]
    with result.step("comparison of the calls"):
        found = [outputs_of_calls(program, each) for each in inputs]
        result.read = largest_difference(found, expected)
    with result.step("spec"):
        path = write(write_spec(program, registry), folder, result)
    with result.step("compilation"):
        executable = tripybuild.compile(path)
    with result.step("comparison"):
        found = [list(executable(**each).values()) for each in inputs]
        result.written = largest_difference(found, expected)


@cache
def declarations() -> Registry:
    """The built-in registry."""
    return load_registries([])


def outputs_of_calls(program: CallProgram, inputs: Arrays) -> list[Any]:
    """What the calls give that were read, before any spec is written of them."""
    found = import_module("helpers.call_programs").run_calls(program, inputs)
    return [found[name] for name, _ in program.graph.outputs]


def _arrays(inputs: Mapping[str, Any]) -> dict[str, np.ndarray[Any, Any]]:
    return {name: each.numpy() for name, each in inputs.items()}


def write(spec: Any, folder: Path, result: Result) -> Path:
    """Store a spec with its weights, and count its lines and definitions."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result.name}.yaml"
    path.write_text(spec.text, encoding="utf-8")
    if spec.weights is not None:
        arrays = {name: each.load() for name, each in spec.arrays.items()}
        import_module("safetensors.numpy").save_file(arrays, folder / spec.weights)
    lines = spec.text.splitlines()
    result.lines = sum(bool(line.strip()) for line in lines)
    result.parts = len(import_module("yaml").safe_load(spec.text).get("define", {}))
    return path


def largest_difference(
    found: Sequence[Sequence[Any]], expected: Sequence[Sequence[np.ndarray[Any, Any]]]
) -> float:
    """The largest difference of any output, relative to its largest value.

    Raises:
        Failure: Outputs are missing or have another type, or the difference is too large.
    """
    worst = 0.0
    for some, wanted in zip(found, expected, strict=True):
        if len(some) != len(wanted):
            raise FailureError(f"{len(some)} outputs instead of {len(wanted)}")
        for index, (one, other) in enumerate(zip(map(np.asarray, some), wanted, strict=True)):
            if (one.dtype, one.shape) != (other.dtype, other.shape):
                types = f"{one.dtype}{list(one.shape)} instead of {other.dtype}{list(other.shape)}"
                raise FailureError(f"output {index} is {types}")
            worst = max(worst, _difference(one, other))
    if not worst <= TOLERANCE:
        raise FailureError(f"the difference is {worst:.1e}")
    return worst


def _difference(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> float:
    if other.size == 0:
        return 0.0
    wide = other.astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.where(one == other, 0, np.abs(one.astype(np.float64) - wide))
    finite = np.abs(wide[np.isfinite(wide)])
    scale = float(finite.max()) if finite.size else 1.0
    largest = float(apart.max()) / (scale or 1.0)
    return math.inf if math.isnan(largest) else largest


def _reason(error: Exception) -> str:
    """One line of what went wrong: of diagnostics the first one, without where it is."""
    if isinstance(error, DiagnosticError):
        first = error.diagnostics[0]
        text = "; ".join([first.message, *first.notes[:1]])
    else:
        is_own = isinstance(error, FailureError | listed.UnusableError)
        text = str(error) if is_own else f"{type(error).__name__}: {error}"
    return re.sub(r"\S*/site-packages/", "", " ".join(text.split()))[:600]


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise `FailureError` in the block once it has taken so long."""

    def stop(*_: object) -> None:
        raise FailureError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def results() -> list[Result]:
    """What earlier runs found, in the order of the list."""
    files = [FOLDER / f"{entry.name}.json" for entry in listed.architectures()]
    return [Result(**json.loads(f.read_text(encoding="utf-8"))) for f in files if f.exists()]


def page(found: Sequence[Result]) -> str:
    """The page with the table."""
    read = sum(each.read is not None for each in found)
    written = sum(each.written is not None for each in found)
    lines = [
        "# Architectures",
        "",
        f"{len(found)} public architectures with small random configurations, listed in",
        "[`benchmarks/architectures.yaml`](../benchmarks/architectures.yaml). Each is exported by",
        "`torch.export` with dynamic sizes, imported, and compared with PyTorch at two sets of",
        f"sizes. {read} of them are read and equal, and {written} are written as specs that",
        "compile and are equal. `make architectures` writes this page.",
        "",
        "- **nodes**: calls in the program that PyTorch gives",
        "- **parts**, **lines**: definitions and lines of the written spec",
        "- **read**: the largest difference of the calls that were read, relative to the largest",
        "  value of the output",
        "- **spec**: that of the compiled spec",
    ]
    for family in dict.fromkeys(each.family for each in found):
        lines += ["", f"## {family.capitalize()}", ""]
        lines += ["| model | nodes | parts | lines | read | spec |", "|---|---|---|---|---|---|"]
        rows = [each for each in found if each.family == family]
        lines += [_row(each) for each in rows]
        lines += _remarks(rows)
    return "\n".join(lines) + "\n"


def _row(result: Result) -> str:
    numbers = (result.nodes, result.parts, result.lines)
    cells = ["-" if each is None else str(each) for each in numbers]
    cells += ["no" if each is None else f"{each:.0e}" for each in (result.read, result.written)]
    return f"| {result.name} | {' | '.join(cells)} |"


def _remarks(found: Sequence[Result]) -> Iterator[str]:
    """What is static, and what did not go well, below the table of a family."""
    static = [f"{each.name} has static sizes: {each.static}." for each in found if each.static]
    bad = [f"{each.name}, {each.stage}: {each.reason[:300]}" for each in found if each.stage]
    if static or bad:
        yield ""
    for each in (*static, *bad):
        yield from textwrap.wrap(f"- {each}", 100, subsequent_indent="  ", break_on_hyphens=False)


def main() -> None:
    """Examine what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these models")
    parser.add_argument("--again", action="store_true", help="also those that went well before")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args()
    known = {entry.name: entry for entry in listed.architectures()}
    unknown = [name for name in options.only if name not in known]
    if unknown:
        sys.exit(f"unknown: {', '.join(unknown)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    declarations()
    kept = {each.name: each for each in results()}
    for name in options.only or known:
        before = kept.get(name)
        if before is not None and not before.stage and not options.again:
            continue
        result = examine(known[name], FOLDER / name)
        text = json.dumps(asdict(result), indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(summary(result), flush=True)
    if options.page:
        PAGE.write_text(page(results()), encoding="utf-8")


def summary(result: Result) -> str:
    """One line of what became of a model."""
    found = _row(result).strip("| ").replace(" | ", "  ")
    return f"{found}  {sum(result.seconds.values()):.1f} s  {result.stage} {result.reason[:250]}"


if __name__ == "__main__":
    main()

"""The README's table of models: what its rows must be, and the differences that they promise."""

import math
from collections.abc import Mapping
from pathlib import Path

from spec_tests import SPECS, Comparison, tested

from tripybuild.compiler.check.check import check_spec
from tripybuild.compiler.check.devices import GPUS

README = Path(__file__).resolve().parents[2] / "README.md"
HEAD = """\
| model | lines | parameters | compared with | difference | targets |
|---|---:|---:|---|---:|---|
"""
# A difference is promised as one of these, which is what was measured, rounded up.
BOUNDS = (1e-6, 2e-6, 5e-6, 1e-5)
TARGETS = "cpu, tensorrt-rtx"  # which `tests/test_specs.py` asks of each: `cpu` by both engines


def rows() -> dict[str, str]:
    """The rows of the table, by the name of the model."""
    _, _, rest = README.read_text(encoding="utf-8").partition(HEAD)
    table, _, _ = rest.partition("\n\n")
    return {line.split("`")[1]: line for line in table.splitlines()}


def promised(name: str) -> float:
    """How far the table says that a model is from its peer at most."""
    return float(rows()[name].split("|")[5])


def wanted(bounds: Mapping[str, float]) -> dict[str, str]:
    """The rows that there must be, with these differences."""
    return {name: row(name, bounds[name]) for name in tested()}


def row(name: str, bound: float) -> str:
    """One line of the table."""
    path = SPECS / f"{name}.yaml"
    lines = len(path.read_text(encoding="utf-8").splitlines())
    found = check_spec(path, GPUS["h200"])  # that nothing within the ranges is refused, too
    stored = {n: v for each in found.entries.values() for n, v in each.stored.items()}
    sizes = [math.prod(value.shape) for value in stored.values()]
    peer = Comparison(path, Path()).section.against.removeprefix("oracles.")
    link = f"[`{name}`](specs/{name}.yaml)"
    return f"| {link} | {lines} | {count(sum(sizes))} | {peer} | {bound:.0e} | {TARGETS} |".replace(
        "e-0", "e-"
    )


def count(parameters: int) -> str:
    """A number of parameters as papers have it."""
    if parameters >= 10**9:
        return f"{parameters / 10**9:.1f} B"
    return f"{parameters / 10**6:.1f} M"

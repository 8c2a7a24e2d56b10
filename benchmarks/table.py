"""What all benchmarks share: the clock, the table, the JSON and the facts of the machine."""

import argparse
import importlib
import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows of one benchmark; a column's name says its unit, as in `median ms`."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Mapping[str, Cell]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the table as aligned text: names to the left, numbers to the right."""
        cells = [self.columns, *([_shown(row.get(c)) for c in self.columns] for row in self.rows)]
        widths = [max(len(row[at]) for row in cells) for at in range(len(self.columns))]
        lines = [_line(row, widths) for row in cells]
        rule = "-" * len(_line(["-" * width for width in widths], widths))
        return "\n".join([self.title, "", lines[0], rule, *lines[1:], *self.notes])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = (
        cell.rjust(width) if at else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([first, *rest]).rstrip()


def _shown(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.1e}" if 0 < abs(cell) < 0.001 else f"{cell:.3f}"
    return "-" if cell is None else str(cell)


def samples(
    call: Callable[[], object], seconds: float = 2.0, at_least: int = 20, warm: int = 5
) -> list[float]:
    """Time calls one by one, for some seconds and at least so often, after a few for warmth."""
    for _ in range(warm):
        call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < at_least or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def best(call: Callable[[], object], repeats: int) -> float:
    """Return the seconds of the fastest of some calls: what the work costs without the noise."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def ratios(
    rows: Sequence[Mapping[str, Cell]], key: str, peer: str, *columns: str
) -> list[dict[str, Cell]]:
    """Return the rows with the peer's number over their own, in a column `peer / name` for each.

    Args:
        rows: What was measured, each row in the same units.
        key: The column with the contestants' names.
        peer: Who is compared with.
        columns: What is compared, such as `best ms`.
    """
    theirs = next((row for row in rows if row[key] == peer), {})
    found = []
    for row in rows:
        made = dict(row)
        for column in columns:
            own, other = row.get(column), theirs.get(column)
            name = f"{peer} / {column.rpartition(' ')[0]}"
            if isinstance(own, float) and isinstance(other, float):
                made[name] = other / own
        found.append(made)
    return found


def optional(module: str) -> Any:
    """Return a peer's module, or None where it is not installed."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        return None


def median(times: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(times)


def machine(*packages: str) -> dict[str, Cell]:
    """Return the processor, its usable cores, its load, and the packages' versions."""
    facts: dict[str, Cell] = {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),  # others' work, when this much exceeds the cores
        "python": platform.python_version(),
    }
    for package in packages:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = None
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser that already knows `--json FILE`."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the numbers there")
    return parser


def report(tables: Sequence[Table], facts: Mapping[str, Cell], path: Path | None) -> None:
    """Print the tables and the facts of the machine, and write them as JSON where asked."""
    for table in tables:
        print(table.text(), end="\n\n")
    print(
        ", ".join(f"{name} {'absent' if value is None else value}" for name, value in facts.items())
    )
    if path is not None:
        whole = {"machine": dict(facts), "tables": [asdict(table) for table in tables]}
        path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")

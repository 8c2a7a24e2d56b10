"""What `models.py` prints: latencies beside the best peer of each model, and what README says."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from contest import PROBLEM, Answer
from model_contestants import OURS, PEERS
from model_jobs import Job
from table import Cell, Table

Found = dict[str, Answer]

LAST = "median ms"
DETAILS = (LAST, "compile s", "load s", "file MB", "peak MB", "off by")
BEST = "best of ours"
GOAL = 1.1  # how far behind its best peer a model may be
# README's columns: contestants, and what they are called there.
SHOWN = {
    "cpu": "`cpu`",
    "cpu:openvino": "`cpu:openvino`",
    "ONNX Runtime": "ONNX Runtime",
    "OpenVINO": "OpenVINO",
    "torch eager": "PyTorch",
}
# What README says of its last columns.
COLUMNS = (
    "best: the fastest peer of each model: PyTorch, or ONNX Runtime or OpenVINO with its export",
    "best of ours: the fastest engine, which `cpu:fastest` looks for; `cpu` decides by a rule",
)


def summary(found: Found) -> str:
    """What was found, for those who wait."""
    shown = {name: each.get(PROBLEM, each.get(LAST)) for name, each in found.items()}
    return ", ".join(
        f"{name} {each:.2f}" if isinstance(each, float) else f"{name}: {each}"
        for name, each in shown.items()
    )


def fastest(found: Found, names: Iterable[str]) -> str | None:
    """Of these contestants, the one with the least latency."""
    measured = [name for name in found if name in names and _latency(found, name) is not None]
    return min(measured, key=lambda name: found[name][LAST], default=None)


def best_peer(found: Found) -> str | None:
    """The peer with the least latency."""
    return fastest(found, PEERS)


def _latency(found: Found, name: str | None) -> float | None:
    each = {} if name is None else found.get(name, {})
    return None if PROBLEM in each else each.get(LAST)


def latencies(matches: Mapping[str, Found], names: Sequence[str]) -> Table:
    """The latency of each contestant, and how far ours are behind the best peer of each model."""
    own = [name for name in names if name in OURS]
    rows: list[dict[str, Cell]] = []
    for job, found in matches.items():
        peer, ours = best_peer(found), fastest(found, OURS)
        row: dict[str, Cell] = {"model": job, "best peer": peer, BEST: ours}
        row |= {name: _latency(found, name) for name in names}
        row |= {_times(name): ratio(found, name, peer) for name in own}
        row[_times(BEST)] = ratio(found, ours, peer)
        rows.append(row)
    columns = [*map(_times, own), _times(BEST)]
    ends: list[dict[str, Cell]] = []
    if rows:
        ends.append({"model": "geometric mean", **_means(rows, [*names, *columns])})
        ends.append({"model": "largest ratio", **_largest(rows, columns)})
        ends.append({"model": f"models above {GOAL}", **_above(rows, columns)})
    notes = [
        "`x TARGET`: its latency as a multiple of the best peer's; below 1 it is faster.",
        f"`{BEST}`: the engine that is fastest for the model, as `cpu:fastest` looks for it.",
        "A mean is over the models that this contestant has a figure for.",
        *_worst(rows, columns),
    ]
    shown = ("model", *names, "best peer", *columns[:-1], BEST, columns[-1])
    return Table("Latency in ms", shown, [*rows, *ends], notes)


def _times(name: str) -> str:
    return f"x {name}"


def ratio(found: Found, name: str | None, peer: str | None) -> float | None:
    """The latency of a contestant as a multiple of a peer's."""
    own, other = _latency(found, name), _latency(found, peer)
    return None if own is None or other is None else own / other


def _numbers(rows: Iterable[Mapping[str, Cell]], column: str) -> dict[str, float]:
    """What a column has, by the model."""
    found = ((str(row["model"]), row.get(column)) for row in rows)
    return {model: each for model, each in found if isinstance(each, float) and each > 0}


def mean(numbers: Iterable[float]) -> float | None:
    """The geometric mean."""
    logs = [math.log(each) for each in numbers]
    return math.exp(sum(logs) / len(logs)) if logs else None


def _means(rows: Sequence[Mapping[str, Cell]], columns: Iterable[str]) -> dict[str, Cell]:
    return {column: mean(_numbers(rows, column).values()) for column in columns}


def _largest(rows: Sequence[Mapping[str, Cell]], columns: Iterable[str]) -> dict[str, Cell]:
    return {name: max(_numbers(rows, name).values(), default=None) for name in columns}


def _above(rows: Sequence[Mapping[str, Cell]], columns: Iterable[str]) -> dict[str, Cell]:
    return {name: sum(e > GOAL for e in _numbers(rows, name).values()) for name in columns}


def _worst(rows: Sequence[Mapping[str, Cell]], columns: Iterable[str]) -> Iterator[str]:
    """The models of each column that are further behind than the goal allows, the worst first."""
    for column in columns:
        numbers = _numbers(rows, column)
        behind = sorted((m for m in numbers if numbers[m] > GOAL), key=lambda m: -numbers[m])
        if behind:
            listed = ", ".join(f"{model} {numbers[model]:.2f}" for model in behind)
            yield f"`{column}` above {GOAL}: {listed}"


def readme(matches: Mapping[str, Found]) -> str:
    """README's table in Markdown, what its columns are, and the sentences behind it."""
    heads = ["model", *SHOWN.values(), "`cpu` / best", "best of ours / best"]
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    ratios: dict[str, dict[str, float]] = {"`cpu`": {}, BEST: {}}
    runtime: list[float | None] = []
    eager: list[float | None] = []
    for job, found in matches.items():
        peer, cells = best_peer(found), [_milliseconds(_latency(found, name)) for name in SHOWN]
        for head, name in (("`cpu`", "cpu"), (BEST, fastest(found, OURS))):
            times = ratio(found, name, peer)
            cells.append("-" if times is None else f"{times:.2f}")
            if times is not None:
                ratios[head][job] = times
        runtime.append(ratio(found, "cpu", "ONNX Runtime"))
        eager.append(ratio(found, "cpu", "torch eager"))
        lines.append("| " + " | ".join([job, *cells]) + " |")
    lines += ["", *(f"- {each}" for each in COLUMNS)]
    for head, found_ratios in ratios.items():
        lines += [f"- {each}" for each in _sentences(head, found_ratios)]
    for head, each in (("ONNX Runtime's own path", runtime), ("PyTorch", eager)):
        known = [number for number in each if number is not None]
        if known:
            lines.append(f"- `cpu` over {len(known)} models: {mean(known):.2f} times {head}")
    return "\n".join(lines)


def _sentences(head: str, ratios: Mapping[str, float]) -> Iterator[str]:
    """How far behind the best peers ours are: in the mean, at worst, and in which models."""
    if ratios:
        worst = max(ratios, key=lambda model: ratios[model])
        behind = sum(each > GOAL for each in ratios.values())
        whole = f"{head} over {len(ratios)} models: {mean(ratios.values()):.2f} times the best peer"
        yield f"{whole}; {worst} {ratios[worst]:.2f} times; {behind} of them above {GOAL}"


def _milliseconds(number: float | None) -> str:
    """A latency with three digits."""
    if number is None:
        return "-"
    return f"{number:.0f}" if number >= 100 else f"{number:.1f}"


def details(matches: Mapping[str, Found]) -> Table:
    """Everything that was measured, and what failed."""
    rows: list[dict[str, Cell]] = []
    for job, found in matches.items():
        peer = best_peer(found)
        for name, each in found.items():
            row: dict[str, Cell] = {"model, contestant": f"{job}, {name}"}
            row |= {column: each.get(column) for column in DETAILS}
            row["x best peer"] = ratio(found, name, peer)
            row["problem"] = each.get(PROBLEM, "")
            rows.append(row)
    columns = ("model, contestant", LAST, "x best peer", *DETAILS[1:], "problem")
    notes = [
        "`compile s`: from the spec and its weights, or from torch's module, to a first result;",
        "`load s`: from a file to a first result, in a new process; `off by`: from torch eager, as",
        "a part of the root of the mean square of the output.",
    ]
    return Table("Details", columns, rows, notes)


def sizes(jobs: Iterable[Job], form: str) -> Table:
    """What was asked."""
    rows: list[dict[str, Cell]] = []
    for job in jobs:
        shape = ", ".join(f"{name}={size}" for name, size in job.sizes.items())
        less = {**job.config, **({} if form == "full" else job.reduced)}
        row: dict[str, Cell] = {"model": job.name, "sizes": shape, "note": job.note}
        row["beside the published configuration"] = ", ".join(f"{k}={v}" for k, v in less.items())
        rows.append(row)
    return Table("Sizes", ("model", "sizes", "beside the published configuration", "note"), rows)

"""Report of a check: tables for people, and the answer for programs."""

from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path

from tripybuild.artifact.manifest_schema import tensor_text
from tripybuild.cli.console import table_lines
from tripybuild.cli.number_table import number_table
from tripybuild.compiler.check.check import Corner, EntryCheck, ModelCheck
from tripybuild.compiler.check.costs import PartCost
from tripybuild.compiler.check.devices import Roofline
from tripybuild.compiler.lowering.specialize import sizes_name
from tripybuild.errors.diagnostics import as_json
from tripybuild.process.memory import format_bytes
from tripybuild.process.quantities import format_count, format_seconds
from tripybuild.reference.cost import Cost
from tripybuild.schema.answers import (
    CheckAnswer,
    CornerAnswer,
    DeviceAnswer,
    EntryAnswer,
    MeshAnswer,
    PartAnswer,
    Quantity,
    RangeAnswer,
    TensorAnswer,
    WeightsAnswer,
)
from tripybuild.symbolic.dims import Size
from tripybuild.targets.model_manifest import tensor_entries
from tripybuild.trace.values import Value

WIDEST = 96  # columns of a formula that is shown
COLUMNS: tuple[str, ...] = ("part", "parameters", "FLOPs", "moved", "memory", "time")


def report_lines(path: Path, found: ModelCheck, depth: int) -> Iterator[str]:
    """What a reader wants to know, in that order."""
    yield f"{found.built.name}  {path}"
    weights = _weights(found)
    if weights.tensors:
        files = ", ".join(weights.files) or ("none compared" if found.built.weights else "")
        count = f"{format_count(weights.parameters)} in {weights.tensors} tensors"
        rows = {"parameters": count, "bytes": format_bytes(weights.bytes), "files": files}
        yield from table_lines("weights", {name: text for name, text in rows.items() if text})
    for name, each in found.entries.items():
        if name:
            yield f"\nentry  {name}"
        yield from _entry_lines(each, depth)
    yield f"\n{_device_text(found.device)}"


def _entry_lines(each: EntryCheck, depth: int) -> Iterator[str]:
    entry, graph = each.entry, each.entry.graph
    inputs = {name: value for name, value in graph.inputs.items() if name not in entry.states}
    outputs = {name: value for name, value in graph.outputs.items() if "." not in name}
    for title, values in (("inputs", inputs), ("outputs", outputs)):
        yield from table_lines(title, {e["name"]: tensor_text(e) for e in tensor_entries(values)})
    yield from table_lines("ranges", {name: str(size) for name, size in entry.ranges.items()})
    if entry.ranges:
        shapes = {sizes_name(c.sizes): _shapes_text(c, list(outputs)) for c in each.corners}
        yield from table_lines("shapes", shapes)
    if mesh := _mesh_answer(each):
        yield from table_lines("mesh", _mesh_rows(mesh, each))
    rows = each.costs.rows()
    title = f"costs of {sizes_name(each.sizes)}" if each.sizes else "costs"
    yield f"\n{title}"
    yield from _cost_lines(rows, depth)
    if entry.ranges and rows:
        yield from _formula_lines(rows[0].cost, each.costs.memory)
    if each.costs.inside:
        many, noun = each.costs.inside, "branch or loop"
        verb = f"{noun} is" if many == 1 else "branches or loops are"
        yield f"\n{many} {verb} among it that data decides: one turn, or the larger branch, counts"


def _mesh_rows(mesh: MeshAnswer, each: EntryCheck) -> dict[str, str]:
    """What a mesh is, and what it leaves to each device."""
    axes = ", ".join(f"{name}: {size}" for name, size in mesh.axes.items())
    whole = sum(map(_byte_count, each.entry.graph.weights.values()))
    rows = {
        "devices": f"{mesh.devices} ({axes})",
        "weights": f"{format_bytes(mesh.weights)} of {format_bytes(whole)} on each",
        "FLOPs": f"at least {format_count(mesh.flops, 'GTP')} on each",
    }
    return rows | {"collectives": "told by `inspect` of what is compiled"}


def _mesh_answer(each: EntryCheck) -> MeshAnswer | None:
    graph, rows = each.entry.graph, each.costs.rows()
    if (mesh := graph.mesh) is None:
        return None
    weights = (
        _byte_count(value) // prod(mesh.pieces(name, len(value.shape)))
        for name, value in graph.weights.items()
    )
    flops = rows[0].flops if rows else 0
    return MeshAnswer(
        axes=dict(mesh.axes),
        devices=mesh.devices,
        weights=sum(weights),
        flops=-(-flops // mesh.devices),
    )


def _byte_count(value: Value) -> int:
    bits: int = prod(value.shape) * value.dtype.bits
    return -(-bits // 8)


def _shapes_text(corner: Corner, names: Sequence[str]) -> str:
    shapes = ((name, corner.outputs[name]) for name in names)
    return "  ".join(f"{name} [{', '.join(map(str, shape))}]" for name, shape in shapes)


def _cost_lines(rows: Sequence[PartCost], depth: int) -> Iterator[str]:
    """The table of parts, where parts that have all of what they are in are one row with it."""
    shown = [each for each in _levels(rows) if each[2] <= depth]
    yield from number_table(COLUMNS, [_cells(*each) for each in shown], texts=1)


def _levels(rows: Sequence[PartCost]) -> Iterator[tuple[PartCost, str, int]]:
    """Parts with their names and how deep they stand."""
    levels: dict[tuple[str, ...], int] = {}
    names: list[str] = []
    for index, part in enumerate(rows):
        below = rows[index + 1] if index + 1 < len(rows) else None
        level = levels.get(part.path[:-1], -1) + 1 if part.path else 0
        names += part.path[-1:]
        if part.path and below is not None and _is_only_part(part, below):
            levels[part.path] = level - 1
            continue
        name = ".".join(names) if part.path else "all"
        yield part, name if part.count == 1 else f"{name}  {part.count}x", level
        levels[part.path], names = level, []


def _is_only_part(part: PartCost, below: PartCost) -> bool:
    """Whether a part has nothing but the one below it."""
    facts = ((each.parameters, each.flops, each.bytes) for each in (part, below))
    return below.path[:-1] == part.path and len(set(facts)) == 1


def _cells(part: PartCost, name: str, level: int) -> tuple[str, ...]:
    return (
        "  " * level + name,
        format_count(part.parameters) if part.parameters else "",
        format_count(part.flops, "GTP"),
        format_bytes(part.bytes),
        format_bytes(part.memory),
        format_seconds(part.seconds),
    )


def _formula_lines(cost: Cost, memory: Size) -> Iterator[str]:
    formulas = {"FLOPs": cost.flops, "moved": cost.bytes, "memory": memory}
    yield from table_lines("formulas", {n: _formula_text(each) for n, each in formulas.items()})


def _formula_text(size: Size) -> str:
    text = str(size)
    if len(text) <= WIDEST:
        return text
    cut = text.rfind(" + ", 0, WIDEST)
    return f"{text[: max(cut, 0)] or text[:WIDEST]} + ... (`--json` has all of it)"


def _device_text(device: Roofline) -> str:
    rate = f"{format_count(int(device.flops['float32']), 'GTP')}FLOP/s in float32"
    measured = ", measured" if device.measured else ""
    moved = format_bytes(int(device.bandwidth))
    return f"time  least on {device.title}: {rate}, {moved}/s{measured}"


def answer(path: Path, found: ModelCheck, seconds: float) -> CheckAnswer:
    """The answer for programs."""
    device = found.device
    return CheckAnswer(
        path=path.as_posix(),
        kind=None,
        model=found.built.name,
        weights=_weights(found),
        device=DeviceAnswer(
            name=device.name,
            title=device.title,
            flops=dict(device.flops),
            bandwidth=device.bandwidth,
            measured=device.measured,
        ),
        entries=[_entry_answer(name, each) for name, each in found.entries.items()],
        warnings=[as_json(each) for each in found.warnings],
        seconds=round(seconds, 4),
    )


def _weights(found: ModelCheck) -> WeightsAnswer:
    stored: dict[str, Value] = {}
    for each in found.entries.values():
        stored |= each.stored
    files = () if found.weights is None else found.weights.paths
    return WeightsAnswer(
        tensors=len(stored),
        parameters=sum(prod(v.shape) for v in stored.values()),
        bytes=sum(map(_byte_count, stored.values())),
        files=[each.as_posix() for each in files],
        compared=found.weights is not None,
    )


def _entry_answer(name: str, each: EntryCheck) -> EntryAnswer:
    entry, rows = each.entry, each.costs.rows()
    tensors = (
        [TensorAnswer(**found) for found in tensor_entries(values)]
        for values in (entry.graph.inputs, entry.graph.outputs)
    )
    return EntryAnswer(
        name=name,
        inputs=next(tensors),
        outputs=next(tensors),
        states=list(entry.states),
        ranges={n: RangeAnswer.model_validate(r.to_json()) for n, r in entry.ranges.items()},
        sizes=dict(each.sizes),
        corners=[
            CornerAnswer(sizes=dict(c.sizes), outputs={n: list(s) for n, s in c.outputs.items()})
            for c in each.corners
        ],
        memory=Quantity(formula=str(each.costs.memory), number=rows[0].memory if rows else 0),
        mesh=_mesh_answer(each),
        uncounted=each.costs.inside,
        parts=[_part_answer(part) for part in rows],
    )


def _part_answer(part: PartCost) -> PartAnswer:
    return PartAnswer(
        path=".".join(part.path),
        count=part.count,
        parameters=part.parameters,
        flops=Quantity(formula=str(part.cost.flops), number=part.flops),
        bytes=Quantity(formula=str(part.cost.bytes), number=part.bytes),
        memory=part.memory,
        seconds=part.seconds,
        computing=part.computing,
    )

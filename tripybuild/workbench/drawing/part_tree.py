"""Part tree: the operations of a drawing by parts and steps, where equal parts of a list are one.

Parts of a list are equal where they have the same operations on what they have themselves, whatever
they read from outside: `h.0..11`. What is measured of them is counted together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tripybuild.workbench.drawing.drawing import Drawing, DrawnNode, PartPath


@dataclass(slots=True, eq=False)
class StepRow:
    """A step of a part: its operations in order, without another one between them.

    Args:
        part: The part.
        name: The step; empty where it is all of its part.
        function: The definition without a path of its own that it is in, if it is in one.
        nodes: Its operations.
    """

    part: PartPath
    name: str
    function: str = ""
    nodes: list[DrawnNode] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class PartGroup:
    """A part, or several equal ones of a list, of which the first is kept.

    Args:
        path: The names from the outermost part on.
        members: The steps and parts in it, in the order in which they begin.
        names: What those are called that it stands for.
        chained: Whether each of them reads what the one before it gives.
    """

    path: PartPath
    members: list["StepRow | PartGroup"] = field(default_factory=list)
    names: tuple[str, ...] = ()
    chained: bool = False

    @property
    def count(self) -> int:
        """How many parts it stands for."""
        return max(len(self.names), 1)

    @property
    def label(self) -> str:
        """Its own name: `attn`, or `0..11` for several."""
        return index_ranges(self.names) if self.names else self.path[-1] if self.path else ""

    def nodes(self) -> Iterator[DrawnNode]:
        """The operations in it."""
        for each in self.members:
            yield from each.nodes if isinstance(each, StepRow) else each.nodes()

    def groups(self) -> Iterator["PartGroup"]:
        """The parts in it."""
        return (each for each in self.members if isinstance(each, PartGroup))


@dataclass(frozen=True, slots=True)
class PartTree:
    """A drawing by parts.

    Args:
        drawing: The drawing.
        root: What is in no part, and the outermost parts.
        twins: The nodes that each one that is kept stands for, itself among them.
    """

    drawing: Drawing
    root: PartGroup
    twins: Mapping[str, Sequence[str]]

    def sum(self, nodes: Iterator[DrawnNode], values: Mapping[str, float]) -> float:
        """What some values of nodes are together, those of equal parts among them."""
        return sum(values.get(each, 0) for node in nodes for each in self.twins[node.id])


def index_ranges(names: Sequence[str]) -> str:
    """Numbers in a row: `0..4, 6..10`."""
    numbers = sorted(map(int, names))
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}..{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def part_tree(drawing: Drawing, *, fold: bool = True) -> PartTree:
    """The parts of a drawing; with `fold`, equal parts of a list are one."""
    root = PartGroup(())
    groups: dict[PartPath, PartGroup] = {(): root}
    last: dict[PartPath, StepRow] = {}
    before: PartPath = ()
    for node in drawing.operations:
        for end in range(1, len(node.part) + 1):
            path = node.part[:end]
            if path not in groups:
                groups[path] = PartGroup(path)
                groups[path[:-1]].members.append(groups[path])
        function = node.step.rpartition(".")[0]
        row = last.get(node.part)
        if (
            row is None
            or (row.function or row.name) != (function or node.step)
            or _is_beside(before, node.part)
        ):
            row = last[node.part] = StepRow(node.part, node.step, function)
            groups[node.part].members.append(row)
        row.nodes.append(node)
        before = node.part
    twins = {node.id: [node.id] for node in root.nodes()}
    if fold:
        _fold(root, drawing, twins)
    return PartTree(drawing, root, twins)


def _is_beside(before: PartPath, part: PartPath) -> bool:
    """Whether the operation before was of another part, which is one in this one."""
    return before != part and before[: len(part)] == part


def _fold(group: PartGroup, drawing: Drawing, twins: dict[str, list[str]]) -> None:
    """Put one part in the place of all parts of a list that are equal to it."""
    alike: dict[object, list[PartGroup]] = {}
    for each in group.groups():
        if each.path[-1].isdigit():
            alike.setdefault(_signature(each, drawing), []).append(each)
    gone: set[PartGroup] = set()
    for first, *others in alike.values():
        if others:
            first.names = tuple(each.path[-1] for each in (first, *others))
            first.chained = all(
                _reads(other, before)
                for before, other in zip((first, *others), others, strict=False)
            )
            for other in others:
                for kept, twin in zip(first.nodes(), other.nodes(), strict=True):
                    twins[kept.id] += twins.pop(twin.id)
            gone.update(others)
    group.members = [each for each in group.members if each not in gone]
    for each in group.groups():
        _fold_inside(each, drawing, twins)


def _fold_inside(group: PartGroup, drawing: Drawing, twins: dict[str, list[str]]) -> None:
    """Fold what is in a part; the twins of a part's twins are its own."""
    before = {node.id: list(twins[node.id]) for node in group.nodes()}
    for found in before:
        twins[found] = [found]
    _fold(group, drawing, twins)
    for node in group.nodes():
        twins[node.id] = [each for found in twins[node.id] for each in before[found]]


def _signature(group: PartGroup, drawing: Drawing) -> object:
    """What a part does, whatever it reads from outside."""
    inside: dict[str, int] = {}
    found = []
    depth = len(group.path)
    for node in group.nodes():
        inside[node.id] = len(inside)
        reads = [_source_key(drawing, each, inside, depth) for each in node.operands]
        step = (*node.part[depth:], node.step, node.label)
        found.append((step, tuple(node.attributes.items()), tuple(reads), node.outputs))
    return str(found)


def _source_key(drawing: Drawing, operand: Any, inside: Mapping[str, int], depth: int) -> object:
    """What an operand is, seen from inside of a part."""
    if operand.source in inside:
        return inside[operand.source], operand.output
    source = drawing.nodes[operand.source]
    type = source.outputs[operand.output]
    if source.kind == "weight":
        return "weight", source.part[depth:], source.label, type
    return ("constant", source.label, type) if source.kind == "constant" else ("outside", type)


def _reads(group: PartGroup, other: PartGroup) -> bool:
    """Whether a part reads what another one gives."""
    made = {node.id for node in other.nodes()}
    return any(each.source in made for node in group.nodes() for each in node.operands)

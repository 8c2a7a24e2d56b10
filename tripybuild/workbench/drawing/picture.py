"""Picture: boxes, frames around those of a part, and arrows, for DOT and Mermaid."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tripybuild.workbench.drawing.drawing import DrawnNode, type_text
from tripybuild.workbench.drawing.overlays import Overlay
from tripybuild.workbench.drawing.part_tree import PartGroup, PartTree, StepRow
from tripybuild.workbench.drawing.step_text import StepTexts

MOST_BOXES = 40  # that are drawn where no depth is asked for
LONGEST = 44  # characters of an expression
# The operations of a box, the states of a model, and what it takes and gives.
OPERATION, PART, INPUT, STATE, OUTPUT = "operation", "part", "input", "state", "output"


@dataclass(frozen=True, slots=True)
class PictureBox:
    """A box.

    Args:
        id: Its name in the picture.
        kind: One of the kinds above.
        lines: What stands in it; the first is its title.
        heat: How much of the largest number of all boxes it has, from 0 to 1.
    """

    id: str
    kind: str
    lines: Sequence[str]
    heat: float = 0.0


@dataclass(slots=True, eq=False)
class PictureFrame:
    """A part that is opened: a title, and what stands in it."""

    id: str
    title: str
    members: list["PictureBox | PictureFrame"] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """A picture; `arrows` are the types of what goes from one box to another, by their ids."""

    title: str
    root: PictureFrame
    arrows: Mapping[tuple[str, str], Sequence[str]]

    def boxes(self) -> Iterator[PictureBox]:
        """All boxes."""
        yield from _boxes_in(self.root)


def picture(tree: PartTree, overlay: Overlay, depth: int | None = None) -> GraphPicture:
    """The picture of a drawing.

    Args:
        tree: The drawing by parts.
        overlay: The numbers in the boxes; the first of them colors these.
        depth: How deep parts are opened; None for as deep as can be looked at.
    """
    if depth is not None:
        return _Painter(tree, overlay, depth).picture()
    found, depth = _Painter(tree, overlay, 1).picture(), 2
    while True:
        larger = _Painter(tree, overlay, depth).picture()
        counts = [len(list(each.boxes())) for each in (found, larger)]
        if counts[1] > MOST_BOXES or counts[0] == counts[1]:
            return found
        found, depth = larger, depth + 1


class _Painter:
    def __init__(self, tree: PartTree, overlay: Overlay, depth: int) -> None:
        self.tree, self.overlay, self.depth = tree, overlay, depth
        self.texts = StepTexts(tree)
        self.box_of: dict[str, str] = {}  # by the ids of nodes
        self.count = 0
        self.most = self._most()

    def picture(self) -> GraphPicture:
        """Paint it."""
        drawing = self.tree.drawing
        root = PictureFrame("", drawing.label)
        leaves = [each for each in drawing.nodes.values() if each.kind in {INPUT, STATE}]
        states = {f"{each.id.partition(':')[2]}.next" for each in leaves}
        for node in leaves:
            if node.kind == INPUT:
                root.members.append(self._leaf(node))
        self._members(self.tree.root, root, 0)
        for kept, twins in self.tree.twins.items():
            self.box_of |= dict.fromkeys(twins, self.box_of[kept])
        arrows = self._arrows()
        for name, each in drawing.outputs.items():
            if name not in states and each.source in self.box_of:
                box = PictureBox(self._fresh(), OUTPUT, [name, type_text(each.type)])
                root.members.append(box)
                arrows.setdefault((self.box_of[each.source], box.id), [])
        return GraphPicture(drawing.label, root, arrows)

    def _most(self) -> float:
        """The largest number that a step has, of the first column."""
        if not self.overlay.columns:
            return 0.0
        values = self.overlay.columns[0].values.values()
        return max(map(abs, values), default=0.0)

    def _fresh(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def _leaf(self, node: DrawnNode) -> PictureBox:
        box = PictureBox(self._fresh(), node.kind, [node.label, type_text(node.outputs[0])])
        self.box_of[node.id] = box.id
        return box

    def _members(self, group: PartGroup, frame: PictureFrame, level: int) -> None:
        for each in group.members:
            if isinstance(each, StepRow):
                frame.members += self._steps(each, "")
                continue
            inner, title = each, each.label
            count = each.count
            while len(inner.members) == 1 and isinstance(inner.members[0], PartGroup):
                inner = inner.members[0]
                title, count = f"{title}.{inner.label}", count * inner.count
            title += f"  x{count}" if count > 1 else ""
            nodes = list(each.nodes())
            if len(inner.members) == 1 and isinstance(inner.members[0], StepRow):
                frame.members += self._steps(inner.members[0], title)
            elif level >= self.depth:
                lines = [title, f"{len(nodes)} operations", *self._numbers(nodes)]
                frame.members.append(self._box(PART, lines, nodes))
            else:
                numbers = ", ".join(self._numbers(nodes))
                made = PictureFrame(self._fresh(), f"{title}   {numbers}".rstrip())
                frame.members.append(made)
                self._members(inner, made, level + 1)

    def _steps(self, step: StepRow, title: str) -> Iterator[PictureBox]:
        """The boxes of a step; one that is all of its part has the title of that."""
        for result in self.texts.results(step):
            name = ", ".join(result.names)
            text = self.texts.expression(result, attributes=False)
            if len(text) > LONGEST:
                text = f"{text[: LONGEST - 3]}..."
            head = title or name
            lines = [*([head] if head else []), text, *self._numbers(result.nodes)]
            yield self._box(OPERATION, lines, result.nodes)

    def _box(self, kind: str, lines: Sequence[str], nodes: Sequence[DrawnNode]) -> PictureBox:
        box = PictureBox(self._fresh(), kind, lines, self._heat(nodes))
        self.box_of |= {node.id: box.id for node in nodes}
        return box

    def _numbers(self, nodes: Sequence[DrawnNode]) -> list[str]:
        named = zip(self.overlay.titles, self.overlay.numbers(self.tree, nodes), strict=True)
        return [f"{text} {name}" for name, text in named if text]

    def _heat(self, nodes: Sequence[DrawnNode]) -> float:
        if not self.most:
            return 0.0
        largest = (self.overlay.columns[0].of([node.id]) or 0.0 for node in nodes)
        return min(max(map(abs, largest), default=0.0) / self.most, 1.0)

    def _arrows(self) -> dict[tuple[str, str], list[str]]:
        """What goes between boxes; of equal parts, into the first one."""
        found: dict[tuple[str, str], list[str]] = {}
        nodes = self.tree.drawing.nodes
        for kept in self.tree.twins:
            for each in nodes[kept].operands:
                source = self.box_of.get(each.source)  # weights and constants have none
                if source is None or source == self.box_of[kept]:
                    continue
                text = type_text(nodes[each.source].outputs[each.output])
                types = found.setdefault((source, self.box_of[kept]), [])
                if text not in types:
                    types.append(text)
        return found


def _boxes_in(frame: PictureFrame) -> Iterator[PictureBox]:
    for each in frame.members:
        if isinstance(each, PictureFrame):
            yield from _boxes_in(each)
        else:
            yield each

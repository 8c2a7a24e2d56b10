"""Drawings for a terminal: parts indented, a row for each step, types and numbers in columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tripybuild.process.quantities import format_seconds
from tripybuild.workbench.drawing.drawing import DrawnOperand, type_text
from tripybuild.workbench.drawing.overlays import Overlay
from tripybuild.workbench.drawing.part_tree import PartGroup, PartTree, StepRow, index_ranges
from tripybuild.workbench.drawing.step_text import NamedResult, StepTexts

MOST_ROWS = 48  # that are shown where no depth is asked for
INDENT = "  "
WIDTH = 120
LEAST_TEXT = 12  # columns, below which what a step does is not shown
BAR = 20  # columns of the largest share
NUMBERS = 27  # columns of a time, a share and a count


@dataclass(frozen=True, slots=True)
class TextRow:
    """A row: a name behind its indentation, what it does, a type, and numbers."""

    name: str
    text: str = ""
    short: str = ""
    type: str = ""
    numbers: tuple[str, ...] = ()


def text_lines(
    tree: PartTree, overlay: Overlay, depth: int | None = None, width: int = WIDTH
) -> Iterator[str]:
    """The lines.

    Args:
        tree: The drawing by parts.
        overlay: The numbers beside the rows.
        depth: How deep parts are opened; None for as deep as fits.
        width: Columns of the terminal.
    """
    writer = _RowWriter(tree, overlay)
    shown = _fitting_depth(writer) if depth is None else depth
    rows = [TextRow("", type="", numbers=overlay.titles), *writer.leaves()]
    rows += writer.rows(tree.root, shown, 0)
    rows += writer.outputs()
    yield from _aligned(rows, width)


def _fitting_depth(writer: "_RowWriter") -> int:
    """The depth at which there are as many rows as can be looked at, at least one."""
    depth, before = 1, -1
    while True:
        count = len(list(writer.rows(writer.tree.root, depth + 1, 0)))
        if count > MOST_ROWS or count == before:
            return depth
        depth, before = depth + 1, count


class _RowWriter:
    def __init__(self, tree: PartTree, overlay: Overlay) -> None:
        self.tree, self.overlay = tree, overlay
        self.texts = StepTexts(tree)

    def leaves(self) -> Iterator[TextRow]:
        """The inputs and the states; those of equal parts are one row."""
        found: dict[tuple[str, str, str], list[tuple[str, ...]]] = {}
        for node in self.tree.drawing.nodes.values():
            if node.kind in {"input", "state"}:
                path = (*node.part, node.label)
                starred = ".".join("*" if each.isdigit() else each for each in path)
                found.setdefault((node.kind, starred, type_text(node.outputs[0])), []).append(path)
        for (kind, _, type), paths in found.items():
            count = f"  x{len(paths)}" if len(paths) > 1 else ""
            yield TextRow(joined_path(paths) + count, kind, type=type)

    def outputs(self) -> Iterator[TextRow]:
        """The outputs, but for what states will be."""
        drawing = self.tree.drawing
        states = {f"{each.id.partition(':')[2]}.next" for each in drawing.nodes.values()}
        for name, each in drawing.outputs.items():
            if name not in states:
                operand = self.texts.operand(DrawnOperand(each.source, each.output, ""), ())
                text = "output" if operand == name else f"output {operand}"
                yield TextRow(name, text, type=type_text(each.type))

    def rows(self, group: PartGroup, depth: int, level: int) -> Iterator[TextRow]:
        """The rows of a part's members."""
        for each in group.members:
            if isinstance(each, StepRow):
                for result in self.texts.results(each):
                    yield self._step(result, level)
            else:
                yield from self._part(each, depth, level)

    def _part(self, group: PartGroup, depth: int, level: int) -> Iterator[TextRow]:
        """A part: one row where it is one step or is not opened, else a row and those below it."""
        name, inner = group.label, group
        count = group.count
        while len(inner.members) == 1 and isinstance(inner.members[0], PartGroup):
            inner = inner.members[0]
            name, count = f"{name}.{inner.label}", count * inner.count
        title = INDENT * level + name + (f"  x{count}" if count > 1 else "")
        steps = [each for each in inner.members if isinstance(each, StepRow)]
        if len(inner.members) == len(steps) == 1:
            results = self.texts.results(steps[0])
            if len(results) == 1:
                row = self._step(results[0], level)
                yield TextRow(title, row.text, row.short, row.type, row.numbers)
                return
        nodes = list(group.nodes())
        numbers = self.overlay.numbers(self.tree, nodes)
        if level >= depth:
            operators = f"{len(nodes)} operations"
            yield TextRow(title, operators, type=type_text(nodes[-1].outputs[0]), numbers=numbers)
            return
        note = "each reads the one before" if inner.chained or group.chained else ""
        yield TextRow(title, note, numbers=numbers)
        yield from self.rows(inner, depth, level + 1)

    def _step(self, result: NamedResult, level: int) -> TextRow:
        name = ", ".join(result.names) or result.node.label
        types = list(dict.fromkeys(map(type_text, result.node.outputs)))
        return TextRow(
            INDENT * level + name,
            self.texts.expression(result),
            self.texts.expression(result, attributes=False),
            ", ".join(types),
            self.overlay.numbers(self.tree, result.nodes),
        )


def joined_path(paths: Sequence[tuple[str, ...]]) -> str:
    """Paths of one form as one, with all numbers of each place: `h.0..11.keys`."""
    columns = [list(dict.fromkeys(each)) for each in zip(*paths, strict=True)]
    return ".".join(each[0] if len(each) == 1 else index_ranges(each) for each in columns)


def _aligned(rows: Sequence[TextRow], width: int) -> Iterator[str]:
    """Rows in columns.

    A text that does not fit is written without attributes, or cut. In a narrow terminal no text is
    shown, and then no type.
    """
    names = max(len(row.name) for row in rows)
    types = max(len(row.type) for row in rows)
    count = max(len(row.numbers) for row in rows)
    widths = [max(len(row.numbers[at]) for row in rows if row.numbers) for at in range(count)]
    left = width - names - types - sum(widths) - 2 * (2 + count)
    texts = [_fitted(row, left) if left >= LEAST_TEXT else "" for row in rows]
    kinds = [row.type if left >= -2 else "" for row in rows]
    words = [_padded(column) for column in (texts, kinds) if any(column)]
    for at, row in enumerate(rows):
        numbers = row.numbers or ("",) * count
        cells = (cell.rjust(size) for cell, size in zip(numbers, widths, strict=True))
        line = "  ".join([row.name.ljust(names), *(column[at] for column in words), *cells])
        yield line.rstrip()


def _padded(texts: Sequence[str]) -> list[str]:
    widest = max(map(len, texts))
    return [each.ljust(widest) for each in texts]


def _fitted(row: TextRow, width: int) -> str:
    return _cut(row.text if len(row.text) <= width else row.short or row.text, width)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def share_table(
    title: str,
    rows: Sequence[tuple[str, float, int]],
    whole: float,
    top: int,
    columns: int = WIDTH,
) -> Iterator[str]:
    """Rows with their seconds, their shares of a whole, how many each is, and a bar.

    Args:
        title: What they are.
        rows: Names, seconds and counts, the largest first.
        whole: The seconds of all.
        top: How many are shown.
        columns: Those of the terminal; names are cut, and there are no bars, where it is narrow.
    """
    room = max(columns - NUMBERS, LEAST_TEXT)
    shown = [(_cut(name, room), seconds, count) for name, seconds, count in rows[:top]]
    if not shown:
        return
    width = max(len(title), *(len(name) for name, *_ in shown))
    yield f"{title.ljust(width)}       time   share  count"
    largest = shown[0][1] or 1.0
    for name, seconds, count in shown:
        bar = "#" * round(BAR * seconds / largest) if width + NUMBERS + 2 + BAR <= columns else ""
        share = seconds / whole if whole else 0.0
        text = f"{name.ljust(width)}  {format_seconds(seconds):>9}  {share:6.1%}  {count:5}  {bar}"
        yield text.rstrip()
    if len(rows) > top:
        rest = sum(seconds for _, seconds, _ in rows[top:])
        yield f"{f'{len(rows) - top} more'.ljust(width)}  {format_seconds(rest):>9}"

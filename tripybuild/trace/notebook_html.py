"""HTML for notebooks: signatures, values, and a picture of a graph. All text is escaped.

A table and a picture are small whatever they are of: more is cut off, and said to be.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from tripybuild.trace.operation import TraceOp

if TYPE_CHECKING:
    from tripybuild.trace.graph import Graph

MOST_SHOWN = 8  # rows and columns of values
MOST_OPERATIONS = 400
MOST_LABELED = 24
COLUMNS = 48  # operations one behind another, before the picture goes on below
WIDTH = 720  # pixels at most
HEAD = ("", "name", "dtype", "shape")
STYLE = "border-collapse:collapse;font-size:90%"


def _row(cells: Iterable[str], tag: str = "td", align: str = "left") -> str:
    inside = (f"<{tag} style='text-align:{align}'>{escape(each)}</{tag}>" for each in cells)
    return f"<tr>{''.join(inside)}</tr>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    body = "".join(map(_row, rows))
    top = f"<thead>{_row(head, 'th')}</thead>"
    return f"<table style='{STYLE}'>{top}<tbody>{body}</tbody></table>"


def caption(text: str) -> str:
    """A line in the font of code."""
    return f"<div><code>{escape(text)}</code></div>"


def values_table(array: Any) -> str:
    """The elements of an array: a number, a row, or a matrix; of more dimensions the first one."""
    at = []
    while len(array.shape) > 2 and array.shape[0]:
        array = array[0]
        at.append("0")
    if len(array.shape) > 2:
        return caption("no elements")
    rows, columns = [1, 1, *array.shape][-2:]
    matrix = array.reshape(rows, columns)
    body = "".join(
        _row([_element(matrix, row, column) for column in _ends(columns)], align="right")
        for row in _ends(rows)
    )
    where = caption(f"[{', '.join(at)}, ...]") if at else ""
    return f"{where}<table style='{STYLE}'><tbody>{body}</tbody></table>"


def _ends(count: int) -> list[int | None]:
    """The indices that are shown; None stands for those that are not."""
    if count <= MOST_SHOWN:
        return list(range(count))
    half = MOST_SHOWN // 2
    return [*range(half), None, *range(count - half, count)]


def _element(matrix: Any, row: int | None, column: int | None) -> str:
    if row is None or column is None:
        return "…"
    value = matrix[row, column].item()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def entry_html(label: str, manifest: Mapping[str, Any]) -> str:
    """What an entry of an executable takes and gives, with the ranges of its sizes."""
    rows = [
        (kind, each["name"], each["dtype"], shape_text(each["shape"]))
        for kind, entries in (("input", manifest["inputs"]), ("output", manifest["outputs"]))
        for each in entries
    ]
    limits = (f"{name}: {_range_text(each)}" for name, each in manifest["ranges"].items())
    below = ", ".join(limits)
    return caption(label) + table(HEAD, rows) + (caption(below) if below else "")


def _range_text(limits: Mapping[str, Any]) -> str:
    most = limits.get("max")
    return f"{limits['min']} to {most}" if most is not None else f"{limits['min']} or more"


def graph_picture(graph: "Graph") -> str:
    """A picture of a graph as SVG: operations from left to right, behind those that they read."""
    operations = graph.operations[:MOST_OPERATIONS]
    places = _places(operations)
    labeled = len(operations) <= MOST_LABELED
    wide, high = (96, 30) if labeled else (WIDTH // COLUMNS, WIDTH // COLUMNS)
    boxes, lines = [], []
    for operation, (column, row, band) in places.items():
        x, y = column * wide + wide / 2, row * high + high / 2
        for read in operation.reads():
            before = places.get(read.producer) if read.producer is not None else None
            if before is not None and before[0] < column and before[2] == band:
                start = before[0] * wide + wide * 0.9, before[1] * high + high / 2
                lines.append(_line(start, (column * wide + wide * 0.1, y)))
        boxes.append(_box(operation, (x, y), (wide * 0.8, high * 0.6), labeled=labeled))
    width = max((column + 1 for column, _, _ in places.values()), default=1) * wide
    height = max((row + 1 for _, row, _ in places.values()), default=1) * high
    left = len(graph.operations) - len(operations)
    more = caption(f"and {left} more operations") if left else ""
    size = f"width='{min(width, WIDTH)}' viewBox='0 0 {width} {height}' style='max-width:100%'"
    drawn = "".join(lines + boxes)
    return f"<svg xmlns='http://www.w3.org/2000/svg' role='img' {size}>{drawn}</svg>{more}"


def _places(operations: Sequence[TraceOp]) -> Mapping[TraceOp, tuple[int, int, int]]:
    """The column and the row of each operation, and which stretch of columns it is in."""
    depths: dict[TraceOp, int] = {}
    for each in operations:
        before = (depths.get(read.producer, -1) for read in each.reads() if read.producer)
        depths[each] = max(before, default=-1) + 1
    counts: dict[int, int] = {}
    rows: dict[TraceOp, int] = {}
    for each, depth in depths.items():
        rows[each] = counts[depth] = counts.get(depth, -1) + 1
    heights: dict[int, int] = {}
    for depth, count in counts.items():
        heights[depth // COLUMNS] = max(heights.get(depth // COLUMNS, 0), count + 1)
    tops = {band: sum(h + 1 for b, h in heights.items() if b < band) for band in heights}
    return {
        each: (depth % COLUMNS, tops[depth // COLUMNS] + rows[each], depth // COLUMNS)
        for each, depth in depths.items()
    }


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = start, end
    return (
        f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' "
        "stroke='currentColor' stroke-opacity='0.4'/>"
    )


def _box(
    operation: TraceOp, center: tuple[float, float], size: tuple[float, float], *, labeled: bool
) -> str:
    """One that reads a weight is filled; the types that it gives are shown by the pointer."""
    (x, y), (width, height) = center, size
    heavy = any(read.known and read.producer is None for read in operation.reads())
    gives = ", ".join(str(each.type) for each in operation.outputs)
    text = (
        f"<text x='{x:.1f}' y='{y + 4:.1f}' text-anchor='middle' font-size='11' "
        f"fill='currentColor'>{escape(operation.operator[:13])}</text>"
        if labeled
        else ""
    )
    return (
        f"<g><title>{escape(f'{operation.operator}: {gives}')}</title>"
        f"<rect x='{x - width / 2:.1f}' y='{y - height / 2:.1f}' width='{width:.1f}' "
        f"height='{height:.1f}' rx='3' fill='#4a7dfc' fill-opacity='{0.5 if heavy else 0.15}' "
        f"stroke='currentColor' stroke-opacity='0.5'/>{text}</g>"
    )


def graph_html(graph: "Graph") -> str:
    """The inputs and outputs of a graph, and its picture."""
    rows = [
        (kind, name, str(value.dtype), shape_text(value.shape))
        for kind, values in (("input", graph.inputs), ("output", graph.outputs))
        for name, value in values.items()
    ]
    about = f"{graph.name}: {len(graph.operations)} operations, {len(graph.weights)} weights"
    return caption(about) + table(HEAD, rows) + graph_picture(graph)


def shape_text(shape: Iterable[object]) -> str:
    """A shape as types have it: `[B, 3]`."""
    return f"[{', '.join(map(str, shape))}]"

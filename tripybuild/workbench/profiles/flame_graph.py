"""Flame graph: the time of a call as nested boxes, from the whole on top to operations, in SVG.

The width of a box is its time. What is in it is told by its `<title>`, which browsers show beside
the pointer: no script is needed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from zlib import crc32

from tripybuild.process.output_files import MARK
from tripybuild.process.quantities import format_seconds
from tripybuild.workbench.profiles.operation_times import OperationTimes

WIDTH, ROW, MARGIN, HEAD = 1200, 18, 10, 34  # pixels
LETTER = 6.2  # the width of one at this size
LEAST = 0.4  # pixels of a box that is drawn
OWN = "the engine's own"


@dataclass(slots=True)
class FlameFrame:
    """A part or an operation: its name, its seconds with all that is in it, and that."""

    name: str
    seconds: float = 0.0
    inner: dict[str, "FlameFrame"] = field(default_factory=dict)

    def add(self, path: Sequence[str], seconds: float) -> None:
        """Add the time of something that is so deep in it."""
        self.seconds += seconds
        if path:
            inner = self.inner.setdefault(path[0], FlameFrame(path[0]))
            inner.add(path[1:], seconds)


def flame_frames(times: OperationTimes) -> FlameFrame:
    """The frames of a call: parts, steps, and operators in them."""
    root = FlameFrame(times.drawing.label)
    for node in times.drawing.operations:
        seconds = times.seconds.get(node.id, 0.0)
        if seconds:
            step = f"{node.step}: {node.label}" if node.step else node.label
            root.add((*node.part, step), seconds)
    if times.own:
        root.add((OWN,), times.own)
    return root


def flame_svg(times: OperationTimes, title: str) -> str:
    """The picture.

    Args:
        times: What was measured.
        title: What stands above it.
    """
    root = flame_frames(times)
    height = HEAD + (_depth(root) + 1) * ROW + MARGIN
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    font = 'font-family="Helvetica,Arial,sans-serif" font-size="11"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="20" font-size="13" fill="#0f172a">{escape(title)}</text>',
        *_boxes(root, MARGIN, HEAD, (WIDTH - 2 * MARGIN) / (root.seconds or 1.0), root.seconds),
        "</svg>",
        f"<!-- {MARK} -->",
    ]
    return "\n".join(lines) + "\n"


def _depth(frame: FlameFrame) -> int:
    return 1 + max(map(_depth, frame.inner.values()), default=0)


def _boxes(frame: FlameFrame, x: float, y: int, scale: float, whole: float) -> Iterator[str]:
    """A box, and below it those in it, from the left, in the order in which they run."""
    width = frame.seconds * scale
    if width < LEAST:
        return
    share = frame.seconds / whole if whole else 1.0
    said = f"{frame.name}  {format_seconds(frame.seconds)}  {share:.1%}"
    yield "<g>"
    yield f"<title>{escape(said)}</title>"
    yield (
        f'<rect x="{x:.2f}" y="{y}" width="{max(width - 0.5, 0.1):.2f}" height="{ROW - 1}" '
        f'rx="1.5" fill="{_color(frame.name)}"/>'
    )
    letters = int((width - 6) / LETTER)
    if letters >= 2:
        text = said if len(said) <= letters else frame.name
        text = text if len(text) <= letters else f"{text[: letters - 1]}\u2026"
        yield f'<text x="{x + 3:.2f}" y="{y + 13}" fill="#0f172a">{escape(text)}</text>'
    yield "</g>"
    for inner in frame.inner.values():
        yield from _boxes(inner, x, y + ROW, scale, whole)
        x += inner.seconds * scale


def _color(name: str) -> str:
    """A warm color, the same for all that has a name, whatever its number is."""
    bare = "".join(each for each in name if not each.isdigit())
    if name == OWN:
        return "#cbd5e1"
    number = crc32(bare.encode())
    return f"hsl({18 + number % 38}, {70 + number // 38 % 20}%, {66 + number // 760 % 14}%)"

"""DOT: a picture in the language of Graphviz, and as SVG where Graphviz is installed."""

import shutil
import subprocess
from collections.abc import Iterator

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.workbench.drawing.picture import (
    INPUT,
    OUTPUT,
    PART,
    Picture,
    PictureBox,
    PictureFrame,
)

PROGRAM = "dot"
INDENT = "  "
FONT = "Helvetica,Arial,sans-serif"
LIMIT = 120  # seconds that a layout may take
# What is filled with numbers goes from the first to the second color, in red, green and blue.
COLD, HOT = (255, 255, 255), (244, 143, 70)
FILLS = {INPUT: "#dbeafe", OUTPUT: "#dcfce7", PART: "#f1f5f9"}
SHAPES = {INPUT: "oval", OUTPUT: "oval", PART: "box3d"}


def dot_lines(picture: Picture) -> Iterator[str]:
    """The lines of the digraph."""
    yield f"digraph {_quoted(picture.title)} {{"
    yield f"{INDENT}graph [fontname={_quoted(FONT)} fontsize=11 nodesep=0.25 ranksep=0.35]"
    yield (
        f"{INDENT}node [fontname={_quoted(FONT)} fontsize=10 shape=box"
        ' style="filled,rounded" fillcolor=white color="#64748b"]'
    )
    yield f'{INDENT}edge [fontname={_quoted(FONT)} fontsize=8 color="#64748b" arrowsize=0.6]'
    yield from _members(picture.root, INDENT)
    for (source, target), types in picture.arrows.items():
        label = f" [label={_quoted(chr(10).join(types))}]" if types else ""
        yield f"{INDENT}{source} -> {target}{label}"
    yield "}"


def svg_text(picture: Picture) -> str:
    """The picture as SVG, laid out by Graphviz.

    Raises:
        DiagnosticError: Graphviz is not installed, or fails.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        message = "an SVG is laid out by Graphviz, whose program `dot` is not installed"
        hint = "`apt install graphviz` or `brew install graphviz`; `--format dot` needs none"
        raise DiagnosticError(Diagnostic("target-unavailable", message, hint=hint))
    text = "\n".join(dot_lines(picture))
    try:
        done = subprocess.run(  # noqa: S603 - a program of the user's, which gets text alone
            [program, "-Tsvg"], input=text.encode(), capture_output=True, check=True, timeout=LIMIT
        )
    except (subprocess.SubprocessError, OSError) as error:
        message = f"Graphviz did not lay out the picture: {error}"
        hint = "fewer boxes by `--depth 1`"
        raise DiagnosticError(Diagnostic("compiler-failed", message, hint=hint)) from error
    return done.stdout.decode()


def heat_color(heat: float) -> str:
    """The color of a number between none and the largest: `#f48f46`."""
    mixed = (round(low + (high - low) * heat) for low, high in zip(COLD, HOT, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)


def _members(frame: PictureFrame, indent: str) -> Iterator[str]:
    for each in frame.members:
        if isinstance(each, PictureFrame):
            yield f"{indent}subgraph cluster_{each.id} {{"
            inner = indent + INDENT
            yield f'{inner}label={_quoted(each.title)} labeljust=l style="rounded" color="#94a3b8"'
            yield from _members(each, inner)
            yield f"{indent}}}"
        else:
            yield f"{indent}{each.id} [{_attributes(each)}]"


def _attributes(box: PictureBox) -> str:
    fill = heat_color(box.heat) if box.heat else FILLS.get(box.kind, "")
    found = {
        "label": _quoted("\n".join(box.lines)),
        "shape": SHAPES.get(box.kind, ""),
        "fillcolor": _quoted(fill) if fill else "",
    }
    return " ".join(f"{name}={value}" for name, value in found.items() if value)


def _quoted(text: str) -> str:
    """A string of DOT: its escapes are those of a backslash, a quote and a line break."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'

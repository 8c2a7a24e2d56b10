"""Texts of pictures: the language of Graphviz, SVG where Graphviz is installed, and Mermaid."""

import shutil
import subprocess
from collections.abc import Iterator

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.output_files import MARK
from tripybuild.workbench.drawing.picture import (
    INPUT,
    OUTPUT,
    PART,
    GraphPicture,
    PictureBox,
    PictureFrame,
)

PROGRAM = "dot"
INDENT = "  "
FONT = "Helvetica,Arial,sans-serif"
LIMIT = 120  # seconds that a layout may take
BREAK = "<br/>"
# How boxes of a kind begin and end in Mermaid.
FORMS = {INPUT: ("([", "])"), OUTPUT: ("([", "])"), PART: ("[[", "]]")}
# What has a meaning inside of quotes, as entities of Mermaid, which have no ampersand.
ENTITIES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "\\": "#92;"}
# What is filled with numbers goes from the first to the second color, in red, green and blue.
COLD, HOT = (255, 255, 255), (244, 143, 70)
FILLS = {INPUT: "#dbeafe", OUTPUT: "#dcfce7", PART: "#f1f5f9"}
SHAPES = {INPUT: "oval", OUTPUT: "oval", PART: "box3d"}


def dot_lines(picture: GraphPicture) -> Iterator[str]:
    """The lines of the digraph."""
    yield f"digraph {_dot_string(picture.title)} {{"
    yield f"{INDENT}graph [fontname={_dot_string(FONT)} fontsize=11 nodesep=0.25 ranksep=0.35]"
    yield (
        f"{INDENT}node [fontname={_dot_string(FONT)} fontsize=10 shape=box"
        ' style="filled,rounded" fillcolor=white color="#64748b"]'
    )
    yield f'{INDENT}edge [fontname={_dot_string(FONT)} fontsize=8 color="#64748b" arrowsize=0.6]'
    yield from _dot_members(picture.root, INDENT)
    for (source, target), types in picture.arrows.items():
        label = f" [label={_dot_string(chr(10).join(types))}]" if types else ""
        yield f"{INDENT}{source} -> {target}{label}"
    yield "}"


def svg_text(picture: GraphPicture) -> str:
    """The picture as SVG, laid out by Graphviz.

    Raises:
        DiagnosticError: Graphviz is not installed, or fails.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        message = "an SVG is laid out by Graphviz, whose program `dot` is not installed"
        hint = "`apt install graphviz` or `brew install graphviz`; `--as dot` needs none"
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
    return f"{done.stdout.decode().rstrip()}\n<!-- {MARK} -->\n"


def heat_color(heat: float) -> str:
    """The color of a number between none and the largest: `#f48f46`."""
    mixed = (round(low + (high - low) * heat) for low, high in zip(COLD, HOT, strict=True))
    return "#" + "".join(f"{each:02x}" for each in mixed)


def _dot_members(frame: PictureFrame, indent: str) -> Iterator[str]:
    for each in frame.members:
        if isinstance(each, PictureFrame):
            yield f"{indent}subgraph cluster_{each.id} {{"
            inner, title = indent + INDENT, _dot_string(each.title)
            yield f'{inner}label={title} labeljust=l style="rounded" color="#94a3b8"'
            yield from _dot_members(each, inner)
            yield f"{indent}}}"
        else:
            yield f"{indent}{each.id} [{_box_attributes(each)}]"


def _box_attributes(box: PictureBox) -> str:
    fill = heat_color(box.heat) if box.heat else FILLS.get(box.kind, "")
    found = {
        "label": _dot_string("\n".join(box.lines)),
        "shape": SHAPES.get(box.kind, ""),
        "fillcolor": _dot_string(fill) if fill else "",
    }
    return " ".join(f"{name}={value}" for name, value in found.items() if value)


def _dot_string(text: str) -> str:
    """A string of DOT: its escapes are those of a backslash, a quote and a line break."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def mermaid_lines(picture: GraphPicture) -> Iterator[str]:
    """The lines of the flowchart."""
    yield "flowchart TD"
    yield from _mermaid_members(picture.root, INDENT)
    for (source, target), types in picture.arrows.items():
        label = f'|"{BREAK.join(map(_entities, types))}"|' if types else ""
        yield f"{INDENT}{source} -->{label} {target}"
    for kind, fill in FILLS.items():
        yield f"{INDENT}classDef {kind} fill:{fill},stroke:#64748b,color:#0f172a"
    for box in picture.boxes():
        if box.kind in FILLS and not box.heat:
            yield f"{INDENT}class {box.id} {box.kind}"
        if box.heat:
            yield f"{INDENT}style {box.id} fill:{heat_color(box.heat)},color:#0f172a"


def _mermaid_members(frame: PictureFrame, indent: str) -> Iterator[str]:
    for each in frame.members:
        if isinstance(each, PictureFrame):
            yield f'{indent}subgraph {each.id} ["{_entities(each.title)}"]'
            yield from _mermaid_members(each, indent + INDENT)
            yield f"{indent}end"
        else:
            yield f"{indent}{_mermaid_box(each)}"


def _mermaid_box(box: PictureBox) -> str:
    begin, end = FORMS.get(box.kind, ("[", "]"))
    return f'{box.id}{begin}"{BREAK.join(map(_entities, box.lines))}"{end}'


def _entities(text: str) -> str:
    """A text inside of quotes."""
    return "".join(ENTITIES.get(each, each) for each in text)

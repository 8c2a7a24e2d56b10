"""Mermaid: a picture as a flowchart, which pages of Markdown show."""

from collections.abc import Iterator

from tripybuild.workbench.drawing.dot_text import FILLS, heat_color
from tripybuild.workbench.drawing.picture import (
    INPUT,
    OUTPUT,
    PART,
    Picture,
    PictureBox,
    PictureFrame,
)

INDENT = "  "
BREAK = "<br/>"
# How boxes of a kind begin and end.
FORMS = {INPUT: ("([", "])"), OUTPUT: ("([", "])"), PART: ("[[", "]]")}
# What has a meaning inside of quotes, as entities of Mermaid, which have no ampersand.
ENTITIES = {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "`": "#96;", "\\": "#92;"}


def mermaid_lines(picture: Picture) -> Iterator[str]:
    """The lines of the flowchart."""
    yield "flowchart TD"
    yield from _members(picture.root, INDENT)
    for (source, target), types in picture.arrows.items():
        label = f'|"{BREAK.join(map(_escaped, types))}"|' if types else ""
        yield f"{INDENT}{source} -->{label} {target}"
    for kind, fill in FILLS.items():
        yield f"{INDENT}classDef {kind} fill:{fill},stroke:#64748b,color:#0f172a"
    for box in picture.boxes():
        if box.kind in FILLS and not box.heat:
            yield f"{INDENT}class {box.id} {box.kind}"
        if box.heat:
            yield f"{INDENT}style {box.id} fill:{heat_color(box.heat)},color:#0f172a"


def _members(frame: PictureFrame, indent: str) -> Iterator[str]:
    for each in frame.members:
        if isinstance(each, PictureFrame):
            yield f'{indent}subgraph {each.id} ["{_escaped(each.title)}"]'
            yield from _members(each, indent + INDENT)
            yield f"{indent}end"
        else:
            yield f"{indent}{_box(each)}"


def _box(box: PictureBox) -> str:
    begin, end = FORMS.get(box.kind, ("[", "]"))
    return f'{box.id}{begin}"{BREAK.join(map(_escaped, box.lines))}"{end}'


def _escaped(text: str) -> str:
    """A text inside of quotes."""
    return "".join(ENTITIES.get(each, each) for each in text)

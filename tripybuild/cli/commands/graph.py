"""`tripybuild graph`: shows what a model computes, as text or as a picture."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.commands.compile import reject_spec_flags
from tripybuild.cli.console import json_text, terminal_width
from tripybuild.cli.function_reference import program, record_program
from tripybuild.cli.options import (
    ConfigFile,
    Inputs,
    Registries,
    SizeAssignment,
    SizeSettings,
    WeightsPath,
    shape,
)
from tripybuild.cli.usage_errors import conflict, wrong_argument
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from tripybuild.workbench.drawing.drawing import Drawing
    from tripybuild.workbench.drawing.overlays import NodeValues, Overlay

EXPLORER = "model-explorer"


class GraphFormat(StrEnum):
    """The forms of a drawing."""

    TEXT = "text"
    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"
    EXPLORER = EXPLORER


# What a file of each suffix holds.
SUFFIXES: Mapping[str, GraphFormat] = {
    ".txt": GraphFormat.TEXT,
    ".mmd": GraphFormat.MERMAID,
    ".dot": GraphFormat.DOT,
    ".gv": GraphFormat.DOT,
    ".svg": GraphFormat.SVG,
    ".json": GraphFormat.EXPLORER,
}
# How files in Graphviz's language, in Mermaid, of texts and of Model Explorer begin.
_CONTENTS = (
    re.compile(r"digraph "),
    re.compile(r"flowchart TD\n"),
    re.compile(r".*; <\.\.\.> is a weight\n"),
    re.compile(r'{\s*"label": ".*",\s*"graphs": \['),
)
Entry = Annotated[
    str | None, typer.Option(metavar="NAME", help="The entry, where there are several.")
]
Sizes = Annotated[
    SizeAssignment | None,
    typer.Option(
        "--shapes",
        metavar="B=1,S=128",
        parser=shape,
        help="Sizes that costs are for, instead of the `opt` of each range.",
    ),
]
Part = Annotated[
    str | None, typer.Option(metavar="PATH", help="Show this part alone, such as h.0.attn.")
]
Times = Annotated[
    Path | None,
    typer.Option(metavar="PROFILE.json", help="Times that `profile --json` measured."),
]
Overlays = Annotated[
    list[Path] | None,
    typer.Option(
        "--overlay",
        metavar="FILE.json",
        help="Numbers by the ids of operations, such as differences; may be repeated.",
    ),
]


@command
def draw_model(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC|EXE|FILE.py:f",
            help="The model's YAML file, an executable, or a function of a Python file, "
            "model.py:forward, which runs that file.",
        ),
    ],
    *,
    form: Annotated[
        GraphFormat | None,
        typer.Option("--as", help="What is written: by default what the suffix of -o says."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to a file.")
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="How deep parts are opened; as deep as can be looked at by default.",
        ),
    ] = None,
    part: Part = None,
    fold: Annotated[bool, typer.Option(help="Show equal parts of a list once, as h.0..11.")] = True,
    entry: Entry = None,
    shapes: Sizes = None,
    times: Times = None,
    overlays: Overlays = None,
    sizes: SizeSettings = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    inputs: Inputs = None,
    registry: Registries = None,
) -> CommandResult:
    """Show the graph of a model: parts, steps, types, costs and times."""
    from tripybuild.process.atomic_write import atomic_write  # noqa: PLC0415
    from tripybuild.process.output_files import check_overwrite  # noqa: PLC0415

    form = _form(form, output)
    if output is not None:
        check_overwrite(output, _is_drawing, "a drawing of tripybuild")
    given = {"sizes": sizes, "registry": registry, "weights": weights, "config": config}
    several = open_drawings(source, shapes.sizes if shapes else {}, inputs, given)
    chosen = choose_drawings(several, entry, part, source)
    columns = {each.label: read_columns(each, times, overlays) for each in chosen}
    texts = _texts(chosen, columns, form, depth, fold=fold)
    data = {"path": source.as_posix(), "graphs": [drawing_data(each) for each in chosen]}
    if output is None:
        return CommandResult(texts, data=data)
    with atomic_write(output) as stream:
        stream.write(f"{texts.rstrip()}\n".encode())
    return CommandResult(remark=f"Wrote the graph of `{source}` to `{output}`", data=data)


def _form(asked: GraphFormat | None, output: Path | None) -> GraphFormat:
    """The form that is asked for, or else that of the file.

    Raises:
        DiagnosticError: The suffix is of another form, or of none and none is asked for.
    """
    suffix = "" if output is None else output.suffix
    found = SUFFIXES.get(suffix, asked)
    if asked is not None and found is not asked:
        message = f"`{output}` is the name of a drawing as {found}, and not as {asked}"
        raise conflict(message, f"leave out `--as {asked}`, or name another file", "--as")
    if found is None and suffix:
        message = f"`{output}` does not say in which form to draw"
        known = ", ".join(f"`{each}`" for each in SUFFIXES)
        raise wrong_argument(message, f"suffixes that do are {known}; `--as` says it, too", "-o")
    return found or GraphFormat.TEXT


def open_drawings(
    source: Path,
    at: Mapping[str, int],
    inputs: list[Any] | None,
    given: Mapping[str, Any],
) -> "dict[str, Drawing]":
    """The drawings of what a user named, by the names of entries.

    Raises:
        DiagnosticError: It cannot be read, or an option is not for it.
    """
    from tripybuild.compiler.executable import is_executable  # noqa: PLC0415
    from tripybuild.packages.libraries import model_libraries, register_packages  # noqa: PLC0415
    from tripybuild.workbench.drawing import model_source  # noqa: PLC0415

    asked = program(source)
    if asked is not None:
        reject_spec_flags(source, **given)
        built = record_program(asked, inputs or []).compiler_input
        return model_source.built_drawings(built, at)
    if inputs:
        message = f"`{source}` declares its inputs itself"
        hint = "`--input` is for functions of Python files"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
    if is_executable(source):
        for name, flag in {"sizes": "--set", "weights": "--weights", "config": "--config"}.items():
            if given[name]:
                message = f"an executable is compiled already, and takes no `{flag}`"
                hint = "draw the spec that it was compiled from"
                raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
        if given["registry"]:
            register_packages(given["registry"])
        return model_source.executable_drawings(source, at)
    options = {name: each for name, each in given.items() if name != "registry"}
    options["sizes"] = {each.name: each.value for each in given["sizes"] or []}
    homes = model_libraries(given["registry"], source)
    return model_source.spec_drawings(source, at=at, homes=homes, **options)


def choose_drawings(
    several: "Mapping[str, Drawing]", entry: str | None, part: str | None, source: Path
) -> "list[Drawing]":
    """The drawing of an entry, or all of them where none is named; of a part alone, if asked."""
    from tripybuild.schema.model.entry_points import find_entry  # noqa: PLC0415
    from tripybuild.workbench.drawing.model_source import part_drawing  # noqa: PLC0415

    if part == "":
        hint = "write a path such as `--part h.0`, or leave it out for the whole model"
        raise wrong_argument("`--part` names no part", hint, "--part")
    found = list(several.values()) if entry is None else [find_entry(several, entry, str(source))]
    return found if part is None else [part_drawing(each, part) for each in found]


def read_columns(
    drawing: "Drawing", times: Path | None, overlays: list[Path] | None
) -> "list[NodeValues]":
    """What is beside the nodes: what was measured first, costs last."""
    from tripybuild.workbench.drawing.overlays import costs, read_overlay, read_times  # noqa: PLC0415

    found = [read_overlay(each, drawing) for each in overlays or []]
    if times is not None:
        found.append(read_times(times, drawing))
    return [*found, costs(drawing)]


def drawing_data(drawing: "Drawing") -> dict[str, Any]:
    """A drawing as JSON data."""
    from tripybuild.workbench.drawing.drawing import type_text  # noqa: PLC0415

    nodes = [
        {
            "id": node.id,
            "kind": node.kind,
            "label": node.label,
            "part": ".".join(node.part),
            "step": node.step,
            "line": node.place,
            "types": [type_text(each) for each in node.outputs],
            "reads": [[each.source, each.output, each.argument] for each in node.operands],
            "attributes": dict(node.attributes),
            "flops": node.flops,
            "bytes": node.bytes,
        }
        for node in drawing.nodes.values()
    ]
    outputs = {name: [each.source, each.output] for name, each in drawing.outputs.items()}
    found = {"model": drawing.name, "entry": drawing.entry, "sizes": dict(drawing.sizes)}
    return {**found, "nodes": nodes, "outputs": outputs}


def _texts(
    drawings: "list[Drawing]",
    columns: "Mapping[str, list[NodeValues]]",
    form: GraphFormat,
    depth: int | None,
    *,
    fold: bool,
) -> str:
    """The drawings in a form.

    Raises:
        DiagnosticError: The form shows one entry, and there are several.
    """
    from tripybuild.workbench.drawing.model_explorer import collection  # noqa: PLC0415
    from tripybuild.workbench.drawing.overlays import Overlay  # noqa: PLC0415

    if form is GraphFormat.EXPLORER:
        return json_text(collection(drawings))
    if form is not GraphFormat.TEXT and len(drawings) > 1:
        names = ", ".join(f"`--entry {each.entry}`" for each in drawings)
        message = f"a picture is of one entry, and `{drawings[0].name}` has {len(drawings)}"
        raise DiagnosticError(Diagnostic("unknown-entry", message, hint=f"choose by {names}"))
    found = [_text(each, Overlay(columns[each.label]), form, depth, fold=fold) for each in drawings]
    return "\n\n".join(found)


def _text(
    drawing: "Drawing", overlay: "Overlay", form: GraphFormat, depth: int | None, *, fold: bool
) -> str:
    from tripybuild.workbench.drawing.part_tree import part_tree  # noqa: PLC0415
    from tripybuild.workbench.drawing.picture import picture  # noqa: PLC0415
    from tripybuild.workbench.drawing.picture_text import (  # noqa: PLC0415
        dot_lines,
        mermaid_lines,
        svg_text,
    )
    from tripybuild.workbench.drawing.terminal_text import text_lines  # noqa: PLC0415

    tree = part_tree(drawing, fold=fold)
    if form is GraphFormat.TEXT:
        return "\n".join([*_head(drawing), *text_lines(tree, overlay, depth, terminal_width())])
    painted = picture(tree, overlay, depth)
    if form is GraphFormat.SVG:
        return svg_text(painted)
    return "\n".join((dot_lines if form is GraphFormat.DOT else mermaid_lines)(painted))


def _head(drawing: "Drawing") -> Iterator[str]:
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415

    count = len(drawing.operations)
    at = f", costs of {sizes_name(drawing.sizes)}" if drawing.sizes else ""
    yield f"{drawing.label}  {count} operations{at}; <...> is a weight"


def _is_drawing(path: Path) -> bool:
    """Whether a file has what is in each drawing of a form."""
    from tripybuild.process.output_files import MOST, is_own_picture  # noqa: PLC0415

    with path.open("rb") as stream:
        text = stream.read(MOST).decode(errors="replace")
    is_form = any(each.match(text) for each in _CONTENTS)
    return is_form or is_own_picture(path)

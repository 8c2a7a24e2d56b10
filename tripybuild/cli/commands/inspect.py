"""`tripybuild inspect`: describes an executable without running any part of it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import table_lines
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:
    from tripybuild.targets.executable_file import Description


@command
def inspect_executable(
    executable: Annotated[Path, typer.Argument(metavar="EXE", help="An executable.")],
    *,
    layers: Annotated[
        bool, typer.Option("--layers", help="List the layers of an engine as well.")
    ] = False,
) -> CommandResult:
    """Verify an executable, and show its signature and contents."""
    from tripybuild.artifact import container  # noqa: PLC0415
    from tripybuild.artifact.members import read_content  # noqa: PLC0415
    from tripybuild.targets.executable_file import check_manifest  # noqa: PLC0415

    with container.open(executable) as opened:
        manifest = opened.manifest
        contents = {name: opened.read(name) for name in manifest.members}
    content = manifest.content
    file = check_manifest(content, manifest.members)

    def read(name: str) -> memoryview:
        return read_content(contents[name])

    described = [file.describe(each, read, layers=layers) for each in content["entries"]]
    members = {name: each.size for name, each in manifest.members.items()}
    entries = [
        {**said, **found.data} for said, found in zip(content["entries"], described, strict=True)
    ]
    data = {"path": executable.as_posix(), **content, "entries": entries, "members": members}
    return CommandResult("\n".join(_lines(executable, content, members, described)), data=data)


def _lines(
    path: Path,
    content: Mapping[str, Any],
    members: Mapping[str, int],
    described: Sequence["Description"],
) -> Iterator[str]:
    """What a reader wants to know, in that order; what this version does not know comes last."""
    left = dict(content)
    yield f"{left.pop('model', '?')}  {path}"
    if doc := str(left.pop("doc", None) or "").strip():
        yield f"\n  {doc.splitlines()[0]}"
    yield f"\ntarget  {left.pop('target', '?')}"
    yield from table_lines("engine", dict(_engine_rows(left.pop("engine", {}))))
    for entry, found in zip(left.pop("entries"), described, strict=True):
        yield from _entry_lines(entry, found)
    left.pop("kind", None)
    left["sizes"] = dict(_size_rows("", left.get("sizes", {})))
    for title, entries in left.items():
        yield from _section(title, entries)
    yield from table_lines("members", {name: f"{size:,} bytes" for name, size in members.items()})


def _entry_lines(entry: Mapping[str, Any], found: "Description") -> Iterator[str]:
    """What one entry takes and gives, and what is compiled of it."""
    from tripybuild.artifact.manifest_schema import tensor_text  # noqa: PLC0415

    left = dict(entry)
    name, doc = left.pop("name"), left.pop("doc").strip()
    if name:
        yield f"\nentry  {name}"
    if doc:
        yield f"\n  {doc.splitlines()[0]}"
    for title in ("inputs", "outputs"):
        tensors = left.pop(title)
        yield from table_lines(title, {each["name"]: tensor_text(each) for each in tensors})
    ranges = left.pop("ranges")
    yield from table_lines(
        "ranges", {n: str(SizeRange.from_json(each)) for n, each in ranges.items()}
    )
    compiled = {
        each["name"] or "all sizes": _collectives_text(each) for each in left.pop("specialisations")
    }
    if mesh := left.pop("mesh", {}):
        axes = {name: f"{size} device{'s' * (size > 1)}" for name, size in mesh.items()}
        yield from table_lines("mesh", axes)
    yield from table_lines("compiled ahead for", compiled)
    for title, rows in found.tables:
        yield from table_lines(title, rows)
    for hidden in ("shapes", *found.hidden):
        left.pop(hidden, None)
    left["sizes"] = dict(_size_rows("", left.get("sizes", {})))
    for title, entries in left.items():
        yield from _section(title, entries)


def _collectives_text(compiled: Mapping[str, Any]) -> str:
    """What devices tell each other in one call and need for it, as far as no loop repeats it."""
    from tripybuild.process.memory import format_bytes  # noqa: PLC0415
    from tripybuild.process.quantities import format_count  # noqa: PLC0415

    if "collectives" not in compiled:
        return ""
    said, costs = compiled["collectives"].items(), compiled["costs"]
    texts = [f"{count} {name} of {format_bytes(size)}" for name, (count, size) in said]
    told = ", ".join(texts) or "no device tells another anything"
    flops = format_count(costs["flops"], "GTP")
    return f"{told}; each device takes {format_bytes(costs['memory'])} and {flops}FLOP"


def _engine_rows(engine: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What chose the engine, why, and what was seen of each."""
    if engine:
        yield "chosen by", engine["chosen_by"]
        yield "because", engine["because"]
    for name, took in engine.get("measured", {}).items():
        yield name, f"{took} ms"
    for name, words in engine.get("refused", {}).items():
        yield name, words


def _size_rows(path: str, sizes: object) -> Iterator[tuple[str, object]]:
    """Sizes by their paths, as `--set` takes them; those of a record stand below its name."""
    if isinstance(sizes, Mapping):
        for name, value in sizes.items():
            yield from _size_rows(f"{path}.{name}" if path else name, value)
    elif path:
        yield path, sizes


def _section(title: str, entries: object) -> Iterator[str]:
    if isinstance(entries, Mapping):
        rows = {name: _plain(each) for name, each in entries.items()}
        yield from table_lines(title, {name: text for name, text in rows.items() if text})
    elif isinstance(entries, list):
        yield from table_lines(title, {_plain(each): "" for each in entries})
    elif entries not in (None, ""):
        yield f"\n{title}  {_plain(entries)}"


def _plain(value: object) -> str:
    """A value of JSON as people write it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_plain(each)}" for name, each in value.items())
    if isinstance(value, list):
        return ", ".join(map(_plain, value))
    return "none" if value is None else " ".join(str(value).split())

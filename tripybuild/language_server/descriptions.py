"""Descriptions: what is known of a place, as Markdown, for hovers and beside completions."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from tripybuild.compiler.check.costs import PartCost
from tripybuild.documents.composer import Location
from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import Diagnostic, Span
from tripybuild.language_server.catalog import SPACES, Catalog
from tripybuild.language_server.findings import Findings, type_text, variables_at
from tripybuild.language_server.hints import join_types
from tripybuild.language_server.names import FILE, Occurrence, Symbol, entries
from tripybuild.language_server.occurrences import owner_of
from tripybuild.language_server.schema_keys import describe_key
from tripybuild.language_server.workspace import EditedFile, catalog_for, checkpoint_of
from tripybuild.process.memory import format_bytes
from tripybuild.types.size_range import SizeRange
from tripybuild.weights.files import Shard
from tripybuild.weights.names import name_in_file

MOST_TYPES = 6  # of one place that are shown


def hover(file: EditedFile, line: int, column: int) -> tuple[str, Span] | None:
    """What is known of a place, and the place; problems that are there come first."""
    analysis = file.analysis
    blocks: list[str] = []
    span: Span | None = None
    for each in problems_at(file, line, column):
        span = each.span
        blocks.append(problem_text(each))
    occurrence = analysis.names.at(line, column)
    if occurrence is not None:
        text = describe(file, occurrence)
        if text:
            blocks, span = [*blocks, text], occurrence.span
    elif not blocks:
        place = analysis.source.outline_path(line, len(analysis.source.lines[line]))
        word, start, end = analysis.source.word(line, column)
        if word and word in map(str, place.path[-1:]):
            text = describe_key(analysis.kind, place.path)
            span = Span("", line + 1, start + 1, line + 1, end + 1)
            blocks += [text] if text else []
    return ("\n\n---\n\n".join(blocks), span) if blocks and span is not None else None


def problems_at(file: EditedFile, line: int, column: int) -> Iterator[Diagnostic]:
    """The problems of the shown text that a place is in."""
    if file.findings is None or not file.is_current():
        return
    for each in (*file.findings.diagnostics, *file.findings.warnings):
        span = each.span
        here = (line + 1, column + 1)
        if span and (span.line, span.column) <= here <= (span.end_line, span.end_column):
            yield each


def problem_text(diagnostic: Diagnostic) -> str:
    """A problem with its notes, its hint and what its code means."""
    lines = [f"**{diagnostic.code}**: {diagnostic.message}"]
    lines += [f"_{diagnostic.label}_"] if diagnostic.label else []
    lines += diagnostic.notes
    lines += [f"Hint: {diagnostic.hint}"] if diagnostic.hint else []
    lines += [CODES[diagnostic.code]] if diagnostic.code in CODES else []
    return "\n\n".join(lines)


def describe(file: EditedFile, occurrence: Occurrence) -> str:
    """What is known of a name where it stands."""
    if occurrence.symbol is not None:
        return describe_symbol(file, occurrence.symbol)
    if occurrence.is_word or occurrence.space == ".":
        return ""
    if occurrence.space and occurrence.space not in SPACES:
        return "\n\n".join(_member_lines(file, occurrence))
    return catalog_for(file.analysis).page(occurrence.name, occurrence.space) or ""


def describe_symbol(file: EditedFile, symbol: Symbol) -> str:
    """What is known of a declared name."""
    analysis = file.analysis
    head = f"**{symbol.name}** · {symbol.kind}"
    if symbol.owner not in ((), FILE):
        head += f" of `{symbol.owner[-1]}`"
    blocks = [head]
    types = file.types(symbol.key)
    if symbol.kind in {"size", "dynamic size"}:
        blocks += _size_lines(file, symbol)
    elif types:
        shown = "\n".join(f"{symbol.name}: {each}" for each in types[:MOST_TYPES])
        blocks.append(f"```python\n{shown}\n```")
    written = analysis.document.at(symbol.key)
    if isinstance(written, (str, int, float)) and symbol.kind != "definition":
        blocks.append(f"```yaml\n{symbol.name}: {str(written).strip()}\n```")
    doc = entries(analysis.document.data, *symbol.key).get("doc")
    blocks += [doc.strip()] if isinstance(doc, str) else []
    if symbol.kind in {"part", "definition"}:
        blocks += _cost_lines(file, symbol)
        blocks += _module_lines(file, symbol, catalog_for(analysis))
    if symbol.kind == "weight":
        blocks += _weight_lines(file, symbol)
    return "\n\n".join(blocks)


def _size_lines(file: EditedFile, symbol: Symbol) -> Iterator[str]:
    """A size's number or range, and where it is set."""
    document = file.analysis.document
    for value in file.values(symbol.key):
        if isinstance(value, SizeRange):
            yield f"Range: {value}"
    numbers = [each for each in file.types(symbol.key) if each != symbol.name]
    plain = [each for each in numbers if not each.startswith("min ")]
    if symbol.kind == "size" and plain:
        yield f"`{symbol.name} = {' or '.join(plain[:MOST_TYPES])}`"
    span = document.span(symbol.key, key=not isinstance(symbol.key[-1], int))
    if symbol.kind == "dynamic size" and symbol.key[:1] != ("ranges",):
        yield f"Any size: `ranges:` says nothing of it. It is bound in line {span.line}."
    else:
        yield f"Set in line {span.line}"


def paths_of(file: EditedFile, symbol: Symbol) -> list[str]:
    """The paths that a part, or the parts of a definition, have in the model."""
    keys = [symbol.key]
    if symbol.kind == "definition":
        found = file.analysis.names.symbols.values()
        owner = ("define", symbol.name)
        parts = (s for s in found if s.kind == "part")
        keys = [s.key for s in parts if owner in file.analysis.names.definitions_of(s)]
    return [each for key in keys for each in file.values(key) if isinstance(each, str)]


def _cost_lines(file: EditedFile, symbol: Symbol) -> Iterator[str]:
    """Parameters, operations and bytes of a part, for the `opt` of each range."""
    paths = paths_of(file, symbol)
    for entry, row in part_costs(file.findings or file.last_types, paths[:1]):
        if row is not None:
            times = f" · {row.count} such parts, together" if row.count > 1 else ""
            name = f"`{entry}`: " if entry else ""
            yield (
                f"{name}{format_number(row.parameters)} parameters · "
                f"{format_number(row.flops, 'FLOP')} · {format_bytes(row.bytes)} moved · "
                f"{format_bytes(row.memory)} of activations{times}"
            )
    if paths:
        yield f"Path of its weights: `{paths[0]}`"


def part_costs(
    findings: Findings | None, paths: Sequence[str]
) -> Iterator[tuple[str, PartCost | None]]:
    """What parts cost in each entry of a model that is right."""
    checked = None if findings is None else findings.checked
    for name, entry in {} if checked is None else checked.entries.items():
        rows = cost_rows(entry.costs)
        for path in paths:
            starred = tuple("*" if each.isdigit() else each for each in path.split("."))
            yield name, rows.get(starred)


def cost_rows(costs: object) -> Mapping[tuple[str, ...], PartCost]:
    """The rows of a table of costs by path, made once for each table."""
    rows = _ROWS.get(id(costs))
    if rows is None or rows[0] is not costs:
        _ROWS.clear()
        found = {each.path: each for each in costs.rows()}  # type: ignore[attr-defined]
        rows = _ROWS[id(costs)] = (costs, found)
    return rows[1]


_ROWS: dict[int, tuple[object, Mapping[tuple[str, ...], PartCost]]] = {}


def _module_lines(file: EditedFile, symbol: Symbol, catalog: Catalog) -> Iterator[str]:
    """The module or the operator that a part is made of."""
    text = file.analysis.document.at(symbol.key)
    if isinstance(text, str):
        called = (o for o in file.analysis.names.occurrences if o.snippet == symbol.key)
        for each in called:
            if each.symbol is None and each.name in catalog.modules:
                form = catalog.call(each.name)
                if form is not None:
                    yield f"```python\n{form.label}\n```\n\n{form.summary}"


def stored_weights(file: EditedFile, symbol: Symbol) -> Iterator[tuple[Shard, str]]:
    """The files that hold a weight, with its name there, in the order of the model's parts."""
    found = checkpoint_of(file.analysis)
    if found is None:
        return
    entry, files = found
    paths = [symbol.name]
    if symbol.owner[:1] == ("define",):
        definition = file.analysis.names.lookup(FILE, str(symbol.owner[1]))
        above = [] if definition is None else paths_of(file, definition)
        paths = [f"{path}.{symbol.name}" for path in above]
    for path in paths:
        stored = name_in_file(path, entry)
        yield from ((shard, stored) for shard in files.shards if stored in shard.index)


def _member_lines(file: EditedFile, occurrence: Occurrence) -> Iterator[str]:
    """A weight of a part that is a module: its type in the model, and in the file."""
    names = file.analysis.names
    part = names.lookup(owner_of(occurrence.snippet), occurrence.space)
    findings = file.findings or file.last_types
    checked = None if findings is None else findings.checked
    for path in [] if part is None else paths_of(file, part)[:1]:
        name = f"{path}.{occurrence.name}"
        for entry in () if checked is None else checked.entries.values():
            if (value := entry.entry.graph.weights.get(name)) is not None:
                variables = variables_at(file.analysis.document, occurrence.snippet)
                yield f"**{name}** · weight\n\n```python\n{type_text(value.type, variables)}\n```"
                break
        found = checkpoint_of(file.analysis)
        for shard in () if found is None else found[1].shards:
            yield from _stored_line(shard, name if found is None else name_in_file(name, found[0]))


def _stored_line(shard: Shard, stored: str) -> Iterator[str]:
    if stored in shard.index:
        kind, shape = shard.index[stored]
        yield f"In `{shard.path.name}`: `{stored}`, {kind}[{', '.join(map(str, shape))}]"


def _weight_lines(file: EditedFile, symbol: Symbol) -> Iterator[str]:
    """What a file of weights holds for a weight."""
    for shard, stored in islice(stored_weights(file, symbol), MOST_TYPES):
        yield from _stored_line(shard, stored)


def type_summary(file: EditedFile, location: Location) -> str:
    """The types of a place on one line, for completions."""
    return join_types(file.types(location))


def format_number(number: int, unit: str = "") -> str:
    """A number for a reader: `22.7 M`, or `11.2 GFLOP`."""
    value, prefix = float(number), ""
    for larger in ("k", "M", "G", "T"):
        if value < 1000:
            break
        value, prefix = value / 1000, larger
    return f"{value:.1f} {prefix}{unit}" if prefix else f"{number} {unit}".strip()


def hint_tooltip(file: EditedFile, key: Location) -> str:
    """What the hint behind a key says when it is pointed at."""
    for symbol in file.analysis.names.symbols.values():
        if tuple(map(str, symbol.key)) == key:
            return describe_symbol(file, symbol)
    return ""

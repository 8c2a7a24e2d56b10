"""Completion and signature help: what may be written at a place."""

import re
from collections.abc import Iterator

from lsprotocol.types import (
    CompletionItem,
    CompletionItemKind as Kind,
    CompletionList,
    MarkupContent,
    MarkupKind,
    ParameterInformation,
    SignatureHelp,
    SignatureInformation,
)

from tripybuild.documents.composer import Location
from tripybuild.language_server.catalog import (
    SPACES,
    CallUsage,
    builder_names,
    builtin_catalog,
    function_call,
    words,
)
from tripybuild.language_server.descriptions import type_summary
from tripybuild.language_server.names import Owner, Symbol
from tripybuild.language_server.occurrences import OF_FILES, TOP, NameIndex, owner_of
from tripybuild.language_server.schema_keys import describe_key, keys_at, values_at
from tripybuild.language_server.source_text import OutlinePlace
from tripybuild.language_server.workspace import EditedFile, catalog_for, checkpoint_of
from tripybuild.schema.kinds import KINDS
from tripybuild.schema.reading_order import is_expression
from tripybuild.targets.table import TARGETS
from tripybuild.types.dtypes import BY_NAME

PARTS = "parts"
PATTERNS = frozenset({"inputs", "weights", "state", "tensors"})
LOWERINGS = frozenset({"tensorrt", "stablehlo", "onnx"})
_KINDS = {
    "size": Kind.Constant,
    "dynamic size": Kind.Constant,
    "part": Kind.Field,
    "definition": Kind.Class,
    "used definition": Kind.Class,
    "dtype": Kind.TypeParameter,
    "weight": Kind.Field,
    "state": Kind.Field,
}
_DOTTED = re.compile(r"([A-Za-z_][\w.]*)\.(\w*)$")
_STRING = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")


def complete(file: EditedFile, line: int, column: int) -> CompletionList:
    """What may stand at a place: keys of the schema, names, or words of a value."""
    analysis = file.analysis
    place = analysis.source.outline_path(line, column)
    items = list(_at_place(file, place))
    seen: dict[str, CompletionItem] = {}
    for each in items:
        seen.setdefault(each.label, each)
    return CompletionList(is_incomplete=False, items=list(seen.values()))


def _at_place(file: EditedFile, place: OutlinePlace) -> Iterator[CompletionItem]:
    kind = file.analysis.kind
    if not place.is_value:
        yield from _key_items(file, place)
        if place.path[:1] == ("ranges",) and len(place.path) == 1:
            yield from _symbols(file, TOP, {"dynamic size"})
        return
    yield from (CompletionItem(each, kind=Kind.Keyword) for each in values_at(kind, place.path))
    if place.path[:1] == ("weights",) and place.path[-1] in {"unused", "rename"}:
        yield from _stored_names(file)
    elif "targets" in place.path and len(place.path) == 1:
        yield from (CompletionItem(each, kind=Kind.EnumMember) for each in TARGETS)
    elif place.path[-1:] == ("like",) or place.path[-1:] == ("extends",):
        yield from _families(file)
    elif "types" in place.path:
        yield from _dtypes()
    elif len(place.path) > 1 and (place.path[-2] in PATTERNS or place.path[-1] == "type"):
        yield from _dtypes()
        yield from _symbols(file, owner_of(place.path), {"size", "dynamic size", "dtype"})
    elif is_snippet(kind, place.path):
        yield from _snippet_items(file, place)


def is_snippet(kind: str | None, path: Location) -> bool:
    """Whether the value at a path is an expression of the language."""
    if kind not in KINDS or not path:
        return False
    return is_expression(KINDS[kind], path) or bool(
        {"constants", "decompose", "reference", "lower", "call", "equivalents"} & {*path}
    )


def _key_items(file: EditedFile, place: OutlinePlace) -> Iterator[CompletionItem]:
    kind = file.analysis.kind
    for each in keys_at(kind, place.path):
        doc = describe_key(kind, (*place.path, each.name))
        yield CompletionItem(
            each.name,
            kind=Kind.Property,
            detail=each.form,
            documentation=MarkupContent(MarkupKind.Markdown, doc),
            insert_text=f"{each.name}:" if _is_nested(each.form) else f"{each.name}: ",
            sort_text=f"0{'0' if each.is_required else '1'}{each.name}",
        )


def _is_nested(form: str) -> bool:
    return form in {"a mapping", "a list"}


def _snippet_items(file: EditedFile, place: OutlinePlace) -> Iterator[CompletionItem]:
    typed = place.typed
    if _in_string(typed):
        return
    dotted = _DOTTED.search(typed)
    if dotted is not None:
        yield from _members(file, owner_of(place.path), dotted[1])
        return
    owner, catalog = owner_of(place.path), catalog_for(file.analysis)
    called = open_call(typed)
    if called is not None:
        form = call_form(file, owner, called[0], place.path)
        for text, doc in () if form is None else form.parameters:
            name = re.split(r"[:= ]", text.lstrip("*"))[0]
            if name:
                yield CompletionItem(f"{name}=", kind=Kind.Variable, detail=text, documentation=doc)
    makes = PARTS in place.path
    yield from _symbols(file, owner, set(OF_FILES) if makes else None)
    if not file.analysis.is_declaration or {"decompose", "shortcut", "call"} & {*place.path}:
        for name in sorted(catalog.operators):
            yield _callable(name, Kind.Function, "operator", 2 if makes else 1)
        for name in sorted(catalog.modules):
            yield _callable(name, Kind.Class, "module", 1 if makes else 2)
    kinds = LOWERINGS | {"reference", "decompose"}
    found = next((each for each in place.path if each in kinds), file.analysis.kind)
    for name, what in words(str(found)):
        yield CompletionItem(name, kind=Kind.Function, detail=what, sort_text=f"3{name}")


def _callable(name: str, kind: Kind, what: str, rank: int) -> CompletionItem:
    form = _signatures.get(name)
    return CompletionItem(
        name,
        kind=kind,
        detail=form.label if form is not None else what,
        documentation=form.summary if form is not None else None,
        data={"name": name},
        sort_text=f"{rank}{name}",
    )


_signatures: dict[str, CallUsage] = {}


def warm_signatures() -> None:
    """Read all operators once, so that completions have their signatures."""
    catalog = builtin_catalog()
    for name in sorted(catalog.operators | catalog.modules):
        form = catalog.call(name)
        if form is not None:
            _signatures[name] = form


def resolve(item: CompletionItem) -> CompletionItem:
    """A completion with the page of its operator."""
    data = item.data if isinstance(item.data, dict) else {}
    name, space = str(data.get("name", "")), str(data.get("space", ""))
    page = builtin_catalog().page(name, space) if name else None
    if page:
        item.documentation = MarkupContent(MarkupKind.Markdown, page)
    return item


def _symbols(file: EditedFile, owner: Owner, kinds: set[str] | None) -> Iterator[CompletionItem]:
    for symbol in file.analysis.names.visible(owner):
        if kinds is None or symbol.kind in kinds:
            yield _symbol_item(file, symbol)


def _symbol_item(file: EditedFile, symbol: Symbol) -> CompletionItem:
    type = type_summary(file, symbol.key)
    detail = f"{symbol.kind}: {type}" if type else symbol.kind
    kind = _KINDS.get(symbol.kind, Kind.Variable)
    return CompletionItem(symbol.name, kind=kind, detail=detail, sort_text=f"0{symbol.name}")


def _members(file: EditedFile, owner: Owner, chain: str) -> Iterator[CompletionItem]:
    """What may stand behind a dot: of a namespace, a part, `next`."""
    if chain in SPACES:
        for name in builder_names(chain):
            form = function_call(f"{chain}.{name}")
            label = name if form is None else form.label
            data = {"name": name, "space": chain}
            yield CompletionItem(name, kind=Kind.Function, detail=label, data=data)
        return
    index = file.analysis.names
    if chain == "next":
        yield from (_symbol_item(file, s) for s in index.visible(owner) if s.kind == "state")
        return
    first, *rest = chain.split(".")
    parts = [s for s in [index.lookup(owner, first)] if s is not None]
    for name in rest:
        parts = list(_member_symbols(index, parts, name))
    for part in parts:
        for place in index.definitions_of(part):
            held = ("part", "weight", "state", "prepared weight")
            found = (s for (at, _), s in index.symbols.items() if at == place and s.kind in held)
            yield from (_symbol_item(file, symbol) for symbol in found)
        yield from _module_members(file, part)


def _member_symbols(index: NameIndex, parts: list[Symbol], name: str) -> Iterator[Symbol]:
    for part in parts:
        for place in index.definitions_of(part):
            if (found := index.symbols.get((place, name))) is not None:
                yield found


def _module_members(file: EditedFile, part: Symbol) -> Iterator[CompletionItem]:
    """The weights of a part that is a module."""
    catalog = catalog_for(file.analysis)
    for each in file.analysis.names.occurrences:
        if each.snippet == part.key and each.symbol is None and each.name in catalog.modules:
            module = catalog.module(each.name)
            for name in () if module is None else module.file.weights:
                yield CompletionItem(name, kind=Kind.Field, detail=f"weight of {each.name}")


def _dtypes() -> Iterator[CompletionItem]:
    yield from (CompletionItem(each, kind=Kind.TypeParameter, detail="dtype") for each in BY_NAME)


def _families(file: EditedFile) -> Iterator[CompletionItem]:
    folder = file.path.parent
    for root in (folder, *list(folder.parents)[:2]):
        for path in sorted(root.glob("families/*.yaml")):
            yield CompletionItem(path.stem, kind=Kind.Class, detail="family")


def _stored_names(file: EditedFile) -> Iterator[CompletionItem]:
    found = checkpoint_of(file.analysis)
    for shard in () if found is None else found[1].shards:
        for name, (kind, shape) in shard.index.items():
            detail = f"{kind}[{', '.join(map(str, shape))}]"
            yield CompletionItem(name, kind=Kind.Value, detail=detail)


# --- signatures ---


def _in_string(typed: str) -> bool:
    rest = _STRING.sub("", typed)
    return rest.count("'") % 2 == 1 or rest.count('"') % 2 == 1


def open_call(typed: str) -> tuple[str, int, str] | None:
    """The call whose arguments are being typed: its name, which argument, and its keyword."""
    text = _STRING.sub(lambda match: "_" * len(match[0]), typed)
    depth, commas, end = 0, 0, len(text)
    for index in range(len(text) - 1, -1, -1):
        character = text[index]
        if character in ")]}":
            depth += 1
        elif character in "([{" and depth:
            depth -= 1
        elif character == "(":
            name = re.search(r"[A-Za-z_][\w.]*$", text[:index])
            if name is not None:
                word = re.match(r"\s*(\w+)\s*=(?!=)", text[end:] if commas else text[index + 1 :])
                return name[0], commas, word[1] if word else ""
            commas, end = 0, index
        elif character in "[{":
            commas, end = 0, index
        elif character == "," and not depth:
            end = index + 1 if not commas else end
            commas += 1
    return None


def call_form(file: EditedFile, owner: Owner, name: str, path: Location) -> CallUsage | None:
    """How what a name stands for is called where it is written."""
    if name.rpartition(".")[0] in SPACES:
        return function_call(name)
    index = file.analysis.names
    symbol = index.lookup(owner, name, made=PARTS in path)
    if symbol is None:
        return catalog_for(file.analysis).call(name)
    for place in index.definitions_of(symbol):
        key = "sizes" if symbol.kind == "definition" and PARTS in path else "inputs"
        held = file.analysis.document.at((*place, key))
        listed = held if isinstance(held, list) else []
        given = held if isinstance(held, dict) else dict.fromkeys(map(str, listed))
        texts = tuple(
            (f"{n}: {t}" if isinstance(t, str) and t else str(n), "") for n, t in given.items()
        )
        doc = file.analysis.document.at((*place, "doc"))
        return CallUsage(name, texts, "", doc if isinstance(doc, str) else "", symbol.kind)
    for each in index.occurrences:
        if each.snippet == symbol.key and each.symbol is None:
            module = catalog_for(file.analysis).module(each.name)
            if module is not None:
                inputs = module.file.inputs.items()
                texts = tuple((f"{n}: {getattr(t, 'type', t)}", "") for n, t in inputs)
                return CallUsage(name, texts, "", module.file.doc, each.name)
    return None


def signature_help(file: EditedFile, line: int, column: int) -> SignatureHelp | None:
    """The signature of the call whose arguments are being typed."""
    source = file.analysis.source
    place = source.outline_path(line, column)
    called = open_call(place.typed)
    if called is None or not place.is_value:
        return None
    name, index, word = called
    form = call_form(file, owner_of(place.path), name, place.path)
    if form is None:
        return None
    given = [ParameterInformation(text, doc or None) for text, doc in form.parameters]
    names = [re.split(r"[:= ]", text)[0] for text, _ in form.parameters]
    active = names.index(word) if word in names else index
    doc = MarkupContent(MarkupKind.Markdown, form.doc) if form.doc else None
    information = SignatureInformation(form.label, doc, given)
    return SignatureHelp([information], 0, min(active, max(len(given) - 1, 0)))

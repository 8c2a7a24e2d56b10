"""Consistency checks of a part's entries: matching types, unique names."""

import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.language.names import free_names
from tripybuild.schema.files import ModuleExampleEntry, PartEntry
from tripybuild.schema.operator.operator import Law, Location
from tripybuild.schema.snippets.vocabularies import DTYPES, SHAPE
from tripybuild.types.patterns import Pattern, TensorPattern, TensorsPattern

TENSOR_HINT = (
    "a tensor's type is a dtype with a shape, such as `float32[B, 8]`; "
    "`[()]` is the shape of a scalar"
)
# An input of a part, an input of the whole model, or a weight or state.
Role = Literal["input", "model input", "held"]
HOLDERS = ("inputs", "parts", "constants", "weights", "state")


def check_type(
    pattern: Pattern, role: Role, variables: frozenset[str], document: Document, at: Location
) -> Iterator[Diagnostic]:
    """A value is a tensor; only what a part takes can be of any dtype, or be several."""
    takes_any = role == "input"
    each = pattern.each if takes_any and isinstance(pattern, TensorsPattern) else pattern
    span = document.span(at)
    if not isinstance(each, TensorPattern):
        message = f"`{pattern}` is not the type of a tensor"
        yield Diagnostic("type-syntax", message, span, hint=TENSOR_HINT)
        return
    known = variables | DTYPES | ({"any"} if takes_any else set())
    if each.element not in known:
        yield _no_dtype(each.element, known, document, at)
    if takes_any:
        return
    if each.shape is None or any(str(dimension) in ("...", "Ellipsis") for dimension in each.shape):
        message = f"`{pattern}` leaves the shape open, and is not an input of a part"
        yield Diagnostic("type-syntax", message, span, hint=TENSOR_HINT)
    elif role == "model input":
        for dimension in each.shape:
            if dimension.star:
                message = f"`{dimension}`: the rank of a model's input is fixed"
                yield Diagnostic("type-syntax", message, span)


def check_types(
    types: Mapping[str, str | list[str]], document: Document, at: Location
) -> Iterator[Diagnostic]:
    """What `types:` names are dtypes."""
    for name, said in types.items():
        for text in [said] if isinstance(said, str) else said:
            if text not in DTYPES:
                yield _no_dtype(text, DTYPES, document, (*at, "types", name))


def check_laws(
    laws: Iterable[Law], sizes: Sequence[str], examples: Sequence[ModuleExampleEntry]
) -> Iterator[Diagnostic]:
    """What a module requires is about its sizes, and each law has an example that breaks it."""
    known = {*sizes, *DTYPES, *SHAPE}
    broken = {example.fails for example in examples}
    for law in laws:
        for name in free_names(law.that.program):
            if name not in known:
                near = suggest(name, known)
                hint = f"did you mean `{near}`?" if near else "a law of a module is about its sizes"
                message = f"`requires.{law.name}` uses `{name}`, which is not a size"
                yield Diagnostic("unbound-name", message, law.that.span(), hint=hint)
        if law.name not in broken:
            message = f"no example breaks the law `{law.name}`"
            hint = f"add one to `examples:`, with `fails: {law.name}`"
            yield Diagnostic("bad-example", message, law.that.span(), hint=hint)


def check_names(entry: PartEntry, document: Document, at: Location) -> Iterator[Diagnostic]:
    """Each name of a part is given once: a step does not hide an input, a weight or a part."""
    seen: dict[str, str] = {}
    for holder in (*HOLDERS, "steps", "outputs"):
        for key in getattr(entry, holder):
            span = document.span((*at, holder, key), key=True)
            several = holder in ("steps", "outputs")
            for name in map(str.strip, key.split(",") if several else (key,)):
                if name in seen and holder != "outputs":
                    message = f"`{name}` is given by `{seen[name]}` already"
                    yield Diagnostic("given-twice", message, span)
                seen.setdefault(name, holder)
                own = "__" in name or (holder == "outputs" and name.startswith("_"))
                is_name = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
                if own or not is_name:
                    what = "an output" if holder == "outputs" else "a step"
                    message = f"`{name}` cannot be the name of {what}"
                    yield Diagnostic("bad-name", message, span)
    for key in entry.next:
        if key not in entry.state:
            near = suggest(key, entry.state)
            hint = f"did you mean `{near}`?" if near else None
            span = document.span((*at, "next", key), key=True)
            yield Diagnostic("unbound-name", f"no state is called `{key}`", span, hint=hint)


def _no_dtype(
    name: str, known: frozenset[str] | set[str], document: Document, at: Location
) -> Diagnostic:
    near = suggest(name, known)
    hint = f"did you mean `{near}`?" if near else f"the dtypes are {', '.join(sorted(DTYPES))}"
    return Diagnostic("unknown-dtype", f"`{name}` is not a dtype", document.span(at), hint=hint)

"""The types that a model's file declares: what may stand in each place."""

from collections.abc import Iterator, Mapping
from typing import Literal

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.schema.operator.operator import Location
from tripybuild.schema.snippets.vocabularies import DTYPES
from tripybuild.types.patterns import Pattern, TensorPattern, TensorsPattern

TENSOR_HINT = (
    "a tensor's type is a dtype with a shape, such as `float32[B, 8]`; "
    "`[()]` is the shape of a scalar"
)
# An input of a part, an input of the whole model, or a weight or state.
Role = Literal["input", "model input", "held"]


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


def _no_dtype(
    name: str, known: frozenset[str] | set[str], document: Document, at: Location
) -> Diagnostic:
    near = suggest(name, known)
    hint = f"did you mean `{near}`?" if near else f"the dtypes are {', '.join(sorted(DTYPES))}"
    return Diagnostic("unknown-dtype", f"`{name}` is not a dtype", document.span(at), hint=hint)

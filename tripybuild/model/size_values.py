"""Values of the fixed sizes of a file: expressions, records, and what a caller puts in their place.

A record that is being read is seen by its later entries: `text: {width: 8, head: text.width // 4}`.
"""

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from tripybuild.documents.document import Document
from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.language.records import Record
from tripybuild.model.config import CONFIG, config_record, plain_data
from tripybuild.model.context import BuildContext, NonterminationError
from tripybuild.model.size_types import SizeTypeError, fit_size, pattern_of
from tripybuild.schema.model.sizes import SizeList, SizeNode, SizeRecord, names_read
from tripybuild.schema.operator.operator import Location, Snippet
from tripybuild.schema.operator.part import PartParameter
from tripybuild.types.dtypes import BY_NAME, dtype

OWN = object()  # the file's own value counts
Chosen = Mapping[str, Any]


def nested_choices(overrides: Mapping[str, object]) -> dict[str, Any]:
    """What a caller chose, records as mappings: `{"text": {"depth": 2}}` for `text.depth`.

    Raises:
        DiagnosticError: A size and something in it are both chosen.
    """
    found: dict[str, Any] = {}
    for path, value in overrides.items():
        *heads, last = path.split(".")
        place = found
        for head in heads:
            place = place.setdefault(head, {})
            if not isinstance(place, dict):
                break
        if not isinstance(place, dict) or last in place:
            message = f"`{path}` is set twice"
            raise DiagnosticError(Diagnostic("wrong-value", message))
        place[last] = value
    return found


def read_sizes(
    context: BuildContext,
    document: Document,
    declared: Mapping[str, SizeNode],
    types: Mapping[str, dtype],
    sizes: dict[str, Any],
    chosen: Chosen,
) -> None:
    """Add the fixed sizes of one file; what is wrong with them is kept in the context.

    Args:
        context: The build.
        document: The file.
        declared: What it says of its sizes.
        types: Its dtypes.
        sizes: Takes the values; what is there already can be read.
        chosen: Values in the place of the file's own, records as mappings.
    """
    reader = _SizeReader(context, document, types, sizes)
    if CONFIG in sizes and CONFIG in chosen:
        reader.override_config(chosen[CONFIG])
    for name, node in declared.items():
        reader.read(name, node, chosen.get(name, OWN))


class _SizeReader:
    def __init__(
        self,
        context: BuildContext,
        document: Document,
        types: Mapping[str, dtype],
        sizes: dict[str, Any],
    ) -> None:
        self.context, self.document, self.sizes = context, document, sizes
        known: list[dict[str, Any]] = [dict(types), sizes, dict(BY_NAME)]
        self.known: Mapping[str, object] = ChainMap(*known)  # a copy for each would be squared
        self.lost: set[str] = set()
        self.open: dict[str, Any] = {}  # the entries of the record that is being read

    def read(self, name: str, node: SizeNode, chosen: Any) -> None:
        """Give one size its value, unless it reads one that has none."""
        if not self.lost.isdisjoint(names_read(node)):
            self.lost.add(name)
            return
        problems = len(self.context.found)
        self.open = {}
        try:
            value = self._value(node, chosen, name, ("sizes", name), self.open)
        except NonterminationError:
            raise
        except DiagnosticError as error:
            self.context.report(error)
            problems = -1
        if problems != len(self.context.found):
            self.lost.add(name)
            self.sizes.pop(name, None)
        else:
            self.sizes[name] = value

    def override_config(self, chosen: Any) -> None:
        """Put other values in the place of some of the configuration's."""
        try:
            self.sizes[CONFIG] = self.override(self.sizes[CONFIG], chosen, CONFIG, (CONFIG,))
        except DiagnosticError as error:
            self.context.report(error)
            self.lost.add(CONFIG)

    def _value(
        self, node: SizeNode, chosen: Any, path: str, at: Location, fields: dict[str, Any]
    ) -> Any:
        """The value of a size; `fields` are the entries of a record as they are found."""
        match node:
            case SizeRecord(entries=entries):
                return self._record(entries, chosen, path, at, fields)
            case SizeList(items=items):
                if chosen is not OWN:
                    return self._fit([], chosen, path, at)
                inner = enumerate(items)
                return [self._value(e, OWN, f"{path}[{i}]", (*at, i), {}) for i, e in inner]
            case PartParameter():
                return self._declared(node, chosen, path, at)
        if chosen is OWN:
            return self._evaluate(node, path)
        try:
            own = self._evaluate(node, path)
        except NonterminationError:
            raise
        except DiagnosticError:  # it has no value, which is why another one is chosen
            own = None
        return self.override(own, chosen, path, at)

    def _record(
        self,
        entries: Mapping[str, SizeNode],
        chosen: Any,
        path: str,
        at: Location,
        fields: dict[str, Any],
    ) -> Record:
        if chosen is OWN:
            chosen = {}
        self._check_keys(entries, chosen, path, at)
        for name, node in entries.items():
            inner: dict[str, Any] = {}
            if isinstance(node, SizeRecord):
                fields[name] = inner
            below = chosen.get(name, OWN)
            fields[name] = self._value(node, below, f"{path}.{name}", (*at, name), inner)
        return Record(path, fields)

    def _declared(self, size: PartParameter, chosen: Any, path: str, at: Location) -> Any:
        if chosen is OWN and size.default is None:
            message = f"`{path}` has no default, and no value"
            is_model = self.document is self.context.document
            hint = (
                f"`--set {path}=...` gives it one" if is_model else "it is handed over by `with:`"
            )
            raise DiagnosticError(
                Diagnostic("size-missing", message, self.document.span(at), hint=hint)
            )
        if chosen is OWN or (chosen is None and size.optional):
            assert size.default is not None
            value, span = self._evaluate(size.default, path), size.default.span()
        else:
            value, span = self._plain(chosen, path, at), self.document.span(at)
        if value is None and size.takes_none:
            return None
        return self._fitting(size.pattern, value, path, span)

    def override(self, own: Any, chosen: Any, path: str, at: Location) -> Any:
        """What a caller chose in the place of a plain size, which it must be like."""
        if not isinstance(own, Record):
            return self._fit(own, chosen, path, at)
        self._check_keys(own, chosen, path, at)
        fields = {name: own[name] for name in own}
        for name in chosen:
            fields[name] = self.override(own[name], chosen[name], f"{path}.{name}", at)
        return own.with_fields(fields)

    def _fit(self, own: Any, chosen: Any, path: str, at: Location) -> Any:
        value = self._plain(chosen, path, at)
        return self._fitting(pattern_of(own), value, path, self.document.span(at))

    def _fitting(self, pattern: Any, value: Any, path: str, span: Span) -> Any:
        try:
            return fit_size(pattern, value)
        except SizeTypeError as error:
            message = f"`{path}` {error}"
            raise DiagnosticError(
                Diagnostic("wrong-value", message, span, hint=error.hint)
            ) from error

    def _plain(self, chosen: Any, path: str, at: Location) -> Any:
        """What a caller chose, with records; dtypes and sizes of a using file stay."""
        if not isinstance(chosen, (Mapping, list, tuple)):
            return chosen
        try:
            return config_record(path, plain_data(chosen, path), None)
        except ValueError as error:
            span = self.document.span(at)
            raise DiagnosticError(Diagnostic("wrong-value", str(error), span)) from error

    def _check_keys(self, known: Any, chosen: Any, path: str, at: Location) -> None:
        """Refuse what is chosen for a record, where it is none or has other keys."""
        span = self.document.span(at, key=True)
        if not isinstance(chosen, (Mapping, Record)):
            message = f"`{path}` {SizeTypeError('a record', chosen)}"
            first = next(iter(known), None)
            hint = f"set what is in it: `{path}.{first}`" if first else None
            raise DiagnosticError(Diagnostic("wrong-value", message, span, hint=hint))
        for name in chosen:
            if name not in known:
                near = suggest(str(name), known)
                keys = ", ".join(f"`{path}.{each}`" for each in known)
                hint = f"did you mean `{path}.{near}`?" if near else f"it has {keys or 'no keys'}"
                message = f"`{path}` has no key `{name}`"
                raise DiagnosticError(Diagnostic("unknown-size", message, span, hint=hint))

    def _evaluate(self, snippet: Snippet, path: str) -> Any:
        top = path.partition(".")[0].partition("[")[0]
        if top != path and top in names_read(snippet):
            self.sizes[top] = self._open_record(top, self.open)
        with self.context.at(snippet, path):
            return self.context.evaluate(snippet, self.known)

    def _open_record(self, path: str, fields: Mapping[str, Any]) -> Record:
        """A record as far as it has been read."""
        spend("bindings", len(fields) + 1)
        found = {
            name: self._open_record(f"{path}.{name}", value) if type(value) is dict else value
            for name, value in fields.items()
        }
        return Record(path, found)

"""Templates: definitions and modules as values, with bound sizes, repeatable.

A template has no weights. Made into an instance (`model.instances`), it gets a path, and weights
below.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.checks.check import Check
from tripybuild.frontend.checks.messages import law_message
from tripybuild.language.evaluate import evaluate
from tripybuild.language.names import free_names
from tripybuild.language.records import Record
from tripybuild.model.context import BuildContext, FileScope
from tripybuild.model.size_types import SizeTypeError, fit_size
from tripybuild.schema.operator.part import Part, PartParameter
from tripybuild.trace.location import caller_location
from tripybuild.trace.operation import Declaration, Law
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import ValuePattern
from tripybuild.types.vocabulary import SHAPE


@dataclass(frozen=True, slots=True, eq=False)
class Repeatable(ABC):
    """What parts are made of, each with weights of its own."""

    context: BuildContext

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the definition or module."""

    @abstractmethod
    def identity(self) -> tuple[object, ...]:
        """What tells it from others."""

    def __mul__(self, count: object) -> list[Self]:
        """`block * depth`: a chain of parts."""
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= 10_000:
            raise self.argument_error(
                f"`{self.name}` can be repeated 0 to 10000 times, not {count!r} times"
            )
        return [self] * count

    __rmul__ = __mul__

    def argument_error(self, message: str) -> DiagnosticError:
        """Error for what a definition or a module cannot be made with."""
        return DiagnosticError(Diagnostic("part-arguments", message, self.context.current_span()))


@dataclass(frozen=True, slots=True, eq=False)
class Template(Repeatable):
    """A definition with the sizes that it will be made with, and what it sees."""

    NOUN: ClassVar = "a definition"  # in messages of snippets

    part: Part
    scope: FileScope
    sizes: Mapping[str, object] | None = None

    @property
    def name(self) -> str:
        """The name of the definition."""
        return self.part.name

    def identity(self) -> tuple[object, ...]:
        """Definitions of one name can be of several files."""
        types, sizes = identity_items(self.scope.types), identity_items(self.sizes or {})
        return (id(self.part), *types, *sizes)

    def __call__(self, *given: object, **named: object) -> "Template":
        """`Linear(width, 3 * width, bias=False)`: bind the sizes."""
        parameters = self.part.parameters
        names = [parameter.name for parameter in parameters]
        sizes = dict(zip(names, given, strict=False)) | named
        refuse_types(self.context, self.part, names, named)
        extra = [*sorted(set(named) - set(names)), *sorted(set(names[: len(given)]) & set(named))]
        if len(given) > len(names) or extra:
            extra = extra or [f"{len(given)} values"]
            raise self.argument_error(
                f"`{self.part.name}` takes {join_names(names)}, but got {', '.join(extra)}"
            )
        for parameter in parameters:
            left_out = parameter.optional and sizes.get(parameter.name) is None
            if left_out or parameter.name not in sizes:
                if parameter.default is None:
                    raise self.argument_error(f"`{self.part.name}` needs `{parameter.name}`")
                spend("bindings", len(self.scope.sizes))
                sizes[parameter.name] = self.context.evaluate(
                    parameter.default, {**self.scope.types, **self.scope.sizes, **sizes}
                )
            sizes[parameter.name] = self._checked(parameter, sizes[parameter.name])
            sizes[parameter.name] = _repeat_value(parameter, sizes[parameter.name])
        if self.part.laws:
            self._require(sizes)
        return replace(self, sizes=sizes)

    def _checked(self, parameter: PartParameter, value: object) -> object:
        if parameter.variable is not None and not isinstance(value, dtype):
            message = f"`{parameter.name}` of `{self.part.name}` is a dtype, but this is {value!r}"
            hint = "pass what follows it by keyword"
            raise DiagnosticError(
                Diagnostic("part-arguments", message, self.context.current_span(), hint=hint)
            )
        allowed = self.part.allowed.get(parameter.variable or "")
        if allowed is not None and str(value) not in allowed:
            raise self.argument_error(
                f"`{self.part.name}` can be of {' or '.join(allowed)}, but not of {value}"
            )
        if not parameter.declared or (value is None and parameter.takes_none):
            return value
        try:
            return fit_size(parameter.pattern, value)
        except SizeTypeError as error:
            message = f"`{parameter.name}` of `{self.name}` {error}"
            place = self.context.current_span()
            found = Diagnostic("part-arguments", message, place, hint=error.hint)
            raise DiagnosticError(found) from error

    def _require(self, sizes: Mapping[str, object]) -> None:
        """Hold the sizes against the laws of the part."""
        part, context = self.part, self.context
        known = {
            **BY_NAME,
            **self.scope.types,
            **self.scope.sizes,
            **sizes,
            **dict(self._normalize_sizes(sizes)),
        }
        for law in part.laws.values():
            if not context.evaluate(law.that, known):
                names = {
                    name: known[name] for name in free_names(law.that.program) if name in sizes
                }
                spoken = Law(law.that.text, law.message)
                message, label = law_message(part.name, spoken, names)
                notes = (f"required by {law.that.span()}",)
                code = f"{part.name}/{law.name}"
                place = context.current_span()
                raise DiagnosticError(Diagnostic(code, message, place, label, notes, law.hint))

    def _normalize_sizes(self, sizes: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        """The sizes as laws read them: so many integers for one that stands for several."""
        check = Check(Declaration(self.part.name, self.part.document.path), caller_location(()))
        for parameter in self.part.parameters:
            name, pattern = parameter.name, parameter.pattern
            if isinstance(sizes[name], (int, float, list, tuple)) and isinstance(
                pattern, ValuePattern
            ):
                yield name, _check_size(check, name, pattern, sizes)

    def __repr__(self) -> str:
        if self.sizes is None:
            return f"the definition `{self.part.name}`"
        given = ", ".join(f"{name}={size!r}" for name, size in self.sizes.items())
        return f"the definition `{self.part.name}({given})`"  # its sizes tell it from others


def _repeat_value(parameter: PartParameter, value: object) -> object:
    """A value; a list of it where one stands for several, as in `int | int[...]`."""
    pattern = parameter.pattern
    alone = isinstance(pattern, ValuePattern) and pattern.alone
    return [value] if alone and not isinstance(value, (list, tuple)) else value


def _check_size(
    check: Check, name: str, pattern: ValuePattern, sizes: Mapping[str, object]
) -> object:
    """A size, if it is of its type; the other sizes say how long it is."""
    value = sizes[name]
    lengths = [evaluate(n, sizes, SHAPE) for n in pattern.lengths or ()]
    match pattern.kind:
        case "int":
            several = pattern.lengths is not None
            return check.sizes(name, value, *lengths) if several else check.size(name, value)
        case "float":
            return check.real(name, value)
        case "bool":
            return check.boolean(name, value)
    return value


def join_names(names: Sequence[str], none: str = "no sizes") -> str:
    """Names for a message."""
    return ", ".join(f"`{name}`" for name in names) or none


def refuse_types(
    context: BuildContext, part: Part, names: Sequence[str], named: Mapping[str, object]
) -> None:
    """`types=` is no size and no input: a part has the dtypes that its own file says."""
    if "types" in named and "types" not in names:
        message = f"`{part.name}` has the dtypes of its definition; a call cannot change them"
        hint = "write `types:` in the definition, and `cast` its inputs and outputs"
        raise DiagnosticError(
            Diagnostic("part-arguments", message, context.current_span(), hint=hint)
        )


def identity_items(values: Mapping[str, object]) -> Iterator[object]:
    """What tells a part's sizes and dtypes from others."""
    for name, value in values.items():
        yield name, _identity(value)


def _identity(value: object) -> object:
    if isinstance(value, Repeatable):
        return value.identity()
    if isinstance(value, Record):
        return Record, value.key()
    if isinstance(value, (list, tuple)):
        spend("steps", len(value))
        return type(value), *map(_identity, value)
    return repr(value)

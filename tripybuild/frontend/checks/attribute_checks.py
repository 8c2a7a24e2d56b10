"""Attribute checks: each kind normalizes a value or reports what it expects.

Normalized means: nothing negative that counts from the end, nothing left out, tuples for lists.
"""

import operator
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NoReturn, Protocol, overload

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Related, Span
from tripybuild.frontend.checks.call_site import CallSite, call_at, origins
from tripybuild.frontend.checks.habits import habit
from tripybuild.frontend.checks.indexing import Index, IndexFormError, refuse_list, resolve
from tripybuild.frontend.checks.messages import (
    format_value,
    found_text,
    nearest_dtype,
    python_hint,
    replace_names,
)
from tripybuild.process.law_lines import law_location
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import dimension_of
from tripybuild.trace.location import Location, PythonLocation
from tripybuild.trace.operation import Declaration, Law
from tripybuild.trace.values import Size, is_tensor
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.subscripts import EquationError, explicit


class Device(Protocol):
    """Where a tensor can be."""

    @property
    def kind(self) -> str:
        """`cpu` or `gpu`."""

    @property
    def index(self) -> int:
        """Which one of the kind."""


DeviceLike = Device | str
DIVIDE = "`//` divides integers to integers"


class Attributes:
    """The half of `Check` that concerns Python values, and the errors of all checks.

    The argument is underlined, and it is noted where tensors were made.
    """

    declaration: Declaration
    location: Location

    def fail(
        self,
        part: str,
        message: str,
        *,
        label: str = "",
        hint: str | None = None,
        law: Law | None = None,
        at: str = "",
        about: Sequence[str] | None = None,
    ) -> NoReturn:
        """Report that an argument, a type variable or a law of the declaration does not hold.

        Args:
            part: What does not hold, for the code.
            message: What is required.
            label: What was found.
            hint: What to do.
            law: The law that is broken.
            at: The argument that is to blame, which is underlined.
            about: The arguments of which it is said where they were made, if they are tensors; all
                of them, where nothing else is said.
        """
        source = self.declaration.source
        if law is not None:
            source = law_location(law.source or source, part, law.line)
        call = call_at(self.location)
        words = {} if call is None else call.operand_texts()
        if call is not None and law is not None and words:
            tensors = call.tensors(about)
            label = ", ".join(f"`{name}` is {value.type}" for name, value in tensors) or label
        message = message.replace(f"`{at}` of `{self.declaration.name}`", f"`{at}`", at in words)
        message, label = replace_names(message, words), replace_names(label, words)
        hint = None if hint is None else self._hint_text(hint, call, expression=bool(words))
        span, related = self._error_spans(call, at, about, words)
        code = f"{self.declaration.name}/{part}"
        notes = [f"required by {source}"]
        if call is not None and call.whole not in ("", self.declaration.name):
            notes.insert(0, f"`{self.declaration.name}` is a part of `{call.whole}`")
        raise DiagnosticError(Diagnostic(code, message, span, label, tuple(notes), hint, related))

    def _hint_text(self, hint: str, call: CallSite | None, *, expression: bool) -> str:
        """Hint in Python or spec syntax, with the call's source text for parameters."""
        if not isinstance(self.location, PythonLocation):
            return hint
        if call is None:
            return python_hint(hint)
        words = call.argument_texts()
        if expression:  # which names no parameters
            words = dict.fromkeys([name for name, _ in call.tensors()], "...") | words
        return replace_names(python_hint(hint), words, alone=expression)

    def _error_spans(
        self,
        call: CallSite | None,
        at: str,
        about: Sequence[str] | None,
        words: Mapping[str, str],
    ) -> tuple[Span, tuple[Related, ...]]:
        """What to underline, and where the tensors were made."""
        span = self.location.span()
        if call is None:
            return span, ()
        tensors = {words.get(name, name): value for name, value in call.tensors(about)}
        shown = call.argument(at) if at else None
        return shown or span, tuple(origins(tensors, shown or span))

    def must(
        self,
        name: str,
        what: str,
        label: str,
        *,
        part: str = "",
        hint: str | None = None,
        shapes: bool = False,
    ) -> NoReturn:
        """Fail with "`dim` of `softmax` must be an integer".

        Args:
            name: The argument.
            what: What it must be or do.
            label: What was found.
            part: The code, if that is not the name.
            hint: What to do.
            shapes: Whether this follows from the tensors that the call is given.
        """
        message = f"`{name}` of `{self.declaration.name}` must {what}"
        about = None if shapes else (name,)
        self.fail(part or name, message, label=label, hint=hint, at=name, about=about)

    def _refuse(
        self,
        name: str,
        wanted: str,
        value: object,
        hint: str | None = None,
        *,
        shapes: bool = False,
    ) -> NoReturn:
        self.must(name, f"be {wanted}", f"found {found_text(value)}", hint=hint, shapes=shapes)

    def integer(self, name: str, value: object) -> int:
        """`int`: a Python integer, or anything that is one exactly."""
        if isinstance(value, bool):
            self._refuse(name, "an integer", value)
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            hint = DIVIDE if isinstance(value, float) and value.is_integer() else None
            if isinstance(value, Dim):
                hint = f"`{value}` is known only when the model runs; `{name}` is fixed before"
            self._refuse(name, "an integer", value, hint)

    @overload
    def integers(self, name: str, value: object, length: int = ..., /) -> tuple[int, ...]: ...

    @overload
    def integers(self, name: str, value: object, *lengths: int) -> tuple[tuple[int, ...], ...]: ...

    def integers(self, name: str, value: object, *lengths: int) -> Any:
        """`int[n]`, `int[n, m]`, `int[...]`: one number spreads over all."""
        return self._spread(name, value, lengths, self.integer, "integers")

    def size(self, name: str, value: object) -> Size:
        """`size`: an integer, a symbolic one, or a tensor of the frontend that holds one.

        A float that is whole is one, too: what `/` gives for sizes.
        """
        value = dimension_of(value)
        if type(value) is float:
            if not value.is_integer():
                self._refuse(name, "an integer", value, DIVIDE)
            return int(value)
        return value if isinstance(value, Dim) else self.integer(name, value)

    @overload
    def sizes(self, name: str, value: object, length: int = ..., /) -> tuple[Size, ...]: ...

    @overload
    def sizes(self, name: str, value: object, *lengths: int) -> tuple[tuple[Size, ...], ...]: ...

    def sizes(self, name: str, value: object, *lengths: int) -> Any:
        """`size[n]`, `size[...]`."""
        return self._spread(name, value, lengths, self.size, "sizes")

    def real(self, name: str, value: object) -> float:
        """`float`: a number that is not a boolean."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self._refuse(name, "a number", value)
        return float(value)

    def number(self, name: str, value: object) -> float | bool:
        """`number`: an integer, a float or a boolean, kept as it is."""
        if not isinstance(value, (bool, int, float)):
            self._refuse(name, "a number", value)
        return value

    def numbers(self, name: str, value: object, *lengths: int) -> Any:
        """`number[n]`, `float[n]`."""
        return self._spread(name, value, lengths, self.number, "numbers")

    def number_or_size(self, name: str, value: object) -> Any:
        """`number | size`."""
        value = dimension_of(value)
        return value if isinstance(value, Dim) else self.number(name, value)

    def boolean(self, name: str, value: object) -> bool:
        """`bool`."""
        if not isinstance(value, bool):
            self._refuse(name, "True or False", value)
        return value

    def string(self, name: str, value: object) -> str:
        """`string`."""
        if not isinstance(value, str):
            self._refuse(name, "text", value)
        return value

    def device(self, name: str, value: object) -> str:
        """`device`: `cpu` or `gpu`, in words or as an object that says its kind and index."""
        text = value if isinstance(value, str) else _device_text(value)
        kind, colon, index = text.partition(":")
        if kind not in ("cpu", "gpu") or (colon and index != "0"):
            hint = "did you mean `gpu`?" if kind == "cuda" else None
            self._refuse(name, "`cpu` or `gpu`, of which the only index is 0", value, hint)
        return f"{kind}:0"

    def choice(self, name: str, value: object, *options: str) -> str:
        """`constant | reflect`: one of some words."""
        if not isinstance(value, str) or value not in options:
            self._refuse(name, f"one of {', '.join(map(repr, options))}", value)
        return value

    def dtype(self, name: str, value: object, *allowed: dtype) -> dtype:
        """`dtype[T]`: one of the dtypes of a type variable, or its name."""
        found = BY_NAME.get(value) if isinstance(value, str) else value
        if not isinstance(found, dtype) or found not in allowed:
            names = [str(each) for each in allowed]
            near = nearest_dtype(value, names)
            hint = f"did you mean `{near}`?" if near else None
            if isinstance(value, int):
                hint = "the sizes of a shape stand together, in one list"
            self._refuse(name, f"one of {', '.join(names)}", value, hint)
        return found

    def records(self, name: str, value: object, *kinds: str) -> tuple[tuple[Any, ...], ...]:
        """`(int, dtype)[...]`: a sequence of rows, each of a value of each kind."""
        if not isinstance(value, (list, tuple)):
            self._refuse(name, f"a sequence of ({', '.join(kinds)})", value)
        rows = []
        for row in value:
            if not isinstance(row, (list, tuple)) or len(row) != len(kinds):
                self._refuse(name, f"a sequence of ({', '.join(kinds)})", row)
            rows.append(tuple(map(partial(self._of_kind, name), kinds, row)))
        return tuple(rows)

    def _of_kind(self, name: str, kind: str, value: object) -> Any:
        """One value of a row."""
        match kind:
            case "int":
                return self.integer(name, value)
            case "dtype":
                return self.dtype(name, value, *BY_NAME.values())
        return {"float": self.real, "bool": self.boolean, "string": self.string}[kind](name, value)

    def mapping(self, name: str, value: object) -> tuple[tuple[str, Any], ...]:
        """`mapping`: names with numbers, texts or sequences of numbers, sorted by name."""
        given = dict(value) if isinstance(value, (dict, tuple)) else None
        if given is None or not all(isinstance(each, str) for each in given):
            self._refuse(name, "a mapping of names to values", value)
        return tuple((each, self._datum(name, each, given[each])) for each in sorted(given))

    def _datum(self, mapping: str, name: str, value: object) -> Any:
        """A number, a text, or a sequence of numbers, as a tuple."""
        value = getattr(value, "tolist", lambda: value)()  # of NumPy, too
        if isinstance(value, (list, tuple)) and all(isinstance(v, (int, float)) for v in value):
            return tuple(value)
        if not isinstance(value, (bool, int, float, str)):
            wanted = "be a number, a string or a sequence of numbers"
            self.must(name, wanted, f"found {format_value(value)}", part=mapping)
        return value

    def axis(self, name: str, value: object, rank: int) -> int:
        """`axis(input)`: a dimension; a negative one counts from the end, the result never."""
        axis = self.integer(name, value)
        if not -rank <= axis < rank:
            wanted = (
                f"between {-rank} and {rank - 1}"
                if rank
                else "left out, since there are no dimensions"
            )
            self._refuse(name, wanted, axis, shapes=True)
        return axis + rank if axis < 0 else axis

    def axes(self, name: str, value: object, rank: int) -> tuple[int, ...]:
        """`axis(input)[...]`: one dimension or several, each once."""
        several = value if isinstance(value, (list, tuple, range)) else [value]
        axes = tuple(self.axis(name, each, rank) for each in several)
        if len(set(axes)) != len(axes):
            self._refuse(name, "dimensions that differ", value)
        return axes

    def index(self, name: str, value: object, shape: Sequence[Size]) -> Index:
        """`index(input)`: integers, slices, `...` and None, as in square brackets."""
        try:
            if isinstance(self.location, PythonLocation):
                refuse_list(value)
            return resolve(value, shape)
        except IndexFormError as problem:
            hint = None if problem.hint is None else habit("index", problem.hint)
            self._refuse(name, str(problem), value, hint, shapes=problem.hint is None)

    def subscripts(self, name: str, value: object, shapes: Sequence[Sequence[Size]]) -> str:
        """`subscripts(inputs)`: the equation of an einsum, made explicit."""
        try:
            return explicit(self.string(name, value), [len(shape) for shape in shapes])
        except EquationError as problem:
            self._refuse(name, str(problem), value, shapes=True)

    def _spread(
        self, name: str, value: object, lengths: Sequence[int], each: Any, words: str
    ) -> Any:
        """Nested sequences of the given lengths; no lengths means one level of any length."""
        several = isinstance(value, (list, tuple, range))
        if not lengths:
            if not several:
                hint = None
                if isinstance(value, (int, float)):
                    hint = f"put it into a list: `[{name}]`"
                elif isinstance(self.location, PythonLocation) and _is_array(value):
                    hint = f"give its numbers: `{name}.tolist()`"
                self._refuse(name, f"a sequence of {words}", value, hint)
            return tuple(each(name, item) for item in value)  # type: ignore[attr-defined]
        length, *rest = lengths
        items = value if several else [value] * length
        if len(items) != length:  # type: ignore[arg-type]
            self._refuse(
                name, f"{length} {words}" if not rest else f"{length} groups of {words}", value
            )
        if rest:
            return tuple(self._spread(name, item, rest, each, words) for item in items)  # type: ignore[attr-defined]
        return tuple(each(name, item) for item in items)  # type: ignore[attr-defined]


def _is_array(value: object) -> bool:
    return is_tensor(value) or hasattr(value, "__array__")


def _device_text(value: object) -> str:
    kind, index = getattr(value, "kind", ""), getattr(value, "index", "")
    return f"{kind}:{index}"

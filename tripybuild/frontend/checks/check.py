"""Call checks: the API of generated `infer` methods for binding, normalizing, and laws.

A law is true, false, or undecided while sizes are dynamic. False is a diagnostic at once. An
undecided one is kept in `deferred` with the names that it reads, and decided for the sizes of each
call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from tripybuild.frontend.checks.call_site import call_at
from tripybuild.frontend.checks.habits import habit
from tripybuild.frontend.checks.indexing import Index
from tripybuild.frontend.checks.messages import (
    format_value,
    found_text,
    join_alternatives,
    law_message,
    number_hint,
)
from tripybuild.frontend.checks.python_numbers import (
    NESTED,
    default_dtype,
    flatten_numbers,
    is_data,
    is_representable,
    python_number,
)
from tripybuild.frontend.checks.region_checks import Regions
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import constant, number
from tripybuild.trace.location import Location, PythonLocation
from tripybuild.trace.operation import Declaration, DeferredLaw, Law
from tripybuild.trace.values import Size, TensorType, is_static, is_tensor
from tripybuild.types.dtypes import dtype
from tripybuild.types.patterns import TensorPattern
from tripybuild.types.type_syntax import parse_pattern


class HasTensorType(Protocol):
    """A value of a graph, or a tensor of the frontend."""

    @property
    def type(self) -> TensorType:
        """The dtype and shape."""
        ...


class Check(Regions):
    """The checks of one call of one operator, made at one place."""

    def __init__(self, declaration: Declaration, location: Location) -> None:
        self.declaration = declaration
        self.location = location
        self.deferred: list[DeferredLaw] = []
        self.lasting = True  # whether all that is found follows from types and attributes

    @staticmethod
    def is_tensor(value: object) -> bool:
        """Whether an argument is a tensor, where it can also be a Python value."""
        return is_tensor(value)

    def tensors(self, name: str, value: object) -> Any:
        """An input that must be a sequence of tensors."""
        if not isinstance(value, (list, tuple)):
            hint = f"put it into a list: `[{name}]`" if is_tensor(value) else None
            self.must(name, "be a sequence of tensors", f"found {format_value(value)}", hint=hint)
        return tuple(self.tensor(name, item) for item in value)

    def number_or_tensor(self, name: str, value: Any, type: dtype) -> Any:
        """A tensor, or a Python number that takes the dtype which the tensors have."""
        if is_tensor(value):
            return value
        value = python_number(value)
        if not isinstance(value, (bool, int, float)):
            self._no_tensor(name, "a tensor or a number", value, type)
        self._turns_into(name, value, type)
        return self.constant(value, type)

    def numbers_or_tensor(self, name: str, value: Any, type: dtype, *depths: int) -> Any:
        """A tensor, or numbers nested to one of the depths; a depth of 0 is one number."""
        if is_tensor(value):
            return value
        shape, numbers = flatten_numbers(value)
        if shape is None or len(shape) not in depths:
            wanted = " or ".join(NESTED[depth] for depth in depths)
            self.must(name, f"be a tensor, {wanted}", f"found {format_value(value)}")
        for each in numbers:
            self._turns_into(name, each, type)
        if not shape:
            return self.constant(value, type)
        import numpy as np  # noqa: PLC0415 - a graph of numbers needs no NumPy

        return self.data(np.array(numbers).reshape(shape).astype(type.numpy), type)

    def _turns_into(self, name: str, value: bool | float, type: dtype) -> None:
        if not is_representable(value, type):
            call = call_at(self.location)
            tensors = () if call is None else call.tensors()
            other = next((each for each, tensor in tensors if tensor.dtype is type), None)
            wide = default_dtype(value)
            hint = "cast the other operand first"
            if not is_representable(value, wide):
                hint = "no dtype holds it"
            elif other is not None:
                hint += f": `cast({other}, {wide})`"
            self.fail(
                name,
                f"refusing to turn `{format_value(value)}` into {type}",
                label=f"`{name}` takes the dtype of the other operand, {type}",
                hint=hint,
                at=name,
            )

    def element(self, variable: str, allowed: tuple[dtype, ...], **tensors: object) -> dtype:
        """Bind a type variable: all given tensors have one dtype, and it is among the allowed."""
        if (known := _common_dtype(allowed, tensors.values(), ())) is not None:
            return known
        bound: dtype | None = None
        first = called = ""
        for name, part, tensor in _each(tensors):
            type: TensorType = self.tensor(name, tensor).type
            if bound is None:
                bound, first, called = type.dtype, name, part
            elif type.dtype is not bound:
                loses = bound.kind != type.dtype.kind == "float"  # if it became what the first is
                cast = f"cast({called}, {type.dtype})" if loses else f"cast({part}, {bound})"
                self.fail(
                    variable,
                    f"`{self.declaration.name}` takes tensors of one dtype",
                    label=f"`{called}` is {bound}, `{part}` is {type.dtype}",
                    hint=f"cast one of them: `{cast}`",
                    about=(first, name),
                )
        if bound is None:
            self._needs_tensor(variable)
        if bound not in allowed:
            label = f"`{called}` is {bound}"
            self._castable(first, called, bound, allowed, label, variable)
        return bound

    def element_or_numbers(
        self, variable: str, allowed: tuple[dtype, ...], **values: object
    ) -> dtype:
        """The same where some inputs may be numbers; alone, they have a dtype of their own."""
        if (known := _common_dtype(allowed, values.values())) is not None:
            return known
        numbers = {n: v for n, v in values.items() if isinstance(v, (bool, int, float))}
        tensors = {
            name: value
            for name, value in values.items()
            if value is not None and flatten_numbers(value)[0] is None
        }
        for name, value in tensors.items():
            self.tensor_or_number(name, value)
        if tensors:
            return self.element(variable, allowed, **tensors)
        kinds = {name: default_dtype(value) for name, value in numbers.items()}
        if not kinds:
            self._needs_tensor(variable)
        first, kind = next(iter(kinds.items()))
        for name, other in kinds.items():
            if other is not kind:
                message = f"`{self.declaration.name}` needs a tensor, or numbers of one kind"
                label = f"`{first}` would be {kind}, and `{name}` {other}"
                self.fail(variable, message, label=label)
        if kind not in allowed:
            self.must(
                first,
                f"be {join_alternatives(allowed)}",
                f"`{first}` would be {kind}",
                part=variable,
            )
        return kind

    def _needs_tensor(self, variable: str) -> NoReturn:
        message = f"`{self.declaration.name}` needs a tensor"
        self.fail(variable, message, label="no argument is one")

    def dtype_of(self, name: str, tensor: HasTensorType, *allowed: dtype) -> dtype:
        """An input with dtypes of its own: `bool[*A]`, or `bool[*M] | T[*M]`."""
        found: dtype = self.tensor(name, tensor).type.dtype
        if found not in allowed:
            self._castable(name, name, found, allowed, f"`{name}` is {found}")
        return found

    def _castable(
        self,
        name: str,
        called: str,
        found: dtype,
        allowed: Sequence[dtype],
        label: str,
        part: str = "",
    ) -> NoReturn:
        """Refuse the dtype of a tensor, with the one that is nearest to it."""
        alike = [each for each in allowed if each.kind == found.kind]
        wide = (each for each in alike if each.bits >= found.bits)
        nearest = next(wide, (alike or [*allowed])[0])
        mask = found.kind == "boolean" and nearest.kind == "integer"  # which is no index
        loses = found.kind == nearest.kind and nearest.bits < found.bits
        hint = None if mask or loses else f"cast it: `cast({called}, {nearest})`"
        if mask and name == "index":
            hint = habit("index", "mask")
        self.must(name, f"be {join_alternatives(allowed)}", label, part=part, hint=hint)

    def tensor_or_number(self, name: str, value: object) -> None:
        """Refuse what is neither a tensor, nor a number, nor a list of tensors."""
        if not isinstance(value, (list, tuple)) and not is_tensor(value):
            self._no_tensor(name, "a tensor or a number", value)

    def _no_tensor(
        self, name: str, wanted: str, value: object, type: dtype | None = None
    ) -> NoReturn:
        """Refuse a value, with the way to a tensor: Python has data, a model's file has sizes."""
        in_python = isinstance(self.location, PythonLocation)
        hint = f"make one of it: `Tensor({name})`" if in_python and is_data(value) else None
        if isinstance(value, (int, float, Dim)) and not isinstance(value, bool) and not in_python:
            hint = number_hint(value, type)
        self.must(name, f"be {wanted}", f"found {found_text(value)}", hint=hint)

    def tensor(self, name: str, value: object) -> Any:
        """An input that must be a tensor."""
        if not isinstance(getattr(value, "type", None), TensorType):  # `is_tensor`, asked often
            self._no_tensor(name, "a tensor", value)
        return value

    def static_tensor(self, name: str, tensor: Any) -> None:
        """A tensor that must be known when the engine is built: a weight, or made of constants."""
        self.lasting = False
        value = getattr(tensor, "value", tensor)
        if not is_static(value):
            origin = (
                "the result of a step" if value.producer is not None else "an input of the model"
            )
            self.must(
                name,
                "be known when the engine is built",
                f"`{name}` is {origin}",
                hint="give numbers, a weight or a constant",
            )

    def constant(self, value: float | bool, type: dtype) -> Any:
        """A number as a tensor of rank 0; the frontend gives a tensor of its own."""
        return number(value, type, self.location)

    def data(self, array: Any, type: dtype) -> Any:
        """An array as a tensor; the frontend gives a tensor of its own."""
        return constant(array, type, self.location)

    def index(self, name: str, value: object, shape: Sequence[Size]) -> Index:
        """`index(input)`: an index as in square brackets."""
        if isinstance(value, list):
            self.lasting = False  # whether it is one is a setting
        return super().index(name, value, shape)

    def shape(self, name: str, tensor: Any, pattern: str) -> list[Size]:
        """The sizes of a tensor whose rank fits `pattern`, to be unpacked."""
        shape: tuple[Size, ...] = self.tensor(name, tensor).type.shape
        least, exact = _ranks(pattern)
        if len(shape) != least if exact else len(shape) < least:
            label = f"`{name}` is {tensor.type}, of rank {len(shape)}"
            self.must(name, f"have shape {pattern}", label)
        return list(shape)

    def match(self, name: str, tensor: Any, pattern: str, sizes: Sequence[Size]) -> None:
        """The shape of a tensor must be `sizes`, which `pattern` says in words."""
        shape = tensor.type.shape
        if len(shape) != len(sizes):
            self._mismatch(name, tensor, pattern, sizes)
        for index, (found, wanted) in enumerate(zip(shape, sizes, strict=True)):
            if found is wanted:
                continue
            law = _equality(self.declaration.name, name, pattern, index, len(sizes))
            with self.defer_law(name, law, found=found, wanted=wanted):
                if found != wanted:
                    self._mismatch(name, tensor, pattern, sizes)

    def _mismatch(self, name: str, tensor: Any, pattern: str, sizes: Sequence[Size]) -> NoReturn:
        what = (
            f"have shape {pattern} = {format_value(sizes)}" if sizes else "be one value, of rank 0"
        )
        self.must(name, what, f"`{name}` is {tensor.type}")

    def law(self, name: str, **names: object) -> "_Require":
        """Open a law: `with check.law("groups-divide", C=C) as require:`, then `require(...)`."""
        return _Require(self, name, self.declaration.laws[name], names)

    def defer_law(self, name: str, law: Law, **names: object) -> "_Require":
        """Let each call decide what sizes leave open inside."""
        return _Require(self, name, law, names)


class _Require:
    """One open law. An `Undecided` inside defers it; any other answer but true is a failure."""

    __slots__ = ("check", "law", "name", "names")

    def __init__(self, check: Check, name: str, law: Law, names: dict[str, object]) -> None:
        self.check, self.name, self.law, self.names = check, name, law, names

    def __enter__(self) -> Self:
        return self

    def __call__(self, holds: object) -> None:
        if not holds:
            message, label = law_message(self.check.declaration.name, self.law, self.names)
            hint, about = self.law.hint, self.law.about
            only = (about,) if about else None
            self.check.fail(
                self.name, message, label=label, hint=hint, law=self.law, at=about, about=only
            )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if kind is not UndecidedSize:
            if isinstance(error, ArithmeticError | LookupError):
                operator, text = self.check.declaration.name, self.law.text
                message = f"`{operator}` requires `{text}`, which has no value here: {error}"
                self.check.fail(self.name, message, law=self.law)
            return False
        code = f"{self.check.declaration.name}/{self.name}"
        source = self.law.source or self.check.declaration.source
        deferred = DeferredLaw(code, self.law, self.names, source, self.check.location)
        self.check.deferred.append(deferred)
        return True


@lru_cache(maxsize=1024)
def _ranks(pattern: str) -> tuple[int, bool]:
    found = parse_pattern(f"any{pattern}")
    assert isinstance(found, TensorPattern)
    return found.ranks()


@lru_cache(maxsize=1024)
def _equality(operator: str, name: str, pattern: str, index: int, rank: int) -> Law:
    """The law that a size is the one of the pattern, in words that name both."""
    found = parse_pattern(f"any{pattern}")
    assert isinstance(found, TensorPattern)
    dimensions = found.shape or ()
    before = next((i for i, each in enumerate(dimensions) if each.star), len(dimensions))
    after = next((i for i, each in enumerate(reversed(dimensions)) if each.star), before)
    message = f"`{name}` of `{operator}` must have shape {pattern}"
    if index < before:
        message += f", whose `{dimensions[index]}` is {{wanted}}"
    elif rank - index <= after:
        message += f", whose `{dimensions[index - rank]}` is {{wanted}}"
    return Law("found == wanted", f"{message}, but got {{found}}")


def _each(tensors: Mapping[str, object]) -> Iterator[tuple[str, str, object]]:
    """Tensors and those in lists, each with its argument and with what it is called."""
    for name, value in tensors.items():
        if isinstance(value, (tuple, list)) and not is_data(value):
            yield from ((name, f"{name}[{i}]", tensor) for i, tensor in enumerate(value))
        elif value is not None:
            yield name, name, value


def _common_dtype(
    allowed: Sequence[dtype], values: Iterable[object], numbers: tuple[type, ...] = (int, float)
) -> dtype | None:
    """The dtype of tensors and numbers that are as they should be, as most are."""
    bound: dtype | None = None
    for value in values:
        type = getattr(value, "type", None)
        if isinstance(type, TensorType):
            if bound is None:
                bound = type.dtype
            elif type.dtype is not bound:
                return None
        elif not isinstance(value, numbers):
            return None
    return bound if bound in allowed else None

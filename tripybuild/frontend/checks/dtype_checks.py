"""Dtype checks: one common dtype per type variable, and whether it is allowed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from tripybuild.frontend.checks.messages import format_value, join_alternatives
from tripybuild.frontend.checks.python_numbers import default_dtype, flatten_numbers, is_data
from tripybuild.frontend.checks.region_checks import Regions
from tripybuild.trace.location import PythonLocation
from tripybuild.trace.values import TensorType, is_tensor
from tripybuild.types.dtypes import dtype


class HasTensorType(Protocol):
    """A value of a graph, or a tensor of the frontend."""

    @property
    def type(self) -> TensorType:
        """The dtype and shape."""
        ...


class Elements(Regions):
    """The part of `Check` that concerns dtypes."""

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
        nearest = next((each for each in allowed if each.kind == found.kind), allowed[0])
        mask = found.kind == "boolean" and nearest.kind == "integer"  # which is no index
        loses = found.kind == nearest.kind and nearest.bits < found.bits
        hint = None if mask or loses else f"cast it: `cast({called}, {nearest})`"
        self.must(name, f"be {join_alternatives(allowed)}", label, part=part, hint=hint)

    def tensor_or_number(self, name: str, value: object) -> None:
        """Refuse what is neither a tensor, nor a number, nor a list of tensors."""
        if not isinstance(value, (list, tuple)) and not is_tensor(value):
            self._no_tensor(name, "a tensor or a number", value)

    def _no_tensor(self, name: str, wanted: str, value: object) -> NoReturn:
        """Refuse a value, with the way to a tensor: Python has data, a model's file has none."""
        makes = isinstance(self.location, PythonLocation) and is_data(value)
        hint = f"make one of it: `Tensor({name})`" if makes else None
        self.must(name, f"be {wanted}", f"found {format_value(value)}", hint=hint)

    def tensor(self, name: str, value: object) -> Any:
        """An input that must be a tensor."""
        if not isinstance(getattr(value, "type", None), TensorType):  # `is_tensor`, asked often
            self._no_tensor(name, "a tensor", value)
        return value


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

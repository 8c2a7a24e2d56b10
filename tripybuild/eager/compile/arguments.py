"""Arguments of `tp.compile`: `InputInfo`s become graph inputs, all else is constant."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tripybuild.eager.compile.infos import DimensionInputInfo, Info
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.tensor import Tensor
from tripybuild.trace.values import Size, TensorType, Value
from tripybuild.types.dtypes import int32
from tripybuild.types.size_range import SizeRange


class Inputs:
    """The inputs of a graph that is being recorded, and the ranges of their sizes."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.infos: dict[str, Info] = {}
        self.ranges: dict[str, SizeRange] = {}

    def add_input(self, name: str, info: Info) -> Tensor:
        """Make an input.

        A size is the size of an input of its own, whose elements are never read: so all that
        decides sizes is in the shapes of what an executable takes.
        """
        if name in self.values:
            message = f"two inputs would be called `{name}`"
            raise DiagnosticError(caller_diagnostic("wrong-type", message))
        if isinstance(info, DimensionInputInfo):
            size = self._size(f"{name}_value", info.range)
            self.values[name] = Value(TensorType(int32, (size,)), name=name)
            self.infos[name] = info
            return Tensor.of_size(size)
        shape = tuple(
            self._size(info.dimension_names.get(i) or f"{name}_{i}", each)
            for i, each in enumerate(info.ranges)
        )
        value = Value(TensorType(info.dtype, shape), name=name)
        self.values[name], self.infos[name] = value, info
        return Tensor.of(value)

    def _size(self, name: str, limits: SizeRange) -> Size:
        if limits.is_static():
            return limits.min
        known = self.ranges.setdefault(name, limits)
        if known != limits:
            one, other = known.bounds_text(), limits.bounds_text()
            message = f"the dimension `{name}` is {one} in one input and {other} in another"
            raise DiagnosticError(caller_diagnostic("bad-range", message))
        try:
            return limits.symbol(name)
        except ValueError as error:
            raise DiagnosticError(caller_diagnostic("bad-range", str(error))) from error


def replace_infos(name: str, given: Any, change: Callable[[str, Info], Any]) -> Any:
    """An argument with something else for each info in it, also in lists and dictionaries.

    Args:
        name: The argument; nothing for those of `**kwargs`, which have names of their own.
        given: What is given for it.
        change: Gives something for an info and its name.
    """
    if isinstance(given, Info):
        return change(name, given)
    if isinstance(given, (list, tuple)):
        items = [replace_infos(child_name(name, i), each, change) for i, each in enumerate(given)]
        return type(given)(*items) if hasattr(given, "_fields") else type(given)(items)
    if isinstance(given, dict):
        return {
            key: replace_infos(child_name(name, key), each, change) for key, each in given.items()
        }
    return given


def child_name(name: str, key: object) -> str:
    """The name of what stands in an argument, by its key or place."""
    return f"{name}_{key}" if name else str(key)


def match_infos(name: str, form: Any, given: Any) -> Iterator[tuple[str, Any]]:
    """What a call gives for each info of an argument, by the info's name.

    Constants may be given, too, or left out.

    Raises:
        DiagnosticError: It is not of the form that the function was compiled for.
    """
    if isinstance(form, Info):
        yield name, given
    elif isinstance(form, Mapping):
        if not isinstance(given, Mapping) or given.keys() != form.keys():
            form = _required_entries(name, form, given)
        for key, each in form.items():
            yield from match_infos(child_name(name, key), each, given[key])
    elif isinstance(form, (list, tuple)):
        places: Sequence[int] = range(len(form))
        if not isinstance(given, Sequence) or len(given) != len(form):
            places = _places(name, form, given)
        for i, each in zip(places, given, strict=True):
            yield from match_infos(child_name(name, i), form[i], each)


def has_infos(form: Any) -> bool:
    """Whether an argument is an info, or holds some."""
    return any(isinstance(each, Info) for _, each in match_infos("", form, form))


def _required_entries(name: str, form: Mapping[str, Any], given: Any) -> dict[str, Any]:
    """The entries of a dictionary that are no constants, all of which must be given."""
    needed = {key: each for key, each in form.items() if has_infos(each)}
    if not isinstance(given, Mapping) or not needed.keys() <= given.keys() <= form.keys():
        raise _other(name, f"a dictionary of {', '.join(map(repr, form))}")
    return needed


def _places(name: str, form: Sequence[Any], given: Any) -> Sequence[int]:
    """The places in a list of what is no constant, for which as many must be given."""
    places = [i for i, each in enumerate(form) if has_infos(each)]
    if not isinstance(given, Sequence) or len(given) != len(places):
        raise _other(name, f"a sequence of {len(form)}")
    return places


def _other(name: str, wanted: str) -> DiagnosticError:
    what = f"`{name}`" if name else "the keyword arguments"
    message = f"{what} must be {wanted}, as the function was compiled for"
    return DiagnosticError(caller_diagnostic("wrong-type", message))

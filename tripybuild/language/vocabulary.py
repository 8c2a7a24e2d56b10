"""Vocabularies: one closed table of names for each kind of snippet.

Nothing is reached but by a table: functions and constants by name, `np.where` by namespace,
methods and attributes by the type of the value. `PYTHON` holds Python's own words in versions that
cannot take much time or memory, reach a file, or format a text.
"""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from tripybuild.language.limits import MAXIMUM_LENGTH, LimitError, check_length, show


class AnyName(Container[str]):
    """The set of all names: for a type whose attributes are data, such as the parts of a part."""

    def __contains__(self, name: object) -> bool:
        return True


ANY_NAME: Final = AnyName()
Names = tuple[tuple[type, Container[str]], ...]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """What one kind of snippet may name, read and call."""

    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    namespaces: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    methods: Names = ()
    attributes: Names = ()
    constants: Mapping[str, object] = field(default_factory=dict)
    callables: tuple[type, ...] = ()
    """The types whose values may be called wherever they come from, as in `blocks[0](x)`."""
    lists: Callable[[list[Any]], Callable[..., Any]] | None = None
    """What calls a list, where a list of what can be called can be called itself."""
    conditions: tuple[type, ...] = ()
    """The types of truths that are not decided yet: `or` of them is `any`, and `and` is `all`."""
    lazy: frozenset[str] = frozenset()
    """The functions that take a generator as it is; others take the list of what it gives."""

    words: Mapping[str, object] = field(init=False, repr=False)
    """The functions and constants by name."""
    _callable_ids: frozenset[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # A constant hides a function: beside dtypes, `bool` is one of them.
        words: dict[str, object] = {**self.functions, **self.constants}
        entries = (entry for names in self.namespaces.values() for entry in names.values())
        known = frozenset(id(value) for value in (*words.values(), *entries) if callable(value))
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "_callable_ids", known)

    def __or__(self, other: "Vocabulary") -> "Vocabulary":
        """Join two vocabularies; where both have a word, the right one's counts."""
        namespaces = {
            name: {**self.namespaces.get(name, {}), **other.namespaces.get(name, {})}
            for name in (*self.namespaces, *other.namespaces)
        }
        kept = self.lazy - other.functions.keys()
        return Vocabulary(
            functions={**self.functions, **other.functions},
            namespaces=namespaces,
            methods=self.methods + other.methods,
            attributes=self.attributes + other.attributes,
            constants={**self.constants, **other.constants},
            callables=self.callables + other.callables,
            lists=other.lists or self.lists,
            conditions=self.conditions + other.conditions,
            lazy=kept | other.lazy,
        )

    def has_method(self, value: object, name: str) -> bool:
        """Say whether a snippet may call this method of the value."""
        return any(isinstance(value, kind) and name in names for kind, names in self.methods)

    def has_attribute(self, value: object, name: str) -> bool:
        """Say whether a snippet may read this attribute of the value."""
        return any(isinstance(value, kind) and name in names for kind, names in self.attributes)

    def may_call(self, value: object) -> bool:
        """Say whether a snippet may call this value, wherever it comes from."""
        return id(value) in self._callable_ids or isinstance(value, self.callables)


class NoListError(TypeError):
    """A value holds no others."""


def to_list(values: Iterable[object]) -> list[Any]:
    """List the values, where they say that they can be listed and are not too many."""
    if isinstance(values, (list, tuple, dict, str)):
        return list(values)
    if not hasattr(type(values), "__iter__"):  # indexing alone may never end
        raise NoListError(f"{show(values)} cannot be listed")
    found = list(islice(values, MAXIMUM_LENGTH + 1))
    check_length(len(found))
    return found


def _range(*bounds: int) -> list[int]:
    try:
        check_length(len(range(*bounds)))
    except OverflowError:
        check_length(MAXIMUM_LENGTH + 1)
    return list(range(*bounds))


def _sum(values: Iterable[Any], start: Any = 0) -> Any:
    found = to_list(values)
    for value in (start, *found):
        if isinstance(value, (list, tuple, str, dict)):
            raise TypeError("`sum` adds numbers; lists are joined by `[*a, *b]`")
    return sum(found, start)


def _min(*values: Any, **options: Any) -> Any:
    return min(
        to_list(values[0]) if len(values) == 1 else values, **_check_options(options, "default")
    )


def _max(*values: Any, **options: Any) -> Any:
    return max(
        to_list(values[0]) if len(values) == 1 else values, **_check_options(options, "default")
    )


def _check_options(options: dict[str, Any], *known: str) -> dict[str, Any]:
    for name in options:
        if name not in known:
            raise TypeError(f"there is no argument `{name}`")
    return options


def _all(values: Iterable[object]) -> bool:
    return all(values)


def _any(values: Iterable[object]) -> bool:
    return any(values)


def _zip(*many: Iterable[object], strict: bool = False) -> list[tuple[Any, ...]]:
    lists = [to_list(values) for values in many]
    check_length(len(lists) * min(map(len, lists), default=0))
    return list(zip(*lists, strict=bool(strict)))


def _enumerate(values: Iterable[object], start: int = 0) -> list[tuple[int, Any]]:
    return list(enumerate(to_list(values), start))


def _sort(values: Iterable[Any], *, reverse: bool = False) -> list[Any]:
    return sorted(to_list(values), reverse=bool(reverse))


def _reverse(values: Iterable[Any]) -> list[Any]:
    return to_list(values)[::-1]


def _list(values: Iterable[object] = ()) -> list[Any]:
    return to_list(values)


def _tuple(values: Iterable[object] = ()) -> tuple[Any, ...]:
    return tuple(to_list(values))


def _int(value: Any) -> Any:
    """Cut off the fraction; a size may answer `__trunc__` with itself."""
    return math.trunc(value)


def _float(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError("`float` takes a number")
    return float(value)


def _bool(value: object) -> bool:
    return bool(value)


def _round(value: Any, digits: int | None = None) -> Any:
    if digits is None:
        return round(value)
    if not -20 <= digits <= 20:
        raise LimitError("`round` takes at most 20 digits")
    return round(value, digits)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


PYTHON: Final = Vocabulary(
    functions={
        "abs": abs,
        "all": _all,
        "any": _any,
        "bool": _bool,
        "ceil": math.ceil,
        "enumerate": _enumerate,
        "float": _float,
        "floor": math.floor,
        "int": _int,
        "is_int": _is_int,
        "len": len,
        "list": _list,
        "log": math.log,
        "max": _max,
        "min": _min,
        "range": _range,
        "reversed": _reverse,
        "round": _round,
        "sorted": _sort,
        "sqrt": math.sqrt,
        "sum": _sum,
        "tuple": _tuple,
        "zip": _zip,
    },
    constants={"inf": math.inf, "nan": math.nan, "pi": math.pi},
    lazy=frozenset({"all", "any"}),
)
"""Python's own words, made safe. None of them has methods or attributes."""

# `np.` of the references. Nothing here reads or writes files, starts processes or takes code.
NUMPY = frozenset(
    {
        "abs", "absolute", "add", "all", "amax", "amin", "any", "arange", "arccos", "arccosh",
        "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort",
        "atleast_1d", "bitwise_and", "bitwise_or", "bitwise_xor", "broadcast_arrays",
        "broadcast_shapes", "broadcast_to", "cbrt", "ceil", "clip", "concatenate", "cos", "cosh",
        "cumprod", "cumsum", "diag", "divide", "einsum", "equal", "exp", "exp2", "expand_dims",
        "expm1", "eye", "fabs", "flip", "floor", "floor_divide", "fmod", "full", "greater",
        "greater_equal", "hypot", "identity", "inf", "invert", "isfinite", "isinf", "isnan",
        "left_shift", "less", "less_equal", "linspace", "log", "log10", "log1p", "log2",
        "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "max",
        "maximum", "mean", "min", "minimum", "mod", "moveaxis", "multiply", "nan", "negative",
        "nonzero", "not_equal", "ones", "ones_like", "outer", "pad", "permute_dims", "pi", "power",
        "prod", "reciprocal", "remainder", "repeat", "reshape", "right_shift", "rint", "roll",
        "round", "sign", "sin", "sinh", "sort", "split", "sqrt", "square", "squeeze", "stack",
        "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tile",
        "transpose", "tril", "triu", "true_divide", "trunc", "var", "where", "zeros", "zeros_like",
    }
)  # fmt: skip
# The constants among them; everything else is a function, which can only be called.
NUMPY_CONSTANTS = frozenset({"inf", "nan", "pi"})

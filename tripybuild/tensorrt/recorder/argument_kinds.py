"""Argument kinds: value types of a TensorRT layer's parameters.

Invariant: `accept` is the only place that judges and normalizes an argument; it is used for
literals in snippets, when code is generated, and for the arguments themselves, when a network is
recorded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tripybuild.symbolic.dims import Dim
from tripybuild.tensorrt.recorder.enumerations import ENUMERATIONS
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes


class Required:
    """The default of a parameter that has none."""

    def __repr__(self) -> str:
        return "required"


REQUIRED = Required()


@dataclass(frozen=True, slots=True)
class ArgumentKind:
    """A set of values, and the default of the parameter that it describes."""

    name: str
    enumeration: str = ""
    default: object = REQUIRED
    attribute: str = ""  # what the dialect calls the parameter, if it does otherwise

    def with_default(self, default: object) -> "ArgumentKind":
        """The same kind for a parameter with a default; None as a default allows None."""
        return replace(self, default=default)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: object) -> bool:
    return isinstance(value, bool | int | float)


def _list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _each(test: Callable[[object], bool]) -> Callable[[Any], bool]:
    return lambda value: _list(value) and all(map(test, value))


def _size(value: object) -> bool:
    return _whole(value) or isinstance(value, Dim)


def _pair(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2


def _tensor(value: object) -> bool:
    return isinstance(value, NetworkValue)


TESTS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "tensor": (_tensor, "a tensor"),
    "tensors": (_each(_tensor), "a list of tensors"),
    "scalar": (lambda v: _tensor(v) or _number(v), "a tensor or a number"),
    "numbers": (lambda v: _tensor(v) or _each(_number)(v), "a tensor or a list of numbers"),
    "sizes": (_each(_size), "a list of sizes"),
    "integers": (_each(_whole), "a list of integers"),
    "integer": (_whole, "an integer"),
    "real": (lambda v: _number(v) and not isinstance(v, bool), "a number"),
    "reals": (_each(_number), "a list of numbers"),
    "boolean": (lambda v: isinstance(v, bool), "True or False"),
    "dtype": (lambda v: isinstance(v, dtypes.dtype), "a dtype"),
    "text": (lambda v: isinstance(v, str), "text"),
    "mapping": (lambda v: isinstance(v, Mapping) or _each(_pair)(v), "a mapping"),
    "region": (callable, "a region"),
    "types": (_list, "a list of ranks and dtypes"),
    "literal": (
        lambda v: _number(v) or _list(v) or isinstance(v, Dim) or hasattr(v, "__array__"),
        "numbers",
    ),
}

LISTS = frozenset({"tensors", "sizes", "integers", "reals", "types"})


def accept(kind: ArgumentKind, value: Any) -> Any:
    """The value in its normal form; ValueError says what the kind asks for."""
    if value is None and kind.default is None:
        return None
    if kind.enumeration:
        enumeration = ENUMERATIONS[kind.enumeration]
        member = enumeration.resolve(value)
        if member is None:
            raise ValueError(f"one of {', '.join(enumeration.members)}")
        return member
    test, wanted = TESTS[kind.name]
    if not test(value):
        raise ValueError(wanted)
    if kind.name in LISTS or (kind.name == "numbers" and not isinstance(value, NetworkValue)):
        return tuple(value)
    if kind.name == "mapping":
        return dict(value)
    return float(value) if kind.name == "real" else value


tensor = ArgumentKind("tensor")
tensors = ArgumentKind("tensors")
scalar = ArgumentKind("scalar")
numbers = ArgumentKind("numbers")
sizes = ArgumentKind("sizes")
integers = ArgumentKind("integers")
integer = ArgumentKind("integer")
real = ArgumentKind("real")
reals = ArgumentKind("reals")
boolean = ArgumentKind("boolean")
dtype = ArgumentKind("dtype")
text = ArgumentKind("text")
mapping = ArgumentKind("mapping")
region = ArgumentKind("region")
types = ArgumentKind("types")
literal = ArgumentKind("literal")


def one_of(enumeration: str) -> ArgumentKind:
    """The kind that holds a member of an enumeration."""
    return ArgumentKind("enumeration", ENUMERATIONS[enumeration].name)


optional_tensor = tensor.with_default(None)
optional_integers = integers.with_default(None)
reduction = one_of("reduce_operation")

"""Attributes of nodes: what a call gives, as a value of the kind that the schema says."""

from collections.abc import Callable, Mapping
from typing import Any

from tripybuild.onnx.model import AttributeValue
from tripybuild.types.dtypes import dtype


def _integer(value: Any) -> AttributeValue:
    if isinstance(value, dtype):
        return value
    if not isinstance(value, int):
        raise TypeError(value)
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _integers(value: Any) -> AttributeValue:
    return [int(each) for each in value]


def _floats(value: Any) -> AttributeValue:
    return [float(each) for each in value]


READERS: Mapping[str, Callable[[Any], AttributeValue]] = {
    "int": _integer,
    "float": float,
    "string": _text,
    "ints": _integers,
    "floats": _floats,
}

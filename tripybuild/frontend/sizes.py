"""Sizes as tensors: what operators are on them, without an operation being recorded."""

from typing import Any, TypeVar, cast

from tripybuild.frontend.tensor import Tensor
from tripybuild.trace.values import Size

Given = TypeVar("Given")  # the class of sizes, which only generated code knows


def are_sizes(*values: object) -> bool:
    """Whether all are sizes or integers, and some are sizes of a tensor."""
    some = False
    for value in values:
        if hasattr(type(value), "dimension"):
            some = True
        elif not isinstance(value, int) or isinstance(value, bool):
            return False
    return some


def size_of(value: Any) -> Any:
    """The number or symbol that a size is; of an integer, itself."""
    return value.dimension if hasattr(type(value), "dimension") else value


def dimension(size: Size) -> Given:  # type: ignore[type-var]
    """A tensor that stands for a size."""
    return cast("Given", Tensor.of_size(size))

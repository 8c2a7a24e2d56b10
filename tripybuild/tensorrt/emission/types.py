"""Dialect types of recorded values."""

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import TensorType

from tripybuild.tensorrt.dialect.base import tensor_type
from tripybuild.tensorrt.mlir.elements import element_of
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes


def tensor(dtype: dtypes.dtype, shape: Sequence[Any]) -> TensorType[Any]:
    """The type of a tensor; sizes that are no numbers print as `?`."""
    sizes = [size if isinstance(size, int) else None for size in shape]
    return tensor_type(sizes, element_of(dtype.mlir))


def type_of(value: NetworkValue) -> TensorType[Any]:
    """The type of a recorded value; ValueError where its shape is not known."""
    if value.shape is None:
        raise ValueError(f"the shape of {value!r} is not known")
    return tensor(value.dtype, value.shape)

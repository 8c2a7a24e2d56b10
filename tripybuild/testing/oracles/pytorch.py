"""PyTorch as a test oracle: an ATen operator, called through an alias.

PyTorch lacks kernels for some of its dtypes on the CPU. There it computes in a wider dtype of the
same kind, and its result is rounded.
"""

import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from tripybuild.reference.numerics.arrays import Array, round_cast
from tripybuild.testing.oracles.foreign_calls import ForeignCall
from tripybuild.types.dtypes import BY_NAME, dtype, from_numpy

# What PyTorch says where an operator lacks a kernel for a dtype.
NO_KERNEL = ("not implemented for", "not supported", "Could not run")
# In which dtype to compute, by the kind of the declared one; first in the declared one itself.
WAYS: tuple[Mapping[str, str], ...] = (
    {},
    {"float": "float32", "integer": "int64"},
    {"float": "float32", "integer": "int64", "boolean": "uint8"},
    {"float": "float64", "integer": "int64", "boolean": "uint8"},
)
# NumPy has these dtypes from elsewhere, and PyTorch takes their bits.
BITS = {"bfloat16": np.int16, "float8": np.uint8}


def run(call: ForeignCall, wanted: Sequence[dtype], *, wide: bool = False) -> list[Array]:
    """What PyTorch's operator gives; `tripybuild.testing.oracles.foreign_calls.System` says how.

    Raises:
        RuntimeError: Where PyTorch refuses the call.
    """
    problem: Exception | None = None
    for way in WAYS[1:] if wide else WAYS:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = _results(call.wider(way))
        except (TypeError, ValueError, IndexError) as error:
            raise RuntimeError(error) from error
        except (RuntimeError, NotImplementedError) as error:
            if not any(words in str(error) for words in NO_KERNEL):
                raise
            problem = error
            continue
        return [round_cast(a, t) for a, t in zip(found, wanted, strict=False)] if way else found
    raise RuntimeError(problem)


def _results(call: ForeignCall) -> list[Array]:
    torch = import_module("torch")  # only the tests have it
    name, _, overload = call.signature.name.partition(".")
    function = getattr(getattr(torch.ops.aten, name), overload or "default")
    given = {parameter: _torch_argument(value) for parameter, value in call.arguments.items()}
    by_position = []
    for parameter in call.signature.by_position:  # as far as there is no gap
        if parameter not in given:
            break
        by_position.append(given.pop(parameter))
    result = function(*by_position, **given)
    several = result if isinstance(result, (list, tuple)) else [result]
    return [_array(each) for each in call.select(several)]


def _torch_argument(value: Any) -> Any:
    """A value as PyTorch takes it."""
    if isinstance(value, np.ndarray):
        type = from_numpy(value.dtype)
        octets = value.view(BITS[str(type)]) if str(type) in BITS else value
        tensor = import_module("torch").from_numpy(octets.copy())
        return tensor.view(_type(type))
    if isinstance(value, dtype):
        return _type(value)
    if isinstance(value, (list, tuple)):
        return [_torch_argument(each) for each in value]
    return value


def _type(of: dtype) -> Any:
    return getattr(import_module("torch"), str(of.torch))


def _array(result: Any) -> Array:
    """PyTorch's tensor, or Python's value, as an array of our dtypes."""
    if isinstance(result, (bool, int, float)):
        return np.asarray(result)
    tensor = result.detach().contiguous()
    spelled = str(tensor.dtype).removeprefix("torch.")
    type = next((BY_NAME[n] for n in BITS if BY_NAME[n].torch == spelled), None)
    if type is None:
        return np.array(tensor.numpy())
    bits = getattr(import_module("torch"), np.dtype(BITS[str(type)]).name)
    return np.array(tensor.view(bits).numpy()).view(type.numpy)

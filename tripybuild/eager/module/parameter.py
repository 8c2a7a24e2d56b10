"""`tp.Parameter`: declared tensors of a module."""

from collections.abc import Sequence
from typing import Any

from tripybuild.eager.module.placeholders import PlaceholderValue
from tripybuild.frontend.checks.argument_error import argument_error, dtype_argument
from tripybuild.frontend.tensor import Tensor
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype, dtype as DType, float32  # noqa: N812 - it is a class
from tripybuild.types.shapes import is_int


class Parameter:
    """The half of `Parameter` that is written by hand; the public class says what it takes."""

    def __init__(
        self,
        value: Tensor | Sequence[int],
        dtype: dtype = float32,
        *,
        ranks: Sequence[int] = (),
        optional: bool = False,
    ) -> None:
        if isinstance(value, Tensor):
            vars(self).update(vars(value))
            self.value: Value = value.value
            return
        if not isinstance(dtype, DType):
            dtype = dtype_argument("Parameter", "dtype", dtype)
        sizes: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
        if any(not is_int(size) or size < 0 for size in sizes):
            data = hasattr(value, "__array__") or any(isinstance(each, float) for each in sizes)
            hint = "make a tensor of it: `tp.Tensor(...)`" if data else None
            wanted = "a tensor, or a list of sizes"
            raise argument_error("Parameter", "value", wanted, value, hint, code="wrong-value")
        self.value = PlaceholderValue(
            TensorType(dtype, tuple(map(int, sizes))), ranks, optional=optional
        )

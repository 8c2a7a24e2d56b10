"""`tp.Parameter`: the tensors that a module says it has."""

from collections.abc import Sequence
from typing import Any

from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.eager.parameters import Unset
from tripybuild.eager.tensor import Tensor
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.location import here
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype, float32
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
        sizes: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
        if any(not is_int(size) or size < 0 for size in sizes):
            message = f"the shape of a parameter is a list of sizes, but this is {value!r}"
            raise DiagnosticError(Diagnostic("wrong-value", message, here(PACKAGES).span()))
        self.value = Unset(TensorType(dtype, tuple(sizes)), ranks, optional=optional)

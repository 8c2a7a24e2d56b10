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
    """The half of `Parameter` that is written by hand: a tensor for an attribute of a module.

    ```python
    self.scale = tp.Parameter((3, 4), tp.float16)  # to be given later
    self.shift = tp.Parameter(tp.zeros((4,)))
    ```

    Args:
        value: The tensor, or the shape of one that is to be given later.
        dtype: The type of the elements of one that is to be given later.
        ranks: Ranks that such a one may have instead of that of the shape; what uses it looks at
            its sizes.
        optional: Whether such a one need not be given. The attribute is None until then.

    Raises:
        DiagnosticError: A size is no whole number, or is negative.
    """

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

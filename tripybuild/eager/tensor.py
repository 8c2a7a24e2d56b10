"""The half of the public Tensor that computes: looked at, it becomes numbers."""

from typing import TYPE_CHECKING, Any, Self

from tripybuild import frontend
from tripybuild.eager.evaluate import array_of

if TYPE_CHECKING:
    from tripybuild.numerics.arrays import Array


class Tensor(frontend.Tensor):
    """A tensor that is computed when somebody looks at it, and then keeps what it holds."""

    __slots__ = ()

    def eval(self) -> Self:
        """Compute the tensor now.

        Returns:
            The tensor itself.

        Raises:
            DiagnosticError: It depends on what is known only when a model runs.
        """
        array_of(self.value)
        return self

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return array_of(self.value).tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "Array":
        """An array for NumPy; a copy, since a tensor never changes."""
        array = array_of(self.value)
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array if copy is False else array.copy()

    def __dlpack__(self, **options: Any) -> Any:
        """The elements for another library, in memory of their own."""
        return array_of(self.value).copy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where the elements lie: in the processor's memory."""
        return array_of(self.value).__dlpack_device__()

    def __bool__(self) -> bool:
        """Whether the only element is true.

        Raises:
            ValueError: There are several elements, or none.
        """
        return bool(array_of(self.value))

    def __int__(self) -> int:
        """The only element as an integer."""
        return int(array_of(self.value))

    def __float__(self) -> float:
        """The only element as a number."""
        return float(array_of(self.value))

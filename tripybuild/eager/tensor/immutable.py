"""Immutability of tensors: copy, pickle, and rejected assignments."""

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tripybuild.eager.evaluate.evaluate import array_of
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.tensor import PACKAGES, Tensor
from tripybuild.trace.constants import constant
from tripybuild.trace.location import caller_location
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import from_numpy

if TYPE_CHECKING:
    from tripybuild.reference.numerics.arrays import Array

Kind = TypeVar("Kind", bound=Tensor)


class ChangeError(DiagnosticError, TypeError):
    """A tensor never changes."""


class Immutable(Tensor):
    """The part of Tensor that follows from what it holds being settled when it is made."""

    def __copy__(self) -> Self:
        """Another tensor that holds the same."""
        return _make(type(self), self.value, vars(self))

    def __deepcopy__(self, memo: object) -> Self:
        """The same as a copy: what cannot change need not be there twice."""
        return copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """What Python keeps of a tensor: what it holds, and not how it was made."""
        return _restore, (type(self), array_of(self.value), self.value.name, vars(self))

    if not TYPE_CHECKING:  # a type checker would let it pass then

        def __setitem__(self, index: object, value: object) -> None:
            """Rejected: tensors are immutable and shared."""
            message = "a tensor never changes, so nothing can be assigned to a part of it"
            hint = (
                "make another one: `where` and `masked_fill` choose elements, `concatenate` joins"
            )
            raise ChangeError(
                Diagnostic("wrong-type", message, caller_location(PACKAGES).span(), hint=hint)
            )

        def __delitem__(self, index: object) -> None:
            """Refused, too."""
            self[index] = None


def _restore(
    kind: type[Tensor], array: "Array", name: str | None, members: dict[str, Any]
) -> Tensor:
    value = constant(array, from_numpy(array.dtype))
    value.name = name
    return _make(kind, value, members)


def _make(kind: type[Kind], value: Value, members: Mapping[str, Any]) -> Kind:
    made = object.__new__(kind)
    vars(made).update(members)
    made.value = value
    return made

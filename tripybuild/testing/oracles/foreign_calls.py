"""Foreign call interface: one operator, its arguments, and its results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.foreign import ForeignSignature
from tripybuild.types.dtypes import BY_NAME, dtype, from_numpy


class UnsupportedCall(Exception):  # noqa: N818  # it is no error: there is no oracle
    """No available system has a kernel for the call."""

    reason = "nothing here has a kernel for all calls of these dtypes"


class UndefinedCall(UnsupportedCall):
    """The other system has no such call, whatever runs it."""

    reason = "the other system does not declare all calls for these dtypes"


@dataclass(frozen=True)
class ForeignCall:
    """An operator with arguments: arrays, dtypes and Python's values, by parameter.

    `result` is the one of its results that is taken; without it all are. `opset` is the version of
    the system's operators from which on the operator means this, where it had another meaning.
    """

    signature: ForeignSignature
    arguments: Mapping[str, Any]
    result: int | None = None
    opset: int | None = None

    def select(self, results: Sequence[Any]) -> list[Any]:
        """Of all results those that are taken."""
        return list(results) if self.result is None else [results[self.result]]

    def wider(self, way: Mapping[str, str]) -> "ForeignCall":
        """The call in other dtypes, by the kind of each dtype."""
        given = {name: widen(value, way) for name, value in self.arguments.items()}
        return replace(self, arguments=given)


class System(Protocol):
    """Executor of a foreign system's operators."""

    def __call__(
        self, call: ForeignCall, wanted: Sequence[dtype], *, wide: bool = False
    ) -> list[Array]:
        """What the operator gives.

        Args:
            call: The operator with its arguments.
            wanted: The dtypes of the results. To these they are rounded where wider ones compute.
            wide: Whether floats are computed in a wider dtype.

        Raises:
            UnsupportedCall: Where nothing here can run it.
            RuntimeError: Where the system refuses it.
        """


def widen(value: Any, way: Mapping[str, str]) -> Any:
    """A value with other dtypes, by the kind of each."""
    if isinstance(value, np.ndarray):
        wider = way.get(from_numpy(value.dtype).kind)
        return value if wider is None else value.astype(BY_NAME[wider].numpy)
    if isinstance(value, dtype):
        return BY_NAME[way.get(value.kind, str(value))]
    if isinstance(value, (list, tuple)):
        return [widen(each, way) for each in value]
    return value

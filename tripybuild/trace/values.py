"""Values: tensors of a graph, with dtype, shape and origin."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tripybuild.symbolic.dims import Dim
from tripybuild.types.dtypes import dtype

if TYPE_CHECKING:
    from tripybuild.trace.operation import TraceOp

Size = int | Dim
Shape = tuple[Size, ...]
LARGEST = (1 << 63) - 1  # what engines count sizes and elements in


@dataclass(frozen=True, slots=True)
class TensorType:
    """A dtype and a shape, printed as MLIR does: `tensor<BxSx384xf32>`."""

    dtype: dtype
    shape: Shape

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    def __str__(self) -> str:
        sizes = [
            str(s) if isinstance(s, int) or str(s).isidentifier() else f"({s})" for s in self.shape
        ]
        return f"tensor<{'x'.join([*sizes, self.dtype.mlir])}>"


class RegionScope:
    """The recording of a region; what is recorded meanwhile is of no use once it is closed."""

    __slots__ = ("closed",)

    def __init__(self) -> None:
        self.closed = False


_scope: ContextVar[RegionScope | None] = ContextVar("scope", default=None)


@contextmanager
def record_region() -> Iterator[RegionScope]:
    """Record a region: the values that are made inside of the context are of its scope."""
    scope = RegionScope()
    token = _scope.set(scope)
    try:
        yield scope
    finally:
        _scope.reset(token)
        scope.closed = True


def is_tensor(value: object) -> bool:
    """Whether something is a value of a graph, or a tensor of the frontend: it has our type.

    The tensors of other libraries have a `type`, too.
    """
    return isinstance(getattr(value, "type", None), TensorType)


@contextmanager
def leave_scope() -> Iterator[None]:
    """Make values that are of no scope: those of a region that is closed."""
    token = _scope.set(None)
    try:
        yield
    finally:
        _scope.reset(token)


def in_region() -> bool:
    """Whether a region is being recorded."""
    return _scope.get() is not None


class Value:
    """A tensor of a graph: the input or weight `name`, or an output of the operation `producer`.

    `known` says whether it is known when an engine is built, as weights are; None until `is_known`
    has computed it. `scope` is the region that was being recorded when it was made.
    """

    __slots__ = ("__weakref__", "index", "known", "name", "producer", "scope", "type")

    def __init__(
        self,
        type: TensorType,
        producer: "TraceOp | None" = None,
        index: int = 0,
        name: str | None = None,
        *,
        weight: bool = False,
    ) -> None:
        self.type = type
        self.producer = producer
        self.index = index
        self.name = name
        self.known: bool | None = weight if producer is None else None
        self.scope = _scope.get()

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return self.type.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes: numbers and symbols while recording, only numbers when lowering."""
        return self.type.shape

    @property
    def number(self) -> float | bool | None:
        """The Python number that it was made of, where it is one."""
        return None if self.producer is None or self.type.shape else self.producer.number

    def __repr__(self) -> str:
        return f"<{self.name or 'value'} : {self.type}>"


def is_static(value: Value) -> bool:
    """Whether a tensor is made of weights and constants alone. What is found is remembered."""
    stack = [value]
    while stack:
        last = stack[-1]
        if last.known is None:
            assert last.producer is not None
            found = {each.known: each for each in last.producer.reads()}
            if None in found and False not in found:
                stack.append(found[None])
                continue
            last.known = False not in found
        stack.pop()
    return value.known is True

"""Collective layers: what several devices compute together.

Invariant: an operation has the attributes that its collective needs and no others. `groups` are the
ranks that take part, all of them if there are none; `ranks` is how many they are.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.declaration import SingleResultLayer
from tripybuild.tensorrt.layers.operation import (
    LayerOperation,
    OpProblem,
    attribute,
    operand,
    optional_attribute,
    output,
)
from tripybuild.tensorrt.shape_rules import Shape, ShapeError, Sizes, is_static

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

_ROOTED = (kinds.I1, kinds.I32, kinds.F16, kinds.F32)
_NO_ROOT = -1


def gather_ranks(input: Shape, ranks: int) -> Sizes:
    """What all ranks have, one after the other along the first dimension."""
    first, *rest = _dimensions(input)
    return (None if first is None else first * ranks, *rest)


def scatter_ranks(input: Shape, ranks: int) -> Sizes:
    """A rank's part of the first dimension."""
    first, *rest = _dimensions(input)
    if is_static(first) and first % max(ranks, 1):
        raise ShapeError(f"the first dimension ({first}) is not a multiple of the {ranks} ranks")
    return (None if first is None else first // max(ranks, 1), *rest)


def _dimensions(shape: Shape) -> Shape:
    if not shape:
        raise ShapeError("expected a tensor of rank 1 or more, but got a scalar")
    return shape


class _Collective(LayerOperation):
    """What all of them have; none is pure, so that none is lost or merged with another."""

    input = operand(*kinds.USUAL)
    groups = optional_attribute(kinds.I64_ARRAY)
    result = output(*kinds.USUAL, dtype="input")
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"
    TRAITS: ClassVar[tuple[str, ...]] = ()
    LEAST_RANKS: ClassVar[int] = 1
    KIND: ClassVar[str]  # TensorRT's

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Ranks are numbers that there are."""
        ranks, root, groups = (self._optional(name) for name in ("ranks", "root", "groups"))
        if ranks is not None and ranks < self.LEAST_RANKS:
            yield f"`ranks` is {ranks}, but must be {self.LEAST_RANKS} or more"
        if root is not None and root < 0:
            yield f"`root` is {root}, but ranks count from 0"
        if groups is not None and (min(groups, default=0) < 0 or len(set(groups)) != len(groups)):
            yield f"`groups` is {list(groups)}, but must name each rank once, from 0"

    def _optional(self, name: str) -> Any:
        return self.value(name) if hasattr(self, name) else None

    def translate(self, at: "Emission") -> Any:
        """Add what several devices do; of a scalar, TensorRT crashes instead of refusing."""
        given: Any = self.input.type
        if not given.get_shape():
            at.refuse(f"`{self.name}` needs a tensor with dimensions, and not a `{given}`")
        combine = at.member("ReduceOperation", self._optional("kind") or "NONE")
        root = self._optional("root")
        groups = at.integer_array(self.value("groups") or ())
        collective = at.member("CollectiveOperation", self.KIND)
        root = _NO_ROOT if root is None else root
        layer = at.add("dist_collective", at.tensor(self.input), collective, combine, root, groups)
        return at.set(layer, num_ranks=self._optional("ranks"))


class _Reducing(_Collective):
    """A collective that combines the inputs of all ranks."""

    kind = attribute(kinds.enumeration("reduce_operation"))
    assembly_format = "$kind $input attr-dict `:` type($input) `->` type($result)"


class _Rooted(_Collective):
    """A collective with one rank that gives or gets everything."""

    input = operand(*_ROOTED)
    result = output(*_ROOTED, dtype="input")


class AllReduceOp(_Reducing):
    """The sum (or the like) of all inputs, for every rank."""

    name = "trtx.all_reduce"
    result = output(*kinds.USUAL, like="input")
    KIND: ClassVar[str] = "ALL_REDUCE"


class AllGatherOp(_Collective):
    """All inputs, one after the other, for every rank."""

    name = "trtx.all_gather"
    ranks = attribute(kinds.I64_ATTR)
    result_shape = staticmethod(gather_ranks)
    LEAST_RANKS: ClassVar[int] = 2
    KIND: ClassVar[str] = "ALL_GATHER"


class ReduceScatterOp(_Reducing):
    """The sum (or the like) of all inputs, of which every rank has a part."""

    name = "trtx.reduce_scatter"
    ranks = attribute(kinds.I64_ATTR)
    result_shape = staticmethod(scatter_ranks)
    LEAST_RANKS: ClassVar[int] = 2
    KIND: ClassVar[str] = "REDUCE_SCATTER"


class AllToAllOp(_Collective):
    """A part of every input, for every rank."""

    name = "trtx.all_to_all"
    ranks = attribute(kinds.I64_ATTR)
    result = output(*kinds.USUAL, like="input")
    KIND: ClassVar[str] = "ALL_TO_ALL"


class CollectiveBroadcastOp(_Rooted):
    """The input of one, for every rank."""

    name = "trtx.collective_broadcast"
    root = attribute(kinds.I64_ATTR)
    result = output(*_ROOTED, like="input")
    KIND: ClassVar[str] = "BROADCAST"


class CollectiveReduceOp(_Rooted):
    """The sum (or the like) of all inputs, for one."""

    name = "trtx.collective_reduce"
    kind = attribute(kinds.enumeration("reduce_operation"))
    root = attribute(kinds.I64_ATTR)
    result = output(*_ROOTED, like="input")
    assembly_format = _Reducing.assembly_format
    KIND: ClassVar[str] = "REDUCE"


class CollectiveGatherOp(_Rooted):
    """All inputs, one after the other, for one."""

    name = "trtx.collective_gather"
    ranks = attribute(kinds.I64_ATTR)
    root = attribute(kinds.I64_ATTR)
    result_shape = staticmethod(gather_ranks)
    KIND: ClassVar[str] = "GATHER"


class CollectiveScatterOp(_Rooted):
    """Parts of the input of one, for every rank."""

    name = "trtx.collective_scatter"
    ranks = attribute(kinds.I64_ATTR)
    root = attribute(kinds.I64_ATTR)
    result_shape = staticmethod(scatter_ranks)
    KIND: ClassVar[str] = "SCATTER"


all_reduce = SingleResultLayer(AllReduceOp)
all_gather = SingleResultLayer(AllGatherOp)
reduce_scatter = SingleResultLayer(ReduceScatterOp)
all_to_all = SingleResultLayer(AllToAllOp)
collective_broadcast = SingleResultLayer(CollectiveBroadcastOp)
collective_reduce = SingleResultLayer(CollectiveReduceOp)
collective_gather = SingleResultLayer(CollectiveGatherOp)
collective_scatter = SingleResultLayer(CollectiveScatterOp)

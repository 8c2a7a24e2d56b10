"""Collective operations across several devices.

Invariant: an operation has the attributes that its collective needs and no others. `groups` are the
ranks that take part, all of them if there are none; `ranks` is how many they are.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types
from tripybuild.tensorrt.dialect.base import (
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.shape_rules import Shape, Sizes, trtx as rules

_EVERY = types.tensor(*types.USUAL)
_ROOTED = types.tensor(types.I1, types.I32, types.F16, types.F32)
_PLAIN = "$input attr-dict `:` type($input) `->` type($result)"
_REDUCING = "$kind $input attr-dict `:` type($input) `->` type($result)"


class _Collective(TensorrtOperation):
    """What all of them have; none is pure, so that none is lost or merged with another."""

    groups = opt_prop_def(attributes.I64_ARRAY)
    INFERRED: ClassVar[bool] = True
    LEAST_RANKS: ClassVar[int] = 1

    def components(self) -> Sequence[Component]:
        """The input's type, with more or less along its first dimension."""
        (given,) = self.operands
        return [Component(self.shape(sizes(given)), element(given))]

    def shape(self, given: Shape) -> Sizes:
        """Infer the shape of what a rank gets."""
        return tuple(given)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Ranks are numbers that there are."""
        names = self.get_irdl_definition().accessor_names
        ranks, groups = self.value("ranks") if "ranks" in names else None, self.value("groups")
        if ranks is not None and ranks < self.LEAST_RANKS:
            yield f"`ranks` is {ranks}, but must be {self.LEAST_RANKS} or more"
        if "root" in names and self.value("root") < 0:
            yield f"`root` is {self.value('root')}, but ranks count from 0"
        if groups is not None and (min(groups, default=0) < 0 or len(set(groups)) != len(groups)):
            yield f"`groups` is {list(groups)}, but must name each rank once, from 0"


@operation
class AllReduceOp(_Collective):
    """The sum (or the like) of all inputs, for everybody."""

    name = "trtx.all_reduce"
    input = operand_def(_EVERY)
    kind = prop_def(attributes.enumeration("reduce_operation"))
    result = result_def(_EVERY)
    assembly_format = _REDUCING


@operation
class AllGatherOp(_Collective):
    """All inputs, one after the other, for everybody."""

    name = "trtx.all_gather"
    input = operand_def(_EVERY)
    ranks = prop_def(attributes.I64)
    result = result_def(_EVERY)
    assembly_format = _PLAIN
    LEAST_RANKS: ClassVar[int] = 2

    def shape(self, given: Shape) -> Sizes:
        """The parts of all ranks."""
        return rules.gather_ranks(given, self.value("ranks"))


@operation
class ReduceScatterOp(_Collective):
    """The sum (or the like) of all inputs, of which everybody has a part."""

    name = "trtx.reduce_scatter"
    input = operand_def(_EVERY)
    kind = prop_def(attributes.enumeration("reduce_operation"))
    ranks = prop_def(attributes.I64)
    result = result_def(_EVERY)
    assembly_format = _REDUCING
    LEAST_RANKS: ClassVar[int] = 2

    def shape(self, given: Shape) -> Sizes:
        """The part of one rank."""
        return rules.scatter_ranks(given, max(self.value("ranks"), 1))


@operation
class AllToAllOp(_Collective):
    """A part of every input, for everybody."""

    name = "trtx.all_to_all"
    input = operand_def(_EVERY)
    ranks = prop_def(attributes.I64)
    result = result_def(_EVERY)
    assembly_format = _PLAIN


@operation
class CollectiveBroadcastOp(_Collective):
    """The input of one, for everybody."""

    name = "trtx.collective_broadcast"
    input = operand_def(_ROOTED)
    root = prop_def(attributes.I64)
    result = result_def(_ROOTED)
    assembly_format = _PLAIN


@operation
class CollectiveReduceOp(_Collective):
    """The sum (or the like) of all inputs, for one."""

    name = "trtx.collective_reduce"
    input = operand_def(_ROOTED)
    kind = prop_def(attributes.enumeration("reduce_operation"))
    root = prop_def(attributes.I64)
    result = result_def(_ROOTED)
    assembly_format = _REDUCING


@operation
class CollectiveGatherOp(_Collective):
    """All inputs, one after the other, for one."""

    name = "trtx.collective_gather"
    input = operand_def(_ROOTED)
    ranks = prop_def(attributes.I64)
    root = prop_def(attributes.I64)
    result = result_def(_ROOTED)
    assembly_format = _PLAIN

    def shape(self, given: Shape) -> Sizes:
        """The parts of all ranks."""
        return rules.gather_ranks(given, self.value("ranks"))


@operation
class CollectiveScatterOp(_Collective):
    """Parts of the input of one, for everybody."""

    name = "trtx.collective_scatter"
    input = operand_def(_ROOTED)
    ranks = prop_def(attributes.I64)
    root = prop_def(attributes.I64)
    result = result_def(_ROOTED)
    assembly_format = _PLAIN

    def shape(self, given: Shape) -> Sizes:
        """The part of one rank."""
        return rules.scatter_ranks(given, max(self.value("ranks"), 1))

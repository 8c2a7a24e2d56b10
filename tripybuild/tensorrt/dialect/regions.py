"""Region operations and terminators: MLIR's structural checks, in MLIR's words.

Invariant: what is checked after the operations inside (`inside`) comes last, as in MLIR; a problem
of one of those is `at` it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Attribute, Block, Operation, Region

from tripybuild.tensorrt.dialect.base import TensorrtOperation
from tripybuild.tensorrt.layers.checks import Check
from tripybuild.tensorrt.layers.operation import OpProblem
from tripybuild.tensorrt.mlir.structure import implicit_terminators


class RegionOperation(TensorrtOperation):
    """An operation with regions; `SINGLE` are those of one block, by index and NVIDIA's name."""

    SINGLE: ClassVar[tuple[tuple[int, str], ...]] = ()

    def region_problems(self) -> Iterator[OpProblem]:
        """Each of the regions has one block."""
        for index, name in self.SINGLE:
            if len(self.regions[index].blocks) != 1:
                yield OpProblem(
                    f"region #{index} ('{name}') failed to verify constraint: region with 1 blocks"
                )

    def own_problems(self) -> Iterator[OpProblem]:
        """What is wrong with the operation, whatever is inside."""
        yield from super().problems()

    def problems(self) -> Iterator[OpProblem]:
        """What is wrong with the operation, or else what is wrong inside."""
        found = list(self.own_problems())
        yield from found
        if not found:
            yield from self._first_inside()

    def _first_inside(self) -> Iterator[OpProblem]:
        for problem in self.body_problems():
            yield problem
            if problem.at is None:
                return

    def body_problems(self) -> Iterator[OpProblem]:
        """Check what depends on the operations inside; MLIR stops at the first that is ours."""
        yield from ()


def unsupported_ops(op: Operation) -> Iterator[OpProblem]:
    """Give the first operation inside that cannot be in the body of a condition or a loop."""
    for region in op.regions:
        for each in region.walk():
            if not getattr(each, "ALLOWED_IN_REGIONS", True):
                yield OpProblem("not supported in control flow region body", at=each)
                yield OpProblem(
                    "contains an operation that is not supported in a control flow branch region"
                )
                return


@dataclass(frozen=True, slots=True)
class ControlFlowEdge:
    """Values that go from a place to another one: the operands, a region or the results."""

    source: int | None
    target: int | None
    given: Sequence[Attribute]
    wanted: Sequence[Attribute]

    def problems(self) -> Iterator[OpProblem]:
        """The values are as many as are wanted, and of the same types."""
        source = "parent operands" if self.source is None else f"Region #{self.source}"
        target = "parent results" if self.target is None else f"Region #{self.target}"
        way = f"control flow edge from {source} to {target}"
        if len(self.given) != len(self.wanted):
            yield OpProblem(
                f" region {way}: source has {len(self.given)} operands, but target successor "
                f"needs {len(self.wanted)}"
            )
            return
        for index, (given, wanted) in enumerate(zip(self.given, self.wanted, strict=True)):
            if given != wanted:
                yield OpProblem(
                    f" along {way}: source type #{index} '{given}' should match input type "
                    f"#{index} '{wanted}'"
                )


def last(region: Region) -> Operation | None:
    """Give the last operation of a region."""
    block = region.blocks.last
    return None if block is None else block.last_op


def types_of(values: Sequence[object]) -> list[Attribute]:
    """Give the types of values."""
    return [each.type for each in values]  # type: ignore[attr-defined]  # xDSL's variadic fields


def argument_types(region: Region) -> list[Attribute]:
    """Give the types of what a region takes."""
    block = region.blocks.first
    return [] if block is None else [each.type for each in block.args]


def ends_its_block(op: Operation) -> OpProblem | None:
    """Nothing comes after the operation."""
    block = op.parent
    if isinstance(block, Block) and block.last_op is not op:
        return OpProblem("must be the last operation in the parent block")
    return None


def ends_with_terminator(op: Operation) -> OpProblem | None:
    """Each region ends with the operation that is there if none is written."""
    found = next(implicit_terminators(op), None)
    return None if found is None else OpProblem(found[0], notes=found[1])


def parent_is(*names: str) -> Check:
    """The operation stands in an operation of one of these names, if it stands in one."""
    one_of = f"op to be one of '{', '.join(names)}'" if len(names) > 1 else f"op '{names[0]}'"

    def check(op: Operation) -> OpProblem | None:
        parent = op.parent_op()
        fits = parent is None or parent.name in names
        return None if fits else OpProblem(f"expects parent {one_of}")

    return check


def no_arguments(op: Operation) -> OpProblem | None:
    """No region takes anything."""
    for index, region in enumerate(op.regions):
        if argument_types(region):
            return OpProblem(f"region #{index} should have no arguments")
    return None

"""Reshape layers: other sizes of the same elements, and dimensions of size one put in or out."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from tripybuild.symbolic.dims import same
from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import (
    SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,
    Checks,
    all_match,
)
from tripybuild.tensorrt.layers.declaration import Arguments, ShapeRule, SingleResultLayer
from tripybuild.tensorrt.layers.operation import (
    LayerOperation,
    OpProblem,
    operand,
    optional_operand,
    output,
    sizes,
)
from tripybuild.tensorrt.recorder import argument_kinds as arguments
from tripybuild.tensorrt.recorder.value import Size
from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Shape,
    ShapeError,
    Sizes,
    is_static,
    same_volume,
)


class ReshapeOp(LayerOperation):
    """Other sizes, as many elements; `shape` are sizes as a tensor."""

    name = "tensorrt.reshape"
    input = operand(*kinds.EVERY)
    shape = optional_operand(kinds.I32, ranks=(1,))
    result = output(*kinds.EVERY)
    assembly_format = (
        "$input (`shape` `(` $shape^ `` `:` type($shape) `)`)? attr-dict"
        " `:` type($input) `to` type($result)"
    )
    CHECKS: ClassVar[Checks] = (all_match("element type", "input", "result"),)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The sizes are possible, and known well enough."""
        result = sizes(self.result)
        if not same_volume(sizes(self.input), result):
            yield "input and result tensor types should have the same number of elements"
        if self.shape is None:
            if result.count(None) > 1:
                yield (
                    "result type may have at most one dynamic dimension if the 'shape' operand is "
                    "not provided"
                )
            return
        (count,) = sizes(self.shape)
        if count is None:
            yield "dynamic reshape must be a 1D tensor of known shape"
        elif count != len(result):
            yield (f"reshape tensor size ({count}) does not match result type rank ({len(result)})")


def _reshaped(given: Arguments) -> Sizes:
    before, after = given["input"].shape, tuple(given["shape"])
    if any(isinstance(size, int) and size < 0 for size in after):
        raise ShapeError("sizes are 0 or more")
    if not same_volume(before, after):
        raise ShapeError(f"{_text(before)} and {_text(after)} have not as many elements")
    return after


def _text(shape: Sequence[Size]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _reshaping(operation: type[Any]) -> SingleResultLayer:
    """A layer that is told the shape of its result."""
    parameters = {"input": arguments.tensor, "shape": arguments.sizes}
    return SingleResultLayer(
        operation,
        parameters=parameters,
        results=("input",),
        shape=_reshaped,
        emit=lambda place: place.reshape(place.layer.arguments["shape"]),
    )


def dimension_groups(wide: Shape, narrow: Shape) -> list[list[int]] | None:
    """Which neighbors of a shape make each size of one of lower rank, or None if none do.

    Unknown sizes are equal to themselves; what is left over at the end, ones and unknown sizes,
    belongs to the last group.
    """
    found: list[list[int]] = []
    place = 0
    for size in narrow:
        begin, product = place, 1
        while place < len(wide) - 1 and is_static(next_size := wide[place]):
            if not _continues(product, next_size, size):
                break
            product *= next_size
            place += 1
        if place == len(wide) or not _completes(product, wide[place], size):
            return None
        place += 1
        found.append(list(range(begin, place)))
    if any(is_static(size) and size != 1 for size in wide[place:]):
        return None
    if found:
        found[-1].extend(range(place, len(wide)))
    return found


def _continues(product: int, size: int, target: MaybeSize) -> bool:
    return (is_static(target) and product * size < target) or (size == 1 and not same(target, 1))


def _completes(product: int, size: MaybeSize, target: MaybeSize) -> bool:
    if is_static(size) and is_static(target):
        return product * size == target
    return product == 1 and same(size, target)


def drops_ones_only(wide: Shape, parts: Sequence[Sequence[int]]) -> bool:
    """Tell whether each group of sizes has at most one that is not one."""
    wider = [is_static(size) and size > 1 for size in wide]
    return all(sum(wider[dim] for dim in part) <= 1 for part in parts)


class _UnitDimensions(LayerOperation):
    """What inserts or drops dimensions of size one."""

    input = operand(*kinds.EVERY)
    result = output(*kinds.EVERY)
    assembly_format = "attr-dict $input `:` type($input) `to` type($result)"
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)

    def groups(self) -> list[list[int]] | None:
        """Which dimensions of the higher rank belong to each of the lower, or None."""
        ranked = sorted((sizes(self.input), sizes(self.result)), key=len)
        return None if len(ranked[0]) == len(ranked[1]) else dimension_groups(ranked[1], ranked[0])


class ExpandRankOp(_UnitDimensions):
    """Dimensions of size one are inserted."""

    name = "tensorrt.expand_rank"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The result has the input's sizes, and ones between them."""
        wide = sizes(self.result)
        if len(sizes(self.input)) > len(wide):
            yield "result rank should be greater than or equal to input rank"
        groups = self.groups()
        if groups is None or not drops_ones_only(wide, groups):
            yield "the reshape is not a valid rank expansion produced from inserting 1's"


class CollapseRankOp(_UnitDimensions):
    """Dimensions of size one are dropped."""

    name = "tensorrt.collapse_rank"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The input has the result's sizes, and ones between them."""
        wide = sizes(self.input)
        if len(wide) < len(sizes(self.result)):
            yield "input type rank should be greater than or equal to result type rank"
        groups = self.groups()
        if groups is None:
            yield "failed to compute a reassociation map from input to output type"
        elif not drops_ones_only(wide, groups):
            yield "expected to only drop unit-dims from the shape"


reshape = _reshaping(ReshapeOp)
expand_rank, collapse_rank = _reshaping(ExpandRankOp), _reshaping(CollapseRankOp)


def _squeeze_shape(given: Arguments) -> Sizes:
    before = given["input"].shape
    axes = _axes(given["axes"], len(before))
    wide = [axis for axis in sorted(axes) if isinstance(before[axis], int) and before[axis] != 1]
    if wide:
        raise ShapeError(f"the size of dimension {wide[0]} is {before[wide[0]]}, and not 1")
    return tuple(size for dim, size in enumerate(before) if dim not in axes)


def _unsqueeze_shape(given: Arguments) -> Sizes:
    rank = len(given["input"].shape) + len(given["axes"])
    axes = _axes(given["axes"], rank)
    rest = iter(given["input"].shape)
    return tuple(1 if dim in axes else next(rest) for dim in range(rank))


def _axes(axes: Sequence[int], rank: int) -> frozenset[int]:
    """Axes that may count from the end."""
    found = frozenset(axis % rank for axis in axes if -rank <= axis < rank)
    if len(found) != len(axes):
        raise ShapeError(f"{list(axes)} are not different dimensions of {rank}")
    return found


def _change_rank(operation: type[Any], name: str, shape: ShapeRule) -> SingleResultLayer:
    """A layer that puts unit dimensions in or takes them out: the result's shape says which."""
    parameters = {"input": arguments.tensor, "axes": arguments.integers}
    return SingleResultLayer(
        operation,
        name,
        parameters=parameters,
        results=("input",),
        shape=shape,
        emit=lambda place: place.reshape(place.layer.results[0].shape),  # type: ignore[arg-type]
    )


squeeze = _change_rank(CollapseRankOp, "squeeze", _squeeze_shape)
unsqueeze = _change_rank(ExpandRankOp, "unsqueeze", _unsqueeze_shape)

"""Operations with regions, which Python functions fill."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.module import TensorType, current
from tripybuild.stablehlo.value import HloValue

Region = tuple[Sequence[TensorType], Callable[..., Sequence[HloValue]]]


def emit_regions(
    name: str,
    operands: Sequence[HloValue],
    results: Sequence[TensorType],
    regions: Sequence[Region],
    attributes: dict[str, Any] | None = None,
) -> tuple[HloValue, ...]:
    """Append one operation whose regions are filled by functions on their arguments."""
    created, values = _create(name, operands, results, len(regions), attributes)
    for region, (takes, fill) in zip(created, regions, strict=True):
        _fill(region, takes, fill)
    return values


def _create(
    name: str,
    operands: Sequence[HloValue],
    results: Sequence[TensorType],
    count: int,
    attributes: dict[str, Any] | None = None,
) -> tuple[Any, tuple[HloValue, ...]]:
    """Append an operation with so many empty regions; give those, and its results."""
    types = [current().type(*result) for result in results]
    given = [value.mlir for value in operands]
    made = bindings.ir.Operation.create(name, types, given, attributes, regions=count)
    values = zip(made.results, results, strict=True)
    return made.regions, tuple(HloValue(mlir, *result) for mlir, result in values)


def _fill(
    region: Any, takes: Sequence[TensorType], fill: Callable[..., Sequence[HloValue]]
) -> None:
    ir = bindings.ir
    kinds = [current().type(*take) for take in takes]
    locations = [ir.Location.current] * len(kinds)
    block = ir.Block.create_at_start(region, kinds, locations)
    arguments = [HloValue(mlir, *take) for mlir, take in zip(block.arguments, takes, strict=True)]
    with _inside(block):
        gives = [value.mlir for value in fill(*arguments)]
        ir.Operation.create("stablehlo.return", operands=gives)


@contextmanager
def _inside(block: Any) -> Iterator[None]:
    """Append to a block of a region; what is built there cannot be used outside."""
    module = current()
    module.depth += 1
    try:
        with bindings.ir.InsertionPoint(block):
            yield
    finally:
        module.depth -= 1


def emit_branches(
    name: str, operands: Sequence[HloValue], branches: Sequence[Callable[[], Sequence[HloValue]]]
) -> tuple[HloValue, ...]:
    """Append one operation whose regions take nothing and decide its result types."""
    ir = bindings.ir
    # The types are known only when the branches are built, so they are built in a draft first.
    draft = ir.Operation.create(name, [], [], None, regions=len(branches), ip=False)
    given: list[list[HloValue]] = []
    for region, branch in zip(draft.regions, branches, strict=True):
        with _inside(ir.Block.create_at_start(region, [])):
            given.append(list(branch()))
            ir.Operation.create("stablehlo.return", operands=[value.mlir for value in given[-1]])
    results = [(value.dtype, value.shape) for value in given[0]]
    if any([(value.dtype, value.shape) for value in values] != results for values in given):
        raise ValueError(f"branches differ: {' and '.join(map(str, given))}")
    created, values = _create(name, operands, results, len(branches))
    for old, new in zip(draft.regions, created, strict=True):
        old.blocks[0].append_to(new)
    return values

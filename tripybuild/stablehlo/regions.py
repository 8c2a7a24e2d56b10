"""Operations with regions, which Python functions fill."""

from collections.abc import Callable, Sequence
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.module import Emission, Region, TensorType, current, inside
from tripybuild.stablehlo.value import HloValue, same_sizes


def emit_regions(
    name: str,
    operands: Sequence[HloValue],
    results: Sequence[TensorType],
    regions: Sequence[Region],
    attributes: dict[str, Any] | None = None,
) -> tuple[HloValue, ...]:
    """Append one operation whose regions are filled by functions on their arguments."""
    module = current()
    emission = Emission(name, list(operands), list(results), attributes or {}, list(regions))
    return emission.append() if module.bounds is None else module.bounds.emit(emission)


def emit_branches(
    name: str, operands: Sequence[HloValue], branches: Sequence[Callable[[], Sequence[HloValue]]]
) -> tuple[HloValue, ...]:
    """Append one operation whose regions take nothing and decide its result types."""
    ir = bindings.ir
    # The types are known only when the branches are built, so they are built in a draft first.
    draft = ir.Operation.create(name, [], [], None, regions=len(branches), ip=False)
    given: list[list[HloValue]] = []
    for region, branch in zip(draft.regions, branches, strict=True):
        with inside(ir.Block.create_at_start(region, [])):
            given.append(list(branch()))
            ir.Operation.create("stablehlo.return", operands=[value.mlir for value in given[-1]])
    results = [(value.dtype, value.shape) for value in given[0]]
    if any(not same_sizes([(v.dtype, v.shape) for v in values], results) for values in given):
        raise ValueError(f"branches differ: {' and '.join(map(str, given))}")
    types = [current().type(*result) for result in results]
    taken = [value.mlir for value in operands]
    made = ir.Operation.create(name, types, taken, None, regions=len(branches))
    for old, new in zip(draft.regions, made.regions, strict=True):
        old.blocks[0].append_to(new)
    pairs = zip(made.results, results, strict=True)
    return tuple(HloValue(mlir, *result) for mlir, result in pairs)

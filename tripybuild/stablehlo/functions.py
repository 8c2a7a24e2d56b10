"""Outlined functions: what `@main` calls several times stands in the module once.

Invariant: a function sees its arguments alone. So it is a program by itself, and a `@main` of calls
alone says in which order those run, and on what.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.module import (
    TensorType,
    bytecode,
    create_function,
    current,
    donation_attributes,
    function_type,
)
from tripybuild.stablehlo.value import HloValue
from tripybuild.types.dtypes import BY_NAME

NUMPY_NAMES = {each.mlir: each.numpy_name for each in BY_NAME.values()}
SpelledType = tuple[str, tuple[int, ...]]  # a dtype of NumPy's by name, and a shape


@dataclass(frozen=True, slots=True)
class OutlinedFunction:
    """A function that `@main` can call, by its name, and what it gives."""

    name: str
    gives: tuple[TensorType, ...]

    def __call__(self, operands: Sequence[HloValue]) -> list[HloValue]:
        """Append a call."""
        ir, module = bindings.ir, current()
        types = [module.type(*each) for each in self.gives]
        callee = {"callee": ir.FlatSymbolRefAttr.get(self.name)}
        made = ir.Operation.create("func.call", types, [each.mlir for each in operands], callee)
        pairs = zip(made.results, self.gives, strict=True)
        return [HloValue(mlir, *each) for mlir, each in pairs]


def outline_function(
    name: str,
    takes: Sequence[TensorType],
    fill: Callable[[Sequence[HloValue]], Sequence[HloValue]],
    donated: Mapping[int, int] | None = None,
) -> OutlinedFunction:
    """Add a function to the module that is being built.

    Args:
        name: Its name in the module.
        takes: The types of its arguments.
        fill: Builds it from its arguments, and returns its results.
        donated: The arguments whose memory may become that of a result.
    """
    ir, module = bindings.ir, current()
    function = create_function(module.mlir.body, name, "private")
    types = [module.type(*each) for each in takes]
    block = ir.Block.create_at_start(
        function.regions[0], types, [ir.Location.unknown()] * len(types)
    )
    outside, module.constants = module.constants, {}
    try:
        with ir.InsertionPoint(block):
            pairs = zip(block.arguments, takes, strict=True)
            gives = fill([HloValue(mlir, *each) for mlir, each in pairs])
            ir.Operation.create("func.return", operands=[each.mlir for each in gives])
    finally:
        module.constants = outside
    function.attributes["function_type"] = function_type(types, [each.mlir.type for each in gives])
    if donated:
        function.attributes["arg_attrs"] = donation_attributes(len(takes), donated)
    return OutlinedFunction(name, tuple((each.dtype, each.shape) for each in gives))


@dataclass(frozen=True, slots=True)
class CallPlan:
    """A `@main` of calls alone, with numbers for values: first its arguments, then all results.

    Args:
        parameters: The types of its arguments.
        steps: Which function each call calls, and the values that it takes.
        results: The values that are returned.
    """

    parameters: tuple[SpelledType, ...]
    steps: tuple[tuple[int, tuple[int, ...]], ...]
    results: tuple[int, ...]


def call_plan(module: Any) -> CallPlan | None:
    """What the `@main` of a module calls; None where it does anything else, or what it calls does.

    Args:
        module: The operation of a module.
    """
    functions = _functions(module)
    main = functions.pop("main", None)
    if main is None or not functions or any(map(_has_call, functions.values())):
        return None
    order = {name: at for at, name in enumerate(functions)}
    (block,) = main.regions[0].blocks
    numbers = {value: at for at, value in enumerate(block.arguments)}
    types = tuple(_spell(value.type) for value in block.arguments)
    steps = []
    *calls, last = block.operations
    for each in calls:
        callee = str(each.operation.attributes["callee"])[1:] if _is_call(each) else ""
        if callee not in order:
            return None
        steps.append((order[callee], tuple(numbers[value] for value in each.operands)))
        numbers.update(zip(each.results, count(len(numbers)), strict=False))
    return CallPlan(types, tuple(steps), tuple(numbers[value] for value in last.operands))


def function_modules(module: Any) -> list[bytes]:
    """Each function but `@main` as the `@main` of a module of its own, in MLIR bytecode.

    Args:
        module: The operation of a module.
    """
    ir = bindings.ir
    found = []
    with module.context, ir.Location.unknown():
        for name, function in _functions(module).items():
            if name == "main":
                continue
            alone = ir.Module.create()
            copy = function.operation.clone(ip=ir.InsertionPoint(alone.body))
            copy.attributes["sym_name"] = ir.StringAttr.get("main")
            copy.attributes["sym_visibility"] = ir.StringAttr.get("public")
            found.append(bytecode(alone.operation))
    return found


def _functions(module: Any) -> dict[str, Any]:
    found = (each.operation for each in module.regions[0].blocks[0])
    return {bindings.ir.StringAttr(each.attributes["sym_name"]).value: each for each in found}


def _is_call(operation: Any) -> bool:
    return bool(operation.operation.name == "func.call")


def _has_call(function: Any) -> bool:
    found: list[bool] = []

    def look(operation: Any) -> Any:
        found.append(_is_call(operation))
        return bindings.ir.WalkResult.ADVANCE

    function.walk(look)
    return any(found)


def _spell(type: Any) -> SpelledType:
    tensor = bindings.ir.RankedTensorType(type)
    return NUMPY_NAMES[str(tensor.element_type)], tuple(tensor.shape)

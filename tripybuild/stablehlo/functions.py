"""Outlined functions: what `@main` calls several times stands in the module once.

Invariant: a function sees its arguments alone. So it is a program by itself, with what it calls,
and a `@main` of calls alone says in which order those run, and on what. Calls that XLA must keep
(`call_noinline`) are part of a program.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
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
NOINLINE = "mhlo.frontend_attributes"  # of a call that XLA keeps; it has no other way to say it


@dataclass(frozen=True, slots=True)
class OutlinedFunction:
    """A function that can be called, by its name, what it gives, and whether XLA may inline it."""

    name: str
    gives: tuple[TensorType, ...]
    inline: bool = True

    def __call__(self, operands: Sequence[HloValue]) -> list[HloValue]:
        """Append a call."""
        ir, module = bindings.ir, current()
        types = [module.type(*each) for each in self.gives]
        attributes = {"callee": ir.FlatSymbolRefAttr.get(self.name)}
        if not self.inline:
            attributes[NOINLINE] = module.parse_attribute('{inlineable = "false"}')
        taken = [each.mlir for each in (*operands, *module.true_sizes)]
        made = ir.Operation.create("func.call", types, taken, attributes)
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
    sizes = module.true_sizes
    types = [module.type(*each) for each in takes] + [each.mlir.type for each in sizes]
    block = ir.Block.create_at_start(
        function.regions[0], types, [ir.Location.unknown()] * len(types)
    )
    outside, module.constants = module.constants, {}
    (*arguments,) = block.arguments
    module.true_sizes = [
        HloValue(mlir, each.dtype, ())
        for mlir, each in zip(arguments[len(takes) :], sizes, strict=True)
    ]
    try:
        with ir.InsertionPoint(block):
            pairs = zip(arguments, takes, strict=False)
            gives = fill([HloValue(mlir, *each) for mlir, each in pairs])
            ir.Operation.create("func.return", operands=[each.mlir for each in gives])
    finally:
        module.constants, module.true_sizes = outside, sizes
    function.attributes["function_type"] = function_type(types, [each.mlir.type for each in gives])
    if donated:
        function.attributes["arg_attrs"] = donation_attributes(len(types), donated)
    return OutlinedFunction(name, tuple((each.dtype, each.shape) for each in gives))


def call_noinline(
    name: str,
    operands: Sequence[HloValue],
    fill: Callable[[Sequence[HloValue]], Sequence[HloValue]],
) -> list[HloValue]:
    """Call a function that XLA neither inlines nor fuses: it runs once, whatever reads its results.

    Args:
        name: What begins the function's name. Equal names and types of operands share one.
        operands: What it takes.
        fill: Builds it from its arguments, and returns its results.
    """
    functions = current().functions
    takes = tuple((each.dtype, each.shape) for each in operands)
    if (name, takes) not in functions:
        made = outline_function(f"{name}{len(functions)}", takes, fill)
        functions[name, takes] = replace(made, inline=False)
    found: list[HloValue] = functions[name, takes](operands)
    return found


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
    if "main" not in functions:
        return None
    programs = _programs(functions)
    (block,) = functions["main"].regions[0].blocks
    *calls, last = block.operations
    if not calls or not all(_is_program_call(each.operation) for each in calls):
        return None
    if any(map(_is_program_call, chain.from_iterable(_walk(functions[each]) for each in programs))):
        return None
    order = {name: at for at, name in enumerate(programs)}
    numbers = {value: at for at, value in enumerate(block.arguments)}
    types = tuple(_spell(value.type) for value in block.arguments)
    steps = []
    for each in calls:
        arguments = tuple(numbers[value] for value in each.operands)
        steps.append((order[_callee(each.operation)], arguments))
        numbers.update(zip(each.results, count(len(numbers)), strict=False))
    return CallPlan(types, tuple(steps), tuple(numbers[value] for value in last.operands))


def function_modules(module: Any) -> list[bytes]:
    """Each function that `@main` calls as the `@main` of a module of its own, in MLIR bytecode.

    Args:
        module: The operation of a module.
    """
    ir = bindings.ir
    functions = _functions(module)
    found = []
    with module.context, ir.Location.unknown():
        for name in _programs(functions):
            alone = ir.Module.create()
            place = ir.InsertionPoint(alone.body)
            copy = functions[name].clone(ip=place)
            copy.attributes["sym_name"] = ir.StringAttr.get("main")
            copy.attributes["sym_visibility"] = ir.StringAttr.get("public")
            for callee in _callees(functions[name], functions):
                functions[callee].clone(ip=place)
            found.append(bytecode(alone.operation))
    return found


def _functions(module: Any) -> dict[str, Any]:
    found = (each.operation for each in module.regions[0].blocks[0])
    return {bindings.ir.StringAttr(each.attributes["sym_name"]).value: each for each in found}


def _programs(functions: Mapping[str, Any]) -> list[str]:
    """The functions that `@main` calls and XLA may inline, in the order of the first calls."""
    calls = filter(_is_program_call, _walk(functions["main"]))
    return [name for name in dict.fromkeys(map(_callee, calls)) if name in functions]


def _callees(function: Any, functions: Mapping[str, Any]) -> list[str]:
    """The functions that a function needs: those that it calls, and those that they call."""
    found: dict[str, None] = {}
    waiting = [function]
    while waiting:
        names = [_callee(each) for each in _walk(waiting.pop()) if _is_call(each)]
        new = [name for name in names if name in functions and name not in found]
        found.update(dict.fromkeys(new))
        waiting += [functions[name] for name in new]
    return list(found)


def _walk(function: Any) -> list[Any]:
    """The operations in a function, itself included."""
    found: list[Any] = []

    def look(operation: Any) -> Any:
        found.append(operation)
        return bindings.ir.WalkResult.ADVANCE

    function.walk(look)
    return found


def _is_call(operation: Any) -> bool:
    return bool(operation.name == "func.call")


def _is_program_call(operation: Any) -> bool:
    return _is_call(operation) and NOINLINE not in operation.attributes


def _callee(call: Any) -> str:
    name: str = bindings.ir.FlatSymbolRefAttr(call.attributes["callee"]).value
    return name


def _spell(type: Any) -> SpelledType:
    tensor = bindings.ir.RankedTensorType(type)
    return NUMPY_NAMES[str(tensor.element_type)], tuple(tensor.shape)

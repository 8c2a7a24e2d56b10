"""Sample arguments: sizes become shapes, the rest attributes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tripybuild.language.evaluate import evaluate
from tripybuild.language.names import free_names
from tripybuild.reference.call_names import OperatorNames
from tripybuild.schema.operator.dtype_combinations import Tuple, slots, tensor_inputs
from tripybuild.schema.operator.operator import Input, Operator, Snippet
from tripybuild.schema.operator.samples import Place, free_sizes, is_sample_value
from tripybuild.testing.region_functions import region_function
from tripybuild.trace.values import Size
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import (
    TensorPattern,
    TensorsPattern,
    options,
    tensors,
)
from tripybuild.types.vocabulary import SHAPE

Change = Callable[[Place, int], Any]


@dataclass(frozen=True)
class SampleOperand:
    """One input of a call: its dtypes and shapes, and the generator that the sample gives it.

    One that is `constant` is data that is known when the engine is built.
    """

    types: tuple[dtype, ...]
    shapes: tuple[tuple[Size, ...], ...]
    several: bool
    generator: Snippet | None
    constant: bool = False

    @property
    def numbers(self) -> list[tuple[dtype, tuple[int, ...]]]:
        """The dtypes and shapes, of which every size must be a number."""
        shapes = [tuple(map(int, shape)) for shape in self.shapes]
        return list(zip(self.types, shapes, strict=True))


@dataclass(frozen=True)
class BoundSample:
    """A sample with its names bound: operands, attributes by keyword, and the names themselves."""

    operands: Mapping[str, SampleOperand]
    attributes: Mapping[str, Any]
    names: OperatorNames

    def value(self, snippet: Snippet) -> Any:
        """What a snippet is for this call; in it, the name of a tensor is the tensor's dtype."""
        types = {n: operand.types[0] for n, operand in self.operands.items() if operand.types}
        for name in free_names(snippet.program):
            self.names.need(name)
        return evaluate(snippet.program, {**types, **self.names}, SHAPE)


def bind(
    operator: Operator, types: Tuple, change: Change | None = None, *, only_shapes: bool = False
) -> BoundSample:
    """Bind the sample of an operator.

    Args:
        operator: The declaration.
        types: The dtype of each slot.
        change: What becomes of each free size.
        only_shapes: Whether the change concerns the shapes of inputs alone, and no attribute.
    """
    names = OperatorNames(operator)
    names.update(types)
    sizes = {
        name: _apply_change(name, (), value, change) for name, value in free_sizes(operator).items()
    }
    plain = free_sizes(operator) if only_shapes else sizes
    names.update(plain)
    attributes: dict[str, Any] = {}
    computed: dict[str, Snippet] = {}
    values = {i.name for i in operator.inputs.values() if is_sample_value(operator, i)}
    counts: dict[str, int] = {}
    for name, snippet in operator.sample.items():
        if name in operator.regions():
            attributes[name] = region_function(operator, name, snippet.program, names, counts)
        elif name in values or name in operator.attributes:
            names[name] = names.value(snippet)
            keywords = name in operator.attributes and operator.attributes[name].keywords
            attributes |= names[name] if keywords else {name: names[name]}
        elif name in (lists := {operator.dtype_list(i): i for i in operator.inputs.values()}):
            # What `any` stands for is the dtype that is tried; other tensors have their own.
            chosen = {**names, "any": types.get(lists[name].name)}
            names[name] = evaluate(snippet.program, chosen, SHAPE)
        elif name not in operator.inputs and name not in sizes:
            names[name] = names.value(snippet)
            computed[name] = snippet
    for slot in slots(operator):
        attributes |= dict.fromkeys(slot.attributes, types[slot.name])
        names |= dict.fromkeys(slot.attributes, types[slot.name])
    names.update(sizes)
    names.update({name: names.value(snippet) for name, snippet in computed.items()})
    operands = {i.name: _operand(operator, i, types, names) for i in tensor_inputs(operator)}
    counts |= {name: len(operand.shapes) for name, operand in operands.items() if operand}
    return BoundSample({n: o for n, o in operands.items() if o is not None}, attributes, names)


def _apply_change(name: str, path: tuple[int, ...], value: Any, change: Change | None) -> Any:
    if isinstance(value, (list, tuple)):
        return [_apply_change(name, (*path, i), v, change) for i, v in enumerate(value)]
    if change is None or not isinstance(value, int) or isinstance(value, bool):
        return value
    return change((name, path), value)


def _operand(
    operator: Operator, input: Input, types: Tuple, names: OperatorNames
) -> SampleOperand | None:
    pattern = next(tensors(input.pattern), None)
    if pattern is None:
        return None
    element: Any = types.get(input.name) or types.get(pattern.element)
    element = element or BY_NAME.get(pattern.element)  # None where the sample says each dtype
    listed = operator.dtype_list(input)
    generator = operator.sample.get(input.name)
    several = isinstance(options(input.pattern)[0], TensorsPattern)
    if several:
        assert pattern.shape is not None
        shapes = names.evaluate(pattern.shape[0].expression)
        elements = names.get(listed or "") or [element] * len(shapes)
        return SampleOperand(tuple(elements), tuple(map(tuple, shapes)), several, generator)
    known = input.constant is not None and bool(names.value(input.constant))
    return SampleOperand((element,), (_shape(pattern, names),), several, generator, known)


def _shape(pattern: TensorPattern, names: OperatorNames) -> tuple[Size, ...]:
    return tuple(size for _, size in pattern.sizes(lambda each: names.evaluate(each.expression)))

"""Recorder: calls of public functions, each recorded so that its declaration gives the types.

A call that has nothing to do gives its operand and is none. The arguments that are kept are those
that a person would write.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tripybuild.frontend import Tensor
from tripybuild.importer.call_program import Call, CallGraph, CallValue, needed_calls
from tripybuild.importer.foreign_program import ForeignGraph, ForeignNode
from tripybuild.importer.translation.declarations import Declarations, Declared
from tripybuild.importer.translation.known_data import KnownData
from tripybuild.importer.translation.types import (
    is_lower_kind,
    items_of,
    number_in,
    promoted_dtypes,
    widened_dtypes,
)
from tripybuild.schema.operator.operator import Attribute
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import Size, TensorType, Value
from tripybuild.types.dtypes import dtype
from tripybuild.types.patterns import RegionPattern, ValuePattern, options, tensors

RunBody = Callable[[Sequence[CallValue]], list[CallValue]]


class UntranslatableError(Exception):
    """Why a node of the source cannot be said with calls of ours."""


class SkipNode(Exception):  # noqa: N818 - it is no error: what it depends on has been kept
    """A node reads what could not be given."""


class InnerFunction:
    """A region of control flow as a function on tensors; recording fills in the calls.

    Args:
        run: Records the calls, from the values that the region is given to those that it gives.
        recorder: Takes them.
    """

    def __init__(self, run: "RunBody", recorder: "Recorder") -> None:
        self._run, self._recorder = run, recorder
        self.graph: CallGraph | None = None

    def __call__(self, *given: Tensor) -> list[Tensor]:
        """Record the region; what it gives are its outputs."""
        recorder = self._recorder
        values = [recorder.add(each) for each in given]
        outer, recorder.calls = recorder.calls, []
        try:
            results = self._run(values)
            calls = needed_calls(recorder.calls, results)
        finally:
            recorder.calls = outer
        outputs = [(value.name or f"out{index}", value) for index, value in enumerate(results)]
        self.graph = CallGraph(values, calls, outputs)
        return [recorder.tensor(value) for value in results]


class Recorder:
    """Records the calls of one program.

    `run_graph` translates a graph inside, from the values that it is given.
    """

    run_graph: Callable[[ForeignGraph, Sequence[Any]], list[Any]]

    def __init__(self, declarations: Declarations) -> None:
        self.declarations = declarations
        self.calls: list[Call] = []
        self.node: ForeignNode | None = None
        self.known = KnownData()
        self._tensors: dict[CallValue, Tensor] = {}
        self._values: dict[Value, CallValue] = {}

    # --- values ---

    def add(self, tensor: Tensor, value: CallValue | None = None) -> CallValue:
        """Join a tensor that no call gave: an input, a weight or what a region takes."""
        made = CallValue(tensor.value.type) if value is None else value
        self._tensors[made] = tensor
        self._values[tensor.value] = made
        return made

    def tensor(self, value: CallValue) -> Tensor:
        """The recorded tensor of a value."""
        return self._tensors[value]

    # --- calls ---

    def call(
        self,
        name: str,
        given: Mapping[str, Any],
        wanted: TensorType | None = None,
    ) -> Any:
        """Call an operator.

        Args:
            name: The operator.
            given: Its arguments by name. Tensors are `CallValue`.
            wanted: What the source says that the first result is.

        Returns:
            A value, several as a list, or a size.

        Raises:
            UntranslatableError: An argument cannot be given.
            DiagnosticError: The declaration refuses the call.
        """
        declared = self.declarations.get(name)
        if declared is None:
            raise UntranslatableError(f"there is no operator `{name}`")
        arguments = {
            each: self._attribute(declared, declared.attributes[each], value)
            if each in declared.attributes
            else value
            for each, value in given.items()
        }
        self._promote(declared, arguments, None if wanted is None else wanted.dtype)
        # What is left out has its default; None can be a value of an attribute.
        arguments = {
            n: v for n, v in arguments.items() if v is not None or n not in declared.inputs
        }
        is_cast = declared is self.declarations.conversion
        widened = {} if is_cast else widened_dtypes(declared, arguments)
        for each, value in arguments.items() if widened else ():
            if declared.variables.get(each) in widened:
                arguments[each] = self._widened(value, widened[declared.variables[each]][1])
        public = {each: self._public(value) for each, value in arguments.items()}
        mapping = [n for n, a in declared.attributes.items() if a.keywords and n in public]
        for each in mapping:
            public |= public.pop(each)
        found = self._join(declared, arguments, declared.function(**public))
        return self._narrowed(declared, found, widened) if widened else found

    def _widened(self, value: Any, type: dtype) -> Any:
        """An operand in a dtype that its operator takes."""
        if isinstance(value, list | tuple):
            return [self._widened(each, type) for each in value]
        return self.cast(value, type) if isinstance(value, CallValue) else value

    def _narrowed(
        self, declared: Declared, found: Any, widened: Mapping[str, tuple[dtype, dtype]]
    ) -> Any:
        """Results in the dtypes that they have without a cast of the operands."""
        variables = [
            next((each.element for each in tensors(output.pattern)), "")
            for output in declared.operator.outputs.values()
        ]
        back = [widened[each][0] if each in widened else None for each in variables]
        if isinstance(found, list):
            pairs = zip(
                found, back if len(back) == len(found) else back[:1] * len(found), strict=True
            )
            return [each if type is None else self.cast(each, type) for each, type in pairs]
        is_value = isinstance(found, CallValue)
        return self.cast(found, back[0]) if is_value and back[0] is not None else found

    def cast(self, value: CallValue, type: dtype) -> CallValue:
        """A value in another dtype."""
        if value.dtype is type:
            return value
        conversion = self.declarations.conversion
        (input,), (attribute,) = conversion.inputs, conversion.attributes
        made: CallValue = self.call(conversion.name, {input: value, attribute: type})
        return made

    def number(self, value: Size | float, type: dtype) -> CallValue:
        """A number or a size as a tensor of rank 0."""
        operator = self.declarations.number
        kind = next(n for n, each in operator.attributes.items() if each.variable is not None)
        (other,) = (name for name in operator.attributes if name != kind)
        made: CallValue = self.call(operator.name, {other: value, kind: type})
        return made

    def _join(self, declared: Declared, arguments: Mapping[str, Any], result: Any) -> Any:
        """Keep the call with its results, unless they are there already."""
        several = isinstance(result, tuple | list)
        found = list(result) if several else [result]
        if not all(isinstance(each, Tensor) for each in found):
            return result
        if hasattr(type(result), "dimension"):
            return result.dimension
        present = [self._values.get(each.value) for each in found]
        if all(each is not None for each in present):
            return present if several else present[0]
        results = [self.add(each, CallValue(each.value.type)) for each in found]
        written = self._written(declared, arguments, found[0])
        call = Call(declared.name, written, results, several, self.node)
        for index, each in enumerate(results):
            each.call, each.index = call, index
        self.calls.append(call)
        if declared is self.declarations.conversion:
            self.known.learn_conversion(next(iter(arguments.values())), results[0])
        elif not declared.operator.random:
            self.known.learn(arguments.values(), results, self.tensor)
        return results if several else results[0]

    # --- arguments ---

    def _attribute(self, declared: Declared, attribute: Attribute, value: Any) -> Any:
        """An attribute as a Python value: of a tensor, the elements, which must be known."""
        patterns = options(attribute.pattern)
        alone = [each for each in patterns if isinstance(each, ValuePattern)]
        if isinstance(value, CallValue):
            data = self.known.data(value)
            if data is None:
                where = f"`{attribute.name}` of `{declared.name}`"
                raise UntranslatableError(f"{where} must be known, but the model computes it")
            several = any(each.lengths is not None for each in alone)
            if data.size == 1 and data.ndim and not several:
                data = data.reshape(())
            value = data.tolist()
        if isinstance(value, list | tuple):
            return [self._attribute(declared, attribute, each) for each in value]
        if isinstance(value, ForeignGraph):
            return InnerFunction(partial(self.run_graph, value), self)
        if isinstance(attribute.pattern, RegionPattern):
            return InnerFunction(partial(_run_function, value), self)
        return value.item() if isinstance(value, np.generic) else value

    def _promote(self, declared: Declared, arguments: dict[str, Any], wanted: dtype | None) -> None:
        """Cast the operands that share a variable, and write numbers as such."""
        types = promoted_dtypes(declared, arguments, wanted)
        lone = {
            variable: not any(
                isinstance(item, CallValue) and self._constant(item) is None
                for name in declared.variables
                if declared.variables[name] == variable and arguments.get(name) is not None
                for item in items_of(arguments[name])
            )
            for variable in set(declared.variables.values())
        }
        for name, input in declared.inputs.items():
            value = arguments.get(name)
            if value is None:
                continue
            variable = declared.variables.get(name)
            numbers = name in declared.numbers and not lone.get(variable or "", True)
            several = isinstance(value, list | tuple) and input.several
            cast = [
                self._operand(declared, name, each, types.get(name), numbers)
                for each in (value if several else [value])
            ]
            arguments[name] = cast if several else cast[0]

    def _operand(
        self, declared: Declared, name: str, value: Any, type: dtype | None, numbers: bool
    ) -> Any:
        """One operand in the dtype of its variable.

        Args:
            declared: The operator.
            name: The input.
            value: What is given.
            type: The dtype of its variable, if that is known.
            numbers: Whether a number may stay one: another operand is a tensor.
        """
        if isinstance(value, CallValue):
            constant = self._constant(value)
            if constant is None or (declared.takes(name, value.dtype) and type is not value.dtype):
                return self._converted(declared, name, value, type)
            type = type or value.dtype
            value = constant
        if not isinstance(value, bool | int | float | Dim) or type is None:
            return value
        if isinstance(value, Dim):
            return self.number(value, type)
        number = number_in(value, type)
        if number is None:
            raise UntranslatableError(
                f"`{name}` of `{declared.name}` is {value}, which is no {type}"
            )
        if numbers:
            return number
        takes_tensors = any(True for _ in tensors(declared.inputs[name].pattern))
        return self.number(number, type) if takes_tensors else number

    def _converted(
        self, declared: Declared, name: str, value: CallValue, type: dtype | None
    ) -> CallValue:
        if type is None or value.dtype is type or declared.takes(name, value.dtype):
            return value
        if is_lower_kind(type, value.dtype):
            where = f"`{name}` of `{declared.name}`"
            raise UntranslatableError(f"{where} is {value.dtype}, which is no {type}")
        return self.cast(value, type)

    def _constant(self, value: CallValue) -> Any:
        """The number or size that a literal tensor of rank 0 holds, or None."""
        if value.rank:
            return None
        return self.known.literal(value)

    def _public(self, value: Any) -> Any:
        """An argument as a program gives it to the public function."""
        if isinstance(value, CallValue):
            return self._tensors[value]
        if isinstance(value, list):
            return [self._public(each) for each in value]
        if isinstance(value, tuple):
            return tuple([self._public(each) for each in value])
        return value

    def _written(
        self, declared: Declared, arguments: Mapping[str, Any], result: Tensor
    ) -> dict[str, Any]:
        """The arguments as a person would write them, in the order of the declaration."""
        names = self._shape_names(declared, arguments)
        producer = result.value.producer
        own = producer if producer is not None and producer.operator == declared.name else None
        told = {n for n, v in arguments.items() if not declared.is_default(n, v, names)}
        told.update(declared.required(told))
        written: dict[str, Any] = {}
        for name, argument in declared.arguments.items():
            if name not in arguments or name not in told:
                continue
            value = arguments[name]
            if isinstance(value, InnerFunction):
                assert value.graph is not None, "recording has run it"
                value = value.graph
            elif isinstance(argument, Attribute) and value is not None:
                value = _plain_axes(argument, value, getattr(own, name, None))
            written[name] = value
        return written

    def _shape_names(self, declared: Declared, arguments: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, input in declared.inputs.items():
            value = arguments.get(name)
            pattern = next(tensors(input.pattern), None)
            if isinstance(value, CallValue) and pattern is not None:
                found |= pattern.bindings(value.shape)
        return found


def _run_function(function: Callable[..., Any], values: Sequence[CallValue]) -> list[CallValue]:
    """What a function of a composition gives, which must be tensors."""
    found = function(*values)
    results = found if isinstance(found, list | tuple) else [found]
    if not all(isinstance(each, CallValue) for each in results):
        raise UntranslatableError("a function of a region must give tensors")
    return list(results)


def _plain_axes(attribute: Attribute, value: Any, normal: Any) -> Any:
    """Axes as the operation has them, counted from the first; one axis without a list."""
    patterns = [each for each in options(attribute.pattern) if isinstance(each, ValuePattern)]
    if normal is None or not any(each.kind == "axis" for each in patterns):
        return value
    if isinstance(normal, tuple):
        return normal[0] if len(normal) == 1 and patterns[0].lengths == () else list(normal)
    return normal

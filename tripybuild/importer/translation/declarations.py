"""Declarations of operators as translation asks them: variables of inputs, defaults, special roles.

Invariant: no operator is known by its name. What a rule needs to know follows from a declaration.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.model.libraries import OperatorLibrary
from tripybuild.schema.load import Registry
from tripybuild.schema.operator.operator import Attribute, Input, Operator
from tripybuild.schema.registry_index import (
    CONVERSION,
    NUMBER,
    operator_entries,
)
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import ValuePattern, options, tensors
from tripybuild.types.vocabulary import SHAPE

NO_DEFAULT = object()


class Declared:
    """An operator with its public function.

    Args:
        operator: Its declaration.
        function: What a program calls.
    """

    def __init__(self, operator: Operator, function: Callable[..., Any]) -> None:
        self.operator, self.function = operator, function
        self.name = operator.name
        self.arguments = {each.name: each for each in operator.arguments()}
        self.inputs, self.attributes = operator.inputs, operator.attributes

    @cached_property
    def variables(self) -> Mapping[str, str]:
        """The type variable of each input that has one."""
        found = ((each.name, self._variable(each)) for each in self.inputs.values())
        return {name: variable for name, variable in found if variable is not None}

    def _variable(self, input: Input) -> str | None:
        named = (each.element for each in tensors(input.pattern))
        return next((each for each in named if each in self.operator.types), None)

    @cached_property
    def result_variable(self) -> str | None:
        """The type variable of the first result, where no attribute chooses its dtype."""
        output = next(iter(self.operator.outputs.values()))
        variables = (each.element for each in tensors(output.pattern))
        chosen = {each.variable for each in self.attributes.values()}
        return next((v for v in variables if v in self.operator.types and v not in chosen), None)

    def takes(self, input: str, type: dtype) -> bool:
        """Whether an input is declared with this very dtype, beside its variable."""
        elements = {each.element for each in tensors(self.inputs[input].pattern)}
        return type.name in elements or "any" in elements

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The inputs that take a Python number."""
        return frozenset(
            name
            for name, each in self.inputs.items()
            if any(
                isinstance(option, ValuePattern) and option.kind == "number"
                for option in options(each.pattern)
            )
        )

    def bind(self, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments by name, in the order of the first signature that they fit.

        Raises:
            TypeError: They fit none.
        """
        signatures = self.operator.signatures or (tuple(self.arguments),)
        for signature in signatures:
            known = {*signature[len(given) :]}
            if len(given) <= len(signature) and known >= {*named}:
                bound = {**dict(zip(signature, given, strict=False)), **named}
                if self._is_whole(signature, bound) and self._fit_dtypes(bound):
                    return bound
        raise TypeError(f"`{self.name}` does not take these arguments")

    def required(self, written: Collection[str]) -> Collection[str]:
        """What a call with these arguments cannot leave out: what stands before a required one."""
        signatures = self.operator.signatures or (tuple(self.arguments),)
        for signature in sorted(signatures, key=len):
            if {*written} <= {*signature}:
                places = [at for at, name in enumerate(signature) if not self._is_optional(name)]
                return signature[: max(places, default=-1) + 1]
        return ()

    def _is_whole(self, signature: Sequence[str], bound: Mapping[str, Any]) -> bool:
        return all(name in bound or self._is_optional(name) for name in signature)

    def _is_optional(self, name: str) -> bool:
        argument = self.arguments[name]
        if isinstance(argument, Attribute):
            return argument.default is not None or argument.keywords
        return argument.optional

    def _fit_dtypes(self, bound: Mapping[str, Any]) -> bool:
        """Overloads are told apart by dtypes, as `frontend.binding` does it."""
        dtypes = {name for name, each in self.attributes.items() if _is_dtype(each)}
        return all(isinstance(value, dtype) == (name in dtypes) for name, value in bound.items())

    def is_default(self, name: str, value: Any, names: Mapping[str, Any]) -> bool:
        """Whether an argument is what the declaration puts in its place where it is left out."""
        argument = self.arguments[name]
        if isinstance(argument, Input):
            return value is None or (argument.several and value == [])
        default = self._default(argument, names)
        if default is NO_DEFAULT:
            return False
        if isinstance(value, list) and value and isinstance(default, int | float):
            return all(_is_same(default, each) for each in value)  # one number for all
        return _is_same(default, value)

    def _default(self, attribute: Attribute, names: Mapping[str, Any]) -> Any:
        if attribute.default is None:
            return NO_DEFAULT
        program = attribute.default.program
        if isinstance(program.result, ast.Constant):
            return program.result.value
        try:
            return evaluate(program, {**BY_NAME, **names}, SHAPE)
        except EvaluationError:  # it follows from more than the shapes of the inputs
            return NO_DEFAULT


def _is_dtype(attribute: Attribute) -> bool:
    return any(
        isinstance(each, ValuePattern) and each.kind == "dtype"
        for each in options(attribute.pattern)
    )


def _is_same(one: Any, other: Any) -> bool:
    """Whether two plain values are written alike; a size beside a number is not."""
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    alike = type(one) is type(other)
    if numbers:
        alike = isinstance(one, bool) == isinstance(other, bool)
    return alike and bool(one == other)


class Declarations:
    """The operators of registries with their public functions, made when they are first asked for.

    Args:
        registry: All declarations.
        libraries: Where the functions are; the first that has one gives it.
    """

    def __init__(self, registry: Registry, libraries: Sequence[OperatorLibrary]) -> None:
        self.registry, self.libraries = registry, libraries
        self._made: dict[str, Declared | None] = {}

    def get(self, name: str) -> Declared | None:
        """An operator by its name, or None."""
        if name not in self._made:
            operator = self.registry.operators.get(name)
            found = (library.operator(name) for library in self.libraries)
            function = None if operator is None else next(filter(None, found), None)
            usable = operator is not None and function is not None
            self._made[name] = Declared(operator, function) if usable else None  # type: ignore[arg-type]
        return self._made[name]

    def __getitem__(self, name: str) -> Declared:
        found = self.get(name)
        if found is None:
            raise KeyError(name)
        return found

    def methods(self) -> Iterator[tuple[str, str, bool]]:
        """Python's operators on tensors: the method, our operator, and whether it is reflected."""
        for name, entry in operator_entries(self.registry.operators).items():
            yield from ((method, name, False) for method in entry.methods)
            if entry.reflected is not None:
                yield entry.reflected, name, True

    @cached_property
    def conversion(self) -> Declared:
        """The operator that does nothing but give elements another dtype."""
        return self._only(CONVERSION, "gives elements another dtype")

    @cached_property
    def number(self) -> Declared:
        """The operator that makes a tensor of rank 0 of a number or of a size."""
        return self._only(NUMBER, "makes a tensor of a number")

    def _only(self, role: str, what: str) -> Declared:
        entries = operator_entries(self.registry.operators).items()
        found = [name for name, entry in entries if role in entry.roles]
        assert found, f"no operator {what}"
        return self[found[0]]

"""Name binding: the names of a declaration, bound for one call, which aliases read."""

import ast
from collections.abc import Mapping
from typing import Any

from tripybuild.language.evaluate import evaluate
from tripybuild.language.grammar import Program
from tripybuild.language.names import free_names
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.schema.operator.operator import Operator, Snippet
from tripybuild.schema.snippets.snippet_scope import choice_words
from tripybuild.types.dtypes import BY_NAME, dtype, from_numpy
from tripybuild.types.patterns import Pattern, ValuePattern, options, tensors
from tripybuild.types.vocabulary import SHAPE


class CallNames:
    """The names of one call of one operator, bound to numbers and arrays, without `infer`."""

    def __init__(
        self,
        operator: Operator,
        inputs: Mapping[str, Any],
        attributes: Mapping[str, object],
    ) -> None:
        self.operator = operator
        self.names: dict[str, Any] = {word: word for word in choice_words(operator)}
        self.names |= attributes
        for input in operator.inputs.values():
            self._bind_input(input.name, inputs.get(input.name))
        for attribute in operator.attributes.values():
            given = attributes.get(attribute.name)
            if attribute.variable is not None and given is not None:
                self.names[attribute.variable] = given

    def element(self, value: Any) -> dtype:
        """The dtype of an input: an array, or a tensor of a program."""
        return value.dtype if isinstance(value.dtype, dtype) else from_numpy(value.dtype)

    def _bind_input(self, name: str, value: Any) -> None:
        patterns = list(tensors(self.operator.inputs[name].pattern))
        self.names[name] = value
        for pattern in patterns:
            for dimension in pattern.shape or ():
                if dimension.name is not None and dimension.name not in self.operator.infer:
                    self.names.setdefault(dimension.name, None)
        if value is None or not patterns:
            return
        pattern = patterns[0]
        if isinstance(value, (list, tuple)):
            first = pattern.shape[0].name if pattern.shape else None
            if first is not None:
                self.names[first] = [list(item.shape) for item in value]
            several = self.operator.dtype_list(self.operator.inputs[name])
            if several is not None:
                self.names[several] = [self.element(item) for item in value]
            if pattern.element in self.operator.types and value:
                self.names[pattern.element] = self.element(value[0])
            return
        if pattern.element in self.operator.types:
            self.names.setdefault(pattern.element, self.element(value))
        for key, found in pattern.bindings(value.shape).items():
            if key not in self.operator.infer and self.names.get(key) is None:
                self.names[key] = found


class OperatorNames(dict[str, Any]):
    """Names of one call; those of `infer` and defaults are computed when they are read."""

    def __init__(self, operator: Operator) -> None:
        super().__init__({word: word for word in choice_words(operator)} | dict(BY_NAME))
        self.operator = operator

    def but(self, others: Mapping[str, Any]) -> "OperatorNames":
        """The names of a call that differs in some; those of `infer` are computed anew."""
        names = OperatorNames(self.operator)
        names.update({name: self[name] for name in self if name not in self.operator.infer})
        names.update(others)
        return names

    def value(self, snippet: Snippet) -> Any:
        """The value of a snippet."""
        return self.evaluate(snippet.program)

    def evaluate(self, program: Program | ast.expr, vocabulary: Vocabulary = SHAPE) -> Any:
        """The value of an expression; what it reads is bound first."""
        for name in free_names(program):
            self.need(name)
        return evaluate(program, self, vocabulary)

    def need(self, name: str) -> None:
        """Bind a name of `infer`, or an attribute that has a default."""
        attribute = self.operator.attributes.get(name)
        if name in self:
            return
        if name in self.operator.infer:
            self[name] = self.value(self.operator.infer[name])
        elif attribute is not None and attribute.default is not None:
            self[name] = self.spread(attribute.pattern, self.value(attribute.default))

    def spread(self, pattern: Pattern, value: Any) -> Any:
        """What an attribute holds: `int[n]` takes one number for all, `axis(x)[...]` one axis."""
        chosen = [option for option in options(pattern) if isinstance(option, ValuePattern)]
        if not isinstance(value, (int, float)) or any(each.lengths is None for each in chosen):
            return value
        for option in chosen:
            if isinstance(value, (int, float)):
                for length in reversed(option.lengths or ()):
                    value = [value] * self.evaluate(length)
                if option.lengths == ():
                    value = [value]
        return value

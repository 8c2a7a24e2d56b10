"""Aliases at work: the arguments that another system's operator gets for a call of ours, and back.

Law: what is read back from the other's arguments records the same graph.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tripybuild.diagnostics import DiagnosticError, concise
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.names import free
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.numerics.arrays import Array, rounded
from tripybuild.schema.operator import Alias, Attribute, Input, Operator, Snippet
from tripybuild.semantics.execute import execute
from tripybuild.semantics.reference import Scope
from tripybuild.suite.asked import asked
from tripybuild.suite.cases import Case
from tripybuild.suite.sample import Names
from tripybuild.trace.printer import canonical
from tripybuild.types.dtypes import dtype, from_numpy
from tripybuild.types.vocabulary import SHAPE


def _tensor(value: float, type: dtype) -> Array:
    return rounded(np.asarray(value), type)


def _dtype_of(array: Array) -> dtype:
    return from_numpy(array.dtype)


VOCABULARY = SHAPE | Vocabulary(
    functions={"tensor": _tensor, "dtype_of": _dtype_of},
    attributes=((np.ndarray, frozenset({"shape"})),),
)


@dataclass(frozen=True)
class Said:
    """One call of ours, with its names bound: what an alias makes of it."""

    operator: Operator
    case: Case
    names: Names

    @classmethod
    def of(cls, operator: Operator, case: Case) -> "Said":
        """Bind the names of a call: those of its shapes, its arguments and their defaults."""
        names = Names(operator)
        given = _attributes(operator, case)
        names.update(dict.fromkeys(operator.types))  # a number in a tensor's place binds none
        names.update(Scope(operator, case.arrays, given).names)
        names.update({name: value for name, value in given.items() if name in operator.inputs})
        names.update(case.arrays)
        for name, attribute in operator.attributes.items():
            if name in given:
                names[name] = names.spread(attribute.pattern, given[name])
        return cls(operator, case, names)

    def value(self, snippet: Snippet) -> Any:
        """The value of a snippet of an alias."""
        for name in free(snippet.program):
            self.names.need(name)
        return evaluate(snippet.program, self.names, VOCABULARY)

    def sayable(self, alias: Alias) -> bool:
        """Whether the other operator can say the call."""
        return alias.when is None or bool(self.value(alias.when))

    def arguments(self, alias: Alias) -> dict[str, Any]:
        """The other's arguments, by its parameters."""
        return {name: self.value(snippet) for name, snippet in alias.arguments.items()}

    def differences(self, alias: Alias) -> list[str]:
        """The names of the declared differences that the call meets."""
        return [name for name, d in alias.differs.items() if self.value(d.when)]

    def wrongly_read(self, alias: Alias, operators: Mapping[str, Operator]) -> Iterator[str]:
        """What is wrong with the call that is read back from the other's arguments.

        It records the same graph, or one that computes the same where several calls are said alike.
        """
        arguments = self.arguments(alias)
        given = {argument.name: argument for argument in self.operator.arguments()}
        plain = alias.plain
        back = {own: arguments[theirs] for theirs, own in plain.items() if own in given}
        back |= {n: evaluate(s.program, arguments, VOCABULARY) for n, s in alias.reads.items()}
        arrays = {n: v for n, v in back.items() if n in self.case.arrays}
        others = {n: self._given(v, given[n]) for n, v in back.items() if n not in arrays}
        again = replace(self.case, arrays=arrays, attributes=others)
        try:
            found, wanted = canonical(again.graph), canonical(self.case.graph)
        except DiagnosticError as error:
            yield f"{alias.text}: {concise(error.diagnostics[0])}"
            return
        if found != wanted and not _same(again, self.case, operators):
            yield f"{alias.text}, {self.case.label}: read back as\n{found}\nwant\n{wanted}"

    def _given(self, value: Any, argument: Input | Attribute) -> Any:
        """What was read back as it was given: `2` where it is 2.0, or a tensor of one element."""
        mine = self.names.get(argument.name)
        if isinstance(value, np.ndarray) and not isinstance(mine, np.ndarray):
            value = value.item()
        return mine if isinstance(value, (int, float)) and value == mine else value


def _attributes(operator: Operator, case: Case) -> Mapping[str, Any]:
    """The attributes as the operation holds them, or as they are given where there is none."""
    operation = next(iter(case.graph.outputs.values())).producer
    if operation is None or operation.operator != operator.name:
        return case.attributes
    found = operation.arguments()
    return {**case.attributes, **{name: found[name] for name in operator.attributes}}


def _same(one: Case, other: Case, operators: Mapping[str, Operator]) -> bool:
    """Whether two calls give the same numbers, bit by bit."""
    results = [execute(case.graph, operators, case.data).values() for case in (one, other)]
    return all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(*results, strict=True)
    )


def wrong_aliases(
    operator: Operator, operators: Mapping[str, Operator], cases: list[Case]
) -> Iterator[str]:
    """What is wrong with the aliases of an operator, for calls of it."""
    calls = [Said.of(operator, case) for case in cases]
    for alias in operator.foreign:
        try:
            sayable = [call for call in calls if call.sayable(alias)]
            for call in sayable:
                asked()
                yield from call.wrongly_read(alias, operators)
        except EvaluationError as error:
            yield f"{alias.text}: {error}"
            continue
        if not sayable:
            yield f"{alias.text}: it can say no call near the sample, and no example"

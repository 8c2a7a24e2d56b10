"""Alias readings: foreign calls translated to calls of ours.

Invariant: what an alias says of a call of ours is read as that call. A call near it that the other
system takes is read as a call of ours that computes the same, or it is not read. For these,
arguments are left out and changed one by one, without a thought of what they mean.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.reading.readings import UnreadableError, is_read, read_call
from tripybuild.importer.reading.values import is_tensor
from tripybuild.language.evaluate import EvaluationError
from tripybuild.reference.execute import execute
from tripybuild.schema.foreign import ForeignSignature
from tripybuild.schema.operator.operator import Alias, Operator
from tripybuild.testing.cases import Case
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.oracles.alias_calls import AliasCall, to_arrays, to_tensors
from tripybuild.testing.oracles.foreign_calls import ForeignCall, UnsupportedCall
from tripybuild.testing.oracles.oracles import SYSTEMS, describe_difference, operands
from tripybuild.trace.printer import canonical
from tripybuild.types.dtypes import from_numpy

Arguments = Mapping[str, Any]
# How many calls each alias is asked about: the sample, others near it, and examples.
MANY = 4


def invert_alias(operator: Operator, alias: Alias, given: Arguments, like: Case) -> Case:
    """Our call that says what another system's call says, as programs of that system are read.

    Args:
        operator: Our operator.
        alias: What it is called elsewhere.
        given: The other's arguments; what is left out has its default.
        like: Another call of ours, of which the function and the label are taken.

    Raises:
        UnreadableError: Where the alias cannot say the call.
    """
    own = read_call(operator, alias, to_tensors(given))
    arrays = {name: value for name, value in own.items() if name in operator.inputs}
    arrays = {name: to_arrays(value) for name, value in arrays.items() if is_tensor(value)}
    attributes = {name: to_arrays(value) for name, value in own.items() if name not in arrays}
    return replace(like, arrays=arrays, attributes=attributes)


def inverse_problems(operator: Operator, cases: Sequence[Case]) -> Iterator[str]:
    """What is wrong with what is read back from the aliases of calls of ours."""
    calls = [AliasCall.of(operator, case) for case in cases]
    for alias in operator.foreign:
        try:
            sayable = [call for call in calls if call.applies(alias)]
            for call in sayable:
                count_check()
                yield from _round_trip_problems(alias, call)
        except EvaluationError as error:
            yield f"{alias.text}: {error}"
            continue
        if not sayable:
            yield f"{alias.text}: it can say no call near the sample, and no example"


def _round_trip_problems(alias: Alias, said: AliasCall) -> Iterator[str]:
    """Round trip: the same graph, or an equivalent one for ambiguous calls that are read."""
    if not is_read(alias, to_tensors(said.arguments(alias))):
        return
    try:
        again = invert_alias(said.operator, alias, said.arguments(alias), said.case)
    except UnreadableError as error:
        yield f"{alias.text}, {said.case.label}: it is not read back: {error}"
        return
    found, wanted = canonical(again.graph), canonical(said.case.graph)
    if found != wanted and not _same(again, said.case):
        yield f"{alias.text}, {said.case.label}: read back as\n{found}\nwant\n{wanted}"


def _same(one: Case, other: Case) -> bool:
    """Whether two calls give the same numbers, bit by bit."""
    results = [execute(case.graph, case.data).values() for case in (one, other)]
    return all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        for a, b in zip(*results, strict=True)
    )


def neighbor_problems(operator: Operator, system: str, cases: Sequence[Case]) -> Iterator[str]:
    """The calls of a system that are read as something else."""
    calls = [AliasCall.of(operator, case) for case in cases]
    for alias in operator.foreign:
        if alias.system != system:
            continue
        sayable = [call for call in calls if call.applies(alias)]
        for said in sayable[:MANY]:
            given = operands(alias, said)
            for change, other in neighbor_calls(alias.signature, given):
                count_check()
                problem = _neighbor_problem(alias, said, other)
                if problem:
                    yield f"{alias.text}, {said.case.label}, {change}: {problem}"


def _neighbor_problem(alias: Alias, said: AliasCall, given: Arguments) -> str | None:
    """What is wrong with what a call of the other system is read as."""
    system = SYSTEMS[alias.system]
    try:
        case = invert_alias(said.operator, alias, given, said.case)
        wanted = list(execute(case.graph, case.data).values())
        call = ForeignCall(alias.signature, given, alias.result, alias.opset)
        results = system.run(call, [from_numpy(each.dtype) for each in wanted])
    except (UnreadableError, UnsupportedCall, RuntimeError, DiagnosticError):
        return None  # it is no call of that system, or an argument has no value
    if AliasCall.of(said.operator, case).differences(alias):
        return None
    if len(results) != len(wanted):
        return f"{system.title} gives {len(results)} results, and what is read {len(wanted)}"
    pairs = zip(results, wanted, strict=True)
    found = (describe_difference(said.operator, got, want, case) for got, want in pairs)
    attributes = ", ".join(f"{name}={value}" for name, value in case.attributes.items())
    return next((f"read as `{attributes}`: {each}" for each in found if each), None)


def neighbor_calls(
    signature: ForeignSignature, given: Arguments
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Other calls near one, with what was done to it."""
    for parameter in signature.parameters:
        kept = {name: value for name, value in given.items() if name != parameter}
        if parameter in given and parameter in signature.defaults:
            yield f"without `{parameter}`", kept
        value = given.get(parameter, signature.defaults.get(parameter))
        for other in _others(value):
            yield f"`{parameter}={other}`", {**given, parameter: other}


def _others(value: Any) -> Iterator[Any]:
    """Values like another one."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield value + 1
        if isinstance(value, int):
            yield -1
    elif isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype != bool:
        yield np.asarray(value + 1, value.dtype)
    elif isinstance(value, str):
        yield f"{value} "
    elif isinstance(value, (list, tuple)) and all(type(each) is int for each in value):
        yield []
        yield from ([0], [1], [-1]) if len(value) < 2 else ([value[0]],)
        if len(value) > 1:
            for size in (0, 1, -1):
                yield from ([size, *value[1:]], [*value[:-1], size])

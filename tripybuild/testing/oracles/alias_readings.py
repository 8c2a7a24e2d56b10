"""Alias readings: foreign calls translated to calls of ours.

Invariant: what an alias says of a call of ours is read as that call. A call near it that the other
system takes is read as a call of ours that computes the same, or it is not read. For these,
arguments are left out and changed one by one, without a thought of what they mean.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError, concise
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.names import free_names
from tripybuild.reference.execute import execute
from tripybuild.schema.foreign import ForeignSignature
from tripybuild.schema.operator.operator import Alias, Attribute, Input, Operator
from tripybuild.testing.cases import Case
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.oracles.alias_calls import VOCABULARY, AliasCall
from tripybuild.testing.oracles.foreign_calls import ForeignCall, UnsupportedCall
from tripybuild.testing.oracles.oracles import SYSTEMS, describe_difference, operands
from tripybuild.trace.printer import canonical
from tripybuild.types.dtypes import from_numpy
from tripybuild.types.patterns import ValuePattern, options

Arguments = Mapping[str, Any]
# How many calls each alias is asked about: the sample, others near it, and examples.
MANY = 4


class AliasMismatch(Exception):  # noqa: N818  # to refuse a call is no fault
    """Why an alias does not say a call of the other's operator."""


def invert_alias(operator: Operator, alias: Alias, given: Arguments, like: Case) -> Case:
    """Our call that says what another system's call says.

    Args:
        operator: Our operator.
        alias: What it is called elsewhere.
        given: The other's arguments; what is left out has its default.
        like: Another call of ours, of which the function and the label are taken.

    Raises:
        AliasMismatch: Where the alias cannot say the call.
    """
    _check_parameters(alias, given)
    whole = {p: given.get(p, alias.signature.defaults.get(p)) for p in alias.arguments}
    try:
        found = replace(like, **_own_arguments(operator, alias, whole))
        said = AliasCall.of(operator, found)
        if not said.applies(alias):
            raise AliasMismatch("`when:` does not hold")
        _check_constants(alias, whole, said)
    except DiagnosticError as error:
        raise AliasMismatch(concise(error.diagnostics[0])) from error
    except EvaluationError as error:
        raise AliasMismatch(str(error)) from error
    return found


def _check_parameters(alias: Alias, given: Arguments) -> None:
    """Every argument is one that the alias speaks of, or says nothing."""
    for parameter, value in given.items():
        default = alias.signature.defaults.get(parameter)
        if parameter not in alias.arguments and not _equal(value, default):
            raise AliasMismatch(f"`{parameter}` is {value}")


def _own_arguments(operator: Operator, alias: Alias, whole: Arguments) -> dict[str, Any]:
    """Our arguments, as a case holds them. None stands for a default of None only."""
    own = {argument.name: argument for argument in operator.arguments()}
    back = {mine: whole[theirs] for theirs, mine in alias.plain.items() if mine in own}
    back |= {n: evaluate(s.program, whole, VOCABULARY) for n, s in alias.reads.items()}
    arrays, attributes = {}, {}
    for name, value in back.items():
        if value is None:
            if not _may_be_none(own[name]):
                raise AliasMismatch(f"`{name}` cannot be None")
        elif name in operator.inputs and _holds_arrays(value):
            arrays[name] = value
        else:
            attributes[name] = _plain(value, own[name])
    return {"arrays": arrays, "attributes": attributes}


_NUMPY = (np.ndarray, np.generic)


def _plain(value: Any, argument: Input | Attribute) -> Any:
    """Python's value; ONNX writes truth as a number."""
    value = value.tolist() if isinstance(value, _NUMPY) else value
    chosen = options(argument.pattern)
    truth = all(isinstance(each, ValuePattern) and each.kind == "bool" for each in chosen)
    return bool(value) if truth and value in {0, 1} else value


def _holds_arrays(value: Any) -> bool:
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return isinstance(first, np.ndarray)


def _may_be_none(argument: Input | Attribute) -> bool:
    if isinstance(argument, Input):
        return argument.optional
    default = argument.default.result if argument.default is not None else None
    return isinstance(default, ast.Constant) and default.value is None


def _check_constants(alias: Alias, whole: Arguments, said: AliasCall) -> None:
    """What no argument of ours was read from is as the alias says it."""
    used = {name for snippet in alias.reads.values() for name in free_names(snippet.program)}
    for parameter, value in said.arguments(alias).items():
        read_from = parameter in used or parameter in alias.plain
        if not read_from and not _equal(value, whole[parameter]):
            raise AliasMismatch(f"`{parameter}` is {whole[parameter]}, and not {value}")


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, _NUMPY) or isinstance(other, _NUMPY):
        return one is other or (one is not None and np.array_equal(one, other))
    return bool(one == other)


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
    """Round trip: the same graph, or an equivalent one for ambiguous calls."""
    try:
        again = invert_alias(said.operator, alias, said.arguments(alias), said.case)
    except AliasMismatch as error:
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
    except (AliasMismatch, UnsupportedCall, RuntimeError, DiagnosticError):
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

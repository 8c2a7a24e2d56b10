"""Neighboring calls: mutated foreign calls, translated back, must compute the same.

Invariant: a call that another system takes is read as a call of ours that computes the same, or it
is not read. Arguments are left out and changed one by one, without a thought of what they mean.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.execute import execute
from tripybuild.schema.foreign import ForeignSignature
from tripybuild.schema.operator.operator import Alias, Operator
from tripybuild.testing.cases import Case
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.oracles.alias_calls import AliasCall
from tripybuild.testing.oracles.alias_inverse import AliasMismatch, Arguments, invert_alias
from tripybuild.testing.oracles.foreign_calls import ForeignCall, UnsupportedCall
from tripybuild.testing.oracles.oracles import SYSTEMS, describe_difference, operands
from tripybuild.types.dtypes import from_numpy

# How many calls each alias is asked about: the sample, others near it, and examples.
MANY = 4


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
                problem = _wrong(alias, said, other)
                if problem:
                    yield f"{alias.text}, {said.case.label}, {change}: {problem}"


def _wrong(alias: Alias, said: AliasCall, given: Arguments) -> str | None:
    """What is wrong with what a call of the other system is read as."""
    system = SYSTEMS[alias.system]
    try:
        case = invert_alias(said.operator, alias, given, said.case)
        wanted = list(execute(case.graph, case.data).values())
        call = ForeignCall(alias.signature, given, alias.result, alias.opset)
        results = system.run(call, [from_numpy(each.dtype) for each in wanted])
    except (AliasMismatch, UnsupportedCall, RuntimeError, DiagnosticError):
        return None  # nobody says that it is a call, or what is inside has no value
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
    elif isinstance(value, str):
        yield f"{value} "
    elif isinstance(value, (list, tuple)) and all(type(each) is int for each in value):
        yield []
        yield from ([0], [1], [-1]) if len(value) < 2 else ([value[0]],)
        if len(value) > 1:
            for size in (0, 1, -1):
                yield from ([size, *value[1:]], [*value[:-1], size])

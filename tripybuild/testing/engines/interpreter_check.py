"""Interpreter check: StableHLO's interpreter as the tie-breaker between XLA and the reference."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.reference.compare import difference, distributions_differ, tolerance
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.files import ToleranceEntry
from tripybuild.schema.operator.operator import Operator
from tripybuild.testing.cases import Case
from tripybuild.trace.graph import Graph
from tripybuild.types.dtypes import dtype, from_numpy
from tripybuild.worker.stablehlo_interpreter import DTYPES, interpret


def differences(
    operator: Operator,
    case: Case,
    types: Iterable[dtype],
    results: tuple[Sequence[Array], Sequence[Array]],
) -> Iterator[str]:
    """What is wrong with the results of a call on XLA, beside those of the reference."""
    chosen = tuple(types)
    for got, want in zip(*results, strict=True):
        if operator.random:
            found = distributions_differ(got, want)
            more = ""
        else:
            within = tolerance(operator, (*chosen, from_numpy(want.dtype)))
            found = difference(got, want, within)
            more = (
                explain_difference(case.graph, case.data, results, within)
                if found is not None
                else ""
            )
        if found is not None:
            yield f"{case.label}: {found}{more}"


def can_interpret(graph: Graph) -> bool:
    """Whether the interpreter has the dtypes of a graph's inputs and outputs."""
    values = (*graph.inputs.values(), *graph.outputs.values())
    return all(str(value.dtype) in DTYPES for value in values)


def explain_difference(
    graph: Graph,
    data: Mapping[str, Array],
    results: tuple[Sequence[Array], Sequence[Array]],
    within: ToleranceEntry,
) -> str:
    """Verdict on a difference between XLA and the reference, as the end of a sentence.

    Args:
        graph: The graph.
        data: Its inputs.
        results: What XLA gives, and what the reference gives.
        within: How near results must be to agree.
    """
    if not can_interpret(graph):
        return ""
    found = interpret([(lower_stablehlo(graph).text(), list(data.values()))])[0]
    if isinstance(found, str):
        return f" (the interpreter: {found})"
    xla, reference = (
        all(difference(a, b, within) is None for a, b in zip(found, each, strict=True))
        for each in results
    )
    if reference and not xla:
        return " (the interpreter agrees with the reference: XLA differs)"
    if xla and not reference:
        return " (the interpreter agrees with XLA: the lowering or the reference is wrong)"
    return (
        " (the interpreter agrees with both)" if xla else " (the interpreter agrees with neither)"
    )

"""What a declaration says that a target refuses."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import parse
from tripybuild.schema.expressions import expression_text
from tripybuild.schema.files import RefusalEntry
from tripybuild.schema.operator import Operator
from tripybuild.schema.samples import Place, sized_by
from tripybuild.schema.tuples import Tuple
from tripybuild.suite.sample import Bound
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE

# What stands between an operator and the engines that suites ask: XLA, and TensorRT for RTX.
CPU = ("cpu", "stablehlo")
ENGINE = ("tensorrt", "tensorrt-rtx")


def refusals(
    operator: Operator, targets: Sequence[str], types: Tuple, sample: Bound | None = None
) -> dict[str, RefusalEntry]:
    """Why targets refuse a tuple of dtypes: whatever the sizes, or for those of a sample."""
    names = {**BY_NAME, **types}
    if sample is not None:
        names = {**sample.names, **sample.attributes, **names}
    return {code: e for code, e in _declared(operator, targets) if _holds(e, names)}


def refused(
    operator: Operator, targets: Sequence[str], types: Tuple, sample: Bound | None = None
) -> bool:
    """Whether one of the targets refuses a tuple of dtypes."""
    return bool(refusals(operator, targets, types, sample))


def said(operator: Operator, targets: Sequence[str], problem: str) -> bool:
    """Whether a problem is what a declaration says that one of the targets says."""
    return any(_says(entry, problem) for _, entry in _declared(operator, targets))


def unproved(found: Mapping[str, RefusalEntry], problems: Sequence[str]) -> Iterator[str]:
    """What a target does not refuse, or in other words than the declaration says."""
    if not problems:
        yield f"nothing is refused; the declaration says: {', '.join(found)}"
    elif not any(_says(entry, problem) for entry in found.values() for problem in problems):
        yield f"refused in other words than the declaration says: {'; '.join(problems)}"


def _declared(operator: Operator, targets: Sequence[str]) -> Iterator[tuple[str, RefusalEntry]]:
    for target in targets:
        facts = operator.targets.get(target)
        yield from facts.refuses.items() if facts is not None else ()


def _holds(entry: RefusalEntry, names: Mapping[str, Any]) -> bool:
    try:
        return bool(evaluate(parse(expression_text(entry.when)), names, SHAPE))
    except EvaluationError:
        return False


def _says(entry: RefusalEntry, problem: str) -> bool:
    return entry.says is None or entry.says in problem


def is_static(operator: Operator, target: str, place: Place, sample: Bound) -> bool:
    """Whether a target wants the size at a place of the sample to be a number."""
    facts = operator.targets.get(target)
    name, path = place
    for entry in facts.static if facts is not None else ():
        if sized_by(entry) == name:
            # `S[dim]` of the positions in `S` is the position of the size that it means.
            positions = list(range(len(sample.names[name]))) if path else [0]
            found = evaluate(parse(entry), {**sample.names, name: positions}, SHAPE)
            if found is positions or [found] == list(path[:1]):
                return True
    return False

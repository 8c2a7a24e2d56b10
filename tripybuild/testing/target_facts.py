"""Target declarations tested on one call."""

from collections.abc import Iterator, Mapping, Sequence

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import parse
from tripybuild.schema.operator.dtype_combinations import Tuple
from tripybuild.schema.operator.operator import Fact, Operator
from tripybuild.schema.operator.samples import Place, static_size_name
from tripybuild.schema.operator.target_exceptions import (
    ENGINE as ENGINE,  # noqa: PLC0414
    ONNX_RUNTIME as ONNX_RUNTIME,  # noqa: PLC0414
    OPENVINO as OPENVINO,  # noqa: PLC0414
    expected_words,
)
from tripybuild.schema.snippets.expressions import expression_text
from tripybuild.schema.target_files import CommonFactsEntry, StockRefusalEntry
from tripybuild.targets.table import exception_names
from tripybuild.testing.sample import BoundSample
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE

# The names of facts about XLA; for TensorRT, see `schema.operator.target_exceptions.ENGINE`.
CPU = exception_names("cpu")


def refusals(
    operator: Operator, targets: Sequence[str], bound: BoundSample, gpu: str | None = None
) -> dict[str, Fact]:
    """Why targets refuse a call; what they build in silence is not refused."""
    known = target_facts(operator, targets, "refuses")
    return {f.name: f for f in known if concerns(f, gpu) and fact_applies(f, bound)}


def concerns(fact: Fact, gpu: str | None) -> bool:
    """Whether a fact is about engines for a GPU, or for all of them where none is given."""
    return not fact.gpus or gpu in fact.gpus


def refuses_call(operator: Operator, targets: Sequence[str], bound: BoundSample) -> bool:
    """Whether one of the targets refuses a call."""
    return bool(refusals(operator, targets, bound))


def fact_applies(fact: Fact, bound: BoundSample) -> bool:
    """Whether a call is a case of a fact. What cannot be computed for the call is no case."""
    try:
        return bool(bound.value(fact.when))
    except EvaluationError:
        return False


def matches_refusal(operator: Operator, targets: Sequence[str], problem: str) -> bool:
    """Whether a problem is what a declaration says that one of the targets says."""
    return any(_says(fact, problem) for fact in target_facts(operator, targets, "refuses"))


def refusal_mismatches(found: Mapping[str, Fact], problems: Sequence[str]) -> Iterator[str]:
    """What a target does not refuse, or in other words than the declaration says."""
    if not problems:
        yield f"nothing is rejected; the declaration lists: {', '.join(found)}"
    elif not any(_says(fact, problem) for fact in found.values() for problem in problems):
        yield f"rejected with another message than declared: {'; '.join(problems)}"


def target_facts(
    operator: Operator, targets: Sequence[str], kind: str, *, silent: bool = False
) -> list[Fact]:
    """What an operator says that targets refuse or build."""
    facts = [operator.targets[target] for target in targets if target in operator.targets]
    every = [fact for each in facts for fact in getattr(each, kind).values()]
    return [fact for fact in every if silent or not fact.silent]


def special_facts(operator: Operator, targets: Sequence[str]) -> list[Fact]:
    """What is declared to be computed otherwise, but of no types or sizes: of special values."""
    known = target_facts(operator, targets, "refuses", silent=True)
    return [each for each in known if each.is_of_special_values]


def _says(fact: Fact, problem: str) -> bool:
    return not fact.says or any(each in problem for each in fact.says)


def is_static(operator: Operator, target: str, place: Place, sample: BoundSample) -> bool:
    """Whether a target wants the size at a place of the sample to be a number."""
    facts = operator.targets.get(target)
    name, path = place
    for entry in facts.static if facts is not None else ():
        if static_size_name(entry) == name:
            # `S[dim]` of the positions in `S` is the position of the size that it means.
            positions = list(range(len(sample.names[name]))) if path else [0]
            found = evaluate(parse(entry), {**sample.names, name: positions}, SHAPE)
            if found is positions or [found] == list(path[:1]):
                return True
    return False


def stock_refusals(
    common: CommonFactsEntry, types: Tuple, *, stated: bool = False
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Rejections possible for any operator: stage and message.

    Args:
        common: What is true of the target.
        types: The dtypes of the call.
        stated: Whether only those count that say for which dtypes they are.
    """
    for entry in stock_entries(common, types).values():
        if not (stated and entry.when is True):
            yield entry.level, expected_words(entry)


def stock_entries(common: CommonFactsEntry, types: Tuple) -> dict[str, StockRefusalEntry]:
    """The refusals that are possible for any operator of these dtypes, by name."""
    return {name: each for name, each in common.refuses.items() if _over(each.when, types)}


def may_build(common: CommonFactsEntry, types: Tuple) -> str | None:
    """The reason for which a target may build a tuple of dtypes that no operator allows."""
    for name, entry in common.builds.items():
        if entry.when is not None and _over(entry.when, types):
            return name
    return None


def default_build(common: CommonFactsEntry) -> str | None:
    """The reason for which a target builds what an operator's dtypes alone refuse."""
    return next((name for name, entry in common.builds.items() if entry.default), None)


def _over(when: object, types: Mapping[str, object]) -> bool:
    names = {**BY_NAME, "types": list(types.values())}
    return bool(evaluate(parse(expression_text(when)), names, SHAPE))

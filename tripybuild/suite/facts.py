"""What a declaration says that a target refuses."""

from collections.abc import Sequence

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import parse
from tripybuild.schema.expressions import expression_text
from tripybuild.schema.operator import Operator
from tripybuild.schema.samples import Place, sized_by
from tripybuild.schema.tuples import Tuple
from tripybuild.suite.sample import Bound
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE


def refused(
    operator: Operator, targets: Sequence[str], types: Tuple, sample: Bound | None = None
) -> bool:
    """Whether a target refuses a tuple of dtypes: whatever the sizes, or for those of a sample."""
    names = {**BY_NAME, **types}
    if sample is not None:
        names = {**sample.names, **sample.attributes, **names}
    for target in targets:
        facts = operator.targets.get(target)
        for entry in facts.refuses.values() if facts is not None else ():
            try:
                if evaluate(parse(expression_text(entry.when)), names, SHAPE):
                    return True
            except EvaluationError:
                continue
    return False


def said(operator: Operator, target: str, problem: str) -> bool:
    """Whether a problem is what a declaration says that the target says."""
    facts = operator.targets.get(target)
    refusals = facts.refuses.values() if facts is not None else ()
    return any(entry.says is None or entry.says in problem for entry in refusals)


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

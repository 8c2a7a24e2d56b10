"""What a declaration says that a target refuses."""

from collections.abc import Sequence

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import parse
from tripybuild.schema.elaborate import expression_text
from tripybuild.schema.operator import Operator
from tripybuild.schema.tuples import Tuple
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE


def refused(operator: Operator, targets: Sequence[str], types: Tuple) -> bool:
    """Whether a target refuses a tuple of dtypes, whatever the sizes."""
    for target in targets:
        facts = operator.targets.get(target)
        for entry in facts.refuses.values() if facts is not None else ():
            try:
                if evaluate(parse(expression_text(entry.when)), {**BY_NAME, **types}, SHAPE):
                    return True
            except EvaluationError:
                continue
    return False

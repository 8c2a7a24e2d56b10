"""What a call of an operator gives: one tensor, or several."""

from tripybuild.schema.operator import Operator
from tripybuild.types.patterns import TensorsPattern


def gives_several(operator: Operator) -> bool:
    """Whether a call gives several tensors."""
    return len(operator.outputs) > 1 or gives_any_number(operator)


def gives_any_number(operator: Operator) -> bool:
    """Whether how many tensors a call gives depends on its arguments."""
    return any(isinstance(o.pattern, TensorsPattern) for o in operator.outputs.values())


def result_annotation(operator: Operator) -> str:
    """`Tensor`, `tuple[Tensor, Tensor]` or `tuple[Tensor, ...]`."""
    if not gives_several(operator):
        return "Tensor"
    if gives_any_number(operator):
        return "tuple[Tensor, ...]"
    return f"tuple[{', '.join('Tensor' for _ in operator.outputs)}]"

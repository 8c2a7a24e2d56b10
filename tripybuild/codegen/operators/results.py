"""Result types of an operator: one tensor, several, or a variable number."""

from tripybuild.schema.operator.operator import Operator
from tripybuild.types.patterns import LikePattern, TensorPattern, options


def returns_several(operator: Operator) -> bool:
    """Whether a call gives several tensors, or a number of them that can be one."""
    return len(operator.outputs) > 1 or returns_any_number(operator)


def returns_any_number(operator: Operator) -> bool:
    """Whether how many tensors a call gives depends on its arguments."""
    return any(operator.any_number(output) for output in operator.outputs.values())


def returns_single(operator: Operator) -> bool:
    """Whether one tensor of any number is given as itself: `T[*S] | list[T[*S]]`, `like(state)`."""
    return returns_any_number(operator) and any(
        isinstance(option, TensorPattern | LikePattern)
        for output in operator.outputs.values()
        if operator.any_number(output)
        for option in options(output.pattern)
    )


def result_annotation(operator: Operator) -> str:
    """`Tensor`, `tuple[Tensor, Tensor]`, `tuple[Tensor, ...]`, or `Any` where it depends."""
    if not returns_several(operator):
        return "Tensor"
    if returns_single(operator):
        return "Any"
    if returns_any_number(operator):
        return "tuple[Tensor, ...]"
    return f"tuple[{', '.join('Tensor' for _ in operator.outputs)}]"

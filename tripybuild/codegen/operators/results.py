"""What a call of an operator gives: one tensor, several, or as many as there are."""

from tripybuild.schema.operator.operator import Operator
from tripybuild.types.patterns import LikePattern, TensorPattern, options


def gives_several(operator: Operator) -> bool:
    """Whether a call gives several tensors, or a number of them that can be one."""
    return len(operator.outputs) > 1 or gives_any_number(operator)


def gives_any_number(operator: Operator) -> bool:
    """Whether how many tensors a call gives depends on its arguments."""
    return any(operator.any_number(output) for output in operator.outputs.values())


def gives_one_alone(operator: Operator) -> bool:
    """Whether one tensor of any number is given as itself: `T[*S] | list[T[*S]]`, `like(state)`."""
    return gives_any_number(operator) and any(
        isinstance(option, TensorPattern | LikePattern)
        for output in operator.outputs.values()
        if operator.any_number(output)
        for option in options(output.pattern)
    )


def result_annotation(operator: Operator) -> str:
    """`Tensor`, `tuple[Tensor, Tensor]`, `tuple[Tensor, ...]`, or `Any` where it depends."""
    if not gives_several(operator):
        return "Tensor"
    if gives_one_alone(operator):
        return "Any"
    if gives_any_number(operator):
        return "tuple[Tensor, ...]"
    return f"tuple[{', '.join('Tensor' for _ in operator.outputs)}]"

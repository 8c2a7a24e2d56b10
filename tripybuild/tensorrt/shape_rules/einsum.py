"""Shape rules of einsum: `ij,jk->ik`.

Invariant: labels are lower-case letters, each for one size, and sizes of one are repeated. Without
an arrow the result has the labels that occur once, in order.
"""

import re
from collections import Counter
from collections.abc import Sequence

from tripybuild.tensorrt.shape_rules import MaybeSize, Shape, ShapeError, Sizes
from tripybuild.tensorrt.shape_rules.arithmetic import broadcast

_EQUATION = re.compile("[ a-z]*(?:,[ a-z]*)*(?:- *>[ a-z]*)?")
_ARROW = re.compile("- *>")


def einsum(equation: str, *shapes: Shape) -> Sizes:
    """The sizes that the result's labels stand for."""
    inputs, output = _parts(equation)
    sizes = _sizes_of_labels(inputs, shapes)
    for index, label in enumerate(output):
        if label not in sizes:
            message = f"output label `{label}` does not appear in the input subscript string"
            raise ShapeError(message)
        if label in output[:index]:
            raise ShapeError(f"label `{label}` is repeated in the output substring")
    return tuple(sizes[label] for label in output)


def _parts(equation: str) -> tuple[list[str], str]:
    if not equation:
        raise ShapeError("einsum equation string is empty")
    if _EQUATION.fullmatch(equation) is None:
        message = (
            "einsum equation syntax is invalid. TensorRT only supports ASCII lower-case letters "
            "with no ellipses."
        )
        raise ShapeError(message)
    left, *right = _ARROW.split(equation.replace(" ", ""))
    inputs = left.split(",")
    if right:
        return inputs, right[0]
    counts = Counter("".join(inputs))
    return inputs, "".join(sorted(label for label, count in counts.items() if count == 1))


def _sizes_of_labels(inputs: Sequence[str], shapes: Sequence[Shape]) -> dict[str, MaybeSize]:
    if len(shapes) not in (1, 2):
        raise ShapeError("einsum op may only have 1 or 2 inputs")
    if len(inputs) != len(shapes):
        message = (
            f"each tensor input should have a subscript. Received {len(shapes)} tensor operands "
            f"and {len(inputs)} input subscripts"
        )
        raise ShapeError(message)
    sizes: dict[str, MaybeSize] = {}
    for index, (subscript, shape) in enumerate(zip(inputs, shapes, strict=True)):
        if len(subscript) != len(shape):
            message = (
                f"each tensor dimension must have a label. Tensor input {index} has rank of "
                f"{len(shape)} but subscript size is {len(subscript)}"
            )
            raise ShapeError(message)
        for label, size in zip(subscript, shape, strict=True):
            sizes[label] = _merge_label(label, sizes.get(label, 1), size)
    return sizes


def _merge_label(label: str, before: MaybeSize, size: MaybeSize) -> MaybeSize:
    try:
        return broadcast([before], [size])[0]
    except ShapeError:
        message = f"label `{label}` is repeated between inputs but dimensions are not same"
        raise ShapeError(message) from None

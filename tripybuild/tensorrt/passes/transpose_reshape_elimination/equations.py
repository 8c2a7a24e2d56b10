"""Einsum equations as data: `ab,bc->ac` names the dimensions of inputs and result.

Invariant: a letter is one dimension; letters of the result are in an input. Nothing here knows
sizes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cmp_to_key
from string import ascii_lowercase

from tripybuild.tensorrt.passes.elimination.layouts import Permutation, inverse, permute


@dataclass(frozen=True, slots=True)
class Equation:
    """What each input's and the result's dimensions are called."""

    inputs: tuple[str, ...]
    result: str

    @staticmethod
    def parse(text: str) -> "Equation":
        """Read an equation as the operation has it."""
        left, _, right = text.partition("->")
        return Equation(tuple(left.split(",")), right)

    def __str__(self) -> str:
        """The equation as the operation has it."""
        return f"{','.join(self.inputs)}->{self.result}"

    def sums(self, letter: str) -> bool:
        """Whether a dimension is summed over."""
        return letter not in self.result

    def fresh(self) -> Iterator[str]:
        """Letters that are not in use."""
        return (letter for letter in ascii_lowercase if letter not in str(self))

    def with_input(self, index: int, letters: Iterable[str]) -> "Equation":
        """The equation with other letters for an input."""
        inputs = list(self.inputs)
        inputs[index] = "".join(letters)
        return replace(self, inputs=tuple(inputs))

    def with_result(self, letters: Iterable[str]) -> "Equation":
        """The equation with other letters for the result."""
        return replace(self, result="".join(letters))

    def before_transpose(self, index: int, permutation: Permutation) -> "Equation":
        """The equation for what an input is the transpose of."""
        return self.with_input(index, permute(inverse(permutation), self.inputs[index]))

    def after_transpose(self, permutation: Permutation) -> "Equation":
        """The equation for the transpose of the result."""
        return self.with_result(permute(permutation, self.result))


def of_product(batch: int, op0: str, op1: str) -> Equation:
    """The equation of a `matrix_multiply` with so many batch dimensions."""
    letters = iter(ascii_lowercase[batch:])
    shared = ascii_lowercase[:batch]
    left = next(letters) if op0 == "kVECTOR" else next(letters) + next(letters)
    summed, row = (left[0], left[1:]) if op0 == "kTRANSPOSE" else (left[-1], left[:-1])
    column = "" if op1 == "kVECTOR" else next(letters)
    right = column + summed if op1 == "kTRANSPOSE" else summed + column
    return Equation((shared + left, shared + right), shared + row + column)


@dataclass(frozen=True, slots=True)
class Product:
    """An equation as a `matrix_multiply`: which input is first, and how each is read."""

    order: tuple[int, int]
    operations: tuple[str, str]


def as_product(equation: Equation) -> Product | None:
    """The product that an equation of two inputs is, if it is one."""
    if len(equation.inputs) != 2:
        return None
    first, second = equation.inputs
    summed = [c for c in dict.fromkeys(first + second) if equation.sums(c)]
    own = [
        [c for c in part if c not in other] for part, other in ((first, second), (second, first))
    ]
    if len(summed) != 1 or summed[0] not in first or summed[0] not in second:
        return None
    if any(len(letters) > 1 for letters in own):
        return None
    rows, columns = ("".join(letters) for letters in own)
    batch = equation.result[: len(equation.result) - len(rows + columns)]
    if equation.result == batch + rows + columns:
        order = (0, 1)
    elif equation.result == batch + columns + rows:
        order, rows, columns = (1, 0), columns, rows
    else:
        return None
    left = _read(equation.inputs[order[0]], batch, rows, summed[0])
    right = _read(equation.inputs[order[1]], batch, columns, summed[0])
    if left is None or right is None:
        return None
    turned = {"kNONE": "kTRANSPOSE", "kTRANSPOSE": "kNONE"}
    return Product(order, (left, turned.get(right, right)))


def _read(letters: str, batch: str, own: str, summed: str) -> str | None:
    """How a product reads an input whose matrix has its own dimension first."""
    if letters == batch + own + summed:
        return "kNONE" if own else "kVECTOR"
    return "kTRANSPOSE" if letters == batch + summed + own else None


def result_like_inputs(equation: Equation) -> Permutation:
    """The order of the result's letters in which the inputs have them, the first input's first."""
    places = [
        next((at, part.index(c)) for at, part in enumerate(equation.inputs) if c in part)
        for c in equation.result
    ]
    return tuple(sorted(range(len(places)), key=places.__getitem__))


def input_like_result(equation: Equation, index: int) -> Permutation:
    """The order of an input's letters that a `matrix_multiply` can read.

    Letters of the result come in its order, and before those that are summed; but the last letter
    of the product that this input brings may stay on either side of them.
    """
    letters, result = equation.inputs[index], equation.result
    movable = len(result) - 2 + index

    def compare(one: int, other: int) -> int:
        here, there = result.find(letters[one]), result.find(letters[other])
        if here >= 0 and there >= 0:
            return here - there
        if (here < 0 and there < 0) or (index < 2 and movable in {here, there}):
            return one - other
        return -1 if here >= 0 else 1

    return tuple(sorted(range(len(letters)), key=cmp_to_key(compare)))


def common_sum_labels(equation: Equation) -> str | None:
    """Two or more letters that are summed and stand side by side, in one order, in all inputs."""
    letters = "".join(c for c in equation.inputs[0] if equation.sums(c))
    if len(letters) < 2 or not all(letters in part for part in equation.inputs):
        return None
    return letters


@dataclass(frozen=True, slots=True)
class Unit:
    """Where an input needs a dimension of size 1, and what it is called."""

    index: int
    place: int
    letter: str


def units_for_product(equation: Equation) -> list[Unit]:
    """What two inputs lack of each other's batch dimensions, to be a product: it is 1 there.

    All that the result has is a batch dimension, save a row of the first input that is the result's
    last but one, and a column of the second that is its last. So `ab,cb->ca` gets units, too, and
    is a product of vectors then: mlir-tensorrt's rule.
    """
    if len(equation.inputs) != 2:
        return []
    matrix = equation.result[-2:].rjust(2)
    parts, found = list(equation.inputs), []
    for index, part in enumerate(equation.inputs):
        own = "" if matrix[index] in equation.inputs[1 - index] else matrix[index]
        for letter in part:
            if letter in equation.result and letter not in parts[1 - index] + own:
                place = _place(parts[index], parts[1 - index], letter)
                parts[1 - index] = parts[1 - index][:place] + letter + parts[1 - index][place:]
                found.append(Unit(1 - index, place, letter))
    return found


def _place(source: str, target: str, letter: str) -> int:
    """Where a letter goes, so that the letters before it in the source are before it, too."""
    at = source.index(letter)
    before = [target.index(c) + 1 for c in source[:at] if c in target]
    after = [target.index(c) for c in source[at + 1 :] if c in target]
    least = max(before, default=0)
    return least if least <= min(after, default=len(target)) else len(target)

"""`canonicalize` on random modules: the values stay, and the second run changes nothing."""

import math

import numpy as np
import pytest

from tests.oracles.canonical import canonical

SHAPES = ((2, 3), (1, 6), (6,), (2, 1, 3), (1, 2, 3, 1), (3, 2), (4,), (1, 4), ())


def tensor(shape, element="f32"):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def array(numbers):
    return f"array<i64{': ' if len(numbers) else ''}{', '.join(map(str, numbers))}>"


class Writer:
    """Writes ops one after the other, each of values that are there."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)
        self.lines = []
        self.values = [("%a", (2, 3)), ("%b", (2, 1, 3)), ("%c", (4,))]

    def pick(self, items):
        return items[int(self.generator.integers(len(items)))]

    def value(self):
        """Later values are picked more often, so that there are chains."""
        return self.values[-1] if self.generator.random() < 0.6 else self.pick(self.values)

    def add(self, text, shape):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.values.append((name, tuple(shape)))
        return name

    def constant(self):
        shape = self.pick(SHAPES)
        numbers = self.generator.integers(-2, 3, shape).astype(float)
        if self.generator.random() < 0.7:
            text = str(self.pick([0.0, -0.0, 1.0, 3.0, 2.0]))
        else:
            text = str(numbers.tolist())
        self.add(f"tensorrt.constant dense<{text}> : {tensor(shape)}", shape)

    def unary(self):
        name, shape = self.value()
        kind = self.pick(["kNEG", "kNEG", "kABS"])
        self.add(
            f"tensorrt.unary {{unaryOperation = #tensorrt.unary_operation<{kind}>}} "
            f"{name} : {tensor(shape)}",
            shape,
        )

    def binary(self):
        name, shape = self.value()
        fits = [
            (other, found)
            for other, found in self.values
            if len(found) == len(shape)
            and all(a == b or 1 in {a, b} for a, b in zip(shape, found, strict=True))
        ]
        other, found = self.pick(fits)
        result = tuple(max(a, b) for a, b in zip(shape, found, strict=True))
        sides = [(name, shape), (other, found)]
        if self.generator.random() < 0.3:
            sides.reverse()
        kind = self.pick(["kSUM", "kSUB", "kPROD", "kMAX", "kMIN"])
        self.add(
            f"tensorrt.element_wise <{kind}>({sides[0][0]}, {sides[1][0]} : "
            f"{tensor(sides[0][1])}, {tensor(sides[1][1])}) -> {tensor(result)}",
            result,
        )

    def with_constant(self):
        """An operation and a splat of the right rank, which rewrites look for."""
        name, shape = self.value()
        number = self.pick([0.0, 2.0, 4.0, -1.0])
        constant = self.add(f"tensorrt.constant dense<{number}> : {tensor(shape)}", shape)
        kind = self.pick(["kMAX", "kMIN", "kPROD", "kSUB"] + ["kDIV"] * (number != 0))
        self.add(
            f"tensorrt.element_wise <{kind}>({name}, {constant} : {tensor(shape)}, "
            f"{tensor(shape)}) -> {tensor(shape)}",
            shape,
        )

    def transpose(self):
        name, shape = self.value()
        order = [int(index) for index in self.generator.permutation(len(shape))]
        result = [shape[index] for index in order]
        names = [f"d{index}" for index in range(len(shape))]
        map_ = f"({', '.join(names)}) -> ({', '.join(names[index] for index in order)})"
        self.add(
            f"tensorrt.transpose {{permutation = affine_map<{map_}>}} "
            f"{name} : {tensor(shape)} to {tensor(result)}",
            result,
        )

    def reshape(self):
        name, shape = self.value()
        result = self.pick(
            [other for other in (*SHAPES, shape) if math.prod(other) == math.prod(shape)]
        )
        self.add(f"tensorrt.reshape {name} : {tensor(shape)} to {tensor(result)}", result)

    def expand(self):
        name, shape = self.value()
        if len(shape) > 4:
            return
        place = int(self.generator.integers(len(shape) + 1))
        result = (*shape[:place], 1, *shape[place:])
        self.add(f"tensorrt.expand_rank {name} : {tensor(shape)} to {tensor(result)}", result)

    def collapse(self):
        name, shape = self.value()
        ones = [index for index, size in enumerate(shape) if size == 1]
        if not ones:
            return
        place = self.pick(ones)
        result = (*shape[:place], *shape[place + 1 :])
        self.add(f"tensorrt.collapse_rank {name} : {tensor(shape)} to {tensor(result)}", result)

    def shuffle(self):
        name, shape = self.value()
        first = [int(index) for index in self.generator.permutation(len(shape))]
        inner = tuple(shape[index] for index in first)
        fits = [other for other in (*SHAPES, inner) if math.prod(other) == math.prod(shape)]
        reshaped = self.pick(fits) if self.generator.random() < 0.6 else None
        middle = inner if reshaped is None else reshaped
        second = [int(index) for index in self.generator.permutation(len(middle))]
        result = tuple(middle[index] for index in second)
        reshape = "" if reshaped is None else f"reshape = {array(reshaped)}, "
        keeps = self.pick(["true", "false"])
        self.add(
            f"tensorrt.shuffle {{first_transpose = {array(first)}, {reshape}second_transpose = "
            f"{array(second)}, zero_is_placeholder = {keeps}}} "
            f"ins({name} : {tensor(shape)}) -> {tensor(result)}",
            result,
        )

    def reduce(self):
        name, shape = self.value()
        if not shape:
            return
        axis = int(self.generator.integers(len(shape)))
        keep = self.generator.random() < 0.3
        kind = self.pick(["kSUM", "kMAX", "kAVG"])
        result = (*shape[:axis], *([1] if keep else []), *shape[axis + 1 :])
        self.add(
            f"tensorrt.reduce <{kind}> {name} {{keepDimensions = {str(keep).lower()}, "
            f"reduceAxes = {array([axis])}}} : {tensor(shape)} -> {tensor(result)}",
            result,
        )

    def product(self):
        name, shape = self.value()
        if len(shape) < 2:
            return
        rows, columns = shape[-2:]
        first, second = self.pick([("kNONE", "kTRANSPOSE"), ("kTRANSPOSE", "kNONE")])
        side = rows if first == "kNONE" else columns
        result = (*shape[:-2], side, side)
        operations = (
            f"{{op0 = #tensorrt.matrix_operation<{first}>, "
            f"op1 = #tensorrt.matrix_operation<{second}>}}"
        )
        self.add(
            f"tensorrt.matrix_multiply {operations} ins({name}, {name} : {tensor(shape)}, "
            f"{tensor(shape)}) -> {tensor(result)}",
            result,
        )

    def casts(self):
        name, shape = self.value()
        middle = self.add(
            f"tensorrt.cast {name} : {tensor(shape)} to {tensor(shape, 'f16')}", shape
        )
        self.values.pop()
        self.add(f"tensorrt.cast {middle} : {tensor(shape, 'f16')} to {tensor(shape)}", shape)

    def concatenation(self):
        name, shape = self.value()
        if not shape:
            return
        axis = int(self.generator.integers(len(shape)))
        count = int(self.generator.integers(1, 3))
        result = (*shape[:axis], shape[axis] * count, *shape[axis + 1 :])
        if math.prod(result) > 64:
            return
        self.add(
            f"tensorrt.concatenation {{axis = {axis} : i32}} ins({', '.join([name] * count)} : "
            f"{', '.join([tensor(shape)] * count)}) -> {tensor(result)}",
            result,
        )

    def text(self, count):
        steps = [
            self.constant, self.unary, self.binary, self.binary, self.with_constant, self.transpose,
            self.reshape, self.reshape, self.expand, self.collapse, self.shuffle, self.shuffle,
            self.reduce, self.product, self.casts, self.concatenation,
        ]  # fmt: skip
        for _ in range(count):
            self.pick(steps)()
        results = [self.values[-1], self.pick(self.values), self.pick(self.values)]
        types = ", ".join(tensor(shape) for _, shape in results)
        names = ", ".join(name for name, _ in results)
        body = "\n".join(self.lines)
        return (
            f"func.func @main(%a: {tensor((2, 3))}, %b: {tensor((2, 1, 3))}, %c: {tensor((4,))}) "
            f"-> ({types}) {{\n{body}\nreturn {names} : {types}\n}}\n"
        )


@pytest.mark.parametrize("seed", range(60))
def test_random_modules_keep_their_values(seed):
    canonical(Writer(seed).text(25), tolerance=1e-5)

"""`canonicalize` on random modules: the values stay, and the second run changes nothing."""

import math

import numpy as np
import pytest

from tests.oracles.canonical import canonical

KNOWN, VAGUE = 2, 7  # what the first size is; multiples of 7 are written as `?`


def shapes(size):
    """Shapes that `reshape` knows the way between, and others."""
    n = size
    return ((n, 3), (1, 3 * n), (3 * n,), (n, 1, 3), (1, n, 3, 1), (3, n), (4,), (1, 4), ())


def unknown(size):
    return size > 0 and size % VAGUE == 0


def tensor(shape, element="f32"):
    sizes = ("?" if unknown(size) else size for size in shape)
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def constant_shape(shape):
    """The shape of a constant that fits beside a value."""
    return tuple(1 if unknown(size) else size for size in shape)


def array(numbers):
    return f"array<i64{': ' if len(numbers) else ''}{', '.join(map(str, numbers))}>"


class Writer:
    """Writes ops one after the other, each of values that are there."""

    def __init__(self, seed, size):
        self.generator = np.random.default_rng(seed)
        self.lines = []
        self.shapes = shapes(size)
        self.inputs = [("%a", (size, 3)), ("%b", (size, 1, 3)), ("%c", (4,))]
        self.values = list(self.inputs)

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
        shape = constant_shape(self.pick(self.shapes))
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
        small = constant_shape(shape)
        constant = self.add(f"tensorrt.constant dense<{number}> : {tensor(small)}", small)
        kind = self.pick(["kMAX", "kMIN", "kPROD", "kSUB"] + ["kDIV"] * (number != 0))
        self.add(
            f"tensorrt.element_wise <{kind}>({name}, {constant} : {tensor(shape)}, "
            f"{tensor(small)}) -> {tensor(shape)}",
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

    def reshaped(self, shape):
        """Another shape of the same elements, of which one size is unknown at most."""
        fits = [
            other
            for other in (*self.shapes, shape)
            if math.prod(other) == math.prod(shape) and sum(map(unknown, other)) <= 1
        ]
        return self.pick(fits) if fits else None

    def reshape(self):
        name, shape = self.value()
        result = self.reshaped(shape)
        if result is not None:
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

    def written(self, reshaped, inner, keeps):
        """A new shape as `shuffle` takes it: -1 for what is unknown, 0 for what stays."""
        stays = [
            keeps and place < len(inner) and inner[place] == size
            for place, size in enumerate(reshaped)
        ]
        return [
            0 if same and self.generator.random() < 0.5 else -1 if unknown(size) else size
            for size, same in zip(reshaped, stays, strict=True)
        ]

    def shuffle(self):
        name, shape = self.value()
        first = [int(index) for index in self.generator.permutation(len(shape))]
        inner = tuple(shape[index] for index in first)
        reshaped = self.reshaped(inner) if self.generator.random() < 0.6 else None
        middle = inner if reshaped is None else reshaped
        second = [int(index) for index in self.generator.permutation(len(middle))]
        result = tuple(middle[index] for index in second)
        keeps = bool(self.generator.integers(2))
        reshape = ""
        if reshaped is not None:
            reshape = f"reshape = {array(self.written(reshaped, inner, keeps))}, "
        self.add(
            f"tensorrt.shuffle {{first_transpose = {array(first)}, {reshape}second_transpose = "
            f"{array(second)}, zero_is_placeholder = {str(keeps).lower()}}} "
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
        if math.prod(result) > 200:
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
        given = ", ".join(f"{name}: {tensor(shape)}" for name, shape in self.inputs)
        return f"func.func @main({given}) -> ({types}) {{\n{body}\nreturn {names} : {types}\n}}\n"

    def sizes(self):
        """The sizes of the arguments."""
        return {index: shape for index, (_, shape) in enumerate(self.inputs)}


@pytest.mark.parametrize("size", [KNOWN, VAGUE], ids=["known", "unknown"])
@pytest.mark.parametrize("seed", range(40))
def test_random_modules_keep_their_values(seed, size):
    writer = Writer(seed, size)
    canonical(writer.text(25), tolerance=1e-5, dynamic=writer.sizes())

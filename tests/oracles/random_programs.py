"""Random functions in the `tensorrt` dialect: what passes are run on, and compared with NumPy.

Each seed is one function. Values that are combined come from what was made before, so that chains
of layouts, broadcasts, constants and arithmetic arise that nobody would think of.
"""

import random
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr, FunctionType, ModuleOp, TensorType, f32, i1, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.mlir import elements

SIZES = (1, 2, 2, 3)
MOST_RANK = 4
BINARY = ("kSUM", "kPROD", "kSUB", "kMAX", "kMIN")
UNARY = ("kNEG", "kABS", "kSIN", "kCOS", "kSIGN")
ACTIVATIONS = ("kRELU", "kTANH", "kSIGMOID", "kSOFTSIGN", "kGELU_TANH")
REDUCTIONS = ("kSUM", "kAVG", "kMAX", "kMIN")


class Program:
    """A function that grows at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        shapes = [self.shape() for _ in range(2)]
        self.block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
        self.values: list[SSAValue] = list(self.block.args)

    def shape(self) -> tuple[int, ...]:
        return tuple(self.random.choice(SIZES) for _ in range(self.random.randint(1, 3)))

    def add(self, op_class: Any, *operands: Any, **attributes: Any) -> SSAValue:
        op = op_class.make(*operands, **attributes)
        self.block.add_op(op)
        self.values.append(op.results[0])
        return op.results[0]

    def pick(self) -> SSAValue:
        """Rather a late value."""
        weights = [1 + index for index in range(len(self.values))]
        return self.random.choices(self.values, weights)[0]

    def constant(self, shape: tuple[int, ...]) -> SSAValue:
        choice = self.random.random()
        if choice < 0.3:
            array = np.full(shape, self.random.choice([0.0, 1.0, -2.5, 0.5]), np.float32)
        else:
            seed = self.random.randrange(1000)
            array = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
        type = TensorType(f32, shape)
        return self.add(
            dialect.ConstantOp, weights=elements.from_numpy(array, type), result_types=[type]
        )

    def fitting(self, value: SSAValue) -> SSAValue:
        """A value that can be broadcast with another: an old one, a constant, a broadcast."""
        own = static(value)
        there = [each for each in self.values if broadcastable(static(each), own)]
        choice = self.random.random()
        if choice < 0.5 and there:
            return self.random.choice(there)
        shape = tuple(size if self.random.random() < 0.6 else 1 for size in own)
        return self.constant(shape) if choice < 0.8 else self.broadcast_to(own)

    def broadcast_to(self, shape: tuple[int, ...]) -> SSAValue:
        """Something smaller, stretched: its dimensions may come in another order."""
        places = [axis for axis in range(len(shape)) if self.random.random() < 0.7]
        self.random.shuffle(places)
        small = tuple(shape[at] if self.random.random() < 0.6 else 1 for at in places)
        return self.add(
            dialect.BroadcastOp,
            self.constant(small) if self.random.random() < 0.5 else self.argument(small),
            broadcast_dims=places,
            result_types=[TensorType(f32, shape)],
        )

    def argument(self, shape: tuple[int, ...]) -> SSAValue:
        value = self.block.insert_arg(TensorType(f32, shape), len(self.block.args))
        self.values.append(value)
        return value

    # Steps

    def binary(self) -> None:
        a = self.pick()
        b = self.fitting(a)
        a, b = self.random.sample([a, b], 2)
        self.add(dialect.ElementWiseOp, a, b, elementwise_operation=self.random.choice(BINARY))

    def unary(self) -> None:
        self.add(dialect.UnaryOp, self.pick(), unary_operation=self.random.choice(UNARY))

    def activation(self) -> None:
        self.add(dialect.ActivationOp, self.pick(), activation_type=self.random.choice(ACTIVATIONS))

    def clip(self) -> None:
        value = self.pick()
        ones = (1,) * len(static(value))
        for kind in self.random.sample(["kMIN", "kMAX"], 2):
            value = self.add(
                dialect.ElementWiseOp, value, self.constant(ones), elementwise_operation=kind
            )

    def transpose(self) -> None:
        value = self.pick()
        order = list(range(len(static(value))))
        self.random.shuffle(order)
        exprs = tuple(map(AffineDimExpr, order))
        permutation = AffineMapAttr(AffineMap(len(order), 0, exprs))
        self.add(dialect.TransposeOp, value, permutation=permutation)

    def reshape(self) -> None:
        value = self.pick()
        flat = [size for size in static(value) if size > 1]
        while len(flat) > 1 and self.random.random() < 0.4:
            at = self.random.randrange(len(flat) - 1)
            flat[at : at + 2] = [flat[at] * flat[at + 1]]
        while len(flat) < MOST_RANK and self.random.random() < 0.4:
            flat.insert(self.random.randint(0, len(flat)), 1)
        self.add(dialect.ReshapeOp, value, result_types=[TensorType(f32, flat)])

    def expand(self) -> None:
        value = self.pick()
        shape = list(static(value))
        if len(shape) < MOST_RANK:
            shape.insert(self.random.randint(0, len(shape)), 1)
            self.add(dialect.ExpandRankOp, value, result_types=[TensorType(f32, shape)])

    def collapse(self) -> None:
        value = self.pick()
        shape = list(static(value))
        if 1 in shape:
            del shape[self.random.choice([at for at, size in enumerate(shape) if size == 1])]
            self.add(dialect.CollapseRankOp, value, result_types=[TensorType(f32, shape)])

    def reduce(self) -> None:
        value = self.pick()
        axes = [at for at in range(len(static(value))) if self.random.random() < 0.5]
        if axes:
            self.add(
                dialect.ReduceOp,
                value,
                reduce_operation=self.random.choice(REDUCTIONS),
                reduce_axes=axes,
                keep_dimensions=self.random.random() < 0.5,
            )

    def softmax(self) -> None:
        value = self.pick()
        if static(value):
            self.add(dialect.SoftMaxOp, value, axis=self.random.randrange(len(static(value))))

    def product(self) -> None:
        """A matrix product whose sides may be transposed, reshaped or broadcast."""
        a = self.pick()
        *batch, rows, inner = (1, 1, *static(a))[-max(2, len(static(a))) :]
        if len(static(a)) < 2 or len(static(a)) > MOST_RANK:
            return
        columns = self.random.choice(SIZES)
        swapped = self.random.random() < 0.4
        right = (*batch, columns, inner) if swapped else (*batch, inner, columns)
        there = [each for each in self.values if static(each) == right]
        b = self.random.choice(there) if there else self.broadcast_to(right)
        del rows
        self.add(
            dialect.MatrixMultiplyOp, a, b, op0="kNONE", op1="kTRANSPOSE" if swapped else "kNONE"
        )

    def slice(self) -> None:
        value = self.pick()
        shape = static(value)
        size = [self.random.randint(1, n) for n in shape]
        start = [self.random.randint(0, n - m) for n, m in zip(shape, size, strict=True)]
        if shape:
            self.add(
                dialect.SliceOp,
                value,
                static_start=start,
                static_size=size,
                static_stride=[1] * len(shape),
            )

    def concatenation(self) -> None:
        value = self.pick()
        if static(value):
            axis = self.random.randrange(len(static(value)))
            self.add(dialect.ConcatenationOp, [value, value], axis=axis)

    def select(self) -> None:
        value = self.pick()
        other, threshold = self.fitting(value), self.fitting(value)
        greater = dialect.ElementWiseOp.make(value, threshold, elementwise_operation="kGREATER")
        self.block.add_op(greater)
        assert greater.result.type.element_type == i1
        self.add(dialect.SelectOp, greater.result, value, other)

    def top(self) -> None:
        value = self.pick()
        if static(value):
            kind = self.random.choice([dialect.ArgMaxOp, dialect.ArgMinOp])
            axis = self.random.randrange(len(static(value)))
            shape = [1 if at == axis else size for at, size in enumerate(static(value))]
            types: list[Attribute] = [TensorType(f32, shape), TensorType(i32, shape)]
            self.add(kind, value, axis=axis, result_types=types)

    def module(self) -> ModuleOp:
        """What nothing uses is given back, but for constants; now and then something else, too."""
        results = [
            each
            for each in self.values
            if each.first_use is None and not isinstance(each.owner, Block | dialect.ConstantOp)
        ]
        results = results or [self.values[-1]]
        if self.random.random() < 0.3:
            results.append(self.pick())
        self.block.add_op(ReturnOp(*results))
        kind = FunctionType.from_lists(self.block.arg_types, [each.type for each in results])
        return ModuleOp([FuncOp("main", kind, Region(self.block))])


STEPS = (
    *["binary"] * 4,
    *["transpose", "reshape", "expand", "collapse"] * 2,
    *["unary", "activation", "clip", "reduce", "softmax", "product", "product"],
    *["slice", "concatenation", "select", "top"],
)


def static(value: SSAValue) -> tuple[int, ...]:
    found = sizes(value)
    assert None not in found
    return tuple(int(size) for size in found)  # type: ignore[arg-type]


def broadcastable(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return len(a) == len(b) and all(p == q or 1 in (p, q) for p, q in zip(a, b, strict=True))


def program(seed: int, steps: int = 14) -> ModuleOp:
    """The function of a seed."""
    found = Program(seed)
    for _ in range(steps):
        getattr(found, found.random.choice(STEPS))()
    return found.module()

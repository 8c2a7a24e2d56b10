"""Size computation as int32 tensors: each distinct size once per function.

Invariant: a size is `tensor<1xi32>` and a list of sizes `tensor<nxi32>`, as the dialect has shapes.
What depends on the shapes of inputs alone stands in the prologue; what a region finds stays in it.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tripybuild.symbolic.dims import Dim, Size
from tripybuild.symbolic.polynomials import constant
from tripybuild.symbolic.scopes import SizeComputation
from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation, tensor_type
from tripybuild.tensorrt.emission.scope import EmissionScope, Scopes
from tripybuild.tensorrt.mlir.elements import from_numpy

_OPERATORS = {
    "+": "kSUM",
    "-": "kSUB",
    "*": "kPROD",
    "//": "kFLOOR_DIV",
    "max": "kMAX",
    "min": "kMIN",
    "==": "kEQUAL",
    "<": "kLESS",
    ">": "kGREATER",
    "and": "kAND",
    "or": "kOR",
}


class SizeTensors(SizeComputation[SSAValue, EmissionScope]):
    """The sizes of one function."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes

    def vector(self, sizes: Sequence[Size]) -> SSAValue:
        """A list of sizes as a tensor of one dimension."""
        key = key_of(sizes)
        found = self.scopes.current.find(key)
        if found is None:
            symbols = frozenset[str]().union(*[s.symbols for s in sizes if isinstance(s, Dim)])
            scope = self.scopes.current.of(*symbols)
            parts = [self._run(run, scope) for run in _runs(sizes)]
            found = parts[0]
            if len(parts) > 1:
                found = self.scopes.one(dialect.ConcatenationOp, parts, axis=0, scope=scope)
            scope.known[key] = found
        return found

    def _run(self, run: Sequence[Size], scope: EmissionScope) -> SSAValue:
        if isinstance(run[0], Dim):
            return self.terms(run[0].terms, scope)
        return self.numbers([size for size in run if isinstance(size, int)], scope)

    def numbers(self, numbers: Sequence[int], scope: EmissionScope) -> SSAValue:
        """A constant."""

        def constant() -> SSAValue:
            weights = from_numpy(np.array(numbers, np.int32), tensor_type((len(numbers),), i32))
            return self.scopes.one(dialect.ConstantOp, weights=weights, scope=scope)

        return scope.once(("numbers", *numbers), constant)

    def dimension(self, value: SSAValue, axis: int, scope: EmissionScope) -> SSAValue:
        """A part of a shape."""
        shape = scope.once(
            ("shape", value), lambda: self.scopes.one(dialect.ShapeOp, value, scope=scope)
        )
        if len(value.type.get_shape()) <= 1:  # type: ignore[attr-defined]
            return shape
        part = {"static_start": [axis], "static_size": [1], "static_stride": [1]}
        return scope.once(
            ("size", value, axis),
            lambda: self.scopes.one(dialect.SliceOp, shape, **part, scope=scope),
        )

    def binary(
        self, operator: str, left: SSAValue, right: SSAValue, scope: EmissionScope
    ) -> SSAValue:
        """An operation by elements."""
        kind = _OPERATORS[operator]
        return self._emit_once(
            dialect.ElementWiseOp, left, right, elementwise_operation=kind, scope=scope
        )

    def negate(self, truth: SSAValue, scope: EmissionScope) -> SSAValue:
        """`kNOT`."""
        return self._emit_once(dialect.UnaryOp, truth, unary_operation="kNOT", scope=scope)

    def select(
        self, condition: SSAValue, then: SSAValue, otherwise: SSAValue, scope: EmissionScope
    ) -> SSAValue:
        """`select`."""
        return self._emit_once(dialect.SelectOp, condition, then, otherwise, scope=scope)

    def _emit_once(
        self, kind: type[TensorrtOperation], *operands: SSAValue, scope: EmissionScope, **said: str
    ) -> SSAValue:
        """An operation, which is there once for its operands."""
        key = (kind, *operands, *said.values())
        return scope.once(key, lambda: self.scopes.one(kind, *operands, scope=scope, **said))


def key_of(sizes: Sequence[Size]) -> object:
    """What equal lists of sizes have in common."""
    return tuple([size.terms if isinstance(size, Dim) else constant(size) for size in sizes])


def _runs(sizes: Sequence[Size]) -> list[list[Size]]:
    """Numbers that stand side by side, together; each symbolic size alone."""
    runs: list[list[Size]] = []
    for size in sizes:
        if runs and not isinstance(size, Dim) and not isinstance(runs[-1][0], Dim):
            runs[-1].append(size)
        else:
            runs.append([size])
    return runs

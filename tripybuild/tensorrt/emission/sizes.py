"""Size computation as int32 tensors: each distinct size once per function.

Invariant: a size is `tensor<1xi32>` and a list of sizes `tensor<nxi32>`, as the dialect has shapes.
What depends on the shapes of inputs alone stands in the prologue; what a region finds stays in it.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import i1, i32
from xdsl.ir import SSAValue

from tripybuild.symbolic.conditions import Condition
from tripybuild.symbolic.dims import Dim, Size
from tripybuild.symbolic.polynomials import Atom, Terms, constant
from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation, tensor_type
from tripybuild.tensorrt.emission.scope import EmissionScope, Scopes
from tripybuild.tensorrt.mlir.elements import from_numpy

_EXTREMES = {"max": "kMAX", "min": "kMIN"}
# How a comparison is said: the operation, and whether its result is negated.
_COMPARISONS: Mapping[str, tuple[str, bool]] = {
    "==": ("kEQUAL", False),
    "!=": ("kEQUAL", True),
    "<": ("kLESS", False),
    ">=": ("kLESS", True),
    ">": ("kGREATER", False),
    "<=": ("kGREATER", True),
}


class SizeTensors:
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
            return self._terms(run[0].terms, scope)
        return self._numbers([size for size in run if isinstance(size, int)], scope)

    def _numbers(self, numbers: Sequence[int], scope: EmissionScope) -> SSAValue:
        def constant() -> SSAValue:
            weights = from_numpy(np.array(numbers, np.int32), tensor_type((len(numbers),), i32))
            return self.scopes.one(dialect.ConstantOp, weights=weights, scope=scope)

        return scope.once(("numbers", *numbers), constant)

    def _terms(self, terms: Terms, scope: EmissionScope) -> SSAValue:
        return scope.once(("terms", terms), lambda: self._sum(terms, scope))

    def _sum(self, terms: Terms, scope: EmissionScope) -> SSAValue:
        positive = sorted(terms, key=lambda term: term[1] < 0)  # `a - b` and not `-b + a`
        total: SSAValue | None = None
        for monomial, coefficient in positive:
            factor, parts = self._factors(monomial, coefficient, scope)
            minus = total is not None and factor < 0
            factor = -factor if minus else factor
            if factor != 1 or not parts:
                parts.append(self._numbers([factor], scope))
            product = parts[0]
            for part in parts[1:]:
                product = self._binary("kPROD", product, part, scope)
            if total is None:
                total = product
            else:
                total = self._binary("kSUB" if minus else "kSUM", total, product, scope)
        return self._numbers([0], scope) if total is None else total

    def _factors(
        self, monomial: Sequence[Atom], coefficient: int, scope: EmissionScope
    ) -> tuple[int, list[SSAValue]]:
        """A number and the tensors to multiply it with; `16 * (S // 16)` is S, if S is such."""
        parts = []
        for atom in monomial:
            if atom.operator != "symbol":
                parts.append(self._compound(atom, scope))
                continue
            part = self._symbol(atom.name, scope)
            if coefficient % atom.multiple == 0:
                coefficient //= atom.multiple
            else:
                multiple = self._numbers([atom.multiple], scope)
                part = self._binary("kFLOOR_DIV", part, multiple, scope)
            parts.append(part)
        return coefficient, parts

    def _symbol(self, name: str, inner: EmissionScope) -> SSAValue:
        """A symbol, from the shape of a value that it is a dimension of."""
        scope = inner.of(name)
        value, axis, factor, offset = scope.sources[name]
        shape = scope.once(
            ("shape", value), lambda: self.scopes.one(dialect.ShapeOp, value, scope=scope)
        )
        size = shape
        if len(value.type.get_shape()) > 1:  # type: ignore[attr-defined]
            part = {"static_start": [axis], "static_size": [1], "static_stride": [1]}
            size = scope.once(
                ("size", value, axis),
                lambda: self.scopes.one(dialect.SliceOp, shape, **part, scope=scope),
            )
        if offset:
            size = self._binary("kSUB", size, self._numbers([offset], scope), scope)
        if factor != 1:
            size = self._binary("kFLOOR_DIV", size, self._numbers([factor], scope), scope)
        return size

    def _compound(self, atom: Atom, scope: EmissionScope) -> SSAValue:
        arguments = [self._terms(each, scope) for each in atom.arguments]
        if atom.operator == "//":
            numerator, denominator = arguments
            return self._binary("kFLOOR_DIV", numerator, denominator, scope)
        if isinstance(atom.choice, Condition):
            condition = self._condition(atom.choice, scope)
            return self._emit_once(dialect.SelectOp, condition, *arguments, scope=scope)
        result = arguments[0]
        for other in arguments[1:]:
            result = self._binary(_EXTREMES[atom.operator], result, other, scope)
        return result

    def _condition(self, condition: Condition, scope: EmissionScope) -> SSAValue:
        if not condition.sides:
            parts = [self._condition(each, scope) for each in condition.parts]
            kind, result = "kAND" if condition.operator == "and" else "kOR", parts[0]
            for part in parts[1:]:
                result = self._binary(kind, result, part, scope)
            return result
        kind, negated = _COMPARISONS[condition.operator]
        left, right = (self._terms(each, scope) for each in condition.sides)
        result = self._binary(kind, left, right, scope)
        if negated:
            result = self._emit_once(dialect.UnaryOp, result, unary_operation="kNOT", scope=scope)
        assert result.type.get_element_type() == i1  # type: ignore[attr-defined]
        return result

    def _binary(self, kind: str, left: SSAValue, right: SSAValue, scope: EmissionScope) -> SSAValue:
        return self._emit_once(
            dialect.ElementWiseOp, left, right, elementwise_operation=kind, scope=scope
        )

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

"""Sizes as tensors: each distinct size of a function is computed once, in 32-bit integers.

Law: a size is `tensor<1xi32>` and a list of sizes `tensor<nxi32>`, as the dialect has shapes. What
depends on the shapes of inputs alone stands in the prologue.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i1, i32
from xdsl.ir import SSAValue

from tripybuild.dialects.mlir.elements import from_numpy
from tripybuild.dialects.tensorrt import ops
from tripybuild.dialects.tensorrt.emission.scope import Scope, Scopes
from tripybuild.dialects.tensorrt.ops.base import tensor_type
from tripybuild.types.conditions import Condition
from tripybuild.types.dims import Dim, Size
from tripybuild.types.polynomials import Atom, Terms, constant

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


class Sizes:
    """The sizes of one function."""

    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes
        self._sources: dict[str, tuple[SSAValue, int, Scope]] = {}

    def learn(self, shape: Sequence[Any], value: SSAValue, scope: Scope) -> None:
        """Note the symbols that are dimensions of a value."""
        for axis, size in enumerate(shape):
            if isinstance(size, Dim) and size.name is not None:
                self._sources.setdefault(size.name, (value, axis, scope))

    def vector(self, sizes: Sequence[Size]) -> SSAValue:
        """A list of sizes as a tensor of one dimension."""
        symbols = frozenset[str]().union(*[s.symbols for s in sizes if isinstance(s, Dim)])
        scope, key = self._scope(symbols), tuple(map(_key, sizes))
        found = self.scopes.current.find(key)
        if found is None:
            parts = [self._run(run, scope) for run in _runs(sizes)]
            found = parts[0]
            if len(parts) > 1:
                found = self.scopes.one(ops.ConcatenationOp, parts, axis=0, scope=scope)
            scope.known[key] = found
        return found

    def _run(self, run: Sequence[Size], scope: Scope) -> SSAValue:
        if isinstance(run[0], Dim):
            return self._terms(run[0].terms, scope)
        return self._numbers([size for size in run if isinstance(size, int)], scope)

    def _scope(self, symbols: frozenset[str]) -> Scope:
        """The outermost scope in which all the symbols are known."""
        inside = [self._source(name)[2] for name in symbols]
        return next((s for s in inside if s is not self.scopes.prologue), self.scopes.prologue)

    def _source(self, name: str) -> tuple[SSAValue, int, Scope]:
        if name not in self._sources:
            raise ValueError(f"no tensor has a dimension of size `{name}`")
        return self._sources[name]

    def _numbers(self, numbers: Sequence[int], scope: Scope) -> SSAValue:
        key = ("numbers", *numbers)
        found = scope.find(key)
        if found is None:
            weights = from_numpy(np.array(numbers, np.int32), tensor_type((len(numbers),), i32))
            found = self.scopes.one(ops.ConstantOp, weights=weights, scope=scope)
            scope.known[key] = found
        return found

    def _terms(self, terms: Terms, scope: Scope) -> SSAValue:
        key = ("terms", terms)
        found = scope.find(key)
        if found is None:
            found = self._sum(terms, scope)
            scope.known[key] = found
        return found

    def _sum(self, terms: Terms, scope: Scope) -> SSAValue:
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
        self, monomial: Sequence[Atom], coefficient: int, scope: Scope
    ) -> tuple[int, list[SSAValue]]:
        """A number and the tensors to multiply it with; `16 * (S // 16)` is S, if S is such."""
        parts = []
        for atom in monomial:
            if atom.operator != "symbol":
                parts.append(self._compound(atom, scope))
                continue
            part = self._symbol(atom.name)
            if coefficient % atom.multiple == 0:
                coefficient //= atom.multiple
            else:
                multiple = self._numbers([atom.multiple], scope)
                part = self._binary("kFLOOR_DIV", part, multiple, scope)
            parts.append(part)
        return coefficient, parts

    def _symbol(self, name: str) -> SSAValue:
        value, axis, scope = self._source(name)
        found = scope.find(("symbol", name))
        if found is None:
            shape = scope.find(("shape", value))
            if shape is None:
                shape = self.scopes.one(ops.ShapeOp, value, scope=scope)
                scope.known["shape", value] = shape
            found = shape
            if len(value.type.get_shape()) > 1:  # type: ignore[attr-defined]
                found = self.scopes.one(
                    ops.SliceOp,
                    shape,
                    static_start=[axis],
                    static_size=[1],
                    static_stride=[1],
                    scope=scope,
                )
            scope.known["symbol", name] = found
        return found

    def _compound(self, atom: Atom, scope: Scope) -> SSAValue:
        arguments = [self._terms(each, scope) for each in atom.arguments]
        if atom.operator == "//":
            numerator, denominator = arguments
            return self._binary("kFLOOR_DIV", numerator, denominator, scope)
        if isinstance(atom.choice, Condition):
            condition = self._condition(atom.choice, scope)
            return self.scopes.one(ops.SelectOp, condition, *arguments, scope=scope)
        result = arguments[0]
        for other in arguments[1:]:
            result = self._binary(_EXTREMES[atom.operator], result, other, scope)
        return result

    def _condition(self, condition: Condition, scope: Scope) -> SSAValue:
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
            result = self.scopes.one(ops.UnaryOp, result, unary_operation="kNOT", scope=scope)
        assert result.type.get_element_type() == i1  # type: ignore[attr-defined]
        return result

    def _binary(self, kind: str, left: SSAValue, right: SSAValue, scope: Scope) -> SSAValue:
        return self.scopes.one(
            ops.ElementWiseOp, left, right, elementwise_operation=kind, scope=scope
        )


def _key(size: Size) -> object:
    return size.terms if isinstance(size, Dim) else constant(size)


def _runs(sizes: Sequence[Size]) -> list[list[Size]]:
    """Numbers that stand side by side, together; each symbolic size alone."""
    runs: list[list[Size]] = []
    for size in sizes:
        if runs and not isinstance(size, Dim) and not isinstance(runs[-1][0], Dim):
            runs[-1].append(size)
        else:
            runs.append([size])
    return runs

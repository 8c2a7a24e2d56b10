"""Sizes as int64 tensors: each distinct size is computed once.

Invariant: a size is a tensor of shape `[1]`, and a list of sizes one of shape `[n]`, as `Shape`
gives them. What depends on the sizes of inputs alone stands in the prologue; what a body finds
stays in it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tripybuild.onnx.nodes import Scope
from tripybuild.onnx.value import OnnxValue
from tripybuild.symbolic.conditions import Condition
from tripybuild.symbolic.dims import Dim, Size
from tripybuild.symbolic.intervals import bounds
from tripybuild.symbolic.polynomials import Atom, Terms, as_constant, constant
from tripybuild.types.dtypes import boolean, dtype, int64

if TYPE_CHECKING:
    from tripybuild.onnx.builder import OnnxGraph

_EXTREMES = {"max": "Max", "min": "Min"}
_COMPARISONS: Mapping[str, tuple[str, bool]] = {
    "==": ("Equal", False),
    "!=": ("Equal", True),
    "<": ("Less", False),
    ">=": ("Less", True),
    ">": ("Greater", False),
    "<=": ("Greater", True),
}
"""How a comparison is said: the operator, and whether its result is negated."""


class SizeTensors:
    """The sizes of one graph."""

    def __init__(self, graph: "OnnxGraph") -> None:
        self.graph = graph

    def vector(self, sizes: Sequence[Any]) -> OnnxValue:
        """A list of sizes, some of which may be tensors, as a tensor of rank 1."""
        if any(isinstance(each, OnnxValue) for each in sizes):
            parts = [self._element(each) for each in sizes]
            return self._join(parts, self.graph.scope)
        key = tuple([each.terms if isinstance(each, Dim) else constant(each) for each in sizes])
        found = self.graph.scope.find(key)
        if found is None:
            names = [each.symbols for each in sizes if isinstance(each, Dim)]
            scope = self.graph.scope.of(*frozenset[str]().union(*names))
            found = self._join([self._run(run, scope) for run in self._runs(sizes)], scope)
            scope.known[key] = found
        return found

    def scalar(self, size: Size) -> OnnxValue:
        """A size as a tensor of rank 0."""
        if not isinstance(size, Dim):
            return self.graph.number(size, int64)
        scope = self.graph.scope.of(*size.symbols)
        return scope.once(("scalar", size.terms), lambda: self._squeeze(size, scope))

    def _squeeze(self, size: Dim, scope: Scope) -> OnnxValue:
        return self._add("Reshape", self._terms(size.terms, scope), self._numbers([]), scope=scope)

    def _element(self, size: Any) -> OnnxValue:
        """One element of a list, with one dimension."""
        if not isinstance(size, OnnxValue):
            return self.vector([size])
        scope = self.graph.scope
        if size.dtype is not int64:
            size = self._node("Cast", [size], {"to": int64}, int64, scope)
        return self._add("Reshape", size, self._numbers([1]), scope=scope)

    def _join(self, parts: Sequence[OnnxValue], scope: Scope) -> OnnxValue:
        if len(parts) == 1:
            return parts[0]
        return self._node("Concat", parts, {"axis": 0}, int64, scope)

    def _runs(self, sizes: Sequence[Size]) -> list[list[Size]]:
        """Numbers, and dimensions of one value, that stand side by side, together."""
        runs: list[list[Size]] = []
        for size in sizes:
            if runs and self._continues(runs[-1], size):
                runs[-1].append(size)
            else:
                runs.append([size])
        return runs

    def _continues(self, run: Sequence[Size], size: Size) -> bool:
        if not isinstance(size, Dim) or not isinstance(run[0], Dim):
            return isinstance(size, Dim) == isinstance(run[0], Dim)
        first, next_ = self._axis(run[0]), self._axis(size)
        if first is None or next_ is None or first[0] is not next_[0]:
            return False
        return next_[1] == first[1] + len(run)

    def _axis(self, size: Dim) -> tuple[OnnxValue, int] | None:
        """The dimension of a value that a symbol is, if it is one just so."""
        if size.name is None:
            return None
        source = self.graph.scope.source(size.name)
        plain = (source.factor, source.offset) == (1, 0)
        return (source.value, source.axis) if plain else None

    def _run(self, run: Sequence[Size], scope: Scope) -> OnnxValue:
        first = run[0]
        if not isinstance(first, Dim):
            return self._numbers([size for size in run if isinstance(size, int)])
        place = self._axis(first) if len(run) > 1 else None
        if place is None:
            return self._terms(first.terms, scope)
        value, axis = place
        return self._shape(value, axis, axis + len(run), scope)

    def _shape(self, value: OnnxValue, start: int, end: int, scope: Scope) -> OnnxValue:
        return self._node("Shape", [value], {"start": start, "end": end}, int64, scope)

    def _numbers(self, numbers: Sequence[int]) -> OnnxValue:
        return self.graph.numbers(numbers, int64)

    def _terms(self, terms: Terms, scope: Scope) -> OnnxValue:
        return scope.once(("terms", terms), lambda: self._sum(terms, scope))

    def _sum(self, terms: Terms, scope: Scope) -> OnnxValue:
        positive = sorted(terms, key=lambda term: term[1] < 0)  # `a - b` and not `-b + a`
        total: OnnxValue | None = None
        for monomial, coefficient in positive:
            factor, parts = self._factors(monomial, coefficient, scope)
            minus = total is not None and factor < 0
            factor = -factor if minus else factor
            if factor != 1 or not parts:
                parts.append(self._numbers([factor]))
            product = parts[0]
            for part in parts[1:]:
                product = self._add("Mul", product, part, scope=scope)
            if total is None:
                total = product
            else:
                total = self._add("Sub" if minus else "Add", total, product, scope=scope)
        return self._numbers([0]) if total is None else total

    def _factors(
        self, monomial: Sequence[Atom], coefficient: int, scope: Scope
    ) -> tuple[int, list[OnnxValue]]:
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
                part = self._add("Div", part, self._numbers([atom.multiple]), scope=scope)
            parts.append(part)
        return coefficient, parts

    def _symbol(self, name: str, inner: Scope) -> OnnxValue:
        """A symbol, from the shape of a value that it is a dimension of."""
        scope = inner.of(name)
        value, axis, factor, offset = scope.source(name)
        size = self._shape(value, axis, axis + 1, scope)
        if offset:
            size = self._add("Sub", size, self._numbers([offset]), scope=scope)
        if factor != 1:
            size = self._add("Div", size, self._numbers([factor]), scope=scope)
        return size

    def _compound(self, atom: Atom, scope: Scope) -> OnnxValue:
        arguments = [self._terms(each, scope) for each in atom.arguments]
        if atom.operator == "//":
            return self._quotient(atom, arguments, scope)
        if isinstance(atom.choice, Condition):
            condition = self._condition(atom.choice, scope)
            return self._add("Where", condition, *arguments, scope=scope)
        return self._add(_EXTREMES[atom.operator], *arguments, scope=scope)

    def _quotient(self, atom: Atom, operands: Sequence[OnnxValue], scope: Scope) -> OnnxValue:
        """Rounded down; `Div` rounds toward zero, and `Mod` has the sign of the divisor."""
        left, right = operands
        lows = [bounds(each)[0] for each in atom.arguments]
        if any(low is None or low < 0 for low in lows):
            rest = self._add("Mod", left, right, scope=scope)
            left = self._add("Sub", left, rest, scope=scope)
        elif as_constant(atom.arguments[0]) == 1:
            # ONNX Runtime takes `1 / x * y` for `y / x`, which it is not for integers.
            one = self._add("Equal", left, right, scope=scope, kind=boolean)
            return self._node("Cast", [one], {"to": int64}, int64, scope)
        return self._add("Div", left, right, scope=scope)

    def _condition(self, condition: Condition, scope: Scope) -> OnnxValue:
        if not condition.sides:
            parts = [self._condition(each, scope) for each in condition.parts]
            name, result = "And" if condition.operator == "and" else "Or", parts[0]
            for part in parts[1:]:
                result = self._add(name, result, part, scope=scope, kind=boolean)
            return result
        name, negated = _COMPARISONS[condition.operator]
        sides = [self._terms(each, scope) for each in condition.sides]
        result = self._add(name, *sides, scope=scope, kind=boolean)
        return self._add("Not", result, scope=scope, kind=boolean) if negated else result

    def _add(self, name: str, *operands: OnnxValue, scope: Scope, kind: dtype = int64) -> OnnxValue:
        return self._node(name, operands, {}, kind, scope)

    def _node(
        self, name: str, operands: Sequence[OnnxValue], said: Any, kind: dtype, scope: Scope
    ) -> OnnxValue:
        graph = self.graph
        return graph.append(graph.schema(name), operands, said, [kind], scope=scope).outputs[0]

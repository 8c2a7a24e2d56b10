"""Sizes as int64 tensors: each distinct size is computed once.

Invariant: a size is a tensor of shape `[1]`, and a list of sizes one of shape `[n]`, as `Shape`
gives them. What depends on the sizes of inputs alone stands in the prologue; what a body finds
stays in it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tripybuild.onnx.nodes import Scope
from tripybuild.onnx.value import OnnxValue
from tripybuild.symbolic.dims import Dim, Size
from tripybuild.symbolic.intervals import bounds
from tripybuild.symbolic.polynomials import Atom, as_constant, constant
from tripybuild.symbolic.scopes import SizeComputation
from tripybuild.types.dtypes import boolean, dtype, int64

if TYPE_CHECKING:
    from tripybuild.onnx.builder import OnnxGraph

_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "//": "Div", "max": "Max", "min": "Min"}
_TRUTHS = {"==": "Equal", "<": "Less", ">": "Greater", "and": "And", "or": "Or"}


class SizeTensors(SizeComputation[OnnxValue, Scope]):
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
        return self._reshape(self.terms(size.terms, scope), [], scope)

    def _element(self, size: Any) -> OnnxValue:
        """One element of a list, with one dimension."""
        if not isinstance(size, OnnxValue):
            return self.vector([size])
        scope = self.graph.scope
        if size.dtype is not int64:
            size = self._node("Cast", [size], {"to": int64}, int64, scope)
        return self._reshape(size, [1], scope)

    def _reshape(self, value: OnnxValue, shape: Sequence[int], scope: Scope) -> OnnxValue:
        return self._node("Reshape", [value, self.numbers(shape)], {}, int64, scope)

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
            return self.numbers([size for size in run if isinstance(size, int)])
        place = self._axis(first) if len(run) > 1 else None
        if place is None:
            return self.terms(first.terms, scope)
        value, axis = place
        return self._shape(value, axis, axis + len(run), scope)

    def _shape(self, value: OnnxValue, start: int, end: int, scope: Scope) -> OnnxValue:
        return self._node("Shape", [value], {"start": start, "end": end}, int64, scope)

    def numbers(self, numbers: Sequence[int], scope: Scope | None = None) -> OnnxValue:
        """Constants, which every scope sees."""
        del scope
        return self.graph.numbers(numbers, int64)

    def dimension(self, value: OnnxValue, axis: int, scope: Scope) -> OnnxValue:
        """A part of a shape."""
        return self._shape(value, axis, axis + 1, scope)

    def binary(self, operator: str, left: OnnxValue, right: OnnxValue, scope: Scope) -> OnnxValue:
        """A node; `Div` rounds toward zero."""
        if operator in _TRUTHS:
            return self._node(_TRUTHS[operator], [left, right], {}, boolean, scope)
        return self._node(_OPERATORS[operator], [left, right], {}, int64, scope)

    def negate(self, truth: OnnxValue, scope: Scope) -> OnnxValue:
        """`Not`."""
        return self._node("Not", [truth], {}, boolean, scope)

    def select(
        self, condition: OnnxValue, then: OnnxValue, otherwise: OnnxValue, scope: Scope
    ) -> OnnxValue:
        """`Where`."""
        return self._node("Where", [condition, then, otherwise], {}, int64, scope)

    def quotient(self, atom: Atom, left: OnnxValue, right: OnnxValue, scope: Scope) -> OnnxValue:
        """Rounded down; `Mod` has the sign of the divisor."""
        lows = [bounds(each)[0] for each in atom.arguments]
        if any(low is None or low < 0 for low in lows):
            rest = self._node("Mod", [left, right], {}, int64, scope)
            left = self.binary("-", left, rest, scope)
        elif as_constant(atom.arguments[0]) == 1:
            # ONNX Runtime takes `1 / x * y` for `y / x`, which it is not for integers.
            one = self.binary("==", left, right, scope)
            return self._node("Cast", [one], {"to": int64}, int64, scope)
        return self.binary("//", left, right, scope)

    def _node(
        self, name: str, operands: Sequence[OnnxValue], said: Any, kind: dtype, scope: Scope
    ) -> OnnxValue:
        graph = self.graph
        return graph.append(graph.schema(name), operands, said, [kind], scope=scope).outputs[0]

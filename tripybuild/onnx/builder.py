"""Graph builder: the graph that the functions of `onnx.dialect` add nodes to.

Invariant: equal calls give equal graphs. Constants are shared by their bytes, and names are given
when the graph is complete.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tripybuild.errors.diagnostics import Span, portable_path
from tripybuild.onnx.constants import element_bytes, number_bytes
from tripybuild.onnx.model import AttributeValue
from tripybuild.onnx.nodes import GraphBody, GraphNode, Place, Scope, Unavailable
from tripybuild.onnx.size_tensors import SizeTensors
from tripybuild.onnx.table import NEWEST, OLDEST, OperatorSchema, find_operator
from tripybuild.onnx.value import OnnxValue, Shape
from tripybuild.types.dtypes import dtype

# Operators whose results are others each time.
RANDOM = frozenset(
    {
        *("Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike"),
        *("RandomUniform", "RandomUniformLike"),
    }
)
TensorType = tuple[dtype, Sequence[Any]]
Constant = tuple[dtype, tuple[int, ...], bytes]


class _ActiveGraph(threading.local):
    graph: "OnnxGraph | None" = None


_active = _ActiveGraph()


def current() -> "OnnxGraph":
    """The graph that nodes are added to."""
    if _active.graph is None:
        raise RuntimeError("no graph has begun: use operators inside `with OnnxGraph(...)`")
    return _active.graph


class OnnxGraph:
    """A graph under construction; use it as a context manager.

    Args:
        weights: The types of the weights by name, which become initializers.
        inputs: The types of the inputs by name.
        opset: The version of ONNX's operators.
        folder: The folder of the user's files; places of nodes are relative to it.
        runtime: The engine that the graph is made for, which may decide between legal forms; none
            where any runtime may read it.
    """

    def __init__(
        self,
        weights: Mapping[str, TensorType],
        inputs: Mapping[str, TensorType],
        opset: int,
        folder: Path | None = None,
        runtime: str | None = None,
    ) -> None:
        if not OLDEST <= opset <= NEWEST:
            raise ValueError(f"opset {opset} is not between {OLDEST} and {NEWEST}")
        self.opset, self.folder, self.runtime = opset, folder, runtime
        self.weights = {n: OnnxValue(kind, tuple(s), n) for n, (kind, s) in weights.items()}
        self.inputs = {n: OnnxValue(kind, tuple(s), n) for n, (kind, s) in inputs.items()}
        self.outputs: dict[str, OnnxValue] = {}
        self.constants: dict[Constant, OnnxValue] = {}
        # What depends on the inputs' sizes alone, and is computed before all else.
        self.prologue = Scope()
        self.body = self.scope = Scope(self.prologue)
        self.place = Place()
        self.sizes = SizeTensors(self)
        self._files: dict[str, str] = {}
        self._numbers: dict[OnnxValue, float] = {}
        for value in (*self.inputs.values(), *self.weights.values()):
            self.prologue.learn(value.shape or (), value)

    def __enter__(self) -> Self:
        if _active.graph is not None:
            raise RuntimeError("another graph is being built in this thread")
        _active.graph = self
        return self

    def __exit__(self, *failure: object) -> None:
        _active.graph = None

    @contextmanager
    def location(self, name: str, file: str, line: int, column: int) -> Iterator[None]:
        """What is added inside comes from this place of this file."""
        shown = self._files.get(file)
        if shown is None:
            shown = self._files[file] = portable_path(file, self.folder)
        span = Span(file, line, column, line, column + 1)
        outer, self.place = self.place, Place(name, f"{shown}:{line}", span)
        try:
            yield
        finally:
            self.place = outer

    def finish(self, outputs: Mapping[str, OnnxValue]) -> None:
        """Say what the graph gives."""
        self.outputs = dict(outputs)

    def schema(self, name: str) -> OperatorSchema:
        """The version of an operator that is in force.

        Raises:
            Unavailable: The opset has none.
        """
        found = find_operator(name, self.opset)
        if found is None:
            later = range(self.opset + 1, NEWEST + 1)
            since = next((n for n in later if find_operator(name, n) is not None), None)
            raise Unavailable(f"ONNX has no `{name}` in opset {self.opset}", since)
        return found

    def append(
        self,
        schema: OperatorSchema,
        inputs: Sequence[OnnxValue | None],
        attributes: Mapping[str, AttributeValue],
        types: Sequence[dtype],
        *,
        bodies: Mapping[str, GraphBody] | None = None,
        scope: Scope | None = None,
    ) -> GraphNode:
        """Add a node that has results of some dtypes; all is known to be legal.

        The same node is there once, unless it has graphs or draws random numbers.
        """
        scope = scope or self.scope
        shared = bodies is None and schema.name not in RANDOM
        key = (schema.name, *inputs, repr(attributes), *types) if shared else None
        found = None if key is None else next(scope.find_node(key), None)
        if found is not None:
            return found
        place = Place("sizes") if scope is self.prologue else self.place
        node = GraphNode(schema, inputs, attributes, bodies=bodies or {}, place=place)
        node.outputs = tuple([OnnxValue(each, producer=node) for each in types])
        scope.nodes.append(node)
        if key is not None:
            scope.calls[key] = node
        return node

    def declare(self, value: OnnxValue, shape: Shape) -> None:
        """Note the shape of a value, and where its symbols can be found again.

        A value that several operations give has a shape of each, with symbols of its own.
        """
        if value.shape is None:
            value.shape = shape
        self.scope.learn(shape, value)

    def constant(self, key: Constant) -> OnnxValue:
        """A tensor whose elements are known: one for all uses."""
        found = self.constants.get(key)
        if found is None:
            found = self.constants[key] = OnnxValue(key[0], key[1])
        return found

    def number(self, value: float, kind: dtype) -> OnnxValue:
        """A number as a tensor of rank 0."""
        found = self.constant((kind, (), number_bytes([value], kind)))
        self._numbers[found] = value
        return found

    def known_number(self, value: OnnxValue) -> float | None:
        """The number that a tensor of rank 0 holds, where it is a constant."""
        return self._numbers.get(value)

    def numbers(self, values: Sequence[float], kind: dtype) -> OnnxValue:
        """Numbers as a tensor of rank 1."""
        return self.constant((kind, (len(values),), number_bytes(values, kind)))

    def array(self, array: Any, kind: dtype) -> OnnxValue:
        """An array of NumPy's, which has the dtype."""
        return self.constant((kind, tuple(array.shape), element_bytes(array, kind)))

    def region(self, fill: Callable[..., Any], takes: Sequence[OnnxValue]) -> GraphBody:
        """Build what a function does with the values, apart from the nodes around it."""
        outer, self.scope = self.scope, Scope(self.scope)
        try:
            for value in takes:
                self.scope.learn(value.shape or (), value)
            gives = fill(*takes)
            several = (gives,) if isinstance(gives, OnnxValue) else tuple(gives)
            return GraphBody(tuple(takes), self.scope, several)
        finally:
            self.scope = outer

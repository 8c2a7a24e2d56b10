"""Layer declaration: parameters, results, shape rule, dialect operation and TensorRT call.

Invariant: this package is the only one that says what layers there are. A declaration is the `trt.`
builder of its layer; the check of snippets, the recorder, `emission` and `translation` read it.
Importing it loads neither TensorRT nor xDSL nor NumPy: what needs them is in annotations alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, ArgumentKind, accept
from tripybuild.tensorrt.recorder.enumerations import BOOLEAN_KINDS
from tripybuild.tensorrt.recorder.network import Layer, append
from tripybuild.tensorrt.recorder.value import NetworkValue, Shape
from tripybuild.tensorrt.shape_rules import ShapeError
from tripybuild.types import dtypes

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emitter

Arguments = Mapping[str, Any]
ShapeRule = Callable[[Arguments], Any]


@dataclass(frozen=True, slots=True, eq=False)
class LayerDeclaration:
    """A layer. Those that are no subclass have a function of their own that records them.

    Args:
        name: The name after `trt.`.
        parameters: The kind of each parameter, in order; tensors are the operands of the operation.
        results: For each result, a dtype or the parameter whose dtype it has.
        shape: The shape of the result, or of each, from all arguments; it raises `ShapeError`.
        operation: The operation of the dialect, if it is not `tensorrt.` and the name.
        float4_operation: The operation of results of float4, if it is another one.
        explicit: The attributes of the operation that a call may leave out, from all arguments.
        typed: Whether the operation has to be told its result types.
        translate: How the operation becomes a TensorRT layer, where it does without expansion.
    """

    name: str
    parameters: Mapping[str, ArgumentKind]
    results: tuple[str, ...] = ("input",)
    shape: ShapeRule | None = None
    operation: str = ""
    float4_operation: str = ""
    explicit: Callable[[Arguments], Arguments] | None = None
    typed: bool = False
    translate: "Emitter | None" = None

    def __post_init__(self) -> None:
        if not self.operation:
            object.__setattr__(self, "operation", f"tensorrt.{self.name}")

    def bind(self, positional: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
        """Every parameter with its normalized argument; ValueError names the one that is wrong."""
        names = list(self.parameters)
        if len(positional) > len(names):
            raise ValueError(f"`trt.{self.name}` takes {len(names)} arguments")
        given = dict(zip(names, positional, strict=False))
        for name, argument in keywords.items():
            if name not in self.parameters or name in given:
                raise ValueError(f"`trt.{self.name}` cannot take `{name}` here")
            given[name] = argument
        return {
            name: self._accept(name, kind, given.get(name, kind.default))
            for name, kind in self.parameters.items()
        }

    def _accept(self, name: str, kind: ArgumentKind, argument: Any) -> Any:
        if argument is REQUIRED:
            raise ValueError(f"`trt.{self.name}` needs `{name}`")
        try:
            return accept(kind, argument)
        except ValueError as wanted:
            raise ValueError(
                f"`trt.{self.name}` needs {wanted} for `{name}`, not {argument!r}"
            ) from None

    def record(
        self, positional: Sequence[Any], keywords: Mapping[str, Any]
    ) -> tuple[NetworkValue, ...]:
        """Append the layer to the current network, after a look at its arguments."""
        arguments = self.bind(positional, keywords)
        shapes = self.infer_shapes(arguments)
        results = tuple(
            NetworkValue(_dtype(source, arguments), shape)
            for source, shape in zip(self.results, shapes, strict=True)
        )
        append(Layer(self, arguments, results))
        return results

    def infer_shapes(self, arguments: Arguments) -> Sequence[Shape | None]:
        """The shapes of the results, as the dialect has them; ValueError where there are none.

        None for a size, or for a whole shape, means unknown. A rule refuses only what the
        dialect's verifier refuses, so that it is told where the layer is asked for.
        """
        if self.shape is None or not all(map(_has_shape, arguments.values())):
            return (None,) * len(self.results)
        try:
            found = self.shape(arguments)
        except ShapeError as error:
            raise ValueError(f"`trt.{self.name}`: {error}") from error
        return found if len(self.results) > 1 else (found,)


class SingleResultLayer(LayerDeclaration):
    """A layer with one result, which is its own builder."""

    __slots__ = ()

    def __call__(self, *positional: Any, **keywords: Any) -> NetworkValue:
        """Record the layer."""
        return self.record(positional, keywords)[0]


class MultiResultLayer(LayerDeclaration):
    """A layer with a tuple of results, which is its own builder."""

    __slots__ = ()

    def __call__(self, *positional: Any, **keywords: Any) -> tuple[NetworkValue, ...]:
        """Record the layer."""
        return self.record(positional, keywords)


def like(parameter: str) -> ShapeRule:
    """The shape of an argument."""
    return lambda given: given[parameter].shape


def sizes_of(parameter: str) -> ShapeRule:
    """The sizes that an argument lists."""
    return lambda given: tuple(given[parameter])


def apply(rule: Callable[..., Shape], *parameters: str) -> ShapeRule:
    """A rule of the dialect on arguments, in its order; tensors go as their shapes."""
    return lambda given: rule(*[_plain(given[name]) for name in parameters])


def adds(layer: str, *operands: str) -> "Emitter":
    """TensorRT's call of a layer that takes these operands of its operation, and nothing else."""
    return lambda at, op: at.add(layer, *[at.tensor(getattr(op, name)) for name in operands])


def twice(rule: ShapeRule) -> ShapeRule:
    """Two results of one shape."""
    return lambda given: (rule(given),) * 2


def _plain(argument: Any) -> Any:
    return argument.shape if isinstance(argument, NetworkValue) else argument


def _has_shape(argument: Any) -> bool:
    if isinstance(argument, NetworkValue):
        return argument.shape is not None
    return not isinstance(argument, tuple) or all(
        each.shape is not None for each in argument if isinstance(each, NetworkValue)
    )


def _dtype(source: str, arguments: Arguments) -> dtypes.dtype:
    if arguments.get("kind") in BOOLEAN_KINDS:
        return dtypes.boolean
    found = arguments.get(source)
    if isinstance(found, tuple):
        found = found[0]
    if isinstance(found, NetworkValue):
        return found.dtype
    if isinstance(found, dtypes.dtype):
        return found
    if found is not None:
        return dtypes.int32 if isinstance(found, int) else dtypes.float32
    return dtypes.BY_NAME[source]

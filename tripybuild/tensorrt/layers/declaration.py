"""Layer declaration: the `trt.` builder of an operation, with its parameters, dtypes and shapes.

Invariant: this package is the only one that says what layers there are. A declaration is the `trt.`
builder of its layer; the check of snippets, the recorder, `emission` and `translation` read it.
Importing it loads neither TensorRT nor xDSL nor NumPy: what needs them is in annotations alone.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.operation import OperationBody
from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, ArgumentKind, accept
from tripybuild.tensorrt.recorder.enumerations import BOOLEAN_KINDS
from tripybuild.tensorrt.recorder.network import Layer, append
from tripybuild.tensorrt.recorder.value import NetworkValue, Shape
from tripybuild.tensorrt.shape_rules import ShapeError
from tripybuild.types import dtypes

if TYPE_CHECKING:
    from tripybuild.tensorrt.emission.layer_emission import LayerEmission

Arguments = Mapping[str, Any]
ShapeRule = Callable[[Arguments], Any]
Emit = Callable[["LayerEmission"], Any]


class LayerDeclaration:
    """A layer. Those that are no subclass have a function of their own that records them.

    Args:
        operation: The body of the layer's operation, or the name of one with regions.
        name: The name after `trt.`, if it is not that of the operation.
        parameters: The kind of each parameter, in order, if they are not the operation's fields.
        results: For each result, a dtype or the parameter whose dtype it has, if the operation
            does not say it.
        shape: The shape of the result, or of each, from all arguments, if it is not the rule of
            the operation; it raises `ShapeError`.
        explicit: The attributes of the operation that a call may leave out, from all arguments.
        float4: The body of the operation of results of float4, if it is another one.
        typed: Whether the operation has to be told its result types.
        emit: Makes the operations of the layer, where it is not the one operation.
        refuses: Whether NVIDIA's dialect does not have the layer in the dtype of its result, from
            all arguments; it is emitted in float32 then, which holds all of the values.
    """

    def __init__(
        self,
        operation: type[Any] | str,
        name: str = "",
        *,
        parameters: Mapping[str, ArgumentKind] | None = None,
        results: tuple[str, ...] | None = None,
        shape: ShapeRule | None = None,
        explicit: Callable[[Arguments], Arguments] | None = None,
        float4: type[Any] | None = None,
        typed: bool | None = None,
        emit: Emit | None = None,
        refuses: Callable[[Arguments, dtypes.dtype], bool] = lambda given, dtype: False,  # noqa: ARG005
    ) -> None:
        self.classes = [each for each in (operation, float4) if isinstance(each, type)]
        self.body = None if isinstance(operation, str) else OperationBody(operation)
        self.operation = operation if isinstance(operation, str) else str(operation.name)
        self.float4_operation = "" if float4 is None else str(float4.name)
        self.name = name or self.operation.partition(".")[2]
        self.parameters: Mapping[str, ArgumentKind] = parameters or {}
        self.results: tuple[str, ...] = results or ()
        self.shape = shape
        self.explicit = explicit
        self.emit = emit
        self.refuses = refuses
        self.typed = bool(typed)
        self._like: str | None = None  # whose shape the only result has
        if self.body is not None:
            if shape is None and self.body.shape_rule is None and len(self.body.outputs) == 1:
                self._like = self.body.outputs[0].like or None
            if parameters is None:
                self.parameters = self.body.parameters
            if results is None:
                self.results = tuple(each.dtype for each in self.body.outputs)
            if typed is None:
                self.typed = not self.body.is_inferred
        for source in self.results:
            if source not in self.parameters and source not in dtypes.BY_NAME:
                raise TypeError(
                    f"{self.operation}: the dtype of a result is `{source}`, which is neither a "
                    "dtype nor a parameter"
                )

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
        if self._like is not None:
            return (arguments[self._like].shape,)
        unknown = (None,) * len(self.results)
        if not all(map(_has_shape, arguments.values())):
            return unknown
        try:
            if self.shape is not None:
                return (self.shape(arguments),)
            if self.body is None or not self.body.rule_parameters:
                return unknown
            values = [_plain(arguments[name]) for name in self.body.rule_parameters]
            return self.body.result_shapes(values)
        except ShapeError as error:
            raise ValueError(f"`trt.{self.name}`: {error}") from error


class SingleResultLayer(LayerDeclaration):
    """A layer with one result, which is its own builder."""

    def __call__(self, *positional: Any, **keywords: Any) -> NetworkValue:
        """Record the layer."""
        return self.record(positional, keywords)[0]


class MultiResultLayer(LayerDeclaration):
    """A layer with a tuple of results, which is its own builder."""

    def __call__(self, *positional: Any, **keywords: Any) -> tuple[NetworkValue, ...]:
        """Record the layer."""
        return self.record(positional, keywords)


def moves_values(given: Arguments, dtype: dtypes.dtype) -> bool:  # noqa: ARG001
    """A layer that moves values, which the dialect does not do with int4."""
    return dtype is dtypes.int4


def sizes_of(parameter: str) -> ShapeRule:
    """The sizes that an argument lists."""
    return lambda given: tuple(given[parameter])


def _plain(argument: Any) -> Any:
    """What a shape rule takes: tensors go as their shapes."""
    if isinstance(argument, tuple):
        return [_plain(each) for each in argument]
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

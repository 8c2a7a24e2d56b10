"""Recorded network: layers in recording order.

Invariant: recording checks the arguments against the table, and their shapes by the dialect's
rules; the record can be printed, and be rewritten into the dialect, without the code that made it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, accept
from tripybuild.tensorrt.recorder.enumerations import BOOLEAN_KINDS
from tripybuild.tensorrt.recorder.layer_table import LAYERS
from tripybuild.tensorrt.recorder.shape_inference import infer
from tripybuild.tensorrt.recorder.table import LayerSignature
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes

TensorType = tuple[dtypes.dtype, Sequence[Any]]
Location = tuple[str, str, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class NetworkRegion:
    """A network inside a layer: what it takes, does and gives."""

    takes: tuple[NetworkValue, ...]
    layers: tuple["Layer", ...]
    gives: tuple[NetworkValue, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """One recorded layer; `arguments` has every parameter, defaults included."""

    signature: LayerSignature
    arguments: Mapping[str, Any]
    results: tuple[NetworkValue, ...]
    regions: tuple[NetworkRegion, ...] = ()
    location: Location | None = None


class _ActiveNetwork(threading.local):
    network: "Network | None" = None


_active = _ActiveNetwork()


def current() -> "Network":
    """The network that the builders record into."""
    if _active.network is None:
        raise RuntimeError("no network has begun: use builders inside `with Network(...)`")
    return _active.network


class Network:
    """A network that is being recorded; use it as a context manager."""

    def __init__(self, weights: Mapping[str, TensorType], inputs: Mapping[str, TensorType]) -> None:
        self.weights = {
            name: NetworkValue(kind, tuple(s), name) for name, (kind, s) in weights.items()
        }
        self.inputs = {
            name: NetworkValue(kind, tuple(s), name) for name, (kind, s) in inputs.items()
        }
        self.outputs: dict[str, NetworkValue] = {}
        self.layers: list[Layer] = []
        self.place: Location | None = None

    def __enter__(self) -> Self:
        if _active.network is not None:
            raise RuntimeError("another network is being recorded in this thread")
        _active.network = self
        return self

    def __exit__(self, *failure: object) -> None:
        _active.network = None

    @contextmanager
    def location(self, name: str, file: str, line: int, column: int) -> Iterator[None]:
        """What is recorded inside comes from this place of this file."""
        outer, self.place = self.place, (name, file, line, column)
        try:
            yield
        finally:
            self.place = outer

    def finish(self, outputs: Mapping[str, NetworkValue]) -> None:
        """Say what the network gives."""
        self.outputs = dict(outputs)

    def region(self, fill: Callable[..., Any], takes: Sequence[NetworkValue]) -> NetworkRegion:
        """Record what a function does with the values, apart from the layers around it."""
        outer, self.layers = self.layers, []
        try:
            gives = fill(*takes)
            several = (gives,) if isinstance(gives, NetworkValue) else tuple(gives)
            return NetworkRegion(tuple(takes), tuple(self.layers), several)
        finally:
            self.layers = outer


def record(name: str, *positional: Any, **keywords: Any) -> tuple[NetworkValue, ...]:
    """Append a layer to the current network, after a look at its arguments."""
    signature = LAYERS[name]
    arguments = bind(signature, positional, keywords)
    shapes = infer(name, arguments, len(signature.gives))
    results = tuple(
        NetworkValue(_dtype(gives, arguments), shape)
        for gives, shape in zip(signature.gives, shapes[: len(signature.gives)], strict=True)
    )
    append(Layer(signature, arguments, results))
    return results


def append(layer: Layer) -> None:
    """Add a layer that is ready, and note where it comes from."""
    network = current()
    network.layers.append(
        Layer(layer.signature, layer.arguments, layer.results, layer.regions, network.place)
    )


def bind(
    signature: LayerSignature, positional: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Every parameter with its normalized argument; ValueError names the one that is wrong."""
    names = list(signature.parameters)
    if len(positional) > len(names):
        raise ValueError(f"`trt.{signature.name}` takes {len(names)} arguments")
    given = dict(zip(names, positional, strict=False))
    for name, argument in keywords.items():
        if name not in signature.parameters or name in given:
            raise ValueError(f"`trt.{signature.name}` cannot take `{name}` here")
        given[name] = argument
    bound = {}
    for name, kind in signature.parameters.items():
        argument = given.get(name, kind.default)
        if argument is REQUIRED:
            raise ValueError(f"`trt.{signature.name}` needs `{name}`")
        try:
            bound[name] = accept(kind, argument)
        except ValueError as wanted:
            raise ValueError(
                f"`trt.{signature.name}` needs {wanted} for `{name}`, not {argument!r}"
            ) from None
    return bound


def _dtype(gives: str, arguments: Mapping[str, Any]) -> dtypes.dtype:
    if arguments.get("kind") in BOOLEAN_KINDS:
        return dtypes.boolean
    source = arguments.get(gives)
    if isinstance(source, tuple):
        source = source[0]
    if isinstance(source, NetworkValue):
        return source.dtype
    if isinstance(source, dtypes.dtype):
        return source
    if source is not None:
        return dtypes.int32 if isinstance(source, int) else dtypes.float32
    return dtypes.BY_NAME[gives]

"""Recorded network: layers in recording order.

Invariant: a layer that is appended has been checked by its declaration; the record can be printed,
and be rewritten into the dialect, without the code that made it.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes

if TYPE_CHECKING:
    from tripybuild.tensorrt.layers.declaration import LayerDeclaration

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

    declaration: "LayerDeclaration"
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


def append(layer: Layer) -> None:
    """Add a layer that is ready, and note where it comes from."""
    network = current()
    network.layers.append(
        Layer(layer.declaration, layer.arguments, layer.results, layer.regions, network.place)
    )

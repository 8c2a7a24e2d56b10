"""Mesh: devices with named axes, and the dimensions of tensors that are split over them.

Invariant: a mesh says where things are computed and never what. Inputs, weights and outputs of a
graph have names. What a step computes has the label of the operation that gives it, and a number
among those of this label: an operation keeps both, whatever copies or stores it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from tripybuild.trace.constants import Constant
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value

Axes = tuple[tuple[str, ...], ...]  # of each dimension; those behind the last are whole


@dataclass(frozen=True, slots=True)
class Mesh:
    """Devices in a grid.

    Args:
        axes: How many devices there are along each axis.
        shardings: How inputs, weights and outputs are split; all others are whole on each device.
        steps: How results of operations are split; all others are as the compiler finds best.
    """

    axes: Mapping[str, int]
    shardings: Mapping[str, Axes]
    steps: Mapping["ResultPlace", Axes] = field(default_factory=dict)

    @property
    def devices(self) -> int:
        """How many devices there are."""
        return prod(self.axes.values())

    def pieces(self, name: str, rank: int) -> tuple[int, ...]:
        """Into how many pieces each dimension of a tensor is split."""
        axes = self.dimensions(name, rank)
        return tuple(prod(self.axes[axis] for axis in each) for each in axes)

    def dimensions(self, name: str, rank: int) -> Axes:
        """The axes over which each dimension of a tensor is split."""
        return all_dimensions(self.shardings.get(name, ()), rank)

    def __str__(self) -> str:
        return ", ".join(f"{name}: {size}" for name, size in self.axes.items())


def all_dimensions(axes: Axes, rank: int) -> Axes:
    """What is said of the first dimensions, and that the others are whole."""
    return (*axes, *((),) * (rank - len(axes)))


class ResultPlace(NamedTuple):
    """A result of an operation: the label of its place, its number among those, and which it is."""

    label: str
    number: int
    output: int


def result_places(operations: Iterable[TraceOp]) -> dict[Value, ResultPlace]:
    """The places of all results; what is within loops and branches has none."""
    numbers = Counter[str]()
    found = {}
    for operation in operations:
        if isinstance(operation, Constant):
            continue
        label = operation.location.label
        for index, value in enumerate(operation.outputs):
            found[value] = ResultPlace(label, numbers[label], index)
        numbers[label] += 1
    return found


def check_ranks(mesh: Mesh, named: Mapping[str, Value], operations: Iterable[TraceOp]) -> None:
    """Hold what a file says of a mesh against its graph.

    Raises:
        ValueError: More dimensions of a tensor are split than it has.
    """
    pairs = [(mesh.shardings.get(name, ()), value) for name, value in named.items()]
    places = result_places(operations) if mesh.steps else {}
    pairs += [(mesh.steps.get(place, ()), value) for value, place in places.items()]
    if any(len(axes) > len(value.shape) for axes, value in pairs):
        raise ValueError("a tensor has fewer dimensions than its mesh splits")


def mesh_data(mesh: Mesh) -> dict[str, Any]:
    """A mesh as JSON data."""
    shardings = {name: [list(e) for e in axes] for name, axes in mesh.shardings.items()}
    steps = [[*place, [list(e) for e in axes]] for place, axes in mesh.steps.items()]
    return {"axes": dict(mesh.axes), "shardings": shardings, "steps": steps}


def read_mesh(data: Mapping[str, Any]) -> Mesh:
    """The mesh that `mesh_data` wrote.

    Raises:
        ValueError: The data says no mesh; or a `TypeError`, `KeyError` or `AttributeError`.
    """
    axes = {str(name): size for name, size in data["axes"].items()}
    if any(type(size) is not int or size < 1 for size in axes.values()):
        raise ValueError("an axis has a size")
    shardings = {str(name): _read_axes(each, axes) for name, each in data["shardings"].items()}
    steps = {
        ResultPlace(str(label), int(number), int(output)): _read_axes(each, axes)
        for label, number, output, each in data["steps"]
    }
    return Mesh(axes, shardings, steps)


def _read_axes(data: Any, axes: Mapping[str, int]) -> Axes:
    dimensions = tuple(tuple(str(axis) for axis in each) for each in data)
    used = [axis for each in dimensions for axis in each]
    if len(set(used)) < len(used) or not axes.keys() >= set(used):
        raise ValueError("a tensor is split over axes of the mesh, over each once")
    return dimensions

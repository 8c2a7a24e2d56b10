"""Mesh: devices with named axes, and the dimensions of tensors that are split over them.

Invariant: a mesh says where things are computed and never what. Tensors are named as they are
elsewhere: inputs, weights and outputs of a graph by name, steps by the labels of their places,
which an operation keeps whatever copies or stores it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from tripybuild.trace.constants import Constant
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import Value

Axes = tuple[tuple[str, ...], ...]  # of each dimension; those behind the last are whole


@dataclass(frozen=True, slots=True)
class Mesh:
    """Devices in a grid.

    Args:
        axes: How many devices there are along each axis.
        shardings: How tensors are split, by name; all others are whole on each device.
    """

    axes: Mapping[str, int]
    shardings: Mapping[str, Axes]

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
        known = self.shardings.get(name, ())
        return (*known, *((),) * (rank - len(known)))

    def __str__(self) -> str:
        return ", ".join(f"{name}: {size}" for name, size in self.axes.items())


def step_results(operations: Iterable[TraceOp]) -> dict[str, list[Value]]:
    """What each step computes, by the label of its place; a part that is called twice has two.

    It is what an operation of the step gives and no other one of it reads. A step that only calls
    a part or renames a value has no operation of its own, and none that gives several is told.
    """
    of_label: defaultdict[str, list[TraceOp]] = defaultdict(list)
    for operation in walk_operations(operations):
        if len(operation.outputs) == 1 and not isinstance(operation, Constant):
            of_label[operation.location.label].append(operation)
    return {label: _unread(those) for label, those in of_label.items()}


def _unread(operations: Sequence[TraceOp]) -> list[Value]:
    read = {value for each in operations for value in each.reads()}
    return [each.outputs[0] for each in operations if each.outputs[0] not in read]


def mesh_data(mesh: Mesh) -> dict[str, Any]:
    """A mesh as JSON data."""
    shardings = {name: [list(e) for e in axes] for name, axes in mesh.shardings.items()}
    return {"axes": dict(mesh.axes), "shardings": shardings}


def read_mesh(data: Mapping[str, Any]) -> Mesh:
    """The mesh that `mesh_data` wrote.

    Raises:
        ValueError: The data says no mesh; or a `TypeError`, `KeyError` or `AttributeError`.
    """
    axes = {str(name): size for name, size in data["axes"].items()}
    if any(type(size) is not int or size < 1 for size in axes.values()):
        raise ValueError("an axis has a size")
    shardings = {
        str(name): tuple(tuple(str(axis) for axis in each) for each in dimensions)
        for name, dimensions in data["shardings"].items()
    }
    for dimensions in shardings.values():
        used = [axis for each in dimensions for axis in each]
        if len(set(used)) < len(used) or not axes.keys() >= set(used):
            raise ValueError("a tensor is split over axes of the mesh, over each once")
    return Mesh(axes, shardings)

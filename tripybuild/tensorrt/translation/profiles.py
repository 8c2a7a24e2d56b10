"""Optimization profiles: ranges of dynamic sizes and of shape-tensor inputs.

`tensorrt.shape_profile` on an argument is one range or an array of them, one for each profile of
the engine; an argument with one has it in each. `tensorrt.value_bounds` is the same for the values
of a host tensor.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.dialect.attributes import ShapeBounds, ShapeProfileAttr
from tripybuild.tensorrt.mlir import locations
from tripybuild.tensorrt.translation.emission import Emission
from tripybuild.tensorrt.translation.translate import Port

SHAPES = "tensorrt.shape_profile"
BOUNDS = "tensorrt.value_bounds"
CODE = "tensorrt-profile"


@dataclass(frozen=True)
class Ranges:
    """What a profile says of one input: of its sizes, or of its values."""

    port: Port
    of_values: bool
    ranges: tuple[ShapeBounds, ...]

    def at(self, profile: int) -> ShapeBounds:
        """Return the range in a profile; one range is that of all."""
        return self.ranges[profile if len(self.ranges) > 1 else 0]


def ranges_of(at: Emission, function: FuncOp, ports: Sequence[Port]) -> list[Ranges]:
    """Return the ranges of the inputs that need some; the network must be whole by then."""
    found = [_host(at, function, port) or _device(function, port) for port in ports]
    ranges = [each for each in found if each is not None]
    counts = {len(each.ranges) for each in ranges} - {1}
    if len(counts) > 1:
        names = ", ".join(f"`{each.port.name}` has {len(each.ranges)}" for each in ranges)
        _refuse(function, "Arguments have different numbers of profiles", (names,))
    return ranges


def count_of(ranges: Sequence[Ranges]) -> int:
    """Return how many profiles there are."""
    return max((len(each.ranges) for each in ranges), default=0)


def add_profiles(at: Emission, config: Any, builder: Any, ranges: Sequence[Ranges]) -> None:
    """Give the ranges to a builder's configuration."""
    for index in range(count_of(ranges)):
        profile = builder.create_optimization_profile()
        for each in ranges:
            method = profile.set_shape_input if each.of_values else profile.set_shape
            try:
                method(each.port.name, *each.at(index))
            except (RuntimeError, TypeError, ValueError) as error:
                at.refuse(_unfit(each, index), CODE, (str(error).split("\n", maxsplit=1)[0],))
            if at.log and (said := at.log.drain()):
                at.refuse(_unfit(each, index), CODE, said)
        if config.add_optimization_profile(profile) < 0:
            at.refuse(f"TensorRT refuses the profile #{index}", CODE)


def _host(at: Emission, function: FuncOp, port: Port) -> Ranges | None:
    """Return the ranges of values, where TensorRT needs the values to know sizes."""
    is_host = at.values[port.value].is_shape_tensor
    if is_host and not port.on_host:
        message = f"Argument #{port.index} is a shape tensor, so it must be `tensorrt.host_tensor`"
        _refuse(function, message, (f"`{port.name}` is a `{port.type}`",))
    if not is_host:  # it may say that it is one, and yet nothing depends on its values
        return None
    ranges = read(port, BOUNDS)
    if ranges is None:
        message = f"Argument #{port.index} is a shape tensor without bounds: `{BOUNDS}`"
        _refuse(function, message, (f"`{port.name}` is a `{port.type}`",))
    shape = port.type.get_shape()
    count = shape[0] if shape else 1
    for each in ranges:
        if len(each.min) != count:
            _refuse(function, f"`{BOUNDS}` of argument #{port.index} must have {count} values")
    return Ranges(port, of_values=True, ranges=ranges)


def _device(function: FuncOp, port: Port) -> Ranges | None:
    if not port.is_dynamic:
        return None
    ranges = read(port, SHAPES)
    if ranges is None:
        message = f"Argument #{port.index} has dynamic sizes and no `{SHAPES}`"
        hint = (
            f"give it `{SHAPES} = #tensorrt.shape_profile<min = [...], opt = [...], max = [...]>`"
        )
        _refuse(function, message, (f"`{port.name}` is a `{port.type}`",), hint)
    shape = port.type.get_shape()
    for each in ranges:
        for sizes in each:
            if len(sizes) != len(shape) or not _fits(sizes, shape):
                shown = f"`{list(sizes)}`"
                message = (
                    f"{shown} in the profile of argument #{port.index} does not fit `{port.type}`"
                )
                _refuse(function, message)
    return Ranges(port, of_values=False, ranges=ranges)


def _fits(sizes: Sequence[int], shape: Sequence[int]) -> bool:
    pairs = zip(sizes, shape, strict=True)
    return all(size >= 0 if known == DYNAMIC_INDEX else size == known for size, known in pairs)


def read(port: Port, name: str) -> tuple[ShapeBounds, ...] | None:
    """Return the ranges of a port in an attribute, if it has them."""
    given: Attribute | None = port.attributes.get(name)
    several = tuple(given) if isinstance(given, ArrayAttr) else (given,)
    found = tuple(each.bounds for each in several if isinstance(each, ShapeProfileAttr))
    return found or None


def _unfit(ranges: Ranges, index: int) -> str:
    return f"TensorRT refuses the profile #{index} of the input `{ranges.port.name}`"


def _refuse(
    function: FuncOp, message: str, notes: tuple[str, ...] = (), hint: str | None = None
) -> NoReturn:
    where = locations.span_of(function.location)
    raise DiagnosticError(Diagnostic(CODE, message, where, notes=notes, hint=hint))

"""Emission of window layers: defaults become explicit attributes."""

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.ir import SSAValue

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.emission.reshapes import LayerEmission
from tripybuild.tensorrt.emission.types import type_of


def convolution(place: LayerEmission) -> SSAValue:
    """A kernel over the spatial dimensions."""
    operands, attributes = _convolution(place)
    return place.one(dialect.ConvolutionOp, *operands, **attributes)


def deconvolution(place: LayerEmission) -> SSAValue:
    """The transpose of a convolution."""
    operands, attributes = _convolution(place)
    return place.one(dialect.DeconvolutionOp, *operands, **attributes)


def _convolution(place: LayerEmission) -> tuple[list[Any], dict[str, Any]]:
    given = place.layer.arguments
    count = given["weight"].rank - 2
    if not all(isinstance(size, int) for size in given["weight"].shape[2:]):
        raise ValueError("TensorRT needs numbers for all sizes of a kernel")
    ones, zeros = (1,) * count, (0,) * count
    operands = [place.argument(name) for name in ("input", "weight", "bias")]
    return operands, {
        "stride": given["stride"] or ones,
        "pre_padding": given["pre_padding"] or zeros,
        "post_padding": given["post_padding"] or zeros,
        "dilation": given["dilation"] or ones,
        "num_groups": given["num_groups"],
        "result_types": [type_of(place.layer.results[0])],
    }


def pool(place: LayerEmission) -> SSAValue:
    """The largest or the mean value of each window."""
    given = place.layer.arguments
    count = len(given["window"])
    attributes: dict[str, Any] = {
        "window_size": given["window"],
        "stride": given["stride"] or (1,) * count,
        "pre_padding": given["pre_padding"] or (0,) * count,
        "post_padding": given["post_padding"] or (0,) * count,
        "pooling_type": given["kind"],
    }
    excludes = given["average_count_excludes_padding"]
    if given["kind"] != "kMAX":
        attributes["average_count_excludes_padding"] = True if excludes is None else excludes
    if given["blend_factor"] is not None:
        attributes["blend_factor"] = given["blend_factor"]
    return place.one(dialect.PoolingOp, place.argument("input"), **attributes)


WINDOWED: Mapping[str, Callable[[LayerEmission], SSAValue]] = {
    "convolution": convolution,
    "deconvolution": deconvolution,
    "pooling": pool,
}

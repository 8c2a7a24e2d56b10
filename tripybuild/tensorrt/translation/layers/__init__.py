"""Layer emitters: one table from operations to emitters."""

from collections.abc import Mapping

from tripybuild.tensorrt.translation.emission import Emitter
from tripybuild.tensorrt.translation.layers import compute, control, plugin, rtx, shape, sources

EMITTERS: Mapping[str, Emitter] = {
    **compute.LAYERS,
    **shape.LAYERS,
    **sources.LAYERS,
    **control.LAYERS,
    **plugin.LAYERS,
    **rtx.LAYERS,
}

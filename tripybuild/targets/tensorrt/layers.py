"""How each operation becomes layers: the tables of all emitters in one."""

from collections.abc import Mapping

from tripybuild.targets.tensorrt import (
    layers_compute,
    layers_control,
    layers_plugin,
    layers_rtx,
    layers_shape,
    layers_sources,
)
from tripybuild.targets.tensorrt.emission import Emitter

EMITTERS: Mapping[str, Emitter] = {
    **layers_compute.LAYERS,
    **layers_shape.LAYERS,
    **layers_sources.LAYERS,
    **layers_control.LAYERS,
    **layers_plugin.LAYERS,
    **layers_rtx.LAYERS,
}

"""Layers that newer releases of TensorRT have and NVIDIA's dialect has not: the `trtx` dialect."""

from collections.abc import Mapping

from tripybuild.targets.tensorrt.emission import Emitter

LAYERS: Mapping[str, Emitter] = {}

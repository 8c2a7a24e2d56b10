"""Layer table: every TensorRT layer and operation of NVIDIA's dialect, with parameters.

Invariant: this table is the `trt.` of the snippets, complete and in one place; a layer that
TensorRT adds is one entry in it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from tripybuild.tensorrt.recorder import compute_layers, structure_layers
from tripybuild.tensorrt.recorder.table import LayerSignature

_GROUPS = (
    compute_layers.ARITHMETIC,
    compute_layers.LINEAR,
    compute_layers.REDUCTIONS,
    compute_layers.SOURCES,
    compute_layers.QUANTIZATION,
    structure_layers.SHAPES,
    structure_layers.INDEXING,
    structure_layers.TRANSFORMERS,
    structure_layers.COLLECTIVES,
    structure_layers.CONTROL,
)

LAYERS: Mapping[str, LayerSignature] = MappingProxyType(
    {layer.name: layer for group in _GROUPS for layer in group}
)

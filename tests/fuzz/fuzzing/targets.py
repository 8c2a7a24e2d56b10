"""All targets by name; each is made in a folder of its own, since a seed may take a second."""

from collections.abc import Callable, Mapping
from pathlib import Path

from fuzzing import binaries, texts
from fuzzing.harness import Target

TARGETS: Mapping[str, Callable[[Path], Target]] = {
    "operators": texts.operators,
    "specs": texts.specs,
    "workspaces": texts.workspaces,
    "snippets": texts.snippets,
    "mlir": texts.mlir,
    "containers": binaries.containers,
    "manifests": binaries.manifests,
    "safetensors": binaries.headers,
    "onnx": binaries.onnx_models,
    "pt2": binaries.archives,
}

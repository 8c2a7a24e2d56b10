"""Exported specs in ONNX Runtime, called as executables are; and weights that are drawn."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from spec_tests import Comparison, shape_of

import tripybuild
from tripybuild.targets.onnx_runtime.library import FATAL_ONLY
from tripybuild.weights import safetensors
from tripybuild.weights.names import name_in_file

Arrays = dict[str, np.ndarray]


def draw_weights(comparison: Comparison, path: Path) -> Path:
    """A file with weights for the small variant of a spec: small ones, and about 1 for scales."""
    random = np.random.default_rng(7)
    arrays = {}
    for name, value in comparison.built.stored_weights.items():
        shape = tuple(map(int, value.shape))
        array = random.normal(scale=0.05, size=shape)
        if len(shape) == 1 and name.endswith(("weight", "variance", "running_var", "scale")):
            array = 1 + np.abs(array)
        kind = value.dtype.numpy
        if not np.issubdtype(kind, np.floating) and kind.kind != "V":
            array = random.integers(-8, 8, shape)
        arrays[name_in_file(name, comparison.built.weights)] = array.astype(kind)
    path.write_bytes(safetensors.encode(arrays))
    return path


def export(
    comparison: Comparison, output: Path, *, opset: int, static: bool = False
) -> "RuntimeModel":
    """The small variant in ONNX Runtime; the arguments are those of `Comparison.compile`."""
    fixed = comparison.static_sizes() if static else {}
    made = tripybuild.export(
        comparison.path,
        output,
        opset=opset,
        sizes={**comparison.section.sizes, "F": "float32", **fixed},
        weights=comparison.weights,
        config=comparison.own_config,
    )
    return RuntimeModel({name: session(path) for name, path in made.models.items()}, made)


def session(path: Path) -> onnxruntime.InferenceSession:
    """A session of one thread that says nothing."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = FATAL_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


class RuntimeModel:
    """Sessions of the entries of a model, with the calls of `compiler.executable.Executable`."""

    def __init__(self, sessions: Mapping[str, Any], result: Any) -> None:
        self.sessions, self.result = sessions, result
        self.like: Any = None  # the executable that says which inputs are states

    def entry(self, name: str) -> "RuntimeEntry":
        return RuntimeEntry(self.sessions[name], self.like.entry(name), {})

    def start(self, state: Mapping[str, Any], **sizes: int) -> "RuntimeState":
        return RuntimeState(self, dict(state), sizes)


class RuntimeState:
    """The state of a model between calls of its entries."""

    def __init__(self, model: RuntimeModel, state: Arrays, sizes: Mapping[str, int]) -> None:
        self.model, self.state, self.sizes = model, state, sizes

    def entry(self, name: str) -> "RuntimeEntry":
        like = self.model.like.entry(name)
        for each, number in like.manifest["first"].items():
            value = like.graph.inputs[each]
            kind = value.dtype.numpy
            self.state.setdefault(each, np.full(shape_of(value, self.sizes), number, kind))
        return RuntimeEntry(self.model.sessions[name], like, self.state)


class RuntimeEntry:
    """One entry; what it says of its states is kept."""

    def __init__(self, session: Any, like: Any, state: Arrays) -> None:
        self.session, self.state = session, state
        self.inputs, self.manifest, self.graph = like.inputs, like.manifest, like.graph

    def __call__(self, **arrays: np.ndarray) -> Arrays:
        names = [each.name for each in self.session.get_outputs()]
        own = {n: self.state[n] for n in self.manifest["state"]}
        found = dict(zip(names, self.session.run(None, {**arrays, **own}), strict=True))
        self.state.update({n: found.pop(f"{n}.next") for n in own if f"{n}.next" in found})
        return found

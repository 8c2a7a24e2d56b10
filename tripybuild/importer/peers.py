"""Peers: sources as they are, run by PyTorch or by ONNX Runtime, to compare with."""

import importlib.util
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tripybuild.artifact.call_signature import Array
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

Call = Callable[[], Any]


class OnnxPeer:
    """A file of ONNX, run by ONNX Runtime.

    Args:
        path: The file.
        threads: How many it may use; by default as many as it likes.
        is_optimized: Whether it may fuse operators, whose results are rounded elsewhere then.

    Raises:
        DiagnosticError: ONNX Runtime is not installed, or refuses the file.
    """

    NAME = "onnx"

    def __init__(
        self, path: Path, threads: int | None = None, *, is_optimized: bool = True
    ) -> None:
        if importlib.util.find_spec("onnxruntime") is None:
            message = f"`{path}` is run by ONNX Runtime, which is not installed"
            raise DiagnosticError(Diagnostic("target-unavailable", message))
        import onnxruntime  # noqa: PLC0415 - heavy, and an extra

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what it refuses is raised
        options.intra_op_num_threads = threads or 0
        if not is_optimized:
            level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.graph_optimization_level = level
        try:
            self.session = onnxruntime.InferenceSession(
                path, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # whatever it raises of its own
            said = next(iter(str(error).splitlines()), "")
            found = Diagnostic("target-unfit", f"ONNX Runtime refuses `{path}`: {said}")
            raise DiagnosticError(found) from error
        self.inputs = [each.name for each in self.session.get_inputs()]

    def prepare(self, arrays: Mapping[str, Array]) -> Call:
        """A call with these inputs, by name or else in their order, that gives a list of arrays."""
        return partial(self.session.run, None, match_inputs(self.inputs, arrays))


class TorchPeer:
    """A module of PyTorch in evaluation mode, run as it is."""

    NAME = "torch"

    def __init__(self, module: Any, threads: int | None = None) -> None:
        import torch  # noqa: PLC0415 - heavy, and an extra

        if threads is not None:
            torch.set_num_threads(threads)
        self.module = module.eval()
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        parameters = inspect.signature(module.forward).parameters.values()
        self.inputs = [each.name for each in parameters if each.kind in kinds]
        self.needed = [
            each.name for each in parameters if each.kind in kinds and each.default is each.empty
        ]

    def prepare(self, arrays: Mapping[str, Array]) -> Call:
        """A call with these inputs, by name or else in their order, without gradients."""
        import torch  # noqa: PLC0415 - see above

        names = self.inputs if arrays.keys() <= set(self.inputs) else self.needed
        named = [name for name in names if name in arrays or name in self.needed]
        given = match_inputs(named, arrays)
        tensors = {name: torch.from_numpy(np.asarray(each)) for name, each in given.items()}

        def call() -> Any:
            with torch.inference_mode():
                return self.module(**tensors)

        return call


def match_inputs(names: Iterable[str], arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays by the names of inputs: their own, or in their order where those are others.

    Raises:
        DiagnosticError: There are more inputs, or fewer.
    """
    wanted = list(names)
    if set(wanted) == arrays.keys():
        return {name: arrays[name] for name in wanted}
    if len(wanted) != len(arrays):
        message = f"it takes {', '.join(wanted) or 'nothing'}, and not {', '.join(arrays)}"
        raise DiagnosticError(Diagnostic("unknown-input", message))
    return dict(zip(wanted, arrays.values(), strict=True))

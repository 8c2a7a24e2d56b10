"""Peers: sources as they are, run by PyTorch or by ONNX Runtime, to compare with."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tripybuild.artifact.call_signature import Array
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets.onnx_runtime.library import error_words, errors, runtime

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
        onnxruntime = runtime()
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
        except errors() as error:
            raise DiagnosticError(_refusal(path, error)) from error
        self.inputs = [each.name for each in self.session.get_inputs()]

    def prepare(self, arrays: Mapping[str, Array]) -> Call:
        """A call with these inputs, by name or else in their order, that gives a list of arrays."""
        return partial(self.session.run, None, match_inputs(self.inputs, arrays))

    def arrays(self, found: Sequence[Array]) -> dict[str, Array]:
        """What a call gave, by the names of outputs.

        Raises:
            DiagnosticError: One is a sequence, and no tensor.
        """
        names = [each.name for each in self.session.get_outputs()]
        for name, each in zip(names, found, strict=True):
            if not isinstance(each, np.ndarray):
                message = f"the output `{name}` is a sequence of tensors, which is not compared"
                raise DiagnosticError(Diagnostic("wrong-type", message))
        return dict(zip(names, found, strict=True))


def _refusal(path: Path, error: Exception) -> Diagnostic:
    """What ONNX Runtime has against a file: it is none of ONNX, or one that it does not run."""
    words = error_words(error)
    if type(error).__name__ == "InvalidProtobuf" or "No graph was found" in words:
        hint = "name a file that `tripybuild export` or another exporter wrote"
        return Diagnostic("onnx-malformed", f"`{path}` is no model of ONNX", hint=hint)
    message = f"ONNX Runtime does not run `{path}`"
    return Diagnostic("onnxruntime-refused", message, notes=(words,))


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

    def arrays(self, found: Any) -> Mapping[str, Array] | list[Array]:
        """What a call gave: by name where it is a mapping, else in order; None is left out.

        Raises:
            DiagnosticError: Something else than a tensor is among it.
        """
        if isinstance(found, Mapping):
            held = {str(name): each for name, each in found.items() if each is not None}
            leaves = self._leaves(held.values())
            return dict(zip(held, leaves, strict=True)) if len(leaves) == len(held) else leaves
        several = found if isinstance(found, (tuple, list)) else [found]
        return self._leaves(each for each in several if each is not None)

    @staticmethod
    def _leaves(found: Iterable[Any]) -> list[Array]:
        import torch  # noqa: PLC0415 - see above

        from tripybuild.importer.pytorch.exported_program import to_numpy  # noqa: PLC0415 - heavy

        leaves: list[Array] = []
        for each in found:
            if isinstance(each, torch.Tensor):
                leaves.append(to_numpy(each))
            elif isinstance(each, (tuple, list)):
                leaves += TorchPeer._leaves(each)
            else:
                message = f"the module gives `{type(each).__name__}`, and no tensor"
                raise DiagnosticError(Diagnostic("wrong-type", message))
        return leaves


def prepare_peer(name: str, peer: OnnxPeer | TorchPeer, arrays: Mapping[str, Array]) -> Call:
    """A call of a peer, whose own errors are diagnostics.

    Raises:
        DiagnosticError: It takes other inputs; the call raises what the other system does not run.
    """
    call = _said(name, partial(peer.prepare, arrays))
    return partial(_said, name, call)


def _said(name: str, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except (DiagnosticError, MemoryError):
        raise
    except Exception as error:  # whatever a module or an engine raises
        notes = (f"{type(error).__name__}: {error_words(error)}",)
        hint = "the inputs are those that both sides are called with: are they what it takes?"
        found = Diagnostic("engine-failed", f"`{name}` cannot be run", notes=notes, hint=hint)
        raise DiagnosticError(found) from error


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

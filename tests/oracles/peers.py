"""What specs are compared with: code of libraries, with random weights, as it is called and saved.

A peer is drawn so that everything in it matters: weights of norms are not one, biases and running
statistics are not zero, and what goes into norms is small enough for their epsilons to be seen.
"""

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from oracles import libraries

CHECKPOINT = "model.safetensors"
EPSILONS = ("eps", "variance_epsilon", "epsilon", "layer_norm_eps", "norm_eps")
USUAL_EPSILON = 1e-5  # that of a norm for which a spec names none


class Peer:
    """One of them."""

    def __init__(
        self, name: str, config: Mapping[str, Any], arguments: Mapping[str, Any], seed: int
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.module = _made(libraries.find(name), name, config, arguments).eval().float()
        self.module.requires_grad_(requires_grad=False)
        _randomize(self.module, torch.Generator().manual_seed(seed))

    def save(self, folder: Path) -> Path:
        """Write the weights under the names that published checkpoints have."""
        module = self.module
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if hasattr(module, "checkpoint"):
                _save(module.checkpoint(), folder / CHECKPOINT)
            elif type(module).__module__.startswith("transformers."):
                module.save_pretrained(folder)
            else:
                _save(module.state_dict(), folder / CHECKPOINT)
        return folder / CHECKPOINT

    def __call__(
        self, method: str | None, arrays: Mapping[str, np.ndarray], keywords: Mapping[str, Any]
    ) -> Any:
        """What it gives for arrays by name; integers are its own `int64`."""
        tensors = {name: _tensor(array) for name, array in arrays.items()}
        called = self.module if method is None else getattr(self.module, method)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return called(**tensors, **keywords)

    def changes(self, is_invariant: Callable[[str], bool]) -> Iterator[tuple[str, Any]]:
        """Each slip that a spec could have, with what makes it for a while.

        A weight is left out (or a scale is one), or a group of norms has another epsilon.
        """
        for name, parameter in self.module.named_parameters():
            if not is_invariant(name):
                yield name, _replaced(parameter, _left_out(name, parameter))
        for name, buffer in self.module.named_buffers():
            if name.endswith(("running_mean", "running_var")):
                yield name, _replaced(buffer, _left_out(name, buffer))
        groups: dict[tuple[type, str, float], list[Any]] = {}
        for module in self.module.modules():
            for key in EPSILONS:
                if isinstance(value := vars(module).get(key), float):
                    groups.setdefault((type(module), key, value), []).append(module)
        for (kind, key, value), modules in groups.items():
            yield f"{kind.__name__}.{key} = {value}", _other_epsilon(modules, key, value)


def outputs(result: Any, names: list[str], paths: Mapping[str, str]) -> dict[str, np.ndarray]:
    """The outputs of a spec in what its peer gave."""
    found = tensors(result, names, paths)
    return {name: each.detach().float().numpy() for name, each in found.items()}


def tensors(result: Any, names: list[str], paths: Mapping[str, str]) -> dict[str, torch.Tensor]:
    """The outputs of a spec in what its peer gave, as the peer's own tensors."""
    if paths:
        return {name: _at(result, path) for name, path in paths.items()}
    if isinstance(result, torch.Tensor):
        return dict(zip(names, [result], strict=True))
    if type(result) in (tuple, list):
        return dict(zip(names, result, strict=True))
    return {name: _at(result, name) for name in names}


class Program(torch.nn.Module):
    """A method of a peer as a module of tensors by place, for what exports or compiles modules."""

    def __init__(self, peer: Peer, call: Any, names: list[str]) -> None:
        super().__init__()
        self.module, self.names = peer.module, names
        self.method, self.keywords = call.section.method, dict(call.section.keywords)
        self.outputs, self.paths = list(call.outputs), dict(call.section.outputs)

    def forward(self, *given: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The outputs of the spec."""
        called = self.module if self.method is None else getattr(self.module, self.method)
        result = called(**dict(zip(self.names, given, strict=True)), **self.keywords)
        return tuple(tensors(result, self.outputs, self.paths).values())


def program(call: Any, arrays: Mapping[str, np.ndarray]) -> tuple[Program, dict[str, torch.Tensor]]:
    """The peer of a call, and the tensors that it takes."""
    taken = {name: _tensor(array) for name, array in call.peer_arguments(arrays).items()}
    return Program(call.comparison.peer, call, list(taken)).eval(), taken


def _made(
    kind: Any, name: str, config: Mapping[str, Any], arguments: Mapping[str, Any]
) -> torch.nn.Module:
    if name.startswith("transformers."):
        return kind(kind.config_class(**config), **arguments)
    if name.startswith("oracles."):
        takes_config = "config" in inspect.signature(kind).parameters
        return kind(dict(config), **arguments) if takes_config else kind(**arguments)
    if name.startswith("diffusers."):
        return kind.from_config({**config, **arguments})
    return kind(**config, **arguments)


def _at(result: Any, path: str) -> Any:
    for step in path.split("."):
        if step.isdecimal():
            result = result[int(step)]
        elif isinstance(result, Mapping):
            result = result[step]
        else:
            result = getattr(result, step)
    return result


def _tensor(array: np.ndarray) -> torch.Tensor:
    tensor = torch.from_numpy(np.array(array))
    return tensor.long() if tensor.dtype in (torch.int32, torch.int8) else tensor


def _save(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    save_file({name: each.detach().clone().contiguous() for name, each in tensors.items()}, path)


def _randomize(module: torch.nn.Module, generator: torch.Generator) -> None:
    for owner in module.modules():
        for name, parameter in owner.named_parameters(recurse=False):
            parameter.copy_(_drawn(owner, name, parameter, generator))
        for name, buffer in owner.named_buffers(recurse=False):
            if name == "running_mean":
                buffer.copy_(torch.randn(buffer.shape, generator=generator) * 0.1)
            elif name == "running_var":  # some so small that epsilon matters
                buffer.copy_(10 ** -(1.5 * torch.rand(buffer.shape, generator=generator)))
    if hasattr(module, "randomize"):
        module.randomize(generator)


def _drawn(
    owner: torch.nn.Module, name: str, like: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    normal = torch.randn(like.shape, generator=generator)
    if isinstance(owner, torch.nn.Embedding):
        return normal * 0.05
    if name.endswith("bias"):
        return normal * 0.1
    if like.ndim < 2:
        return 0.6 + 0.8 * torch.rand(like.shape, generator=generator)
    if "weight" in name:
        fan_in = like[0].numel() if like.ndim > 2 else min(like.shape[1], 4 * like.shape[0])
        return normal * 0.5 * fan_in**-0.5
    return normal * 0.05


def _left_out(name: str, tensor: torch.Tensor) -> torch.Tensor:
    is_scale = tensor.ndim < 2 and not name.endswith(("bias", "running_mean"))
    return torch.ones_like(tensor) if is_scale else torch.zeros_like(tensor)


@contextmanager
def _replaced(tensor: torch.Tensor, by: torch.Tensor) -> Iterator[None]:
    before = tensor.clone()
    tensor.copy_(by)
    try:
        yield
    finally:
        tensor.copy_(before)


@contextmanager
def _other_epsilon(modules: list[Any], key: str, value: float) -> Iterator[None]:
    for module in modules:
        setattr(module, key, 1e-6 if value == USUAL_EPSILON else USUAL_EPSILON)
    try:
        yield
    finally:
        for module in modules:
            setattr(module, key, value)


def published_weights(
    name: str, config: Mapping[str, Any], arguments: Mapping[str, Any]
) -> dict[str, tuple[int, ...]]:
    """The shapes of the weights by the names that published checkpoints have; none is made."""
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = _made(libraries.find(name), name, config, arguments)
        state = module.checkpoint() if hasattr(module, "checkpoint") else module.state_dict()
        if type(module).__module__.startswith("transformers."):
            loading = importlib.import_module("transformers.core_model_loading")
            tied = module.all_tied_weights_keys
            state = {name: each for name, each in state.items() if name not in tied}
            state = loading.revert_weight_conversion(module, state)
    return {name: tuple(each.shape) for name, each in state.items()}

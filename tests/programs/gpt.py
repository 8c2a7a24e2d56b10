"""A GPT: token and position embeddings, causal attention, and a head for the next token."""

import math
from dataclasses import dataclass

import torch
from torch.nn import functional

import tripyapi as tp


@dataclass
class Config:
    vocabulary: int = 29
    context: int = 12
    width: int = 24
    heads: int = 3
    depth: int = 2


class Attention(tp.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.c_attn = tp.Linear(config.width, 3 * config.width)
        self.c_proj = tp.Linear(config.width, config.width)

    def __call__(self, x: tp.Tensor):
        B, T, C = x.shape
        mask = tp.tril(tp.ones((T, T))) == 0.0

        def heads(part):
            return tp.transpose(tp.reshape(part, (B, T, self.heads, C // self.heads)), 1, 2)

        q, k, v = map(heads, tp.split(self.c_attn(x), 3, dim=2))
        scores = q @ tp.transpose(k, -2, -1) * (1.0 / math.sqrt(q.shape[-1]))
        weights = tp.softmax(tp.masked_fill(scores, mask, -math.inf), dim=-1)
        mixed = tp.reshape(tp.transpose(weights @ v, 1, 2), (B, T, C))
        return self.c_proj(mixed)


class Perceptron(tp.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = tp.Linear(config.width, 4 * config.width)
        self.c_proj = tp.Linear(4 * config.width, config.width)

    def __call__(self, x):
        return self.c_proj(tp.gelu(self.c_fc(x)))


class Block(tp.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1 = tp.LayerNorm(config.width)
        self.attn = Attention(config)
        self.ln_2 = tp.LayerNorm(config.width)
        self.mlp = Perceptron(config)

    def __call__(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(tp.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = tp.Embedding(config.vocabulary, config.width)
        self.wpe = tp.Embedding(config.context, config.width)
        self.h = tp.Sequential(*[Block(config) for _ in range(config.depth)])
        self.ln_f = tp.LayerNorm(config.width)
        self.lm_head = tp.Linear(config.width, config.vocabulary, bias=False)

    def __call__(self, tokens: tp.Tensor):
        _, T = tokens.shape
        places = tp.unsqueeze(tp.arange(T, dtype=tp.int32), 0)
        return self.lm_head(self.ln_f(self.h(self.wte(tokens) + self.wpe(places))))


class TorchBlock(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.heads = config.width, config.heads
        self.ln_1, self.ln_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attn = torch.nn.ModuleDict(
            {
                "c_attn": torch.nn.Linear(width, 3 * width),
                "c_proj": torch.nn.Linear(width, width),
            }
        )
        self.mlp = torch.nn.ModuleDict(
            {
                "c_fc": torch.nn.Linear(width, 4 * width),
                "c_proj": torch.nn.Linear(4 * width, width),
            }
        )

    def forward(self, x):
        parts = self.attn["c_attn"](self.ln_1(x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn["c_proj"](mixed.transpose(1, 2).flatten(2))
        return x + self.mlp["c_proj"](functional.gelu(self.mlp["c_fc"](self.ln_2(x))))


class TorchGPT(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = torch.nn.Embedding(config.vocabulary, config.width)
        self.wpe = torch.nn.Embedding(config.context, config.width)
        self.h = torch.nn.Sequential(*[TorchBlock(config) for _ in range(config.depth)])
        self.ln_f = torch.nn.LayerNorm(config.width)
        self.lm_head = torch.nn.Linear(config.width, config.vocabulary, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1]))
        return self.lm_head(self.ln_f(self.h(x)))

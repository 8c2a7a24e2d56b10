"""The model of `gpt2.yaml` as modules in Python: both give one graph, and share what is compiled.

import gpt2_module
model = gpt2_module.GPT2(gpt2_module.Sizes())
model.load_weights("gpt2.safetensors")
made = tp.compile(model, args=[model.tokens()])
"""

from dataclasses import dataclass

import tripyapi as tp


@dataclass(frozen=True)
class Sizes:
    """How large a model is."""

    vocab: int = 50257
    context: int = 1024
    width: int = 768
    heads: int = 12
    depth: int = 12

    @property
    def head(self) -> int:
        """The width of one head."""
        return self.width // self.heads


class Conv1D(tp.Module):
    """A linear layer whose weight is stored input first."""

    def __init__(self, rows: int, columns: int) -> None:
        self.weight = tp.Parameter((rows, columns))
        self.bias = tp.Parameter((columns,))

    def forward(self, x: tp.Tensor) -> tp.Tensor:
        """Multiply, and add the bias."""
        return x @ self.weight + self.bias


class Attention(tp.Module):
    """Every position gathers from those before it."""

    def __init__(self, sizes: Sizes) -> None:
        self.heads, self.head = sizes.heads, sizes.head
        self.c_attn = Conv1D(sizes.width, 3 * sizes.width)
        self.c_proj = Conv1D(sizes.width, sizes.width)

    def split_heads(self, x: tp.Tensor) -> tp.Tensor:
        """Put the heads before the positions."""
        batch, length, _ = x.shape
        return tp.transpose(tp.reshape(x, (batch, length, self.heads, self.head)), 1, 2)

    def forward(self, x: tp.Tensor, causal: tp.Tensor) -> tp.Tensor:
        """Mix the values of all positions that `causal` lets through."""
        batch, length, width = x.shape
        q, k, v = tp.split(self.c_attn(x), 3, 2)
        query, keys, values = map(self.split_heads, (q, k, v))
        mixed = tp.attention(query, keys, values, causal)
        return self.c_proj(tp.reshape(tp.transpose(mixed, 1, 2), (batch, length, width)))


class MLP(tp.Module):
    """Two layers with a smooth threshold between them."""

    def __init__(self, sizes: Sizes) -> None:
        self.c_fc = Conv1D(sizes.width, 4 * sizes.width)
        self.c_proj = Conv1D(4 * sizes.width, sizes.width)

    def forward(self, x: tp.Tensor) -> tp.Tensor:
        """Widen and narrow each position."""
        return self.c_proj(tp.gelu_tanh(self.c_fc(x)))


class Block(tp.Module):
    """One layer of the transformer."""

    def __init__(self, sizes: Sizes) -> None:
        self.ln_1 = tp.LayerNorm(sizes.width)
        self.attn = Attention(sizes)
        self.ln_2 = tp.LayerNorm(sizes.width)
        self.mlp = MLP(sizes)

    def forward(self, x: tp.Tensor, causal: tp.Tensor) -> tp.Tensor:
        """Add what attention and the MLP find."""
        attended = x + self.attn(self.ln_1(x), causal)
        return attended + self.mlp(self.ln_2(attended))


class GPT2(tp.Module):
    """A decoder-only transformer that scores the next token."""

    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        self.wte = tp.Embedding(sizes.vocab, sizes.width)
        self.wpe = tp.Embedding(sizes.context, sizes.width)
        self.h = [Block(sizes) for _ in range(sizes.depth)]
        self.ln_f = tp.LayerNorm(sizes.width)

    def tokens(self) -> tp.InputInfo:
        """What it takes: the ranges of `gpt2.yaml`."""
        batch = tp.NamedDimension("B", 1, 8, 32)
        length = tp.NamedDimension("S", 1, 256, self.sizes.context)
        return tp.InputInfo((batch, length), tp.int32)

    def forward(self, tokens: tp.Tensor) -> tp.Tensor:
        """Score the token that follows each position."""
        length = tokens.shape[1]
        x = self.wte(tokens) + self.wpe.weight[:length]
        causal = tp.arange(length) <= tp.unsqueeze(tp.arange(length), 1)
        for block in self.h:
            x = block(x, causal)
        logits = self.ln_f(x) @ tp.transpose(self.wte.weight, 0, 1)
        logits.name = "logits"
        return logits

"""Modules of PyTorch, exported and translated: the calls give what the modules give."""

import numpy as np
import pytest

from tests.helpers.call_programs import run_calls
from tripybuild.importer.translation.program import translate
from tripybuild.packages.builtin import builtin_registry

torch = pytest.importorskip("torch")

from tripybuild.importer.pytorch.exported_program import (  # noqa: E402 - it needs torch
    decompose,
    read_exported_program,
)


@pytest.fixture(scope="module")
def registry():
    return builtin_registry()


class Attention(torch.nn.Module):
    """Embedding, masks of integers, attention, positions, and what is gathered of the result."""

    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(30, 8)
        self.projection = torch.nn.Linear(8, 24)
        self.norm = torch.nn.LayerNorm(8)

    def forward(self, tokens, mask):
        batch, length = tokens.shape
        shape = (batch, length, 2, 4)
        parts = self.projection(self.words(tokens)).split(8, dim=-1)
        q, k, v = (part.view(shape).transpose(1, 2) for part in parts)
        bias = (mask[:, None, None, :] == 0) * -1e9
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        y = self.norm(mixed.transpose(1, 2).reshape(batch, length, 8))
        places = torch.arange(length)[None, :] + 1
        last = y[torch.arange(batch), mask.sum(1) - 1]
        return last, (y * places[..., None]).sum(1), y[:, 1:].mean(dim=(1, 2)), y.argmax(-1)


class Slices(torch.nn.Module):
    """Slices of which PyTorch states sizes that hold for two and more only."""

    def forward(self, x):
        return x[:, 1:-1] * 2, x[:, -2:] * 2


class Convolutions(torch.nn.Module):
    """Windows and norms, and a buffer that changes."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, padding=1, stride=2)
        self.norm = torch.nn.BatchNorm2d(4)
        self.pool = torch.nn.MaxPool2d(2)
        self.register_buffer("count", torch.zeros(4))
        self.norm.running_mean += 0.5

    def forward(self, x):
        y = self.pool(torch.relu(self.norm(self.conv(x))))
        self.count += y.sum((0, 2, 3))
        pooled = torch.nn.functional.adaptive_avg_pool2d(y, 1)
        return torch.flatten(pooled, 1) + self.count


class Branches(torch.nn.Module):
    """A condition on data, and a loop; both read weights."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda a: self.linear(a).relu(), lambda a: a * 2.0, [x])
        z = torch.while_loop(lambda a: a.sum() < 100, lambda a: (a * a + 1,), (y.abs(),))
        return y, z[0]


class Updates(torch.nn.Module):
    """Elements are put at indices and at every second place; no declaration says the last line."""

    def __init__(self):
        super().__init__()
        self.bags = torch.nn.EmbeddingBag(5, 6)

    def forward(self, x, index):
        y = x.clone()
        y[:, 0::2] = x[:, 0::2] * 2
        y[index, 1] = 0.5
        y[:, -1] += 1
        y += self.bags(index % 5, torch.tensor([0, 1]))[0]
        found, places = torch.sort(y.index_put((index,), x[index], accumulate=True), 1, True)
        _, tops = torch.nn.functional.max_pool2d(y[None], (2, 1), return_indices=True)
        return found, places, tops, torch.ops.aten.elu(y, 2, 3, 4)


B, S = (torch.export.Dim(name, min=low, max=16) for name, low in (("B", 2), ("S", 3)))
RAND = torch.Generator().manual_seed(5)
MASK = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0], [1, 1, 1, 1, 1]])
CASES = {
    "attention": (
        Attention,
        [
            (torch.randint(0, 30, (3, 5), generator=RAND), MASK),
            (torch.randint(0, 30, (2, 4), generator=RAND), MASK[:2, :4]),
        ],
        ({0: B, 1: S}, {0: B, 1: S}),
    ),
    "convolutions": (
        Convolutions,
        [(torch.randn(3, 3, 8, 8, generator=RAND),), (torch.randn(5, 3, 8, 8, generator=RAND),)],
        ({0: B},),
    ),
    "slices": (
        Slices,
        [(torch.randn(3, n, 2, generator=RAND),) for n in (7, 4, 2, 1)],
        ({1: torch.export.Dim.DYNAMIC},),
    ),
    "updates": (
        Updates,
        [
            (torch.randn(5, 6, generator=RAND), torch.tensor([3, -1, 3])),
            (torch.randn(7, 6, generator=RAND), torch.tensor([0, 2])),
        ],
        ({0: torch.export.Dim.AUTO}, {0: torch.export.Dim.AUTO}),
    ),
    "branches": (
        Branches,
        [(torch.full((3, 4), 0.5),), (torch.full((2, 4), -0.5),)],
        ({0: B},),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_calls_give_what_the_module_gives(case, registry):
    """Also at sizes that were not exported with; what a buffer becomes is an update."""
    kind, examples, dynamic = CASES[case]
    torch.manual_seed(3)
    module = kind().eval()
    with torch.no_grad():
        exported = torch.export.export(module, examples[0], dynamic_shapes=dynamic, strict=False)
    program = translate(read_exported_program(decompose(exported, registry)), registry)
    for arguments in examples:
        names = (value.name for value in program.graph.inputs)
        found = run_calls(program, {n: a.numpy() for n, a in zip(names, arguments, strict=True)})
        with torch.no_grad():
            wanted = module(*arguments)
        wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
        wanted += [getattr(module, path) for path in program.updates]
        assert len(found) == len(wanted)
        for got, want in zip(found.values(), wanted, strict=True):
            assert got.dtype == want.numpy().dtype
            np.testing.assert_allclose(got, want.numpy(), rtol=1e-5, atol=1e-5)

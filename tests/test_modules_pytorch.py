"""Modules in Python beside PyTorch's: the same weights, under the same names, the same numbers."""

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError

torch = pytest.importorskip("torch", reason="torch is not installed")

# What each is made with here and there, and the shape of what goes in.
MADE = {
    "Linear": (tp.Linear(4, 5), torch.nn.Linear(4, 5), (2, 3, 4)),
    "Linear without bias": (
        tp.Linear(4, 5, bias=False),
        torch.nn.Linear(4, 5, bias=False),
        (4,),
    ),
    "Conv of one dimension": (
        tp.Conv(4, 6, (3,), (2,), ((1, 1),)),
        torch.nn.Conv1d(4, 6, 3, 2, 1),
        (2, 4, 9),
    ),
    "Conv": (
        tp.Conv(4, 6, (3, 2), stride=(2, 1), padding=((1, 1), (2, 2)), dilation=(1, 2), groups=2),
        torch.nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 2), (1, 2), 2),
        (2, 4, 9, 8),
    ),
    "Conv without bias": (
        tp.Conv(1, 2, (2, 2, 2), bias=False),
        torch.nn.Conv3d(1, 2, 2, bias=False),
        (1, 1, 3, 4, 5),
    ),
    "ConvTranspose": (
        tp.ConvTranspose(4, 6, (3, 2), (2, 3), ((1, 1), (0, 0)), groups=2),
        torch.nn.ConvTranspose2d(4, 6, (3, 2), (2, 3), (1, 0), groups=2),
        (2, 4, 5, 3),
    ),
    "LayerNorm": (tp.LayerNorm((3, 4)), torch.nn.LayerNorm((3, 4)), (2, 3, 4)),
    "LayerNorm of a number": (tp.LayerNorm(4, eps=0.1), torch.nn.LayerNorm(4, 0.1), (2, 3, 4)),
    "LayerNorm without bias": (
        tp.LayerNorm(4, bias=False),
        torch.nn.LayerNorm(4, bias=False),
        (2, 3, 4),
    ),
    "LayerNorm without weights": (
        tp.LayerNorm(4, affine=False),
        torch.nn.LayerNorm(4, elementwise_affine=False),
        (2, 3, 4),
    ),
    "GroupNorm without weights": (
        tp.GroupNorm(2, 6, affine=False),
        torch.nn.GroupNorm(2, 6, affine=False),
        (2, 6, 4, 3),
    ),
    "GroupNorm": (tp.GroupNorm(2, 6), torch.nn.GroupNorm(2, 6), (2, 6, 4, 3)),
    "InstanceNorm": (
        tp.InstanceNorm(3),
        torch.nn.InstanceNorm2d(3, affine=True),
        (2, 3, 4, 5),
    ),
    "BatchNorm": (tp.BatchNorm(3, eps=0.01), torch.nn.BatchNorm2d(3, 0.01).eval(), (2, 3, 4, 5)),
    "RMSNorm": (tp.RMSNorm(4, eps=0.01), torch.nn.RMSNorm(4, 0.01), (2, 3, 4)),
}


def given(module, theirs):
    """Give both the same weights; those of variances are positive."""
    random = np.random.default_rng(0)
    state = {}
    for name, tensor in module.state_dict().items():
        low = 0.5 if "var" in name else -1.0
        state[name] = random.uniform(low, 1.5, tensor.shape).astype(np.float32)
    found = theirs.load_state_dict({n: torch.tensor(a) for n, a in state.items()}, strict=False)
    assert set(found.missing_keys) <= {"num_batches_tracked"}
    assert not found.unexpected_keys
    module.load_state_dict({name: tp.Tensor(array) for name, array in state.items()})


@pytest.mark.parametrize("name", MADE)
def test_numbers_are_pytorchs(name):
    """And the names and shapes of the weights, which both must take."""
    module, theirs, shape = MADE[name]
    given(module, theirs)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    with torch.no_grad():
        wanted = theirs(torch.tensor(x)).numpy()
    np.testing.assert_allclose(np.asarray(module(tp.Tensor(x))), wanted, rtol=2e-5, atol=2e-5)


def test_embeddings_are_pytorchs():
    """Of numbers of any shape."""
    module, theirs = tp.Embedding(7, 4), torch.nn.Embedding(7, 4)
    given(module, theirs)
    rows = np.array([[0, 6, 3], [3, 1, 1]], np.int32)
    wanted = theirs(torch.tensor(rows)).detach().numpy()
    np.testing.assert_array_equal(np.asarray(module(tp.Tensor(rows))), wanted)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_attention_is_pytorchs(bias, causal):
    """With its names, `in_proj_weight` and `out_proj.weight`; causal as with its mask."""
    module = tp.MultiHeadAttention(6, 2, bias=bias, causal=causal)
    theirs = torch.nn.MultiheadAttention(6, 2, bias=bias, batch_first=True)
    given(module, theirs)
    random = np.random.default_rng(1)
    q, k, v = (random.standard_normal((2, 4, 6)).astype(np.float32) for _ in range(3))
    mask = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1) if causal else None
    with torch.no_grad():
        wanted, _ = theirs(*map(torch.tensor, (q, k, v)), attn_mask=mask)
    found = module(*map(tp.Tensor, (q, k, v)))
    np.testing.assert_allclose(np.asarray(found), wanted.numpy(), rtol=2e-5, atol=2e-5)


def test_attention_takes_a_mask():
    """True where a place is seen, which PyTorch says the other way round."""
    module = tp.MultiHeadAttention(6, 2)
    theirs = torch.nn.MultiheadAttention(6, 2, batch_first=True)
    given(module, theirs)
    x = np.random.default_rng(1).standard_normal((1, 3, 6)).astype(np.float32)
    seen = np.array([[True, False, False], [True, True, False], [True, False, True]])
    with torch.no_grad():
        wanted, _ = theirs(*[torch.tensor(x)] * 3, attn_mask=torch.tensor(~seen))
    found = module(*[tp.Tensor(x)] * 3, mask=tp.Tensor(seen.reshape(1, 1, 3, 3)))
    np.testing.assert_allclose(np.asarray(found), wanted.numpy(), rtol=2e-5, atol=2e-5)


def test_a_network_is_pytorchs():
    """Modules in each other, and functions between them."""
    module = tp.Sequential(
        tp.Conv(1, 4, (3, 3)), tp.relu, tp.Sequential({"norm": tp.BatchNorm(4)}), tp.flatten
    )
    theirs = torch.nn.Sequential(
        torch.nn.Conv2d(1, 4, 3),
        torch.nn.ReLU(),
        torch.nn.Sequential(),
        torch.nn.Flatten(0),
    ).eval()
    theirs[2].add_module("norm", torch.nn.BatchNorm2d(4).eval())
    random = np.random.default_rng(0)
    state = {
        name: random.uniform(0.5, 1.5, each.shape).astype(np.float32)
        for name, each in module.state_dict().items()
    }
    theirs.load_state_dict({n: torch.tensor(a) for n, a in state.items()}, strict=False)
    module.load_state_dict({n: tp.Tensor(a) for n, a in state.items()})
    x = random.standard_normal((2, 1, 5, 6)).astype(np.float32)
    with torch.no_grad():
        wanted = theirs(torch.tensor(x)).numpy()
    np.testing.assert_allclose(np.asarray(module(tp.Tensor(x))), wanted, rtol=2e-5, atol=2e-5)


def test_a_scale_that_is_given_later_is_used():
    """`input_scale` may be given to a quantized layer, as to nvtripy's."""
    module = tp.Linear(2, 1, bias=False, quant_dtype=tp.int8)
    module.weight = tp.Tensor([[1.0, -2.0]])
    module.weight_scale = tp.Tensor(0.5)
    x = tp.Tensor([[0.3, 1.0]])
    assert module(x).tolist() == [[pytest.approx(0.3 - 2.0)]]

    module.input_scale = tp.Tensor(0.25)
    assert module(x).tolist() == [[0.25 - 2.0]]
    assert "input_scale" in module.state_dict()


@pytest.mark.parametrize(
    ("given_", "code"), [([[1, 2]], "Linear/F"), ([[1.0]], "Linear/x"), (3, "Linear/x")]
)
def test_what_does_not_fit_is_refused_at_the_line(given_, code):
    """A dtype, a shape, and what is no tensor."""
    module = tp.Linear(2, 1)
    module.initialize_dummy_parameters()
    x = given_ if isinstance(given_, int) else tp.Tensor(given_)
    with pytest.raises(DiagnosticError) as caught:
        module(x)
    [found] = caught.value.diagnostics
    assert (found.code, found.span.path) == (code, __file__)

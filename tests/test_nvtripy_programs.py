"""Whole programs in nvtripy's style compute what the same models compute in PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from programs import encoder, gpt, unet  # noqa: E402 - they need torch

import tripyapi as tp  # noqa: E402


def pair(ours, theirs):
    """Both models with the same random weights."""
    torch.manual_seed(3)
    with torch.no_grad():
        for parameter in theirs.parameters():
            spread = 1.0 if parameter.ndim == 1 else parameter[0].numel() ** -0.5
            parameter.copy_(torch.randn_like(parameter) * spread)
    ours.load_state_dict({name: tp.Tensor(each) for name, each in theirs.state_dict().items()})
    return ours, theirs.eval()


def agree(found, wanted):
    several = wanted if isinstance(wanted, tuple) else (wanted,)
    for ours, theirs in zip(found if isinstance(found, tuple) else (found,), several, strict=True):
        np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=2e-4, atol=2e-4)


def tokens(*shape):
    return torch.randint(0, gpt.Config.vocabulary, shape, dtype=torch.int32)


def test_a_gpt_of_any_batch_and_length():
    ours, theirs = pair(gpt.GPT(gpt.Config()), gpt.TorchGPT(gpt.Config()))
    sizes = [tp.NamedDimension("batch", 1, 2, 4), tp.NamedDimension("length", 1, 8, 12)]
    made = tp.compile(ours, args=[tp.InputInfo(sizes, tp.int32)])
    for shape in [(2, 8), (1, 1), (4, 12)]:
        given = tokens(*shape)
        agree(ours(tp.Tensor(given)), theirs(given))
        agree(made(tp.Tensor(given)), theirs(given))


def test_a_gpt_writes():
    """The host's loop chooses the likeliest token, as with PyTorch."""
    ours, theirs = pair(gpt.GPT(gpt.Config()), gpt.TorchGPT(gpt.Config()))
    made = tp.compile(ours, args=[tp.InputInfo([1, (1, 6, 12)], tp.int32)])
    text = wanted = tokens(1, 3)
    for _ in range(6):
        last = tp.argmax(made(tp.Tensor(text))[:, -1, :], dim=-1)
        text = torch.cat([text, torch.from_dlpack(last)[:, None]], 1)
        wanted = torch.cat([wanted, theirs(wanted)[:, -1].argmax(-1, keepdim=True).int()], 1)
    assert text.tolist() == wanted.tolist()


def test_a_step_of_a_diffusion_model():
    ours, theirs = pair(unet.UNet(), unet.TorchUNet())
    latents, steps = torch.randn(2, unet.LATENT, 8, 8), torch.tensor([3.0, 250.0])
    agree(ours(tp.Tensor(latents), tp.Tensor(steps)), theirs(latents, steps))
    shape = (2, unet.LATENT, 8, 8)
    infos = [tp.InputInfo(shape, tp.float32), tp.InputInfo((2,), tp.float32)]
    made = tp.compile(ours, args=infos)
    agree(made(latents, steps), theirs(latents, steps))
    agree(made(steps=steps, latents=latents), theirs(latents, steps))


def test_an_image_encoder():
    """With windows that fit, and with windows that are filled up, which is all that differs."""
    ours, theirs = pair(encoder.Encoder(), encoder.TorchEncoder())
    images = torch.randn(2, 3, 32, 32)
    agree(ours(tp.Tensor(images)), theirs(images))
    images = torch.randn(2, 3, 32, 40)
    agree(ours(tp.Tensor(images)), theirs(images))
    batch = tp.NamedDimension("batch", 1, 2, 3)
    made = tp.compile(ours, args=[tp.InputInfo([batch, 3, 32, 40], tp.float32)])
    agree(made(images), theirs(images))
    agree(made(images[:1]), theirs(images[:1]))


def test_weights_travel_in_safetensors(tmp_path):
    """What PyTorch saved is read, and the other way."""
    from safetensors.torch import load_file, save_file  # noqa: PLC0415 - only here

    _, theirs = pair(unet.UNet(), unet.TorchUNet())
    save_file(theirs.state_dict(), tmp_path / "theirs.safetensors")
    ours = unet.UNet()
    assert ours.load_weights(tmp_path / "theirs.safetensors") == (set(), set())
    ours.save_weights(tmp_path / "ours.safetensors")
    again = load_file(tmp_path / "ours.safetensors")
    assert all(torch.equal(again[name], each) for name, each in theirs.state_dict().items())

"""ResNet-50 from its spec, beside the same network written in PyTorch's functions."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional

SPEC = Path(__file__).resolve().parent.parent / "specs" / "resnet50.yaml"
PATTERNS = '["*.num_batches_tracked", "*.*.*.num_batches_tracked", "*.*.*.*.num_batches_tracked"]'
ENTRY = f"weights: {{file: w.safetensors, unused: {PATTERNS}}}\n"


def state_dict(**sizes):
    """Random weights under torchvision's names, with the counters that its checkpoints have."""
    random = np.random.default_rng(1)
    found = {}
    for name, value in build(SPEC, sizes).graph.weights.items():
        shape = tuple(value.shape)
        spread = np.sqrt(2 / np.prod(shape[1:])) if len(shape) > 1 else 0.1
        found[name] = random.normal(0, spread, shape).astype(np.float32)
        if name.endswith("running_var"):
            found[name] = np.abs(found[name]) + 1
            counter = name.replace("running_var", "num_batches_tracked")
            found[counter] = np.array(7, np.int64)
    return found


def normal(weights, name, x):
    """A batch norm after training."""
    names = ("running_mean", "running_var", "weight", "bias")
    return F.batch_norm(x, *(weights[f"{name}.{each}"] for each in names))


def bottleneck(weights, name, x, stride):
    """One block of a stage."""
    kernel = {at: weights[f"{name}.conv{at}.weight"] for at in (1, 2, 3)}
    seen = F.relu(normal(weights, f"{name}.bn1", F.conv2d(x, kernel[1])))
    seen = F.conv2d(seen, kernel[2], stride=stride, padding=1)
    seen = F.relu(normal(weights, f"{name}.bn2", seen))
    seen = normal(weights, f"{name}.bn3", F.conv2d(seen, kernel[3]))
    if f"{name}.downsample.0.weight" in weights:
        x = F.conv2d(x, weights[f"{name}.downsample.0.weight"], stride=stride)
        x = normal(weights, f"{name}.downsample.1", x)
    return F.relu(seen + x)


def resnet(weights, image, depths):
    """The network of torchvision's `resnet50`, whose blocks have their stride in the middle."""
    x = F.conv2d(image, weights["conv1.weight"], stride=2, padding=3)
    x = F.max_pool2d(F.relu(normal(weights, "bn1", x)), 3, 2, 1)
    for stage, depth in enumerate(depths, 1):
        for at in range(depth):
            stride = 2 if stage > 1 and at == 0 else 1
            x = bottleneck(weights, f"layer{stage}.{at}", x, stride)
    return F.linear(x.mean((2, 3)), weights["fc.weight"], weights["fc.bias"])


def test_a_checkpoint_fits_and_gives_the_same_scores(tmp_path):
    """All fifty layers, on small photographs."""
    weights = state_dict()
    assert len(weights) == 320  # the entries of torchvision's state_dict
    save_file(weights, tmp_path / "w.safetensors")
    path = tmp_path / "resnet50.yaml"
    path.write_text(SPEC.read_text(encoding="utf-8").replace("\ndefine:", f"\n{ENTRY}\ndefine:"))
    image = np.random.default_rng(2).normal(size=(2, 3, 64, 64)).astype(np.float32)
    model = tripybuild.compile(path, sizes={"side": 64}, shapes=[{"B": 2}])
    found = model(image=image)["scores"]

    tensors = {name: torch.from_numpy(each) for name, each in weights.items()}
    expected = resnet(tensors, torch.from_numpy(image), (3, 4, 6, 3)).numpy()
    assert found.shape == (2, 1000)
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())
    assert np.abs(expected).std() > 0.01


def test_counters_are_left_over_unless_they_are_listed(tmp_path):
    """Each pattern stands for names of as many parts as it has."""
    save_file(state_dict(), tmp_path / "w.safetensors")
    path = tmp_path / "resnet50.yaml"
    entry = ENTRY.replace('"*.num_batches_tracked", ', "")
    path.write_text(SPEC.read_text(encoding="utf-8").replace("\ndefine:", f"\n{entry}\ndefine:"))
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(path, sizes={"side": 64})
    assert [each.message for each in raised.value.diagnostics] == [
        "the file holds `bn1.num_batches_tracked`, which the model does not use"
    ]

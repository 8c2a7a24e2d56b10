"""The founding examples, which the form must be able to say: hard operators and two models."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import tripybuild
from tripybuild.documents.document import parse_all
from tripybuild.model.graph_builder import build
from tripybuild.schema.files import FamilyFile, OperatorFile
from tripybuild.schema.model.includes import load_model
from tripybuild.schema.operator.elaborate import elaborate
from tripybuild.schema.validate import validate

FIXTURES = Path(__file__).parents[2] / "fixtures"


def test_the_hardest_operators_can_be_said():
    """All 26 documents validate and elaborate without a complaint."""
    text = (FIXTURES / "ops.yaml").read_text(encoding="utf-8")
    documents, found = parse_all(text, "ops.yaml")
    families, operators = {}, []
    for document in documents:
        kind = FamilyFile if "family" in document.data else OperatorFile
        file, problems = validate(document, kind)
        found += problems
        if kind is FamilyFile:
            families[file.family] = (document, file)
        else:
            operators.append((document, file))
    for document, file in operators:
        operator, problems = elaborate(document, file, ("ops.yaml", ""), families)
        found += problems
        assert operator is None or operator.name == file.op

    assert found == []
    assert len(families) == 1
    assert len(operators) == 25


@pytest.mark.parametrize("name", ["llama", "unet"])
def test_the_models_can_be_said(name):
    """Their form, names and types are right, whether or not all operators are there."""
    model, found = load_model(FIXTURES / f"{name}.yaml")

    assert found == []
    assert model is not None
    assert model.name == name


def unet_weights(widths):
    """The paths of the weights, from the plan of the network."""

    def resnet(path, rows, columns):
        yield from (f"{path}.conv1", f"{path}.time_emb_proj", f"{path}.conv2")
        if rows != columns:
            yield f"{path}.conv_shortcut"

    yield "conv_in"
    last = len(widths) - 1
    skips, rows = [widths[0]], widths[0]
    for i, columns in enumerate(widths):
        yield from resnet(f"down_blocks.{i}.resnets.0", rows, columns)
        yield from resnet(f"down_blocks.{i}.resnets.1", columns, columns)
        skips += [columns, columns]
        if i < last:
            yield f"down_blocks.{i}.downsamplers.0"
            skips.append(columns)
        rows = columns
    yield from resnet("mid_block", rows, rows)
    for i, columns in enumerate(reversed(widths)):
        for j in range(3):
            yield from resnet(f"up_blocks.{i}.resnets.{j}", rows + skips.pop(), columns)
            rows = columns
        if i < last:
            yield f"up_blocks.{i}.upsamplers.0"
    yield "conv_out"


@pytest.mark.parametrize("widths", [[4, 8, 8], [2, 4], [3, 3, 5, 7]])
def test_a_skip_stack_has_the_weights_of_its_plan(widths):
    """Lists of parts with sizes of their own, absent parts, and pairs of lists."""
    made = build(FIXTURES / "unet.yaml", {"widths": widths}).graph

    convolution, linear = ("bias", "weight"), ("weight", "bias")
    expected = [
        f"{name}.{weight}"
        for name in unet_weights(widths)
        for weight in (linear if name.endswith("proj") else convolution)
    ]
    assert list(made.weights) == expected


def test_a_skip_stack_computes_the_same_twice(tmp_path):
    """By XLA and by the references: chunks of the stack meet the parts that they are dealt to."""
    text = (FIXTURES / "unet.yaml").read_text(encoding="utf-8")
    text = text.replace("define:\n", "weights: w.safetensors\ndefine:\n", 1)
    ranges = "ranges: {H: {opt: 4, max: 8, multiple_of: 2}, W: {opt: 6, max: 8, multiple_of: 2}}"
    text = text.replace("parts:\n", f"{ranges}\nparts:\n", 1)
    spec = tmp_path / "unet.yaml"
    spec.write_text(text.replace("[4, 8, 8]", "[2, 4]"), encoding="utf-8")
    random = np.random.default_rng(3)

    def normal(*shape):
        return (random.normal(size=shape) / 3).astype(np.float32)

    weights = build(spec).graph.weights
    save_file({n: normal(*v.shape) for n, v in weights.items()}, tmp_path / "w.safetensors")
    arrays = {"x": normal(1, 3, 4, 6), "temb": normal(1, 6)}

    results = [tripybuild.compile(spec, target=t) for t in ("cpu", "reference")]
    got, want = (run(**arrays)["out"] for run in results)

    assert got.shape == (1, 3, 4, 6)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)

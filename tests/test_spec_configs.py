"""Configurations of checkpoints that a spec does not compute are refused, and no others."""

from pathlib import Path

import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.config import ConfigChoice
from tripybuild.model.graph_builder import build

SPECS = Path(__file__).parent.parent / "specs"
CONFIGURED = [path.stem for path in SPECS.glob("*.yaml") if "\nconfig:" in path.read_text("utf-8")]
# Configurations of `diffusers` name a class, and no type.
WITHOUT_TYPE = {"unet", "vae_decoder"}
LINEAR = {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}
PLAIN = {"rope_type": "default", "rope_theta": 1e4}
OTHERS = [
    ("llama", {"rope_scaling": {"type": "linear", "factor": 4.0}}, "known-rotation"),
    ("llama", {"rope_parameters": LINEAR}, "known-rotation"),
    ("qwen3", {"rope_parameters": LINEAR}, "known-rotation"),
    ("mixtral", {"rope_parameters": LINEAR}, "known-rotation"),
    *(
        (
            name,
            {"rope_parameters": {"full_attention": LINEAR, "sliding_attention": PLAIN}},
            "known-rotation",
        )
        for name in ("gemma3", "modernbert")
    ),
    *(
        (name, {"hidden_act": "relu"}, "known-curve")
        for name in ("vit", "convnext", "swin", "dinov2", "segformer", "mixtral", "qwen3", "mamba")
    ),
    ("whisper", {"activation_function": "relu"}, "known-curve"),
    ("detr", {"activation_function": "gelu"}, "known-curve"),
    ("dinov2", {"use_swiglu_ffn": True}, "known-curve"),
    ("gemma3", {"hidden_activation": "gelu"}, "known-curve"),
]


@pytest.mark.parametrize("name", sorted({*CONFIGURED} - WITHOUT_TYPE))
def test_another_type_of_model_is_refused(name):
    """Its weights may have the same names, and mean something else."""
    with pytest.raises(DiagnosticError) as error:
        build(SPECS / f"{name}.yaml", {}, config=ConfigChoice({"model_type": "another"}))
    assert [each.code for each in error.value.diagnostics] == [f"{name}/known-model"]


@pytest.mark.parametrize(("name", "config", "law"), OTHERS)
def test_another_form_of_the_model_is_refused(name, config, law):
    """Silence would be wrong numbers."""
    with pytest.raises(DiagnosticError) as error:
        build(SPECS / f"{name}.yaml", {}, config=ConfigChoice(config))
    assert [each.code for each in error.value.diagnostics] == [f"{name}/{law}"]


@pytest.mark.parametrize("name", ["vit", "convnext", "swin", "segformer"])
def test_labels_are_counted_by_their_names(name):
    """Where a checkpoint says them; `num_labels` is not in its file then."""
    labels = {"id2label": {"0": "cat", "1": "dog", "2": "cow"}}
    built = build(SPECS / f"{name}.yaml", {}, config=ConfigChoice(labels))
    last = [each for path, each in built.stored_weights.items() if "classifier" in path]
    assert last[-1].shape[0] == 3

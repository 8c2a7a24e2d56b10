"""A sample of the architectures: imported from PyTorch, written as specs, equal; and the page.

`make architectures` does the same with all of them, and writes `docs/architectures.md`.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "benchmarks"))

import architecture_models  # noqa: E402  # it lies beside the other benchmarks
import architectures  # noqa: E402

LIST = {entry.name: entry for entry in architecture_models.architectures()}
SAMPLE = (
    "distilbert",
    "opt",
    "bart",
    "mixtral",
    "lfm2",
    "vit",
    "convnext",
    "resnext",
    "yolos",
    "wav2vec2",
    "siglip",
    "autoencoder_kl",
)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_model_is_read_and_written_and_gives_what_pytorch_gives(name, tmp_path):
    for library in ("torch", "transformers", "diffusers"):
        pytest.importorskip(library)
    result = architectures.examine(LIST[name], tmp_path)

    assert (result.stage, result.reason) == ("", "")
    assert result.read <= architectures.TOLERANCE
    assert result.written <= architectures.TOLERANCE


def test_the_list_has_a_hundred_architectures_of_many_families():
    families = {entry.family for entry in LIST.values()}
    assert len(LIST) == 100
    assert len(families) >= 12


def test_the_page_has_each_architecture_once():
    text = architectures.PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| \d", text, re.MULTILINE)
    assert sorted(rows) == sorted(LIST)


def test_the_page_counts_what_its_tables_say():
    text = architectures.PAGE.read_text(encoding="utf-8")
    cells = re.findall(r"^\| \w+ \| .*\| (\d\S*|no) \| (\d\S*|no) \|$", text, re.MULTILINE)
    read, written = (sum(cell != "no" for cell in column) for column in zip(*cells, strict=True))
    assert f"{read} of them are read and equal, and {written} are written" in " ".join(text.split())


def test_a_difference_is_relative_to_the_largest_value():
    wanted = [[np.array([1.0, 1000.0], np.float32)]]
    near = [[np.array([1.05, 1000.0], np.float32)]]
    far = [[np.array([1.5, 1000.0], np.float32)]]

    assert 4e-5 < architectures.largest_difference(near, wanted) < 6e-5
    with pytest.raises(architectures.FailureError, match=r"the difference is 5\.0e-04"):
        architectures.largest_difference(far, wanted)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ([np.zeros(2, np.float32)], "1 outputs instead of 2"),
        ([np.zeros(2, np.float64), np.zeros(3)], r"output 0 is float64\[2\] instead of float32"),
        ([np.zeros(2, np.float32), np.zeros(4)], r"output 1 is float64\[4\] instead of float64"),
        ([np.full(2, np.nan, np.float32), np.zeros(3)], "the difference is inf"),
    ],
)
def test_outputs_of_another_type_are_no_small_difference(found, reason):
    wanted = [[np.ones(2, np.float32), np.zeros(3)]]
    with pytest.raises(architectures.FailureError, match=reason):
        architectures.largest_difference([found], wanted)


def test_a_constant_output_proves_nothing():
    torch = pytest.importorskip("torch")
    entry = architecture_models.Architecture("it", "it", {"inputs": {}, "sizes": {}})
    with pytest.raises(architecture_models.UnusableError, match="output 0 is constant"):
        entry.expect(lambda: torch.full((3, 4), 2.0), 0)
    with pytest.raises(architecture_models.UnusableError, match="output 1 is not finite"):
        entry.expect(lambda: (torch.arange(3.0), torch.tensor([1.0, torch.nan])), 0)

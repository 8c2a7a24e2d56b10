"""The jobs of `benchmarks/models.py`, all specs that have a peer, and its tables."""

import sys
from pathlib import Path

import pytest
import spec_tests
from spec_tests import Comparison

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

import model_jobs  # they lie beside the other benchmarks
import model_tables


def test_each_spec_with_a_peer_has_a_job():
    """None is left out of the table."""
    assert sorted({job.spec for job in model_jobs.JOBS}) == spec_tests.tested()


@pytest.mark.parametrize("job", model_jobs.JOBS, ids=lambda job: job.name)
def test_a_job_says_each_dynamic_size(job, tmp_path):
    """By its name, and the entry is one of the spec's."""
    file = Comparison(spec_tests.SPECS / f"{job.spec}.yaml", tmp_path).file
    assert sorted(job.sizes) == sorted(file.ranges)
    assert job.entry in (file.entries or {"": None})


def test_ratios_are_to_the_best_peer():
    """Of `cpu`, and of the fastest of our engines; a model without a peer has none."""
    times = {
        "vit": {"cpu": 2.0, "cpu:openvino": 1.0, "ONNX Runtime": 1.0, "torch eager": 4.0},
        "swin": {"cpu": 8.0, "cpu:openvino": 9.0, "ONNX Runtime": 5.0, "torch eager": 4.0},
        "own": {"cpu": 1.0, "cpu:openvino": 1.0},
    }
    matches = {m: {n: {"median ms": e} for n, e in f.items()} for m, f in times.items()}
    table = model_tables.latencies(matches, list(times["vit"]))
    rows = {row["model"]: row for row in table.rows}
    assert [rows[m]["x best of ours"] for m in ("vit", "swin", "own")] == [1.0, 2.0, None]
    assert rows["geometric mean"]["x cpu"] == pytest.approx(2.0)
    assert rows["geometric mean"]["x best of ours"] == pytest.approx(2**0.5)
    assert rows["models above 1.1"]["x best of ours"] == 1
    readme = model_tables.readme(matches)
    assert "| swin | 8.0 | 9.0 | 5.0 | - | 4.0 | 2.00 | 2.00 |" in readme
    assert "- best of ours over 2 models: 1.41 times the best peer; swin 2.00 times" in readme
    assert "- `cpu` over 2 models: 1.79 times ONNX Runtime's own path" in readme

"""The jobs of `benchmarks/models.py`: all specs that have a peer, at sizes that they take."""

import sys
from pathlib import Path

import pytest
import spec_tests
from spec_tests import Comparison

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

import model_jobs  # it lies beside the other benchmarks


def test_each_spec_with_a_peer_has_a_job():
    """None is left out of the table."""
    assert sorted({job.spec for job in model_jobs.JOBS}) == spec_tests.tested()


@pytest.mark.parametrize("job", model_jobs.JOBS, ids=lambda job: job.name)
def test_a_job_says_each_dynamic_size(job, tmp_path):
    """By its name, and the entry is one of the spec's."""
    file = Comparison(spec_tests.SPECS / f"{job.spec}.yaml", tmp_path).file
    assert sorted(job.sizes) == sorted(file.ranges)
    assert job.entry in (file.entries or {"": None})

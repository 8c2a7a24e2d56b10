"""Mixtral's experts in both of its forms: all for each token, and the gathered ones."""

import numpy as np
import pytest
import spec_tests

import tripybuild
from tripybuild.artifact.container import Container

pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(autouse=True)
def _cache(shared_cache):
    """Nothing is found that another session compiled."""

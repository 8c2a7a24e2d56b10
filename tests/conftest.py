"""What all tests share: `--update`, `--full`, and the account of what was left out."""

import gc
import os
import sys

import own_registry
import pytest

from tripybuild.testing.pairwise import add_full_option, read_full_option
from tripybuild.testing.skip_report import report_skips

# ONNX Runtime sends what it runs to its makers where this is not set before it is imported.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
# What is printed does not depend on how fast this machine is.
os.environ.setdefault("TRIPYBUILD_PROGRESS", "off")
os.environ.pop("TRIPYBUILD_REMOTE_CACHE", None)  # a test that wants one names its own


def pytest_addoption(parser):
    """Add the options."""
    parser.addoption("--update", action="store_true", help="rewrite the expected texts")
    add_full_option(parser)


def pytest_configure(config):
    """Name the marker of slow tests, and keep the account."""
    config.addinivalue_line("markers", "full: is slow; runs with --full (`make test-full`)")
    read_full_option(config)
    report_skips(config, __file__)


def pytest_sessionstart():
    """Look for no garbage while tests are collected: there is none among so many that stay."""
    gc.disable()


def pytest_collection_finish():
    """Look for garbage again, but never among what was collected."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config, items):
    """Leave slow tests to `--full`."""
    if not config.getoption("--full"):
        for item in items:
            if item.get_closest_marker("full"):
                item.add_marker(pytest.mark.skip(reason="needs --full"))


@pytest.fixture
def update(request):
    """Whether expected texts are rewritten instead of compared."""
    return request.config.getoption("--update")


@pytest.fixture
def shared_cache(tmp_path_factory, monkeypatch):
    """A cache for tests that are not about it: the built-in registry is read and planned once."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def own(tmp_path_factory):
    """A user's registry, whose package `my_ops` can be imported."""
    made = own_registry.made(tmp_path_factory.mktemp("own"))
    sys.path.append(str(made.generated))
    yield made
    sys.path.remove(str(made.generated))

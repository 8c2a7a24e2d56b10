"""What all tests share: `--update` rewrites the expected texts."""

import pytest


def pytest_addoption(parser):
    """Add the option."""
    parser.addoption("--update", action="store_true", help="rewrite the expected texts")


@pytest.fixture
def update(request):
    """Whether expected texts are rewritten instead of compared."""
    return request.config.getoption("--update")

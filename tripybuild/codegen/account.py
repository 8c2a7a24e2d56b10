"""The `conftest.py` of generated suites: whoever runs them is told what was left out."""

from tripybuild.codegen.text import header

_FILE = '''{header}"""The account of what the suites left out, and why."""

import pytest

from tripybuild.suite.account import keep


def pytest_configure(config: pytest.Config) -> None:
    """Keep the account of the suites."""
    keep(config, __file__)
'''


def account_file() -> str:
    """The file beside the suites."""
    return _FILE.format(header=header("ops_registry/"))

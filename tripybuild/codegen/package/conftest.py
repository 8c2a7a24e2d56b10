"""Emitter of `conftest.py` for generated suites: reports what was skipped."""

from tripybuild.codegen.package.package_paths import BUILT_IN
from tripybuild.codegen.python.file_text import Imports, header

_FILE = '''{header}"""The account of what the suites left out, and why."""

{imports}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full`, which asks every tuple of dtypes."""
    add_full_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """{about}"""
    read_full_option(config)
    report_skips({arguments})
'''
_ABOUT = "Keep the account of the suites."


def conftest_file(package: str) -> str:
    """The file beside the suites, which find a package of one's own beside their folder."""
    own = package != BUILT_IN
    about = "Keep the account of the suites, and find the package." if own else _ABOUT
    arguments = f'config, __file__, "{package}"' if own else "config, __file__"
    imports = Imports()
    imports.module("pytest")
    imports.name("tripybuild.testing.pairwise", "add_full_option")
    imports.name("tripybuild.testing.pairwise", "read_full_option")
    imports.name("tripybuild.testing.skip_report", "report_skips")
    return _FILE.format(
        imports=imports.text(package),
        header=header("ops_registry/"),
        about=about,
        arguments=arguments,
    )

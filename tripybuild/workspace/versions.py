"""Versions that decide an output: of what compiles, and of the operators that are built in.

A machine that has others makes another output, so that no job of a key is done there.
"""

from functools import cache

from tripybuild.targets.table import parse_target
from tripybuild.version import VERSION
from tripybuild.workspace.inputs import built_in_digest
from tripybuild.workspace.jobs import Action

REFERENCE = "reference"  # what tests are beside
OPERATORS = "built-in operators"


def toolchain_versions(target: str, action: Action) -> dict[str, str]:
    """The packages that an output depends on, with their versions.

    Raises:
        DiagnosticError: The target is unknown, or what it needs is not installed.
    """
    compared = _toolchain(REFERENCE) if action == "test" else {}
    return {"tripybuild": VERSION, **_toolchain(target), **compared}


def job_versions(target: str, action: Action) -> dict[str, str]:
    """The same with the digest of the built-in operators, where those can change.

    Raises:
        DiagnosticError: As above.
    """
    own = built_in_operators()
    return toolchain_versions(target, action) | ({OPERATORS: own} if own else {})


@cache
def built_in_operators() -> str:
    """The digest of the built-in operators; nothing in an installed package."""
    return built_in_digest()


@cache
def _toolchain(target: str) -> dict[str, str]:
    return parse_target(target).toolchain()

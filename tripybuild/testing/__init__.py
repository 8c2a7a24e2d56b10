"""Test machinery of the generated suites: every check of every operator.

Generated suites hold the data of a declaration; this package holds the questions. Nothing of the
product imports it. `testing.skip_report`, which counts the skips of a run, loads no questions.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tripybuild.testing.module_suite import ModuleSuite
    from tripybuild.testing.pairwise import sample_tuples
    from tripybuild.testing.suite import Suite

__all__ = ["ModuleSuite", "Suite", "sample_tuples"]
_PLACES = {
    "ModuleSuite": "tripybuild.testing.module_suite",
    "Suite": "tripybuild.testing.suite",
    "sample_tuples": "tripybuild.testing.pairwise",
}


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    return getattr(import_module(_PLACES[name]), name)

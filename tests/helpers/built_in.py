"""The built-in registry and its plan, each made once for all tests of a process."""

from functools import cache

from tripybuild.codegen.package.plan import plan
from tripybuild.process import paths
from tripybuild.testing.registry import registry

FOLDER = paths.CHECKOUT / "ops_registry"


def declared():
    """What the registry declares; suites share it."""
    return registry(FOLDER)


@cache
def files():
    """The files that `gen` writes, planned from nothing."""
    return plan(declared())

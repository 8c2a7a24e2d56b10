"""The machinery of the generated suites: every question that is asked of every operator.

Generated suites hold the data of a declaration; this package holds the questions. Nothing of the
product imports it.
"""

from tripybuild.suite.module_suite import ModuleSuite
from tripybuild.suite.suite import Suite

__all__ = ["ModuleSuite", "Suite"]

"""Call checks: dtypes, shapes, attributes and laws, between a Python call and an operation."""

from tripybuild.frontend.checks.check import Check
from tripybuild.frontend.checks.indexing import Index
from tripybuild.frontend.checks.region_checks import RequiredType

__all__ = ["Check", "Index", "RequiredType"]

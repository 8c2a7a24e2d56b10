"""Operator with what is known of targets: facts of the registry, and rows of the support table."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

from tripybuild.testing.engines.conformance import Subject
from tripybuild.testing.engines.support_table import Key, parse_rows, suite_tables
from tripybuild.testing.operator_under_test import OperatorUnderTest
from tripybuild.testing.registry import suite_registry


class OperatorFacts(OperatorUnderTest):
    """One operator, and what is known of targets."""

    @cached_property
    def subject(self) -> Subject:
        """The operator with what its registry says of targets."""
        known = suite_registry(self.source, self.file).targets
        return Subject.of(self.operator, self.function(self.operator.name), known)

    @cached_property
    def support_rows(self) -> Mapping[Key, Sequence[str]]:
        """What the support table says of the operator, if the package has a table."""
        return parse_rows(self.operator, suite_tables(Path(self.file)).get(self.operator.name, []))

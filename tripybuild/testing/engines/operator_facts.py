"""Operator with what is known of targets: facts of the registry, and rows of the support table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from tripybuild.schema.operator.dtype_combinations import Tuple, legal_tuples
from tripybuild.schema.operator.operator import Fact
from tripybuild.testing.cases import Case, bound_of, sample_case, special_call
from tripybuild.testing.engines.conformance import Subject
from tripybuild.testing.engines.onnx_verdicts import REFERENCE
from tripybuild.testing.engines.support_table import Key, parse_rows, suite_tables
from tripybuild.testing.operator_under_test import OperatorUnderTest
from tripybuild.testing.registry import suite_registry
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import fact_applies, refuses_call


class OperatorFacts(OperatorUnderTest):
    """One operator, and what is known of targets."""

    @cached_property
    def subject(self) -> Subject:
        """The operator with what its registry says of targets."""
        known = suite_registry(self.source, self.file).targets
        return Subject.of(self.operator, self.function(self.operator.name), known)

    @cached_property
    def reference_calls(self) -> list[tuple[Case, Tuple]]:
        """The legal calls near the samples that the reference computes."""
        return [
            (case, types)
            for case, types in self.near_calls
            if case.is_legal
            and not refuses_call(self.operator, REFERENCE, bind(self.operator, types))
        ]

    @cached_property
    def special_call(self) -> tuple[Case, Tuple] | None:
        """The sample with special values, if the reference computes it."""
        if self.operator.random or not legal_tuples(self.operator):
            return None
        found = special_call(self.operator, self.function(self.operator.name))
        if found is None or refuses_call(self.operator, REFERENCE, bound_of(found[0])):
            return None
        return found

    @cached_property
    def support_rows(self) -> Mapping[Key, Sequence[str]]:
        """What the support table says of the operator, if the package has a table."""
        return parse_rows(self.operator, suite_tables(Path(self.file)).get(self.operator.name, []))

    def fact_calls(self, fact: Fact) -> Iterator[tuple[Case, Tuple]]:
        """The calls that a fact is about: those near the sample, or its own sample."""
        if not fact.sample:
            calls = self.reference_calls if fact.silent else self.near_calls
            legal = (each for each in calls if each[0].is_legal)
            yield from (each for each in legal if fact_applies(fact, bound_of(each[0])))
            return
        other = replace(self.operator, sample={**self.operator.sample, **fact.sample})
        for types in self.tuples:
            if fact_applies(fact, bind(other, types)):
                case = sample_case(other, self.function(other.name), types)
                if case.is_legal:
                    yield case, types

"""Sample engines: an operator's samples share as few engine builds as possible.

Invariant: what is wrong with one sample is said of that one. A build that fails is tried in halves.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from tripybuild.schema.operator.dtype_combinations import Tuple
from tripybuild.schema.operator.operator import Fact, Operator
from tripybuild.testing import batch
from tripybuild.testing.cases import Case, Function, sample_case
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.engines.layer_builds import engine_problems, has_tensorrt, type_mismatches
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import ENGINE, refusal_mismatches, refusals


class SampleEngines:
    """The samples of legal tuples of dtypes."""

    def __init__(self, operator: Operator, function: Function, tuples: Sequence[Tuple]) -> None:
        self.operator, self.function, self.tuples = operator, function, tuples

    def problems(self, types: str) -> Iterator[str]:
        """What is wrong with the engine of a sample, or with the reasons for which it has none."""
        for case, found in self._all.items():
            if case.types != types:
                continue
            can_build = has_tensorrt()
            if not found:
                count_check()
                yield from type_mismatches(case.graph)
                yield from self._build_problems.get(case, [])
            elif can_build:
                count_check()
                yield from refusal_mismatches(found, list(engine_problems(case.graph)))

    @cached_property
    def _all(self) -> Mapping[Case, Mapping[str, Fact]]:
        """The samples, and why TensorRT refuses them."""
        return {
            sample_case(self.operator, self.function, each): refusals(
                self.operator, ENGINE, bind(self.operator, each)
            )
            for each in self.tuples
        }

    @cached_property
    def _build_problems(self) -> Mapping[Case, list[str]]:
        """What is wrong with the engines of samples that are not refused."""
        return batch.build_problems([case for case, found in self._all.items() if not found])

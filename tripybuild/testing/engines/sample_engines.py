"""The engines of an operator's samples: what TensorRT should build shares builds, and is fast so.

Law: what is wrong with one sample is said of that one. A build that fails is tried in halves.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from tripybuild.schema.operator.dtype_combinations import legal
from tripybuild.schema.operator.operator import Fact, Operator
from tripybuild.testing import batch
from tripybuild.testing.cases import Case, Function, sample_case
from tripybuild.testing.engines.layer_builds import available, engine_problems, undeclared
from tripybuild.testing.question_log import asked
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import ENGINE, refusals, unproved


class Samples:
    """The sample of each legal tuple of dtypes."""

    def __init__(self, operator: Operator, function: Function) -> None:
        self.operator, self.function = operator, function

    def wrong(self, types: str) -> Iterator[str]:
        """What is wrong with the engine of a sample, or with the reasons for which it has none."""
        for case, found in self._all.items():
            if case.types != types:
                continue
            can_build = available()
            if not found:
                asked()
                yield from undeclared(case.graph)
                yield from self._unbuilt.get(case, [])
            elif can_build:
                asked()
                yield from unproved(found, list(engine_problems(case.graph)))

    @cached_property
    def _all(self) -> Mapping[Case, Mapping[str, Fact]]:
        """The samples, and why TensorRT refuses them."""
        return {
            sample_case(self.operator, self.function, each): refusals(
                self.operator, ENGINE, bind(self.operator, each)
            )
            for each in legal(self.operator)
        }

    @cached_property
    def _unbuilt(self) -> Mapping[Case, list[str]]:
        """What is wrong with the engines of samples that are not refused."""
        return batch.unbuilt([case for case, found in self._all.items() if not found])

"""TensorRT checks of one operator.

The samples share builds: one that fails is tried in halves, so that a fault is said of its sample.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.operator.dtype_combinations import (
    Tuple,
    illegal_tuples,
    legal_tuples,
    mismatched_tuples,
)
from tripybuild.schema.operator.operator import Fact, Operator
from tripybuild.schema.operator.samples import Place, format_place, size_places
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.testing import batch, examples
from tripybuild.testing.cases import Case, Function, sample_case, size_at
from tripybuild.testing.check_counts import (
    count_check,
    error_line,
    refuse,
    require_distributions,
    skip_empty,
    suite_check,
)
from tripybuild.testing.engines import conformance
from tripybuild.testing.engines.build_outcome import BUILDS
from tripybuild.testing.engines.gpu_engines import gated_samples, gpu_problems
from tripybuild.testing.engines.layer_builds import (
    TARGET,
    engine_problems,
    has_tensorrt,
    type_mismatches,
)
from tripybuild.testing.engines.operator_facts import OperatorFacts
from tripybuild.testing.engines.support_table import ANY_GPU, YES, key
from tripybuild.testing.pairwise import cover, is_full
from tripybuild.testing.sample import BoundSample, bind
from tripybuild.testing.symbolic import SYMBOL, DynamicSample, dynamic_sample
from tripybuild.testing.target_facts import (
    ENGINE,
    is_static,
    matches_refusal,
    refusal_mismatches,
    refusals,
    refuses_call,
)


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


# The GPU that is asked in each run: the oldest with all dtypes that nvtripy has.
COMMON_GPU = "sm89"


class TensorrtChecks(OperatorFacts):
    """TensorRT checks of one operator."""

    @suite_check
    def check_tensorrt_refusals(self) -> None:
        """TensorRT refuses each tuple that is not legal, but for what `targets:` says it builds."""
        require_distributions(TARGET)
        tuples = self.refused_tuples
        refuse(conformance.wrong_refusals(self.subject, self._table_level, tuples))

    @cached_property
    def refused_tuples(self) -> list[Tuple]:
        """Illegal dtype tuples that TensorRT is asked about.

        Where the support table has what it says of each, they are a sample: each dtype of each slot
        occurs with each verdict that it has.
        """
        illegal = [types for types, _ in illegal_tuples(self.operator)]
        mismatched = [types for types, _ in mismatched_tuples(self.operator)]
        if not self.support_rows:
            return [*self.sample(illegal), *mismatched]
        tuples = [*illegal, *mismatched]
        if self.exhaustive or is_full():
            return tuples
        levels = map(self._table_level, tuples)
        traits = [
            frozenset((name, str(type), level) for name, type in types.items())
            for types, level in zip(tuples, levels, strict=True)
        ]
        return [tuples[at] for at in cover(traits)]

    @suite_check
    def check_tensorrt_gpus(self) -> None:
        """A GPU that many have builds the samples of dtypes that not every GPU has."""
        require_distributions(TARGET)
        gated = gated_samples(self.subject)
        if not gated:
            skip_empty("every GPU has the dtypes of all samples")
        refuse(gpu_problems(self.subject, gated, COMMON_GPU))

    @suite_check
    def check_tensorrt_facts(self) -> None:
        """Each fact below `targets:` has a case that shows it."""
        require_distributions(TARGET)
        refuse([*conformance.wrong_facts(self.subject), *self._unseen_facts()])

    def _unseen_facts(self) -> Iterator[str]:
        """The facts that neither types nor sizes say, and of which no example is a case."""
        for fact in conformance.example_refusals(self.operator):
            count_check()
            problems = [each for found in self._example_problems.values() for each in found]
            if not any(says in problem for says in fact.says for problem in problems):
                yield f"{fact.name}: no example is such a case"

    def _table_level(self, types: Tuple) -> str | None:
        """How far the support table says that a network of a tuple comes."""
        row = self.support_rows.get(key(self.operator, types))
        said = row[ANY_GPU] if row else None
        return BUILDS if said == YES else said

    @suite_check
    def check_tensorrt_symbol(self, size: str) -> None:
        """TensorRT builds the sample with a size that is a symbol."""
        place = self.place(size)
        if refuses_call(self.operator, ENGINE, self._lead):
            skip_empty("TensorRT is declared to refuse the sample")
        if size_at(self.operator, place) == 0:
            skip_empty("no profile has an `opt` of 0")
        refuse(self._dynamic_problems(place))

    def _dynamic_problems(self, place: Place) -> Iterator[str]:
        """What TensorRT says when the size at one place is dynamic."""
        sample = self._dynamic_samples[place]
        if isinstance(sample, Exception):
            yield error_line(sample)
            return
        count_check()
        if not self._is_static(place):
            has_tensorrt()
            yield from self._dynamic_builds.get(sample, [])
        elif not list(engine_problems(sample.graph, sample.profile)) and has_tensorrt():
            yield f"TensorRT builds it with a dynamic `{format_place(place)}`, declared static"

    def _is_static(self, place: Place) -> bool:
        return is_static(self.operator, "tensorrt", place, self._lead)

    @cached_property
    def _lead(self) -> BoundSample:
        """The sample in the first tuple of dtypes."""
        return bind(self.operator, legal_tuples(self.operator)[0])

    @cached_property
    def _dynamic_samples(self) -> Mapping[Place, DynamicSample | Exception]:
        """The sample with a dynamic size, for each place of one: symbols of as many names.

        Sizes of 0 have none: no profile has an `opt` of 0.
        """
        function = self.function(self.operator.name)
        found: dict[Place, DynamicSample | Exception] = {}
        for index, place in enumerate(size_places(self.operator)):
            if size_at(self.operator, place) == 0:
                continue
            try:
                found[place] = dynamic_sample(self.operator, function, place, f"{SYMBOL}{index}")
            except (DiagnosticError, UndecidedSize) as error:
                found[place] = error
        return found

    @cached_property
    def _dynamic_builds(self) -> Mapping[DynamicSample, list[str]]:
        """What is wrong with the engines of dynamic sizes, which are built together."""
        cases = [
            sample
            for place, sample in self._dynamic_samples.items()
            if not isinstance(sample, Exception) and not self._is_static(place)
        ]
        profile = {name: size for case in cases for name, size in case.profile.items()}
        return batch.build_problems(cases, profile=profile)

    @cached_property
    def _samples(self) -> SampleEngines:
        return SampleEngines(self.operator, self.function(self.operator.name), self.engine_tuples)

    @suite_check
    def check_tensorrt(self, types: str) -> None:
        """TensorRT builds the sample, with the dtypes and shapes that were inferred."""
        refuse(self._samples.problems(types))

    @suite_check
    def check_tensorrt_example(self, call: str) -> None:
        """TensorRT builds an example, or refuses it as the declaration says."""
        for example in self.operator.examples:
            if examples.format_example(example) == call and example.gives is not None:
                if isinstance(made := self.try_example(example), DiagnosticError):
                    raise AssertionError(error_line(made))
                has_tensorrt()
                count_check()
                found = self._example_problems.get(self.example_cases[call], [])
                refuse(each for each in found if not matches_refusal(self.operator, ENGINE, each))

    @cached_property
    def _example_problems(self) -> Mapping[examples.ExampleCase, list[str]]:
        """What is wrong with the engines of examples, which are built together."""
        return batch.build_problems([*self.example_cases.values()])

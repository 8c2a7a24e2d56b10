"""Operator under test: its declaration, function and examples.

Calls report the declaration as their location, and the running line of its decomposition.
"""

import ast
import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from types import CodeType

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.language.evaluate import EvaluationError
from tripybuild.language.program import statements
from tripybuild.reference.execute import execute
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.operator.dtype_combinations import (
    Tuple,
    engine_tuples,
    format_tuple,
    is_host_only,
    is_pairwise,
    legal_tuples,
)
from tripybuild.schema.operator.operator import Example, Operator
from tripybuild.schema.operator.samples import Place, format_place as spell_place, size_places
from tripybuild.testing import examples
from tripybuild.testing.cases import Case, Function, sample_case, variations
from tripybuild.testing.pairwise import sample_tuples
from tripybuild.testing.registry import suite_registry
from tripybuild.trace.location import at

# Of more tuples than this, the calls near the sample are made for the first of each kind only.
MANY = 24
# Below a generated package, what says an operator with others.
_LAYERS = ("ops", "decompositions")


@dataclass(frozen=True, slots=True)
class DeclarationLocation:
    """The declaration of an operator, as a location."""

    operator: Operator

    @property
    def label(self) -> str:
        """The operator's name."""
        return self.operator.name

    @property
    def part(self) -> str:
        """It is in no part of a model."""
        return ""

    def span(self) -> Span:
        """The line of the decomposition that is running, or the whole of it, or the name."""
        snippet = self.operator.decompose
        if snippet is None:
            return self.operator.document.span(("op",))
        steps = statements(snippet.program)
        running = next(self._active_statements(len(steps)), None)
        return snippet.span(None if running is None else steps[running])

    def _active_statements(self, count: int) -> Iterator[int]:
        """Which statement of the decomposition is running, in frames from the nearest."""
        file = "/".join(filter(None, [self.operator.folder, f"{self.operator.name}.py"]))
        own = tuple(f"/{layer}/{file}" for layer in _LAYERS)
        frame = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
        while frame := frame.f_back:  # type: ignore[assignment]
            if frame.f_code.co_filename.endswith(own):
                lines = _last_lines(frame.f_code, count)
                yield from (i for i, each in enumerate(lines) if frame.f_lineno in each)


@lru_cache(maxsize=64)
def _last_lines(code: CodeType, count: int) -> tuple[range, ...]:
    """The lines of the last statements of a function: those of its snippet, behind the checks."""
    module = ast.parse("".join(linecache.getlines(code.co_filename)))
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            ends = ((each.lineno, each.end_lineno or each.lineno) for each in node.body[-count:])
            return tuple(range(first, last + 1) for first, last in ends)
    return ()


class OperatorUnderTest:
    """One operator, below the questions about it.

    Args:
        source: The declaration, such as `ops_registry/nn/softmax.yaml`.
        package: The generated package.
        file: The file of the suite; the registry is found in a folder above it.
        exhaustive: Whether every tuple of dtypes is asked, and the calls near the sample are made
            for each and not for the first of each kind only.
    """

    def __init__(self, source: str, package: str, file: str, *, exhaustive: bool = False) -> None:
        self.source, self.package, self.file = source, package, file
        self.exhaustive = exhaustive
        self._reference_results: dict[Case, list[Array]] = {}

    @cached_property
    def operator(self) -> Operator:
        """The declaration."""
        return next(o for o in self.operators.values() if o.path == self.source)

    @cached_property
    def operators(self) -> Mapping[str, Operator]:
        """All declarations that the package can use."""
        return suite_registry(self.source, self.file).operators

    @cached_property
    def tuples(self) -> list[Tuple]:
        """Legal dtype tuples under test, those that not every target has last."""
        return [*self.engine_tuples, *self.host_tuples]

    @cached_property
    def engine_tuples(self) -> list[Tuple]:
        """Legal dtype tuples under test that every target has."""
        return self.sample(engine_tuples(self.operator))

    @cached_property
    def host_tuples(self) -> list[Tuple]:
        """Legal dtype tuples under test of the CPU's engines alone: each pair of dtypes occurs."""
        found = [types for types in legal_tuples(self.operator) if is_host_only(types)]
        asked = {format_tuple(each) for each in found}
        if not self.exhaustive:
            asked = set(sample_tuples([format_tuple(each) for each in found]))
        return [each for each in found if format_tuple(each) in asked]

    @cached_property
    def near_calls(self) -> list[tuple[Case, Tuple]]:
        """The sample of each tuple under test, and calls near it.

        For tuples whose dtypes are of the same kinds, the first one has more of them.
        """
        found: list[tuple[Case, Tuple]] = []
        seen: set[tuple[str, ...]] = set()
        function = self.function(self.operator.name)
        for types in self.tuples:
            kinds = tuple(each.kind for each in types.values())
            every = kinds not in seen or self.exhaustive
            many = len(self.engine_tuples) > MANY or is_host_only(types)
            if not every and many:
                found.append((sample_case(self.operator, function, types), types))
                continue
            near = variations(self.operator, function, types, every=every)
            found += [(case, types) for case in near]
            seen.add(kinds)
        return found

    def reference_results(self, case: Case) -> list[Array]:
        """What the reference gives for a call, which it computes once.

        Raises:
            DiagnosticError: Where it gives nothing.
        """
        if case not in self._reference_results:
            self._reference_results[case] = list(execute(case.graph, case.data).values())
        return self._reference_results[case]

    def sample(self, tuples: Sequence[Tuple]) -> list[Tuple]:
        """Of dtype tuples those that are asked."""
        if self.exhaustive or not is_pairwise(self.operator):
            return list(tuples)
        asked = set(sample_tuples([format_tuple(each) for each in tuples]))
        return [each for each in tuples if format_tuple(each) in asked]

    def location_context(self) -> AbstractContextManager[None]:
        """Call operators at the declaration."""
        return at(DeclarationLocation(self.operator))

    def function(self, name: str) -> Function:
        """The public function of an operator."""
        own = getattr(import_module(self.package), name, None)
        found: Function = own if own is not None else getattr(import_module("tripyapi"), name)
        return found

    def place(self, size: str) -> Place:
        """Where a size stands that a test names."""
        return next(p for p in size_places(self.operator) if spell_place(p) == size)

    def try_example(self, example: Example) -> examples.ExampleCase | DiagnosticError:
        """The call of an example, or its diagnostics."""
        try:
            return self.run_example(example)
        except DiagnosticError as error:
            return error
        except EvaluationError as error:
            return DiagnosticError(Diagnostic("bad-example", str(error), example.call.span()))

    @cached_property
    def example_cases(self) -> Mapping[str, examples.ExampleCase]:
        """The calls of the examples that give something and are not refused, by their texts."""
        giving = [each for each in self.operator.examples if each.gives is not None]
        made = [self.try_example(each) for each in giving]
        return {each.label: each for each in made if not isinstance(each, DiagnosticError)}

    def run_example(self, example: Example) -> examples.ExampleCase:
        """The call of an example.

        Raises:
            DiagnosticError: Where the declaration refuses it.
        """
        return examples.example_case(example, self.operators, self.function)

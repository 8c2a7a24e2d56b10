"""Operator under test: its declaration, function and examples."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.evaluate import EvaluationError
from tripybuild.schema.operator.dtype_combinations import (
    Tuple,
    format_tuple,
    illegal_tuples,
    is_pairwise,
    legal_tuples,
    mismatched_tuples,
)
from tripybuild.schema.operator.operator import Example, Operator
from tripybuild.schema.operator.samples import Place, format_place as spell_place, size_places
from tripybuild.testing import examples
from tripybuild.testing.cases import Function
from tripybuild.testing.declaration_location import DeclarationLocation
from tripybuild.testing.pairwise import sampled
from tripybuild.testing.registry import suite_registry
from tripybuild.trace.location import at


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
        """The legal tuples of dtypes that are asked."""
        return self._sample(legal_tuples(self.operator))

    @cached_property
    def refused_tuples(self) -> list[Tuple]:
        """The tuples that the declaration refuses and of which engines are asked."""
        illegal = [types for types, _ in illegal_tuples(self.operator)]
        mismatched = [types for types, _ in mismatched_tuples(self.operator)]
        return [*self._sample(illegal), *mismatched]

    def _sample(self, tuples: Sequence[Tuple]) -> list[Tuple]:
        if self.exhaustive or not is_pairwise(self.operator):
            return list(tuples)
        asked = set(sampled([format_tuple(each) for each in tuples]))
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
        """The call of an example, or what is said against it."""
        try:
            return self.run_example(example)
        except DiagnosticError as error:
            return error
        except EvaluationError as error:
            return DiagnosticError(Diagnostic("bad-example", str(error), example.call.span()))

    def run_example(self, example: Example) -> examples.ExampleCase:
        """The call of an example.

        Raises:
            DiagnosticError: Where the declaration refuses it.
        """
        return examples.example_case(example, self.operators, self.function)

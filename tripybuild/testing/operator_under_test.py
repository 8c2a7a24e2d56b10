"""Operator under test: its declaration, function and examples."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.evaluate import EvaluationError
from tripybuild.schema.operator.operator import Example, Operator
from tripybuild.schema.operator.samples import Place, format_place as spell_place, size_places
from tripybuild.testing import examples
from tripybuild.testing.cases import Function
from tripybuild.testing.declaration_location import DeclarationLocation
from tripybuild.testing.registry import suite_registry
from tripybuild.trace.location import at


class OperatorUnderTest:
    """One operator, below the questions about it.

    Args:
        source: The declaration, such as `ops_registry/nn/softmax.yaml`.
        package: The generated package.
        file: The file of the suite; the registry is found in a folder above it.
        exhaustive: Whether the calls near the sample are made for each tuple of dtypes, and not for
            the first of each kind only.
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

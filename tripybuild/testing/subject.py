"""An operator as the questions of its suite see it: its declaration, its function, its examples."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.evaluate import EvaluationError
from tripybuild.schema.operator.operator import Example, Operator
from tripybuild.schema.operator.samples import Place, places, spell as spell_place
from tripybuild.testing import examples
from tripybuild.testing.call_sites import DeclarationPlace
from tripybuild.testing.cases import Function
from tripybuild.testing.registry import declared_in
from tripybuild.trace.location import at


class Declared:
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
        return declared_in(self.source, self.file).operators

    def placed(self) -> AbstractContextManager[None]:
        """Call operators at the declaration."""
        return at(DeclarationPlace(self.operator))

    def function(self, name: str) -> Function:
        """The public function of an operator."""
        own = getattr(import_module(self.package), name, None)
        found: Function = own if own is not None else getattr(import_module("tripyapi"), name)
        return found

    def place(self, size: str) -> Place:
        """Where a size stands that a test names."""
        return next(p for p in places(self.operator) if spell_place(p) == size)

    def made_example(self, example: Example) -> examples.ExampleCase | DiagnosticError:
        """The call of an example, or what is said against it."""
        try:
            return self.called(example)
        except DiagnosticError as error:
            return error
        except EvaluationError as error:
            return DiagnosticError(Diagnostic("bad-example", str(error), example.call.span()))

    def called(self, example: Example) -> examples.ExampleCase:
        """The call of an example.

        Raises:
            DiagnosticError: Where the declaration refuses it.
        """
        return examples.example_case(example, self.operators, self.function)

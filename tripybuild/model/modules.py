"""Modules in specifications: instances of the classes that are generated from registries.

Invariant: a specification calls a module and reads what its declaration names. It reaches nothing
else of the class.
"""

import operator
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import partial
from inspect import signature
from typing import Any, ClassVar

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.frontend import Tensor
from tripybuild.frontend.binding import CallError
from tripybuild.frontend.checks.check import Check
from tripybuild.frontend.checks.messages import law_message
from tripybuild.frontend.guard import refuse_arguments
from tripybuild.frontend.record import Given, InlineCheck, use_checks
from tripybuild.model.chains import Chain
from tripybuild.model.context import BuildContext, NonterminationError
from tripybuild.model.templates import Repeatable, identity_items
from tripybuild.trace.location import Location
from tripybuild.trace.operation import Declaration, DeferredLaw
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import dtype


class _ModuleCheck(InlineCheck):
    """The checks of a module, whose open laws hold whether or not an output depends on it."""

    def __init__(
        self, laws: list[DeferredLaw], declaration: Declaration, location: Location
    ) -> None:
        super().__init__(declaration, location)
        self.deferred = laws

    def finish(self, result: Given) -> Given:
        """Leave the open laws to the graph."""
        return result


@dataclass(frozen=True, slots=True, eq=False)
class ModuleTemplate(Repeatable):
    """A module's class, with the dtypes of its maker and the arguments that it is made with."""

    NOUN: ClassVar = "a module"  # in messages of snippets

    kind: Any
    types: Mapping[str, dtype]
    given: Sequence[object] = ()
    named: Mapping[str, object] | None = None

    @property
    def name(self) -> str:
        """The name of the class."""
        name: str = self.kind.__name__
        return name

    @property
    def holds_members(self) -> bool:
        """Whether modules of the class have sizes, weights or parts."""
        return any(each.name not in self.kind._variables for each in fields(self.kind))  # noqa: SLF001 - of a generated class

    def identity(self) -> tuple[object, ...]:
        """Modules of several dtypes can have the same arguments."""
        types, named = identity_items(self.types), identity_items(self.named or {})
        given = identity_items({str(index): each for index, each in enumerate(self.given)})
        return (id(self.kind), *types, *given, *named)

    def __call__(self, /, *given: object, **named: object) -> "ModuleTemplate":
        """`Linear(width, 3 * width, bias=False)`: bind the arguments, which the class checks."""
        bound = replace(self, given=given, named=named)
        self.context.memoize(bound, bound.make)
        return bound

    def make(self) -> Any:
        """A module whose weights have no path.

        Raises:
            DiagnosticError: The class refuses the arguments.
        """
        module = object.__new__(self.kind)
        given, named = self.given, dict(self.named or {})
        bound = list(signature(self.kind).parameters)
        for variable, name in self.kind._variables.items():  # noqa: SLF001 - of a generated class
            if variable in self.types and name in bound[len(given) :]:
                named.setdefault(name, self.types[variable])
            elif variable in self.types and name not in bound:
                vars(module)[name] = self.types[variable]
        try:
            module.__init__(*given, **named)
        except RecursionError as error:
            message = f"`{self.name}` contains itself"
            place = self.context.current_span()
            raise NonterminationError(Diagnostic("cyclic-parts", message, place)) from error
        except DiagnosticError:
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            reason = str(error)[:300] or type(error).__name__
            message, place = f"`{self.name}`: {reason}", self.context.current_span()
            raise DiagnosticError(Diagnostic("snippet-evaluation", message, place)) from error
        return module

    def __repr__(self) -> str:
        return f"the module `{self.name}`"


class ModuleInstance:
    """A module with a path, below which its weights are."""

    NOUN: ClassVar = "a part"  # in messages of snippets

    def __init__(
        self, context: BuildContext, module: Any, path: str, caller: str | None = None
    ) -> None:
        self._context, self._module, self._path = context, copy(module), path
        self._home = path if caller is None else caller  # the part that its operations are of
        self._members = {
            field.name: self._member(getattr(module, field.name), f"{path}.{field.name}")
            for field in fields(module)
        }
        vars(self._module).update(self._members)
        self._checks = partial(_ModuleCheck, context.laws)

    def _member(self, value: Any, path: str) -> Any:
        """What an attribute of the module is in a specification: weights get their names."""
        spend("members")
        if isinstance(value, Tensor):
            weight = self._context.weights[path] = Value(value.type, name=path, weight=True)
            self._context.origins.add(path)
            return Tensor.of(weight)
        if isinstance(value, (list, tuple)):
            items = [self._member(each, f"{path}.{i}") for i, each in enumerate(value)]
            parts = isinstance(value, list) or any(map(operator.is_not, items, value))
            return Chain(self._context, path, items) if parts else value  # a tuple of sizes
        if hasattr(value, "named_parameters"):
            return ModuleInstance(self._context, value, path)
        return value

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or name not in self._members:
            near = suggest(name, self._members)
            meant = f"; did you mean `{near}`?" if near else ""
            kind = type(self._module).__name__
            raise AttributeError(f"`{kind}` has no part and no weight `{name}`{meant}")
        return self._members[name]

    def __call__(self, /, *given: object, **named: object) -> object:
        """Run the module."""
        before = len(self._context.laws)
        with self._context.relabel(self._path, self._home), use_checks(Check, self._checks):
            try:
                result = self._module(*given, **named)
            except CallError:
                refuse_arguments(type(self._module).__name__, self._module.forward, given, named)
                raise
        self._refuse_undecidable(self._context.laws[before:])
        return self._context.observe_call(self._path, result)

    def _refuse_undecidable(self, laws: Sequence[DeferredLaw]) -> None:
        """Refuse laws of the module about sizes that depend on data, which no call tells.

        Those of operators inside of it are left open, as outside of modules.
        """
        names = {each.__name__ for each in type(self._module).__mro__}
        for law in laws:
            owner = law.code.partition("/")[0]
            if owner in names and not law.symbols <= self._context.symbols:
                text = law_message(owner, law.law, law.names)[0].partition(", but got ")[0]
                message = f"{text}, and whether it is so depends on data"
                notes, place = (f"required by {law.source}",), self._context.current_span()
                raise DiagnosticError(Diagnostic("undecided-size", message, place, "", notes))

    def __repr__(self) -> str:
        return f"the part `{self._path}`"

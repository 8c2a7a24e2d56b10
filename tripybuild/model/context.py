"""Build context shared by all parts of a model: sizes, names, weights, and diagnostics."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from inspect import signature
from pathlib import Path
from types import FunctionType
from typing import Any, ClassVar, TypeVar

from tripybuild.documents.document import Document
from tripybuild.errors.budget import BudgetError, spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.errors.limits import budget_diagnostic, first_problems
from tripybuild.frontend.checks.habits import habit, meant_name, spec_habit
from tripybuild.frontend.checks.messages import number_hint
from tripybuild.frontend.tensor import Tensor
from tripybuild.language.blame import blamed_part
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.records import Record
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.model.weight_origins import WeightOrigins
from tripybuild.schema.operator.operator import Location, Snippet
from tripybuild.schema.operator.part import Part
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import at
from tripybuild.trace.operation import DeferredLaw
from tripybuild.trace.values import Value, in_region
from tripybuild.types.dtypes import dtype


class SkipStep(Exception):  # noqa: N818 - it is no error: what it depends on has been reported
    """A value is missing because of a problem that has been reported already."""


class NonterminationError(DiagnosticError):
    """Work without end. Going on to find more that is wrong would take for ever, too."""


@dataclass(frozen=True, slots=True)
class StepLocation:
    """A step of a specification: its path, and the expression in the user's file.

    `part` is the path of the part that runs, be it through a definition without a path of its own.
    """

    label: str
    snippet: Snippet
    part: str = ""

    def span(self) -> Span:
        """The expression of the step."""
        return _span(self.snippet)


@lru_cache(maxsize=4096)
def _span(snippet: Snippet) -> Span:
    """A step records many operations, and they share its place."""
    return snippet.span()


Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, eq=False)
class FileScope:
    """What the parts of one file see beside their own names."""

    sizes: Mapping[str, object] = field(default_factory=dict)
    types: Mapping[str, dtype] = field(default_factory=dict)
    define: Mapping[str, Part] = field(default_factory=dict)


class FallbackNames(dict[str, Any]):
    """The names of a step: its part's own, then whatever `fallback` knows."""

    def __init__(self, local: Mapping[str, object], fallback: Callable[[str], Any]) -> None:
        super().__init__(local)
        self.fallback = fallback

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or self._resolve(name)

    def _resolve(self, name: object) -> bool:
        value = self.fallback(str(name))
        if value is None:
            return False
        self[str(name)] = value
        return True


# Is told what the value at a location of a file is: of sizes, inputs, weights, parts and steps. A
# part is its path where it is made, and what it gives where it is called.
Observer = Callable[[Document, Location, object], None]


def observe_nothing(_document: Document, _location: Location, _value: object) -> None:
    """Observer of a build of which only the graph is wanted."""


class BuildContext:
    """The state of one build. Parts come and go; this stays."""

    DEEPEST: ClassVar[int] = 64

    def __init__(
        self, document: Document, types: Mapping[str, dtype], vocabulary: Vocabulary
    ) -> None:
        self.document = document
        self.sizes: dict[str, object] = {}
        self.types = dict(types)
        self.vocabulary = vocabulary
        self.templates: Callable[[FileScope, str], Any] = lambda scope, name: None  # noqa: ARG005
        self.functions: Callable[[FileScope, str], Any] = lambda scope, name: None  # noqa: ARG005
        self.known: Callable[[FileScope], frozenset[str]] = lambda scope: frozenset()  # noqa: ARG005
        self.translate: Callable[[str], str | None] = lambda name: None  # noqa: ARG005
        self._scopes: dict[int, FileScope] = {}
        self.outermost: frozenset[Part] = frozenset()  # the model itself, as each entry has it
        self.dynamic: frozenset[str] = frozenset()  # also those that a caller made numbers
        self.symbols: frozenset[str] = frozenset()
        self.laws: list[DeferredLaw] = []
        self.weights: dict[str, Value] = {}
        self.origins = WeightOrigins()
        self.prepared: dict[str, Graph] = {}  # how those of the weights are computed that are
        self.states: dict[str, Value] = {}
        self.state_paths: dict[str, bool | float | None] = {}  # with the numbers that they begin as
        self.state_lines: dict[str, Callable[[], Span]] = {}
        self.updates: dict[str, Value] = {}
        self.constants: set[Value] = set()
        self.constant_octets = 0
        self.made: dict[object, Any] = {}
        self.recordings: dict[object, Any] = {}
        self.found: list[Diagnostic] = []
        self.observe: Observer = observe_nothing
        self.results: list[tuple[str, Value]] | None = None  # of steps and parts, where it is asked
        self.members: dict[str, Snippet] = {}
        """The expression of each part that has a name, by its path."""
        self._reported: set[object] = set()
        self.making: list[Part] = []
        self.running: list[Part] = []
        self.part_path = ""
        self._place: StepLocation | None = None
        self._callers: list[StepLocation] = []

    # --- places ---

    @property
    def current_snippet(self) -> Snippet | None:
        """The snippet of the user's files that is being worked on."""
        return None if self._place is None else self._place.snippet

    @property
    def current_location(self) -> StepLocation | None:
        """The step that is being worked on."""
        return self._place

    def current_span(self) -> Span:
        """The expression of the user's files that is being worked on."""
        return self.document.span(()) if self._place is None else self._place.span()

    def relative_path(self, path: str) -> str:
        """The path of a file from the model's folder, which is the same wherever that is."""
        folder, file = Path(self.document.path).parent, Path(path)
        return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else path

    @contextmanager
    def at(self, snippet: Snippet, label: str) -> Iterator[None]:
        """Work on a snippet."""
        before = self._place
        self._place = StepLocation(label, snippet, self.part_path)
        entered = before is not None and before.snippet.document is not snippet.document
        if before is not None and entered:
            self._callers.append(before)
        try:
            with at(self._place):
                yield
        except BudgetError as error:
            raise NonterminationError(budget_diagnostic(error, self.current_span())) from error
        finally:
            self._place = before
            if entered:
                self._callers.pop()

    @contextmanager
    def relabel(self, label: str, part: str) -> Iterator[None]:
        """Work on the same snippet, for a part of this path."""
        assert self._place is not None
        with at(StepLocation(label, self._place.snippet, part)):
            yield

    @contextmanager
    def run_part(self, path: str) -> Iterator[None]:
        """Work on the steps of the part of this path."""
        before, self.part_path = self.part_path, path
        try:
            yield
        finally:
            self.part_path = before

    @contextmanager
    def enter_part(self, stack: list[Part], part: Part, what: str) -> Iterator[None]:
        """Make or run a part, which may not go on without end.

        Raises:
            NonterminationError: Where parts are nested too deeply.
        """
        spend("members")
        if len(stack) >= self.DEEPEST:
            way = " -> ".join(part.name for part in stack[-4:])
            message = f"`{part.name}` {what} itself: {way} -> ..."
            raise NonterminationError(Diagnostic("cyclic-parts", message, self.current_span()))
        stack.append(part)
        try:
            yield
        finally:
            stack.pop()

    def keep_result(self, name: str, result: object) -> None:
        """Keep what a step or a part gave; within loops and branches nothing has a name."""
        if self.results is not None and isinstance(result, Tensor) and not in_region():
            self.results.append((name, result.value))

    def observe_call(self, path: str, result: Made) -> Made:
        """Say what the part of this path gave, and give it back."""
        self.keep_result(path, result)
        if (snippet := self.members.get(path)) is not None:
            self.observe(snippet.document, snippet.location, result)
        return result

    def report(self, error: DiagnosticError) -> None:
        """Keep diagnostics, each once: a part that is repeated fails the same way each time."""
        for each in error.diagnostics:
            key = (each.code, each.message, each.span, each.label)
            if key not in self._reported:
                self._reported.add(key)
                self.found.append(replace(each, notes=(*each.notes, *self._use_sites(each.span))))

    def failure(self) -> DiagnosticError:
        """What has been found, as the error that ends the build."""
        return DiagnosticError(*first_problems(self.found))

    def _use_sites(self, span: Span | None) -> Iterator[str]:
        """The steps that led to a problem in a used file, from the nearest to the model's own."""
        path = None if span is None else span.path
        for caller in reversed([*self._callers, *filter(None, [self._place])]):
            if path is not None and caller.snippet.document.path != path:
                path = caller.snippet.document.path
                yield f"used by `{caller.label}` at {caller.span()}"

    # --- names and values ---

    def open_scope(self, document: Document, scope: FileScope) -> None:
        """Say what the parts of a user's file see."""
        self._scopes[id(document)] = scope

    def scope(self, part: Part) -> FileScope:
        """Names visible to a part: its own file's."""
        return self._scopes[id(part.document)]

    def file_scope(self, document: Document) -> FileScope:
        """Names visible to the parts of a file."""
        return self._scopes[id(document)]

    def instantiation_names(self, scope: FileScope, local: Mapping[str, object]) -> FallbackNames:
        """The names of a part's expression: definitions, modules and sizes."""
        return FallbackNames({**scope.types, **local}, partial(self.templates, scope))

    def step_names(self, scope: FileScope, local: Mapping[str, object]) -> FallbackNames:
        """The names of a step: the part's own, definitions without parts, and operators."""
        return FallbackNames(local, partial(self.functions, scope))

    def evaluate(self, snippet: Snippet, names: Mapping[str, object]) -> Any:
        """The value of a snippet.

        Raises:
            DiagnosticError: Where it has none, at the part of the snippet that is at fault.
        """
        blamed: list[ast.AST] = []
        try:
            return evaluate(
                snippet.program, names, self.vocabulary, passes=(SkipStep,), blamed=blamed
            )
        except NonterminationError:
            raise
        except DiagnosticError as error:
            whole = _span(snippet)
            if not blamed or all(each.span != whole for each in error.diagnostics):
                raise
            raise _narrowed(error, snippet, blamed) from error
        except EvaluationError as error:
            span = snippet.span(error.node)
            hint = error.hint or self._hint(error, snippet, names)
            raise DiagnosticError(Diagnostic(error.code, error.message, span, hint=hint)) from error
        except UndecidedSize as undecided:
            raise DiagnosticError(
                Diagnostic(
                    "undecided-size",
                    f"whether `{undecided.condition}` holds is known only when the model runs",
                    _blamed_span(snippet, blamed),
                    hint="give the size a range that decides it, or make it a fixed size",
                )
            ) from undecided

    def _hint(
        self, error: EvaluationError, snippet: Snippet, names: Mapping[str, object]
    ) -> str | None:
        """The name that was meant, or the arguments that a function takes."""
        match error.node:
            case ast.Name(id=name) if error.code == "unbound-name":
                scope = self._scopes[id(snippet.document)]
                if hint := habit("spec", name) or _later_step(snippet, name):
                    return hint
                for part in scope.define.values():
                    if name in part.state:
                        return f"`{name}` is state of `{part.name}`: read it as `PART.{name}`"
                near = meant_name(name, self.known(scope), self.translate, names)
                if snippet.location[0] == "sizes" and len(snippet.location) > 2:  # in a record
                    return _word_hint(name, near)
                return f"did you mean `{near}`?" if near else None
            case ast.Attribute(attr=name) if error.__cause__ is None:
                if error.message.startswith(f"{Tensor.NOUN} ") and (hint := spec_habit(name)):
                    return hint
                if name in self.known(self._scopes[id(snippet.document)]):
                    return f"`{name}` is a function, no method: `{name}(...)`"
                if other := self.translate(name):
                    return f"did you mean the function `{other}(...)`?"
            case ast.BinOp() if any(isinstance(each, Record) for each in error.operands):
                return next(each.read_hint() for each in error.operands if isinstance(each, Record))
            case ast.BinOp() if isinstance(error.__cause__, TypeError):
                sizes = [each for each in error.operands if isinstance(each, Dim)]
                return f"`//` divides sizes; {number_hint(sizes[0])}" if sizes else None
            case ast.Call(func=ast.Name(id=name)) if isinstance(error.__cause__, TypeError):
                function = names.get(name)
                if isinstance(function, FunctionType):
                    return f"it is called as `{name}({_parameters(function)})`"
        return None

    def memoize(self, key: object, make: Callable[[], Made]) -> Made:
        """Make what depends on a definition and its sizes alone once, however often it repeats."""
        if key not in self.made:
            self.made[key] = make()
        result: Made = self.made[key]
        return result


def _later_step(snippet: Snippet, name: str) -> str | None:
    """A step of this name that stands below, or is the one that reads it."""
    if "steps" not in snippet.location[:-1]:
        return None
    at = snippet.location.index("steps") + 1
    steps = snippet.document.at(snippet.location[:at])
    for key in steps if isinstance(steps, dict) else ():
        if name in (word.strip() for word in str(key).split(",")):
            where = "this step itself" if key == snippet.location[at] else "a step below"
            return f"`{name}` is {where}; steps run in the order in which they stand"
    return None


def _word_hint(name: str, near: str | None) -> str:
    """A lone name where a size stands may be the word of a choice."""
    word = f"write `\"'{name}'\"` for a word"
    return f"did you mean `{near}`? Otherwise {word}" if near else word


def _narrowed(
    error: DiagnosticError, snippet: Snippet, blamed: Sequence[ast.AST]
) -> DiagnosticError:
    """The error, at the part of the snippet that fails and not at all of it."""
    whole, part = _span(snippet), _blamed_span(snippet, blamed)
    found = (replace(d, span=part) if d.span == whole else d for d in error.diagnostics)
    return DiagnosticError(*found)


def _blamed_span(snippet: Snippet, blamed: Sequence[ast.AST]) -> Span:
    """The place of the innermost node that failed; of the whole where none is known."""
    return snippet.span(blamed_part(blamed[0], snippet.text) if blamed else None)


def _parameters(function: FunctionType) -> str:
    """The parameters of a function with their defaults, without their types."""
    parameters = signature(function).parameters.values()
    return ", ".join(str(each.replace(annotation=each.empty)) for each in parameters)

"""Confinement check: snippets that become Python use only names of their vocabulary.

Invariant: a function, a namespace or a method is only ever called, by a name of the vocabulary, and
is never a value; attributes of values are a closed table. So generated code reaches no function
that is not in a table, whatever the values are at run time.
"""

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.language.grammar import Assignment
from tripybuild.language.program import Function, Let, LetBinding
from tripybuild.language.syntax import children, walk
from tripybuild.schema.operator.operator import Snippet
from tripybuild.types.naming import OPERATION, SPOKEN

_Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp


@dataclass(frozen=True, slots=True)
class AllowedNames:
    """What a kind of snippet can reach.

    `functions` can be called and are nothing else; `values` are bound names, of which `callables`
    (regions, parts) can be called, too. `namespaces` give the functions and the constants behind
    `np.`; where a namespace's functions are None, the check of its calls knows them. `keywords` are
    arguments that no call gives.
    """

    functions: frozenset[str]
    values: Container[str] = frozenset()
    callables: Container[str] = frozenset()
    namespaces: Mapping[str, tuple[frozenset[str] | None, frozenset[str]]] = field(
        default_factory=dict
    )
    attributes: frozenset[str] = frozenset()
    methods: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()


def check_vocabulary(snippet: Snippet, surface: AllowedNames) -> Iterator[Diagnostic]:
    """A diagnostic for each place at which a snippet leaves its vocabulary."""
    yield from _VocabularyCheck(snippet, surface).program()


class _VocabularyCheck:
    def __init__(self, snippet: Snippet, surface: AllowedNames) -> None:
        self.snippet, self.surface = snippet, surface
        self.defined: frozenset[str] = frozenset()
        """The functions of the snippet: they are called, or given to operators."""

    def program(self) -> Iterator[Diagnostic]:
        program = self.snippet.program
        yield from self.lines(program.assignments, program.result, frozenset())

    def lines(
        self, lines: Iterable[Assignment | LetBinding], result: ast.expr, local: frozenset[str]
    ) -> Iterator[Diagnostic]:
        outer = self.defined
        for line in lines:
            targets = {target.removeprefix("*") for target in line.targets}
            if isinstance(line.value, Function):
                yield from self.definition(line.value, line.targets[0], local)
                self.defined |= targets
            else:
                yield from self.value(line.value, local)
                self.defined -= targets
            local |= targets
        yield from self.value(result, local)
        self.defined = outer

    def definition(
        self, node: Function, function: str, local: frozenset[str]
    ) -> Iterator[Diagnostic]:
        """A function, whose names hide none of the declaration and none of the vocabulary."""
        surface = self.surface
        for name in (function, *node.parameters):
            taken = name in surface.values or name in surface.functions or name in self.defined
            if taken or name in SPOKEN or name == OPERATION:
                message = f"`{name}` has a meaning here already"
                hint = "give the function and its parameters names of their own"
                yield self.wrong("bad-name", message, node, hint)
        outer = self.defined
        yield from self.value(node.value, local | {*node.parameters})
        self.defined = outer

    def value(self, node: ast.AST, local: frozenset[str]) -> Iterator[Diagnostic]:
        """The node where a value is wanted."""
        match node:
            case ast.Name(id=name):
                yield from self.name(node, name, local)
            case ast.Attribute(value=ast.Name(id=space), attr=name) if self.is_space(space, local):
                yield from self.constant(node, space, name)
            case ast.Attribute(value=value, attr=name):
                yield from self.value(value, local)
                if name not in self.surface.attributes or isinstance(value, ast.Constant):
                    yield self.no_attribute(node, name)
            case ast.Call():
                yield from self.call(node, local)
            case Let():
                yield from self.lines(node.lines, node.value, local)
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                yield from self.comprehension(node, local)
            case _:
                for child in children(node):
                    yield from self.value(child, local)

    def name(self, node: ast.expr, name: str, local: frozenset[str]) -> Iterator[Diagnostic]:
        if name in self.defined:
            message = f"`{name}` is a function, and not a value"
            hint = f"a function is called, or given to an operator: `scan({name}, ...)`"
            yield self.wrong("function-value", message, node, hint)
            return
        if name in local or name in self.surface.values:
            return
        if name in self.surface.namespaces:
            hint = f"write `{name}.` and one of its names"
            yield self.wrong("function-value", f"`{name}` is a namespace, no value", node, hint)
        elif name in self.surface.functions:
            message = f"`{name}` is a function, and not a value"
            hint = f"a function is only called: `{name}(...)`"
            yield self.wrong("function-value", message, node, hint)

    def is_space(self, name: str, local: frozenset[str]) -> bool:
        return name in self.surface.namespaces and name not in local

    def constant(self, node: ast.expr, space: str, name: str) -> Iterator[Diagnostic]:
        functions, constants = self.surface.namespaces[space]
        if name in constants:
            return
        if functions is not None and name not in functions:
            yield self.no_function(node, f"{space}.{name}", f"{space}.", functions | constants)
            return
        message = f"`{space}.{name}` is a function, and not a value"
        hint = f"a function is only called: `{space}.{name}(...)`"
        yield self.wrong("function-value", message, node, hint)

    def call(self, node: ast.Call, local: frozenset[str]) -> Iterator[Diagnostic]:
        yield from self.function(node.func, local)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            given = isinstance(argument, ast.Name) and argument.id in self.defined
            if not (given and isinstance(node.func, ast.Name)):
                yield from self.value(argument, local)
        for keyword in node.keywords:
            if keyword.arg in self.surface.keywords:
                message = f"`{keyword.arg}=` is not part of the references' vocabulary"
                hint = "a reference returns new arrays: `np.where` chooses, `convert` casts"
                yield self.wrong("unknown-argument", message, keyword.value, hint)

    def function(self, node: ast.expr, local: frozenset[str]) -> Iterator[Diagnostic]:
        """The node where a function is called."""
        surface = self.surface
        match node:
            case ast.Name(id=name) if name in self.defined:
                return
            case ast.Name(id=name) if name in local:
                yield self.no_call(node)
            case ast.Name(id=name):
                if name in surface.functions or name in surface.callables:
                    return
                if name in surface.namespaces:
                    yield from self.name(node, name, local)
                if name in surface.values:
                    yield self.no_call(node)
                # What nothing binds is reported as such.
            case ast.Attribute(value=ast.Name(id=space), attr=name) if self.is_space(space, local):
                functions, constants = surface.namespaces[space]
                if name in constants:
                    yield self.no_call(node)
                elif functions is not None and name not in functions:
                    yield self.no_function(node, f"{space}.{name}", f"{space}.", functions)
            case ast.Attribute(value=value, attr=name):
                yield from self.value(value, local)
                if name not in surface.methods:
                    yield self.no_attribute(node, name)
            case _:
                yield self.no_call(node)
                yield from self.value(node, local)

    def comprehension(self, node: _Comprehension, local: frozenset[str]) -> Iterator[Diagnostic]:
        for loop in node.generators:
            yield from self.value(loop.iter, local)
            local |= {name.id for name in walk(loop.target) if isinstance(name, ast.Name)}
            for condition in loop.ifs:
                yield from self.value(condition, local)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            yield from self.value(part, local)

    def no_call(self, node: ast.expr) -> Diagnostic:
        shown = ast.unparse(node)[:60]
        hint = "a call names a function of the vocabulary"
        return self.wrong("function-value", f"`{shown}` cannot be called", node, hint)

    def no_function(
        self, node: ast.expr, shown: str, prefix: str, known: frozenset[str]
    ) -> Diagnostic:
        near = suggest(shown.removeprefix(prefix), known)
        hint = f"did you mean `{prefix}{near}`?" if near else None
        message = f"`{shown}` is not part of the references' vocabulary"
        return self.wrong("unknown-function", message, node, hint)

    def no_attribute(self, node: ast.expr, name: str) -> Diagnostic:
        attributes, methods = sorted(self.surface.attributes), sorted(self.surface.methods)
        if function := self.function_for_method(name):
            hint = f"`{function}` is a function: `{function}(...)`"
            return self.wrong("unknown-attribute", f"no value has `.{name}` here", node, hint)
        known = [f"`.{each}`" for each in attributes] + [f"`.{each}(...)`" for each in methods]
        hint = f"values have {', '.join(known)} here" if known else "values have none here"
        near = suggest(name, self.surface.attributes | self.surface.methods)
        hint += f"; did you mean `.{near}`?" if near and near != name else ""
        return self.wrong("unknown-attribute", f"no value has `.{name}` here", node, hint)

    def function_for_method(self, name: str) -> str | None:
        """The function that does what a method of that name would."""
        spaces = self.surface.namespaces.items()
        found = (f"{space}.{name}" for space, (names, _) in spaces if name in (names or ()))
        return next(found, name if name in self.surface.functions else None)

    def wrong(self, code: str, message: str, node: ast.expr, hint: str | None = None) -> Diagnostic:
        return Diagnostic(code, message, self.snippet.span(node), hint=hint)

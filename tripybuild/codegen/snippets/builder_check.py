"""Builder check: every builder call of a lowering exists in the engine's builder."""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripybuild import stablehlo
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.language.syntax import walk
from tripybuild.schema.load import Registry
from tripybuild.schema.operator.operator import Snippet
from tripybuild.schema.snippets.vocabularies import ALIASES
from tripybuild.tensorrt import layers

Literals = Mapping[int | str, object]


@dataclass(frozen=True, slots=True)
class BuilderVocabulary:
    """The builders of a dialect by name, and what says what is wrong with a call."""

    names: Collection[str]
    check: Callable[[str, int | None, Sequence[str], Literals], str | None]


VOCABULARIES = {
    "tensorrt": BuilderVocabulary(
        layers.LAYERS.keys() | layers.HELPERS.keys() | {"Value"}, layers.check_call
    ),
    "stablehlo": BuilderVocabulary(
        stablehlo.BUILDERS,
        lambda name, count, keywords, _: stablehlo.check_call(name, count, keywords),
    ),
}


def check_builders(registry: Registry) -> list[Diagnostic]:
    """A diagnostic for each call of a lowering whose name or arguments its builder would refuse."""
    return [
        diagnostic
        for operator in registry.operators.values()
        for target, snippet in operator.lower.items()
        for diagnostic in _calls(target, snippet)
    ]


def _calls(target: str, snippet: Snippet) -> Iterator[Diagnostic]:
    alias = ALIASES[target]
    roots = [*(step.value for step in snippet.program.assignments), snippet.program.result]
    called = set()
    for node in (n for root in roots for n in walk(root)):
        if isinstance(node, ast.Call) and _is_builder(node.func, alias):
            called.add(node.func)
            yield from _call(target, snippet, node)
        elif isinstance(node, ast.Attribute) and _is_builder(node, alias) and node not in called:
            yield from _name(target, snippet, node)


def _is_builder(node: ast.expr, alias: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == alias
    )


def _call(target: str, snippet: Snippet, node: ast.Call) -> Iterator[Diagnostic]:
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    count = None if starred else len(node.args)
    keywords = [keyword.arg for keyword in node.keywords if keyword.arg]
    known = VOCABULARIES[target]
    problem = known.check(name, count, keywords, _literals(node, starred=starred))
    if problem is not None:
        near = suggest(name, known.names)
        hint = f"did you mean `{ALIASES[target]}.{near}`?" if near and near != name else None
        yield Diagnostic("unknown-builder", problem, snippet.span(node), hint=hint)


def _literals(node: ast.Call, *, starred: bool) -> dict[int | str, object]:
    found: dict[int | str, object] = {}
    if not starred:
        found.update((i, a.value) for i, a in enumerate(node.args) if isinstance(a, ast.Constant))
    found.update(
        (k.arg, k.value.value) for k in node.keywords if k.arg and isinstance(k.value, ast.Constant)
    )
    return found


def _name(target: str, snippet: Snippet, node: ast.Attribute) -> Iterator[Diagnostic]:
    """A builder that is handed on instead of being called."""
    known = VOCABULARIES[target].names
    if node.attr not in known:
        near = suggest(node.attr, known)
        alias = ALIASES[target]
        hint = f"did you mean `{alias}.{near}`?" if near else None
        yield Diagnostic(
            "unknown-builder", f"there is no `{alias}.{node.attr}`", snippet.span(node), hint=hint
        )

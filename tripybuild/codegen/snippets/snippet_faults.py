"""Diagnostics of kind inference."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from tripybuild.codegen.snippets.value_kinds import ValueKind


@dataclass(frozen=True, slots=True)
class SnippetFault:
    """What is wrong with a part of a snippet."""

    node: ast.expr
    code: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """A call of an operator, with the kinds of its arguments."""

    node: ast.Call
    name: str
    given: tuple[ValueKind, ...]
    named: Mapping[str, ValueKind]
    starred: bool = False

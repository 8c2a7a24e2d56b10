"""`like: unary(kind="kEXP")`: what a family says becomes the operator's own, parameters put in."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.language.grammar import Program, SnippetError, parse_expression
from tripybuild.schema.files import FamilyFile, OperatorBody, OperatorFile

# Keys of which the family may hold one half and the operator the other.
MERGED = (
    *("types", "inputs", "attributes", "requires", "infer", "lower", "targets", "tolerance"),
    "sample",
)
# Keys that are lists, of which the family's entries follow the operator's.
JOINED = frozenset({"examples"})


class _Replace(ast.NodeTransformer):
    def __init__(self, parameters: Mapping[str, ast.expr]) -> None:
        self.parameters = parameters

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.parameters.get(node.id, node)


def put_in(program: Program, parameters: Mapping[str, ast.expr]) -> Program:
    """A program with the names of `parameters` replaced by their expressions."""
    if not any(name in program.text for name in parameters):
        return program
    replacing = _Replace(parameters)
    lines = [
        replace(step, value=replacing.visit(_copy(step.value))) for step in program.assignments
    ]
    result = replacing.visit(_copy(program.result))
    text = "\n".join(
        [f"{', '.join(step.targets)} = {_spelled(step.value)}" for step in lines]
        + [("return " if lines else "") + _spelled(result)]
    )
    return replace(program, text=text, assignments=tuple(lines), result=result)


def _spelled(node: ast.expr) -> str:
    """The text of an expression, with the quotes that people write."""
    text = ast.unparse(node)
    return text if '"' in text else text.replace("'", '"')


def _copy(node: Any) -> Any:
    """A copy that keeps its positions: the same family serves many operators."""
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            fields[name] = [_copy(v) if isinstance(v, ast.AST) else v for v in value]
        else:
            fields[name] = _copy(value) if isinstance(value, ast.AST) else value
    return ast.copy_location(type(node)(**fields), node)


def read_like(
    document: Document, text: str, families: Mapping[str, tuple[Document, FamilyFile]]
) -> tuple[str, dict[str, ast.expr]] | Diagnostic:
    """The family that `like:` names and the parameters that it gives."""
    span = document.span(("like",))
    try:
        node = parse_expression(text)
    except SnippetError as error:
        return Diagnostic("snippet-syntax", error.message, span, hint=error.hint)
    call = node if isinstance(node, ast.Call) else ast.Call(func=node, args=[], keywords=[])
    name = call.func.id if isinstance(call.func, ast.Name) else ast.unparse(call.func)
    if name not in families:
        return Diagnostic("unknown-family", f"no family is called `{name}`", span)
    wanted = families[name][1].parameters
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    given |= dict(zip(wanted, call.args, strict=False))
    if set(given) != set(wanted) or len(call.args) > len(wanted):
        return Diagnostic(
            "family-parameters",
            f"`{name}` takes {', '.join(f'`{p}`' for p in wanted) or 'no parameters'}",
            span,
            label="gives " + (", ".join(f"`{p}`" for p in given) or "none"),
        )
    return name, given


def _shared(key: str, mine: Any, theirs: Any) -> Iterator[tuple[str, ...]]:
    """The names that both give; facts of one target may have different names."""
    for name in sorted(set(mine) & set(theirs)):
        if key != "targets":
            yield (key, name)
            continue
        for kind in ("refuses", "builds"):
            both = set(getattr(mine[name], kind)) & set(getattr(theirs[name], kind))
            yield from ((key, name, kind, each) for each in sorted(both))


def overridden(document: Document, own: OperatorFile, family: FamilyFile) -> list[Diagnostic]:
    """The keys that both the operator and its family give: there is no override."""
    found = []
    for key in sorted(
        (OperatorBody.model_fields.keys() & own.model_fields_set & family.model_fields_set) - JOINED
    ):
        mine, theirs = getattr(own, key), getattr(family, key)
        both = list(_shared(key, mine, theirs))
        found += [
            Diagnostic(
                "given-twice",
                f"the family `{family.family}` gives `{'.'.join(place)}` already",
                document.span(place, key=True),
                hint="an operator cannot override its family: take the key out of one of them",
            )
            for place in (both if key in MERGED else [(key,)])
        ]
    return found

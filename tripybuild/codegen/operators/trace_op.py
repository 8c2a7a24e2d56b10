"""Emitter of trace operations: frozen records whose `infer` checks a call."""

import ast

from tripybuild.codegen.operators.arguments import (
    TRACED,
    SignatureParameter,
    annotation,
    field_annotation,
    parameters,
)
from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.operators.checks import check_call, output_types
from tripybuild.codegen.python.expressions import document, quote
from tripybuild.codegen.python.file_text import Body, Imports, docstring, header
from tripybuild.codegen.python.layout import Doc, bracket_list, call, render
from tripybuild.codegen.python.statements import define
from tripybuild.language.names import free_names
from tripybuild.schema.operator.checks import reason
from tripybuild.schema.operator.families import source
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.snippets.snippet_scope import choice_words, law_argument
from tripybuild.types.naming import CAPTURED, class_name

# What a parameter of `infer` can be called as it is.
_ONE_FORM = frozenset({"Value", "Value | None", "int", "float", "bool", "str", "Size"})


def trace_file(operator: Operator, package: str) -> str:
    """The file of one operation.

    ```python
    @dataclass(frozen=True, eq=False)
    class Softmax(TraceOp):
        "Rescale a tensor along one dimension so that its values are positive and sum to one."

        input: Value
        dim: int

        declaration = Declaration("softmax", "ops_registry/nn/softmax.yaml")

        @classmethod
        def infer(cls, check: Check, input: Value, dim: int) -> Self:
            "Check a call and find the types of its outputs."
            T = check.element("T", (dtypes.float32, dtypes.float16), input=input)
            ...
    ```
    """
    imports = Imports()
    imports.name("dataclasses", "dataclass")
    imports.name("tripybuild.frontend.checks", "Check")
    imports.name("tripybuild.trace", "Declaration", "TraceOp")
    chosen = parameters(operator, imports)
    fields = [f"    {p.name}: {field_annotation(p, imports)}" for p in chosen]
    if operator.regions():
        imports.name("tripybuild.trace", "Value")
        fields.append(f"    {CAPTURED}: tuple[Value, ...] = ()")
    lines = [
        "@dataclass(frozen=True, eq=False)",
        f"class {class_name(operator.name)}(TraceOp):",
        docstring(operator.doc.split("\n\n")[0], 4),
        "",
        *fields,
        *([""] if fields else []),
        declaration(operator, imports, 4, "    declaration = "),
        "",
        "    @classmethod",
        *_infer(operator, imports),
    ]
    body = "\n".join(lines)
    return f"{header(operator.path)}\n{imports.text(package)}\n\n\n{body}\n"


def declaration(operator: Operator, imports: Imports, indent: int, start: str) -> str:
    """`Declaration("softmax", "ops_registry/nn/softmax.yaml", {"law": Law("...")})`."""
    arguments: list[Doc] = [quote(operator.name), quote(operator.path)]
    if operator.laws:
        imports.name("tripybuild.trace", "Law")
        entries: list[Doc] = []
        for law in operator.laws.values():
            facts: list[Doc] = [_text(" ".join(law.that.text.split()))]
            if law.message is not None:
                facts.append(_text(law.message))
            if law.that.document is not operator.document:
                facts.append(["source=", _text(source(operator, law.that))])
            if used := [
                word for word in free_names(law.that.program) if word in choice_words(operator)
            ]:
                facts.append(
                    ["words=", bracket_list("(", [_text(w) for w in used], ")", comma=True)]
                )
            if law.hint is not None:
                facts.append(["hint=", _text(law.hint)])
            if (about := law_argument(operator, law)) is not None:
                facts.append(["about=", _text(about)])
            entries.append([_text(law.name), ": ", call("Law", facts)])
        arguments.append(bracket_list("{", entries, "}"))
    refused = ((name, reason(operator, name)) for name in operator.targets)
    whys: list[Doc] = [[_text(name), ": ", _text(why)] for name, why in refused if why is not None]
    if whys:
        arguments.append(["refuses=", bracket_list("{", whys, "}")])
    if operator.moves:
        arguments.append("moves=True")
    if operator.reduces:
        arguments.append("reduces=True")
    return " " * indent + render([start.lstrip(), call("Declaration", arguments)], indent)


def _text(value: str) -> Doc:
    return document(ast.Constant(value))


def _infer(operator: Operator, imports: Imports) -> list[str]:
    """The method `infer`."""
    chosen = parameters(operator, imports)
    body = Body(imports, 8)
    body.write_block(lambda part, unread: _write_checks(CheckScope(operator, chosen, part, unread)))
    imports.name("typing", "Self")
    returns = "Self"
    if operator.shortcut is not None:
        imports.name("tripybuild.trace", "Value")
        returns = "Self | Value"
    given = [
        parameter.declaration(_parameter_annotation(parameter, imports)) for parameter in chosen
    ]
    if operator.regions():
        given.append(f"{CAPTURED}: Any = ()")
    signature = call("def infer", ["cls", "check: Check", *given])
    return [
        f"    {render([signature, f' -> {returns}:'], 4)}",
        '        """Check a call and find the types of its outputs."""',
        body.text(),
    ]


def _write_checks(scope: CheckScope) -> None:
    """The body of `infer`: the checks, a way out where nothing is left to do, and the record."""
    check_call(scope)
    shortcut = scope.operator.shortcut
    if shortcut is not None:
        define("shortcut: Value | None", shortcut.program, scope.rewriter, scope.body)
        scope.body.block("if shortcut is not None:").add("return shortcut")
    made = call("cls", [*(each.name for each in scope.parameters), *_capture_arguments(scope)])
    scope.body.add("return ", call([made, ".with_types"], output_types(scope)))


def _capture_arguments(scope: CheckScope) -> list[str]:
    return [CAPTURED] if scope.operator.regions() else []


def _parameter_annotation(parameter: SignatureParameter, imports: Imports) -> str:
    """The annotation of a parameter; what comes in many forms leaves in one, so those are `Any`."""
    if annotation(parameter, TRACED, Imports()) in _ONE_FORM:
        return annotation(parameter, TRACED, imports)
    imports.name("typing", "Any")
    return "Any"

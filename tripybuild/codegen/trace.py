"""The trace operation of an operator: a frozen record whose `infer` checks a call."""

import ast

from tripybuild.codegen.arguments import Parameter, annotation, field_annotation, parameters
from tripybuild.codegen.checks import CheckEmitter
from tripybuild.codegen.expressions import statement_value
from tripybuild.codegen.layout import Doc, bracketed, call, render
from tripybuild.codegen.text import Body, Imports, docstring, header
from tripybuild.schema.operator import Operator
from tripybuild.types.naming import class_name


def trace_file(operator: Operator) -> str:
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
    imports.name("tripybuild.trace", "Check", "Declaration", "TraceOp")
    chosen = parameters(operator, imports)
    fields = [f"    {p.name}: {field_annotation(p, imports)}" for p in chosen]
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
    return f"{header(operator.path)}\n{imports.text()}\n\n\n{body}\n"


def declaration(operator: Operator, imports: Imports, indent: int, start: str) -> str:
    """`Declaration("softmax", "ops_registry/nn/softmax.yaml", {"law": Law("...", 12)})`."""
    arguments: list[Doc] = [f'"{operator.name}"', f'"{operator.path}"']
    if operator.laws:
        imports.name("tripybuild.trace", "Law")
        entries: list[Doc] = []
        for law in operator.laws.values():
            facts: list[Doc] = [_text(" ".join(law.that.text.split())), str(law.that.line)]
            if law.message is not None:
                facts.append(_text(law.message))
            if law.that.document is not operator.document:
                facts.append(["source=", _text(operator.family_path or "")])
            entries.append([f'"{law.name}": ', call("Law", facts)])
        arguments.append(bracketed("{", entries, "}"))
    return " " * indent + render([start.lstrip(), call("Declaration", arguments)], indent)


def _text(value: str) -> Doc:
    return statement_value(ast.Constant(value))


def _infer(operator: Operator, imports: Imports) -> list[str]:
    chosen = parameters(operator, imports)
    draft, body = Body(Imports(), 8), Body(imports, 8)
    _infer_body(operator, chosen, draft, frozenset())
    _infer_body(operator, chosen, body, draft.unread())
    given: list[Doc] = ["cls", "check: Check"]
    for parameter in chosen:
        text = f"{parameter.name}: {_accepted(parameter, imports)}"
        given.append([text, " = ", parameter.default] if parameter.default is not None else text)
    imports.name("typing", "Self")
    returns = "Self" if operator.shortcut is None else "Self | Value"
    if operator.shortcut is not None:
        imports.name("tripybuild.trace", "Value")
    signature = render([call("def infer", given), f" -> {returns}:"], 4)
    return [
        f"    {signature}",
        '        """Check a call and find the types of its outputs."""',
        body.text(),
    ]


def _infer_body(
    operator: Operator, chosen: list[Parameter], body: Body, unused: frozenset[str]
) -> None:
    emitter = CheckEmitter(operator, chosen, body, unused)
    emitter.emit()
    if operator.shortcut is not None:
        for step in operator.shortcut.program.assignments:
            body.add(
                f"{', '.join(step.targets)} = ",
                statement_value(emitter.rewriter.rewrite(step.value)),
            )
        body.add("shortcut = ", statement_value(emitter.rewriter.rewrite(operator.shortcut.result)))
        body.block("if shortcut is not None:").add("return shortcut")
    made = call("cls", [p.name for p in chosen])
    body.add("return ", call([made, ".gives"], emitter.output_types()))


def _accepted(parameter: Parameter, imports: Imports) -> str:
    """The annotation of a parameter; what comes in many forms leaves in one, so those are `Any`."""
    local = Imports()
    text = annotation(parameter, "Value", local)
    if text in ("Value", "Value | None", "int", "float", "bool", "str", "Size"):
        imports.names.update({m: imports.names.get(m, set()) | n for m, n in local.names.items()})
        if "Value" in text:
            imports.name("tripybuild.trace", "Value")
        return text
    imports.name("typing", "Any")
    return "Any"

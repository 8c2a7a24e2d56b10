"""The public function of an operator: typed, documented, and two lines long where it records an operation."""

import ast

from tripybuild.codegen.arguments import Parameter, annotation, parameters
from tripybuild.codegen.calls import Calls
from tripybuild.codegen.checks import CheckEmitter
from tripybuild.codegen.expressions import statement_value
from tripybuild.codegen.layout import Doc, call, render
from tripybuild.codegen.text import Body, Imports, docstring, header
from tripybuild.codegen.trace import declaration
from tripybuild.language.names import free
from tripybuild.schema.operator import Operator
from tripybuild.types.naming import class_name
from tripybuild.types.patterns import TensorsPattern


def frontend_file(operator: Operator, calls: Calls) -> str:
    """The file of one public function.

    ```python
    def softmax(input: Tensor, dim: int = -1) -> Tensor:
        "Rescale a tensor along one dimension ..."
        return record(Softmax, input, dim)
    ```
    """
    imports = Imports()
    chosen = parameters(operator, imports)
    body = Body(imports, 4)
    before = ""
    if operator.inline:
        imports.name("tripybuild.frontend", "begin")
        imports.name("tripybuild.trace", "Declaration")
        before = declaration(operator, imports, 0, "DECLARATION = ") + "\n\n\n"
        _inline(operator, chosen, body, calls)
    else:
        _record(operator, chosen, body, calls.package)
    returns = result_annotation(operator)
    lines = []
    if len(operator.signatures) > 1:
        lines = _overloads(operator, chosen, imports, returns)
    else:
        lines = [_definition(operator.name, chosen, imports, returns)]
    documentation = docstring(operator.doc, 4, sections(operator))
    if len(operator.signatures) > 1:
        body.lines[:0] = _binding(operator, chosen, imports)
    text = "\n".join([*lines, documentation, body.text()])
    return f"{header(operator.path)}\n{imports.text()}\n\n{before or chr(10)}{text}\n"


def sections(operator: Operator) -> list[tuple[str, list[tuple[str, str]]]]:
    """The sections of the docstring: arguments, results, and what is raised."""
    arguments = [(a.name, f"{a.doc} (`{a.pattern}`)") for a in operator.arguments()]
    results = [("", f"{output.doc} (`{output.pattern}`)") for output in operator.outputs.values()]
    raises = []
    if operator.laws:
        laws = ", ".join(f"`{operator.name}/{name}`" for name in operator.laws)
        raises = [("DiagnosticError", f"Where a law does not hold: {laws}.")]
    return [("Args", arguments), ("Returns", results), ("Raises", raises)]


def result_annotation(operator: Operator) -> str:
    """`Tensor`, or a tuple of them."""
    if gives_tuple(operator):
        if any(isinstance(o.pattern, TensorsPattern) for o in operator.outputs.values()):
            return "tuple[Tensor, ...]"
        return f"tuple[{', '.join('Tensor' for _ in operator.outputs)}]"
    return "Tensor"


def gives_tuple(operator: Operator) -> bool:
    """Whether a call gives several tensors."""
    several = any(isinstance(o.pattern, TensorsPattern) for o in operator.outputs.values())
    return several or len(operator.outputs) > 1


def _definition(
    name: str, chosen: list[Parameter], imports: Imports, returns: str, end: str = ":"
) -> str:
    imports.name("tripyapi.tensor", "Tensor")
    given: list[Doc] = []
    for parameter in chosen:
        text = f"{parameter.name}: {_public(annotation(parameter, 'Tensor', imports), imports)}"
        given.append([text, " = ", parameter.default] if parameter.default is not None else text)
    return render([call(f"def {name}", given), f" -> {returns}{end}"])


def _public(text: str, imports: Imports) -> str:
    """The caller's view of an annotation: sizes may be tensors of the frontend."""
    if "Size" in text:
        imports.names.get("tripybuild.trace", set()).discard("Size")
        imports.name("tripybuild.frontend", "IntLike")
    return text.replace("Size", "IntLike")


def _record(operator: Operator, chosen: list[Parameter], body: Body, package: str) -> None:
    module = ".".join([package, "trace", *operator.folder.split("/"), operator.name]).replace(
        "..", "."
    )
    name = class_name(operator.name)
    body.imports.name(module, name)
    function = "record_several" if gives_tuple(operator) else "record"
    body.imports.name("tripybuild.frontend", function)
    body.add("return ", call(function, [name, *[p.name for p in chosen]]))


def _inline(operator: Operator, chosen: list[Parameter], body: Body, calls: Calls) -> None:
    """The body of an inline function; a first draft shows which names nobody reads."""
    draft = Body(Imports(), body.indent)
    _inline_body(operator, chosen, draft, calls, frozenset())
    _inline_body(operator, chosen, body, calls, draft.unread())


def _inline_body(
    operator: Operator, chosen: list[Parameter], body: Body, calls: Calls, unused: frozenset[str]
) -> None:
    assert operator.decompose is not None
    body.add("check = begin(DECLARATION)")
    emitter = CheckEmitter(operator, chosen, body, unused)
    program = operator.decompose.program
    emitter.emit(also=free(program))
    rewriter = calls.rewriter(operator, emitter.rewriter.names, body.imports)
    for step in program.assignments:
        body.add(f"{', '.join(step.targets)} = ", statement_value(rewriter.rewrite(step.value)))
    result = rewriter.rewrite(program.result)
    if gives_tuple(operator) and isinstance(result, (ast.List, ast.ListComp)):
        result = ast.Call(ast.Name("tuple"), [_as_generator(result)], [])
    if operator.laws:
        body.add("return ", call("check.settled", [statement_value(result)]))
    else:
        body.add("return ", statement_value(result))


def _as_generator(node: ast.List | ast.ListComp) -> ast.expr:
    return ast.GeneratorExp(node.elt, node.generators) if isinstance(node, ast.ListComp) else node


def _overloads(
    operator: Operator, chosen: list[Parameter], imports: Imports, returns: str
) -> list[str]:
    """One typed signature for each way to call, and the function that takes any of them."""
    imports.name("typing", "Any", "overload")
    by_name = {parameter.name: parameter for parameter in chosen}
    lines = []
    for signature in operator.signatures:
        parameters_ = _in_signature([by_name[n] for n in signature], operator)
        lines += [
            "@overload",
            _definition(operator.name, parameters_, imports, returns, ": ..."),
            "",
            "",
        ]
    return [*lines, f"def {operator.name}(*_given: Any, **_named: Any) -> {returns}:"]


def _in_signature(chosen: list[Parameter], operator: Operator) -> list[Parameter]:
    """The parameters of one overload.

    Where the overload's point is the argument, None is no answer; and what stands before a required
    argument is required.
    """
    result: list[Parameter] = []
    for parameter in reversed(chosen):
        everywhere = all(parameter.name in signature for signature in operator.signatures)
        required = bool(result) and result[0].default is None
        if required or (parameter.nullable and not everywhere):
            result.insert(0, Parameter(parameter.name, parameter.argument, None, False))
        else:
            result.insert(0, parameter)
    return result


def _binding(operator: Operator, chosen: list[Parameter], imports: Imports) -> list[str]:
    """The statement that finds the signature which a call fits."""
    imports.name("tripybuild.frontend", "bind")
    by_name = {parameter.name: parameter for parameter in chosen}
    body = Body(imports, 4)
    forms: list[Doc] = []
    for signature in operator.signatures:
        chosen_ = _in_signature([by_name[n] for n in signature], operator)
        forms.append(
            f'"{", ".join(p.name + ("?" if p.default is not None else "") for p in chosen_)}"'
        )
    defaults: list[Doc] = [
        [f"{p.name}=", p.default if p.default is not None else "None"] for p in chosen
    ]
    names = ", ".join(p.name for p in chosen)
    body.add(
        f"{names}{',' if len(chosen) == 1 else ''} = ",
        call(
            "bind",
            [
                f'"{operator.name}"',
                "_given",
                "_named",
                ["(", *[[f, ", "] for f in forms[:-1]], forms[-1], ")"],
                *defaults,
            ],
        ),
    )
    return body.lines

"""Emitter of the public function: typed, documented, one line long if it records."""

import ast
from functools import partial

from tripybuild.codegen.operators.arguments import SignatureParameter, parameters
from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.operators.checks import check_call
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.operators.signatures import (
    bind_arguments,
    returns_several,
    returns_single,
    signature_lines,
)
from tripybuild.codegen.operators.trace_op import declaration
from tripybuild.codegen.package.fragment import dotted_name
from tripybuild.codegen.python.expressions import document, quote, statement_value
from tripybuild.codegen.python.file_text import Body, Imports, docstring, header
from tripybuild.codegen.python.layout import call
from tripybuild.codegen.python.rewrite import NameRewriter
from tripybuild.codegen.python.statements import assign, end
from tripybuild.language.names import free_names
from tripybuild.schema.operator.operator import Operator
from tripybuild.types.naming import class_name
from tripybuild.types.patterns import options


def frontend_file(operator: Operator, calls: CallResolver) -> str:
    """The file of one public function.

    ```python
    def softmax(input: Tensor, dim: int = -1) -> Tensor:
        "Rescale a tensor along one dimension ..."
        return record(Softmax, input, dim)
    ```
    """
    imports = Imports()
    chosen = parameters(operator, imports)
    body = Body(imports)
    _warn(operator, body, calls.package)
    bind_arguments(operator, chosen, body)
    _on_sizes(operator, body)
    before = ""
    if operator.inline:
        imports.name("tripybuild.trace", "Declaration")
        before = declaration(operator, imports, 0, "DECLARATION = ") + "\n\n"
        _compose(operator, chosen, body, calls)
    else:
        _record(operator, chosen, body, calls.package)
    text = "\n".join(
        [
            *signature_lines(operator, chosen, imports),
            docstring(operator.doc, 4, _sections(operator)),
            body.text(),
        ]
    )
    return f"{header(operator.path)}\n{imports.text(calls.package)}\n\n{before}\n{text}\n"


def _sections(operator: Operator) -> list[tuple[str, list[tuple[str, str]]]]:
    """The sections of the docstring: arguments, results, and what is raised."""
    arguments = [(a.name, f"{a.doc} (`{a.pattern}`)") for a in operator.arguments()]
    results = [("", f"{output.doc} (`{output.pattern}`)") for output in operator.outputs.values()]
    raises = []
    if operator.laws:
        laws = ", ".join(f"`{operator.name}/{name}`" for name in operator.laws)
        raises = [("DiagnosticError", f"Where a law does not hold: {laws}.")]
    return [("Args", arguments), ("Returns", results), ("Raises", raises)]


def _warn(operator: Operator, body: Body, package: str) -> None:
    """`warn_deprecation("double", "since 2.0, write `x + x`.", "tripyapi")`."""
    if operator.deprecated is not None:
        body.imports.name("tripybuild.frontend.guard", "warn_deprecation")
        said = (operator.name, " ".join(operator.deprecated.split()), package)
        body.add(call("warn_deprecation", [quote(each) for each in said]))


def _on_sizes(operator: Operator, body: Body) -> None:
    """What the operator is on sizes, which records nothing.

    ```python
    if are_sizes(lhs, rhs):
        return dimension(size_of(lhs) + size_of(rhs))
    ```
    """
    if operator.on_sizes is None:
        return
    program = operator.on_sizes.program
    used = [name for name in operator.inputs if name in free_names(program)]
    names: dict[str, ast.expr] = {
        name: ast.Call(ast.Name("size_of"), [ast.Name(name)], []) for name in used
    }
    body.imports.name("tripybuild.frontend", "are_sizes", "dimension", "size_of")
    block = body.block("if ", call("are_sizes", [*used]), ":")
    assign(program, NameRewriter(names, body.imports), block)
    result = NameRewriter(names, body.imports).rewrite(program.result)
    block.add("return ", call("dimension", [document(result)]))


def _record(operator: Operator, chosen: list[SignatureParameter], body: Body, package: str) -> None:
    """`return record(Softmax, input, dim)`."""
    name = class_name(operator.name)
    body.imports.name(dotted_name(package, "trace", operator), name)
    function = "record_several" if returns_several(operator) else "record"
    function = "record_any" if returns_single(operator) else function
    body.imports.name("tripybuild.frontend", function)
    body.add("return ", call(function, [name, *(parameter.name for parameter in chosen)]))


def _compose(
    operator: Operator, chosen: list[SignatureParameter], body: Body, calls: CallResolver
) -> None:
    """The body of an inline function."""
    body.imports.name("tripybuild.frontend", "begin")
    body.write_block(
        lambda part, unread: _write_body(CheckScope(operator, chosen, part, unread), calls)
    )


def _write_body(scope: CheckScope, calls: CallResolver) -> None:
    """The checks of a call, then calls of other operators.

    ```python
    check = begin(DECLARATION)
    ...
    return check.finish(tp.sum(input, dim, keepdim) / count)
    ```
    """
    operator = scope.operator
    assert operator.decompose is not None
    program = operator.decompose.program
    scope.body.add("check = begin(DECLARATION)")
    check_call(scope, also=free_names(program))
    rewriter = calls.rewriter(operator, scope.rewriter.names, scope.imports)
    assign(program, rewriter, scope.body)
    end(program, rewriter, scope.body, partial(_return, scope))


def _return(scope: CheckScope, result: ast.expr, body: Body) -> None:
    """`return check.settled(tp.sum(input, dim, keepdim) / count)`."""
    operator = scope.operator
    if returns_several(operator) and isinstance(result, ast.ListComp):
        items = ast.GeneratorExp(result.elt, result.generators)
        result = ast.Call(ast.Name("tuple"), [items], [])
    elif returns_several(operator) and isinstance(result, ast.List):
        result = ast.Call(ast.Name("tuple"), [result], [])
    settled = call("check.finish", [document(result)])
    value = settled if operator.laws else statement_value(result)
    if device := _device(operator):
        scope.imports.name("tripybuild.frontend", "to_device")
        value = call("to_device", [value, device])
    body.add("return ", value)


def _device(operator: Operator) -> str | None:
    """The attribute that says where the one result will be."""
    for name, attribute in operator.attributes.items():
        kinds = [getattr(each, "kind", None) for each in options(attribute.pattern)]
        if kinds == ["device"] and not returns_several(operator):
            return name
    return None

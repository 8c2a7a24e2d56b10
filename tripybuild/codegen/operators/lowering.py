"""Emitter of lowerings: builder calls of an engine, other operators, or NumPy."""

import ast
from collections.abc import Set as AbstractSet
from functools import partial

from tripybuild.codegen.operators.arguments import function_type, parameters
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.operators.prelude import bind_names
from tripybuild.codegen.operators.signatures import returns_several
from tripybuild.codegen.package.fragment import dotted_name
from tripybuild.codegen.python.file_text import Body, Imports, docstring, header
from tripybuild.codegen.python.layout import call, render
from tripybuild.codegen.python.rewrite import NameRewriter
from tripybuild.codegen.python.statements import target_name, write_return
from tripybuild.schema.operator.operator import Input, Operator
from tripybuild.schema.snippets.vocabularies import ALIASES, HELPERS
from tripybuild.types.naming import class_name

# The builders of each dialect, as a lowering imports them.
BUILDERS = {
    "stablehlo": ("tripybuild", "stablehlo as hlo"),
    "tensorrt": ("tripybuild.tensorrt", "layers as trt"),
}


def lowering_file(operator: Operator, target: str, package: str) -> str:
    """The file that lowers one operation to one engine.

    ```python
    def lower(op: Softmax, input: trt.Value) -> trt.Value:
        "Lower `softmax` to the `tensorrt` dialect."
        return trt.softmax(input, axis=op.dim)
    ```
    """
    alias = ALIASES[target]
    body = Body(Imports())
    body.imports.name(*BUILDERS[target])
    snippet = operator.lower[target]
    names = bind_names(operator, snippet.program, body)
    write_return(snippet.program, NameRewriter(names, body.imports), body)
    summary = f"Lower `{operator.name}` to the `{target}` dialect."
    return _file(operator, package, ("lower", f"{alias}.Value", summary), body)


def decomposition_file(operator: Operator, calls: CallResolver) -> str:
    """The file that says one operation in terms of others, for engines that have no such operation.

    ```python
    def decompose(op: Softmax, input: Tensor) -> Tensor:
        "Say `softmax` with other operators."
        weights = tp.exp(input - tp.max(input, op.dim, keepdim=True))
        return weights / tp.sum(weights, op.dim, keepdim=True)
    ```
    """
    assert operator.decompose is not None
    body = Body(Imports())
    body.imports.name("tripyapi.tensor", "Tensor")
    program = operator.decompose.program
    names = bind_names(operator, program, body)
    write_return(program, calls.rewriter(operator, names, body.imports), body)
    summary = f"Say `{operator.name}` with other operators."
    return _file(operator, calls.package, ("decompose", "Tensor", summary), body)


def reference_file(operator: Operator, package: str) -> str:
    """The file that computes one operation in NumPy.

    ```python
    def compute(op: Softsign, input: Array) -> Any:
        "Compute `softsign` in NumPy."
        return input / (1 + np.abs(input))
    ```
    """
    assert operator.reference is not None
    body = Body(Imports())
    program = operator.reference.program
    names = bind_names(operator, program, body)
    write_return(program, NameRewriter(names, body.imports, partial(_helper, body.imports)), body)
    if "np." in body.text():
        body.imports.name("tripybuild.reference.numerics.numpy_guard", "numpy as np")
    body.imports.name("typing", "Any")
    if operator.inputs:
        body.imports.name("tripybuild.reference.numerics.arrays", "Array")
    summary = f"Compute `{operator.name}` in NumPy."
    return _file(operator, package, ("compute", "Array", summary), body, "Any")


def _helper(imports: Imports, call: ast.Call) -> ast.expr | None:
    """`arrays.convert`: the named helpers of references."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else None
    module = next((module for module, names in HELPERS.items() if name in names), None)
    if name is None or module is None:
        return None
    imports.name("tripybuild.reference.numerics", module)
    return ast.Attribute(ast.Name(module), name)


def _file(
    operator: Operator,
    package: str,
    what: tuple[str, str, str],
    body: Body,
    result: str | None = None,
) -> str:
    """A file with one function: its name, what it calls a tensor, its summary, what it gives."""
    function, value, summary = what
    operation = class_name(operator.name)
    body.imports.name(dotted_name(package, "trace", operator), operation)
    text = body.text()
    read = body.read()  # an unused parameter begins with an underscore
    inputs = _inputs(operator, value, body.imports, read)
    if result is None and returns_several(operator):
        body.imports.name("collections.abc", "Sequence")
        result = f"Sequence[{value}]"
    given = call(f"def {function}", [f"{target_name('op', read)}: {operation}", *inputs])
    signature = render([given, f" -> {result or value}:"])
    lines = "\n".join([signature, docstring(summary, 4), text])
    return f"{header(operator.path)}\n{body.imports.text(package)}\n\n\n{lines}\n"


def _inputs(operator: Operator, value: str, imports: Imports, read: AbstractSet[str]) -> list[str]:
    """`input: trt.Value`, `bias: trt.Value | None`: in the order of the operation's fields.

    Regions follow: each is a function that builds what is inside of it. All are given by place, so
    that what is not in `read` can begin with an underscore.
    """
    given = []
    for parameter in parameters(operator, Imports()):
        input = parameter.argument
        if isinstance(input, Input):
            kind = value
            if input.several:
                imports.name("collections.abc", "Sequence")
                kind = f"Sequence[{value}]"
            absent = input.optional and not input.several
            given.append(f"{target_name(input.name, read)}: {kind}{' | None' if absent else ''}")
    regions = (target_name(name, read) for name in operator.regions())
    given += [f"{name}: {function_type(value, imports)}" for name in regions]
    return given

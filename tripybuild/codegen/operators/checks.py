"""Emitter of call checks, in one order for recorded and for inline operators.

Dtypes and the laws about them; the plain names of shapes; attributes; laws, with `infer` on demand;
expressions inside the types of inputs; and last what the outputs need.
"""

from collections.abc import Iterable, Iterator

from tripybuild.codegen.operators.attribute_checks import check_attributes, checked_value
from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.operators.element_checks import check_elements
from tripybuild.codegen.operators.region_checks import check_regions
from tripybuild.codegen.operators.shape_checks import (
    add_shape,
    check_expressions,
    check_shape,
    fresh_names,
)
from tripybuild.codegen.python.expressions import document, quote
from tripybuild.codegen.python.layout import Doc, call
from tripybuild.codegen.python.statements import assign
from tripybuild.language.names import free_names, placeholder_names
from tripybuild.schema.operator.dtype_combinations import dtype_laws
from tripybuild.schema.operator.operator import Input, Law, Operator
from tripybuild.schema.snippets.snippet_scope import laws_around_regions
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import (
    LikePattern,
    TensorPattern,
    TensorsPattern,
    options,
    tensors,
)


def check_call(scope: CheckScope, also: Iterable[str] = ()) -> None:
    """Write all checks; `also` are names that what follows reads."""
    operator = scope.operator
    inputs = list(operator.inputs.values())
    about_dtypes = dtype_laws(operator)
    check_elements(scope)
    for law in about_dtypes:
        _check_law(scope, law)
    for input in inputs:
        if input.value is None:
            check_shape(scope, input)
    for input in inputs:
        if input.value is not None:
            _check_tensor_or_value(scope, input)
    check_attributes(scope)
    before, after = laws_around_regions(operator)
    for law in before:
        if law not in about_dtypes:
            _check_law(scope, law)
    if not operator.inline:
        check_regions(scope)
    for law in after:
        _check_law(scope, law)
    for input in inputs:
        check_expressions(scope, input)
    if not operator.inline:
        scope.infer(_output_names(operator))
    scope.infer(also)


def output_types(scope: CheckScope) -> list[Doc]:
    """`TensorType(T, (N, C, *E))`: the types of the outputs, as arguments of `gives`."""
    outputs = scope.operator.outputs.values()
    return [_output_type(scope, options(output.pattern)[-1]) for output in outputs]


def _output_type(scope: CheckScope, pattern: object) -> Doc:
    operator = scope.operator
    match pattern:
        case TensorPattern(element, shape) if shape is not None:
            scope.imports.name("tripybuild.trace", "TensorType")
            return call("TensorType", [scope.element(element), scope.sizes(shape)])
        case TensorsPattern(TensorPattern(element, shape)) if shape is not None:
            scope.imports.name("tripybuild.trace", "TensorType")
            runs = document(shape[0].expression)
            if element in BY_NAME or element in operator.types:
                each = ["TensorType(", scope.element(element), ", tuple(each))"]
                return ["*[", *each, " for each in ", runs, "]"]
            pairs = call("zip", [element, runs, "strict=True"])
            return ["*[TensorType(dtype, tuple(each)) for dtype, each in ", pairs, "]"]
        case LikePattern(name):
            several = operator.inputs[name].several
            return f"*[each.type for each in {name}]" if several else f"{name}.type"
    raise NotImplementedError(f"an output of type {pattern}")


def _output_names(operator: Operator) -> Iterator[str]:
    for output in operator.outputs.values():
        for tensor in tensors(output.pattern):
            yield tensor.element
            for dimension in tensor.shape or ():
                yield from free_names(dimension.expression)


def _check_tensor_or_value(scope: CheckScope, input: Input) -> None:
    """Check an input that may be no tensor: the names that a tensor binds are None then.

    ```python
    J = None
    if check.is_tensor(index):
        check.element("I", (dtypes.int32, dtypes.int64), index=index)
        J = check.shape("index", index, "[*J]")
    else:
        index = check.index("index", index, S)
    ```
    """
    given = scope.given[input.name]
    if given != input.name:
        scope.imports.name("typing", "Any")
        scope.body.add(f"{given}: Any = {input.name}")
    tensor = next(tensors(input.pattern))
    element = tensor.element if tensor.element in scope.operator.types else None
    names = fresh_names(scope, tensor.shape or ())
    bound = [name for name in (element, *names) if name and name not in scope.unused]
    for name in bound:
        scope.body.add(f"{name} = None")
    block = scope.body.block(f"if check.is_tensor({given}):")
    if element is not None:
        allowed = scope.elements(scope.operator.types[element])
        arguments: list[Doc] = [f'"{element}"', allowed, f"{input.name}={given}"]
        scope.assign(element, "element", arguments, block)
    if tensor.shape:
        add_shape(block, input, given, tensor.shape, names)
    scope.bound.update(bound)
    assert input.value is not None
    value = checked_value(scope, input.name, input.value, given)
    scope.body.block("else:").add(f"{given} = ", value)


def _check_law(scope: CheckScope, law: Law) -> None:
    """One law, behind the names that it infers.

    ```python
    with check.law("groups-divide", C=C, groups=groups) as require:
        require(C % groups == 0)
    ```
    """
    names = [*free_names(law.that.program), *placeholder_names(law.message or "")]
    scope.infer(names)
    operator = scope.operator
    values = {*scope.bound, *operator.attributes, *operator.inputs, *operator.infer}
    shown = [name for name in dict.fromkeys(names) if name in values]
    arguments = [quote(law.name), *(f"{name}={name}" for name in shown)]
    block = scope.body.block("with ", call("check.law", arguments), " as require:")
    assign(law.that.program, scope.rewriter, block)
    block.add(call("require", [document(scope.rewriter.rewrite(law.that.result))]))

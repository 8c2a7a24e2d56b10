"""Emitter of call checks, in one order for recorded and for inline operators.

Dtypes and the laws about them; the plain names of shapes; attributes; laws, with `infer` on demand;
expressions inside the types of inputs; and last what the outputs need.
"""

import ast
from collections.abc import Iterable, Iterator

from tripybuild.codegen.operators.arguments import SignatureParameter
from tripybuild.codegen.operators.attribute_checks import (
    add_assignment,
    check_attributes,
    check_default,
    checked_value,
)
from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.operators.region_checks import check_regions
from tripybuild.codegen.operators.shape_checks import (
    add_shape,
    check_expressions,
    check_shape,
    fresh_names,
    guard_optional,
)
from tripybuild.codegen.python.expressions import document, quote
from tripybuild.codegen.python.layout import Doc, call
from tripybuild.codegen.python.statements import assign
from tripybuild.language.names import free_names, placeholder_names
from tripybuild.schema.operator.dtype_combinations import dtype_laws
from tripybuild.schema.operator.operator import Attribute, Input, Operator, Requirement
from tripybuild.schema.snippets.snippet_scope import laws_around_regions
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import (
    LikePattern,
    Pattern,
    TensorPattern,
    TensorsPattern,
    ValuePattern,
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


def _check_law(scope: CheckScope, law: Requirement) -> None:
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


def check_elements(scope: CheckScope) -> None:
    """Write all checks of dtypes."""
    inputs = list(scope.operator.inputs.values())
    for variable in scope.operator.types:
        _bind_variable(scope, variable)
    for parameter in scope.parameters:
        if _is_dtype(parameter.argument.pattern):
            _check_dtype(scope, parameter)
    for input in inputs:
        _check_own_dtype(scope, input)
    for input in inputs:
        _make_tensors(scope, input)
    for input in inputs:
        _check_attribute_dtype(scope, input)
        _check_constant(scope, input)


def _bind_variable(scope: CheckScope, variable: str) -> None:
    """`T = check.element("T", (dtypes.float32, dtypes.float16), input=input, weight=weight)`."""
    using = [
        input
        for input in scope.operator.inputs.values()
        if [t.element for t in tensors(input.pattern)] == [variable] and input.value is None
    ]
    if using and variable not in _attribute_variables(scope):
        beside = any(_takes_number(input.pattern) for input in using)
        arguments = [f'"{variable}"', scope.elements(scope.operator.types[variable])]
        arguments += [f"{input.name}={input.name}" for input in using]
        function = "element_or_numbers" if beside else "element"
        body = scope.body
        if all(input.optional for input in using):
            if variable not in scope.unused:
                body.add(f"{variable} = None")
            given = " or ".join(f"{input.name} is not None" for input in using)
            body = body.block(f"if {given}:")
        scope.assign(variable, function, arguments, body)


def _check_dtype(scope: CheckScope, parameter: SignatureParameter) -> None:
    """`dtype = T = check.dtype("dtype", dtype, dtypes.float32, dtypes.float16)`."""
    allowed: tuple[dtype, ...] = tuple(BY_NAME.values())
    name, argument = parameter.name, parameter.argument
    variable = argument.variable or "" if isinstance(argument, Attribute) else ""
    if variable in scope.operator.types:
        allowed = scope.operator.types[variable]
    check_default(scope, parameter)
    wanted = [scope.element(str(each)) for each in allowed]
    binds = variable and variable not in scope.bound | scope.unused
    target = f"{name} = {variable}" if binds else name
    add_assignment(scope, parameter, target, call("check.dtype", [f'"{name}"', name, *wanted]))
    scope.bound |= {name, variable} - {""}


def _check_own_dtype(scope: CheckScope, input: Input) -> None:
    """An input whose dtype no variable binds: `bool[*A]`, `int32[B]`, `bool[*M] | T[*M]`."""
    elements = [tensor.element for tensor in tensors(input.pattern)]
    alone = len(elements) == 1 and elements[0] in BY_NAME
    if (alone or len(elements) > 1) and not input.several:
        wanted = [scope.element(element) for element in elements]
        body = guard_optional(scope, input)
        body.add(call("check.dtype_of", [f'"{input.name}"', input.name, *wanted]))


def _make_tensors(scope: CheckScope, input: Input) -> None:
    """`other = check.number_or_tensor("other", other, T)`, `tensors = check.tensors(...)`."""
    elements = [tensor.element for tensor in tensors(input.pattern)]
    arguments: list[Doc] = [f'"{input.name}"', input.name]
    depths = _depths(input.pattern)
    if depths and elements:
        arguments.append(scope.element(elements[0]))
        nested = depths != [0]
        arguments += [str(depth) for depth in depths if nested]
        function = "numbers_or_tensor" if nested else "number_or_tensor"
        scope.assign(input.name, function, arguments, scope.body)
    elif input.several:
        scope.assign(input.name, "tensors", arguments, scope.body)


def _check_attribute_dtype(scope: CheckScope, input: Input) -> None:
    """A tensor of the dtype that an attribute chose: `check.element("F", (F,), scale=scale)`."""
    elements = [tensor.element for tensor in tensors(input.pattern)]
    if len(elements) == 1 and elements[0] in _attribute_variables(scope) and input.value is None:
        arguments = [f'"{elements[0]}"', f"({elements[0]},)", f"{input.name}={input.name}"]
        guard_optional(scope, input).add(call("check.element", arguments))


def _attribute_variables(scope: CheckScope) -> frozenset[str]:
    """The type variables to which an attribute gives a dtype."""
    return frozenset(filter(None, (a.variable for a in scope.operator.attributes.values())))


def _check_constant(scope: CheckScope, input: Input) -> None:
    """`check.static_tensor("scale", scale)`, behind `if` where it is so for some dtypes only."""
    if input.constant is not None:
        body = guard_optional(scope, input)
        if not isinstance(input.constant.result, ast.Constant):
            test = document(scope.rewriter.rewrite(input.constant.result))
            body = body.block("if ", test, ":")
        body.add(call("check.static_tensor", [f'"{input.name}"', input.name]))


def _depths(pattern: Pattern) -> list[int]:
    """How deep numbers may be nested that stand for a tensor: 0 is a number alone."""
    numbers = [o for o in options(pattern) if isinstance(o, ValuePattern) and o.kind == "number"]
    return [0 if o.lengths is None else max(len(o.lengths), 1) for o in numbers]


def _takes_number(pattern: Pattern) -> bool:
    return bool(_depths(pattern))


def _is_dtype(pattern: Pattern) -> bool:
    return any(isinstance(o, ValuePattern) and o.kind == "dtype" for o in options(pattern))

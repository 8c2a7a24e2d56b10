"""Emitter of dtype checks: type variables are bound, fixed dtypes are compared.

Tensors bind first, then attributes that are dtypes; numbers become tensors of what was bound.
"""

import ast

from tripybuild.codegen.operators.arguments import SignatureParameter
from tripybuild.codegen.operators.attribute_checks import add_assignment, check_default
from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.operators.shape_checks import guard_optional
from tripybuild.codegen.python.expressions import document
from tripybuild.codegen.python.layout import Doc, call
from tripybuild.schema.operator.operator import Attribute, Input
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import Pattern, ValuePattern, options, tensors


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

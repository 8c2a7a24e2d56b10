"""Emitter of attribute checks: normalization, and computed defaults."""

import ast

from tripybuild.codegen.operators.arguments import SignatureParameter
from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.python.layout import SPACE, Doc, Group, call, optional_parentheses
from tripybuild.codegen.python.statements import define
from tripybuild.language.names import free_names
from tripybuild.schema.operator.operator import Attribute
from tripybuild.types.patterns import ChoicePattern, Pattern, ValuePattern, options, tensors

# What checks one value of a kind, and what checks several.
_FUNCTIONS = {
    "int": ("integer", "integers"),
    "float": ("real", "numbers"),
    "number": ("number", "numbers"),
    "size": ("size", "sizes"),
    "bool": ("boolean", "booleans"),
    "string": ("string", "strings"),
    "device": ("device", "devices"),
    "mapping": ("mapping", "mappings"),
}


def check_attributes(scope: CheckScope) -> None:
    """Normalize the attributes in their declared order: `dim = check.axis("dim", dim, len(S))`."""
    by_name = {parameter.name: parameter for parameter in scope.parameters}
    for name in scope.operator.attributes:
        if name not in {*scope.bound, *scope.operator.regions()}:
            _check_attribute(scope, by_name[name])


def check_default(scope: CheckScope, parameter: SignatureParameter) -> None:
    """Compute a default that reads other names: `if size is None:`, then `size = S[1:]`."""
    if parameter.computed and isinstance(parameter.argument, Attribute):
        default = parameter.argument.default
        assert default is not None
        scope.infer(free_names(default.program))
        block = scope.body.block(f"if {parameter.name} is None:")
        define(parameter.name, default.program, scope.rewriter, block)


def add_assignment(
    scope: CheckScope, parameter: SignatureParameter, target: str, value: Doc
) -> None:
    """`dim = check.axis(...)`, or `dim = None if dim is None else check.axis(...)`."""
    if parameter.nullable and not parameter.computed:
        test: list[Doc] = ["None", SPACE, f"if {parameter.name} is None", SPACE, "else ", value]
        value = optional_parentheses(Group(test))
    scope.body.add(f"{target} = ", value)


def checked_value(scope: CheckScope, name: str, pattern: ValuePattern, given: str) -> Doc:
    """The call that checks one form of a value: `check.integers("stride", stride, len(D))`."""
    if pattern.alone:
        given = f"{given} if isinstance({given}, (list, tuple)) else [{given}]"
    start: list[Doc] = [f'"{name}"', given]
    if pattern.kind == "axis":
        assert pattern.argument is not None
        function = "axis" if pattern.lengths is None else "axes"
        return call(f"check.{function}", [*start, _rank(scope, pattern.argument)])
    if pattern.kind == "index":
        assert isinstance(pattern.argument, ast.Name)
        return call("check.index", [*start, _shape(scope, pattern.argument.id)])
    if pattern.kind == "subscripts":
        assert isinstance(pattern.argument, ast.Name)
        shapes = next(tensors(scope.operator.inputs[pattern.argument.id].pattern)).shape
        assert shapes is not None
        return call("check.subscripts", [*start, scope.expression(shapes[0].expression)])
    if pattern.fields:
        return call("check.records", [*start, *(f'"{field}"' for field in pattern.fields)])
    one, many = _FUNCTIONS.get(pattern.kind, ("number", "numbers"))
    if pattern.lengths is None:
        return call(f"check.{one}", start)
    return call(f"check.{many}", [*start, *map(scope.expression, pattern.lengths)])


def _check_attribute(scope: CheckScope, parameter: SignatureParameter) -> None:
    check_default(scope, parameter)
    name = parameter.name
    value = _check_expression(scope, name, options(parameter.argument.pattern))
    if value is not None:
        add_assignment(scope, parameter, name, value)
    scope.bound.add(name)


def _check_expression(scope: CheckScope, name: str, forms: tuple[Pattern, ...]) -> Doc | None:
    values = [form for form in forms if isinstance(form, ValuePattern)]
    if len(values) == len(forms) > 1:
        return _either(scope, name, values)
    match forms[0]:
        case ChoicePattern(options=choices):
            return call("check.choice", [f'"{name}"', name, *(f'"{word}"' for word in choices)])
        case ValuePattern() as value:
            return checked_value(scope, name, value, name)
    return None


def _either(scope: CheckScope, name: str, forms: list[ValuePattern]) -> Doc:
    """`int | size[...]`, `number | size`: the form follows what is given."""
    one = [form for form in forms if form.lengths is None]
    many = [form for form in forms if form.lengths is not None]
    if one and many:
        several = checked_value(scope, name, many[0], name)
        single = checked_value(scope, name, one[0], name)
        test = f"if isinstance({name}, (list, tuple))"
        return optional_parentheses(Group([several, SPACE, test, SPACE, "else ", single]))
    sized = any(form.kind == "size" for form in one)
    return call("check.number_or_size" if sized else "check.number", [f'"{name}"', name])


def _shape(scope: CheckScope, name: str) -> str:
    """The shape of an input: the name that holds all of it, if there is one."""
    return _run(scope, name) or f"{name}.type.shape"


def _rank(scope: CheckScope, argument: ast.expr) -> Doc:
    """`axis(input)` counts an input's dimensions; `axis(expression)` says the rank itself."""
    if isinstance(argument, ast.Name) and argument.id in scope.operator.inputs:
        run = _run(scope, argument.id)
        return f"len({run})" if run else f"{argument.id}.type.rank"
    return scope.expression(argument)


def _run(scope: CheckScope, name: str) -> str | None:
    """The one name that stands for all dimensions of an input: `S` of `T[*S]`."""
    shape = next(tensors(scope.operator.inputs[name].pattern)).shape
    return shape[0].name if shape is not None and len(shape) == 1 and shape[0].star else None

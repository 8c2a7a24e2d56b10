"""The arguments of an operator as Python parameters: order, annotations, defaults."""

import ast
from dataclasses import dataclass

from tripybuild.codegen.expressions import statement_value
from tripybuild.codegen.layout import Doc
from tripybuild.codegen.rewrite import Rewriter
from tripybuild.codegen.text import Imports
from tripybuild.language.names import free
from tripybuild.schema.operator import Attribute, Input, Operator
from tripybuild.schema.scope import words
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import (
    ChoicePattern,
    Pattern,
    TensorPattern,
    TensorsPattern,
    ValuePattern,
    options,
)

# One Python value of a kind: the annotation that callers see, and that of the normalised value.
_ONE = {
    "int": ("int", "int"),
    "float": ("float", "float"),
    "number": ("float", "float"),
    "bool": ("bool", "bool"),
    "string": ("str", "str"),
    "size": ("Size", "Any"),
    "dtype": ("dtypes.dtype", "dtypes.dtype"),
    "axis": ("int", "int"),
    "index": ("IndexLike", "Index"),
}


@dataclass(frozen=True)
class Parameter:
    """One parameter. `default` is None where the argument is required; `computed` where the default
    is an expression over other names, so that the signature says None.
    """

    name: str
    argument: Input | Attribute
    default: Doc | None
    computed: bool

    @property
    def nullable(self) -> bool:
        """Whether None may be given."""
        return self.default == "None"


def parameters(operator: Operator, imports: Imports) -> list[Parameter]:
    """The parameters in calling order; those with a default stand behind those without."""
    result = [_parameter(argument, operator, imports) for argument in operator.arguments()]
    missing = {*operator.inputs, *operator.attributes} - {p.name for p in result}
    everything: dict[str, Input | Attribute] = {**operator.inputs, **operator.attributes}
    result += [_parameter(everything[n], operator, imports) for n in everything if n in missing]
    return sorted(result, key=lambda parameter: parameter.default is not None)


def _parameter(argument: Input | Attribute, operator: Operator, imports: Imports) -> Parameter:
    if isinstance(argument, Input):
        return Parameter(argument.name, argument, "None" if argument.optional else None, False)
    if argument.default is None:
        return Parameter(argument.name, argument, None, False)
    node = argument.default.result
    if isinstance(node, ast.Constant) and node.value is None:
        return Parameter(argument.name, argument, "None", False)
    known = words(operator) | BY_NAME.keys() | {"inf", "nan", "pi"}
    if set(free(node)) - known or any(isinstance(n, ast.Call) for n in ast.walk(node)):
        return Parameter(argument.name, argument, "None", True)
    return Parameter(argument.name, argument, default_doc(argument, operator, imports), False)


def default_doc(argument: Attribute, operator: Operator, imports: Imports) -> Doc:
    """A default as it stands in a signature; words are text there."""
    assert argument.default is not None
    texts = {word: ast.Constant(word) for word in words(operator)}
    return statement_value(Rewriter(texts, imports).rewrite(argument.default.result))


def annotation(parameter: Parameter, tensor: str, imports: Imports) -> str:
    """What a caller may give: `Tensor | float`, `int | Sequence[int] | None`."""
    alternatives: list[str] = []
    for option in options(parameter.argument.pattern):
        for text in _given(option, tensor, imports):
            if text not in alternatives:
                alternatives.append(text)
    if parameter.nullable and "None" not in alternatives:
        alternatives.append("None")
    return " | ".join(alternatives)


def _given(pattern: Pattern, tensor: str, imports: Imports) -> list[str]:
    match pattern:
        case TensorPattern():
            return [tensor]
        case TensorsPattern():
            imports.name("collections.abc", "Sequence")
            return [f"Sequence[{tensor}]"]
        case ChoicePattern():
            return ["str"]
        case ValuePattern(kind=kind, lengths=lengths):
            one = _ONE[kind if kind in _ONE else "number"][0]
            _import(one, imports)
            if lengths is None:
                return [one]
            imports.name("collections.abc", "Sequence")
            nested = one
            for _ in range(max(len(lengths), 1)):
                nested = f"Sequence[{nested}]"
            spreads = kind == "axis" or lengths
            return [one, nested] if spreads else [nested]
    imports.name("typing", "Any")
    return ["Any"]


def field_annotation(parameter: Parameter, imports: Imports) -> str:
    """The type of a normalised argument, as a field of the operation."""
    alternatives: list[str] = []
    for option in options(parameter.argument.pattern):
        text = _kept(option, imports)
        if text not in alternatives:
            alternatives.append(text)
    if "Value" in alternatives:
        alternatives = ["Value"]
    if parameter.nullable and not parameter.computed:
        alternatives.append("None")
    return " | ".join(alternatives)


def _kept(pattern: Pattern, imports: Imports) -> str:
    match pattern:
        case TensorPattern():
            imports.name("tripybuild.trace", "Value")
            return "Value"
        case TensorsPattern():
            imports.name("tripybuild.trace", "Value")
            return "tuple[Value, ...]"
        case ChoicePattern():
            return "str"
        case ValuePattern(kind=kind, lengths=lengths):
            kept = _ONE[kind if kind in _ONE else "number"][1]
            _import(kept, imports)
            for _ in range(max(len(lengths), 1) if lengths is not None else 0):
                kept = f"tuple[{kept}, ...]"
            return kept
    imports.name("typing", "Any")
    return "Any"


def _import(annotation: str, imports: Imports) -> None:
    if annotation == "dtypes.dtype":
        imports.name("tripybuild.types", "dtypes")
    if annotation == "Any":
        imports.name("typing", "Any")
    if annotation == "IndexLike":
        imports.name("tripybuild.frontend", annotation)
    if annotation in ("Size", "Index"):
        imports.name("tripybuild.trace", annotation)

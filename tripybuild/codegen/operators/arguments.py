"""Operator arguments as Python parameters: order, annotations, defaults."""

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from tripybuild.codegen.python.expressions import statement_value
from tripybuild.codegen.python.file_text import Imports
from tripybuild.codegen.python.layout import Doc
from tripybuild.codegen.python.rewrite import CONSTANTS, NameRewriter
from tripybuild.language.names import free_names
from tripybuild.language.syntax import walk
from tripybuild.schema.operator.operator import KEPT, Attribute, Input, Operator
from tripybuild.schema.snippets.snippet_scope import choice_words
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import (
    ChoicePattern,
    Pattern,
    RegionPattern,
    TensorPattern,
    TensorsPattern,
    ValuePattern,
    options,
)

# One Python value of a kind: the annotation that callers see, and that of the normalized value.
_ONE = {
    "int": ("int", "int"),
    "float": ("float", "float"),
    "number": ("float", "float"),
    "bool": ("bool", "bool"),
    "string": ("str", "str"),
    "device": ("DeviceLike", "str"),
    "size": ("Size", "Any"),
    "dtype": ("dtypes.dtype", "dtypes.dtype"),
    "axis": ("int", "int"),
    "index": ("IndexLike", "Index"),
    "mapping": ("Any", "tuple[tuple[str, Any], ...]"),
    "subscripts": ("str", "str"),
}
# Where the names in annotations come from.
_HOMES = {
    "Any": ("typing", "Any"),
    "Callable": ("collections.abc", "Callable"),
    "DeviceLike": ("tripybuild.frontend", "DeviceLike"),
    "Index": ("tripybuild.frontend.checks", "Index"),
    "IndexLike": ("tripybuild.frontend", "IndexLike"),
    "IntLike": ("tripybuild.frontend", "IntLike"),
    "Region": ("tripybuild.trace", "Region"),
    "Size": ("tripybuild.trace", "Size"),
    "Value": ("tripybuild.trace", "Value"),
    "dtypes.dtype": ("tripybuild.types", "dtypes"),
}


@dataclass(frozen=True, slots=True)
class AnnotationNames:
    """How a layer names a tensor, and a size that may be a symbol."""

    tensor: str
    size: str


PUBLIC = AnnotationNames("Tensor", "IntLike")
TRACED = AnnotationNames("Value", "Size")


@dataclass(frozen=True, slots=True)
class SignatureParameter:
    """One parameter. Without a `default`, the argument is required.

    Where the default is `computed` from other names, the signature says None.
    """

    name: str
    argument: Input | Attribute
    default: Doc | None = None
    computed: bool = False

    @property
    def nullable(self) -> bool:
        """Whether None may be given."""
        return self.default == "None"

    def without_default(self) -> "SignatureParameter":
        """The same parameter without a default."""
        return replace(self, default=None, computed=False)

    @property
    def keywords(self) -> bool:
        """Whether it takes all other keywords: `**fields` of the public function."""
        return isinstance(self.argument, Attribute) and self.argument.keywords

    def declaration(self, annotation: str) -> Doc:
        """`dim: int = -1`: the parameter as it stands in a signature."""
        text = f"{self.name}: {annotation}"
        return text if self.default is None else [text, " = ", self.default]


def parameters(operator: Operator, imports: Imports) -> list[SignatureParameter]:
    """The parameters in calling order; those with a default stand behind those without."""
    found, needed = _parameters(operator)
    imports.add(needed)
    return list(found)


@lru_cache(maxsize=KEPT)
def _parameters(operator: Operator) -> tuple[tuple[SignatureParameter, ...], Imports]:
    """The parameters, and what their defaults import; all files of an operator ask."""
    imports = Imports()
    everything: dict[str, Input | Attribute] = {**operator.inputs, **operator.attributes}
    order = dict.fromkeys([*(a.name for a in operator.arguments()), *everything])
    result = [_parameter(everything[name], operator, imports) for name in order]
    result.sort(key=lambda each: (each.keywords, each.default is not None))
    return tuple(result), imports


def _parameter(
    argument: Input | Attribute, operator: Operator, imports: Imports
) -> SignatureParameter:
    if isinstance(argument, Input):
        return SignatureParameter(
            argument.name, argument, argument.absent if argument.optional else None
        )
    texts = {word: ast.Constant(word) for word in choice_words(operator)}
    return with_default(argument, texts, imports)


def with_default(
    argument: Attribute, known: Mapping[str, ast.expr], imports: Imports
) -> SignatureParameter:
    """A Python value as a parameter; `known` is what stands for words in its default."""
    if argument.default is None:
        return SignatureParameter(argument.name, argument, "()" if argument.keywords else None)
    node = argument.default.result
    computed = set(free_names(node)) - known.keys() - BY_NAME.keys() - CONSTANTS
    if computed or any(isinstance(each, ast.Call) for each in walk(node)):
        return SignatureParameter(argument.name, argument, "None", computed=True)
    default = statement_value(NameRewriter(known, imports).rewrite(node))
    return SignatureParameter(argument.name, argument, default)


def annotation(parameter: SignatureParameter, spelling: AnnotationNames, imports: Imports) -> str:
    """What a caller may give: `Tensor | float`, `int | Sequence[int] | None`."""
    forms = options(parameter.argument.pattern)
    alternatives = [text for form in forms for text in _input_annotations(form, spelling, imports)]
    return _either(alternatives, nullable=parameter.nullable)


def _input_annotations(pattern: Pattern, spelling: AnnotationNames, imports: Imports) -> list[str]:
    match pattern:
        case TensorPattern():
            return [_import_type(spelling.tensor, imports)]
        case TensorsPattern():
            return [_sequence(_import_type(spelling.tensor, imports), 1, imports)]
        case ChoicePattern():
            return ["str"]
        case RegionPattern():
            return [function_type(_import_type(spelling.tensor, imports), imports)]
        case ValuePattern(lengths=lengths):
            one = _one(pattern, 0, spelling, imports)
            if lengths is None:
                return [one]
            several = _sequence(one, max(len(lengths), 1), imports)
            spreads = pattern.kind == "axis" or lengths or pattern.alone
            return [one, several] if spreads else [several]
    return [_import_type("Any", imports)]


def _one(pattern: ValuePattern, side: int, spelling: AnnotationNames, imports: Imports) -> str:
    """One value, as it is given (0) or kept (1): `int`, or `tuple[int, dtypes.dtype]`."""
    if pattern.fields:
        fields = [ValuePattern(field) for field in pattern.fields]
        return f"tuple[{', '.join(_one(each, side, spelling, imports) for each in fields)}]"
    name = _ONE.get(pattern.kind, _ONE["number"])[side]
    if "Any" in name:
        imports.name("typing", "Any")
    return _import_type(spelling.size if name == "Size" else name, imports)


def function_type(tensor: str, imports: Imports) -> str:
    """`Callable[..., Tensor | Sequence[Tensor]]`: what a region is recorded from."""
    return f"{_import_type('Callable', imports)}[..., {tensor} | {_sequence(tensor, 1, imports)}]"


def _sequence(one: str, depth: int, imports: Imports) -> str:
    imports.name("collections.abc", "Sequence")
    return "Sequence[" * depth + one + "]" * depth


def field_annotation(parameter: SignatureParameter, imports: Imports) -> str:
    """The type of a normalized argument, as a field of the operation: `tuple[int, ...]`."""
    alternatives = [_field_type(form, imports) for form in options(parameter.argument.pattern)]
    if "Value" in alternatives:
        alternatives = ["Value"]
    return _either(alternatives, nullable=parameter.nullable and not parameter.computed)


def _field_type(pattern: Pattern, imports: Imports) -> str:
    match pattern:
        case TensorPattern():
            return _import_type("Value", imports)
        case TensorsPattern():
            return f"tuple[{_import_type('Value', imports)}, ...]"
        case ChoicePattern():
            return "str"
        case RegionPattern():
            return _import_type("Region", imports)
        case ValuePattern(lengths=lengths):
            kept = _one(pattern, 1, TRACED, imports)
            for _ in range(max(len(lengths), 1) if lengths is not None else 0):
                kept = f"tuple[{kept}, ...]"
            return kept
    return _import_type("Any", imports)


def _either(alternatives: Iterable[str], *, nullable: bool) -> str:
    return " | ".join(dict.fromkeys([*alternatives, *(["None"] if nullable else [])]))


def _import_type(name: str, imports: Imports) -> str:
    if name in _HOMES:
        imports.name(*_HOMES[name])
    return name

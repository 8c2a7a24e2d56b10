"""Emitter of a module's Python class: typed, documented, with parameters of known types."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tripybuild.codegen.modules.module_constructor import as_operator, constructor_lines
from tripybuild.codegen.modules.module_forward import forward_lines
from tripybuild.codegen.operators.arguments import (
    PUBLIC,
    SignatureParameter,
    annotation,
    field_annotation,
    with_default,
)
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.operators.trace_op import declaration
from tripybuild.codegen.python.expressions import document
from tripybuild.codegen.python.file_text import Imports, docstring, header
from tripybuild.codegen.python.layout import render
from tripybuild.language.names import free_names
from tripybuild.schema.model.model import DEFAULT_VARIABLE
from tripybuild.schema.operator.operator import Attribute, Snippet
from tripybuild.schema.operator.part import Part, Weight
from tripybuild.schema.registry_files import ModuleDeclaration
from tripybuild.types.patterns import TensorPattern, ValuePattern, tensors


@dataclass(frozen=True)
class ModuleClass:
    """A module with what its class is written from; `calls` tells of operators and modules."""

    part: Part
    declared: ModuleDeclaration
    calls: CallResolver
    imports: Imports

    @property
    def path(self) -> str:
        """The module's file, as shown to people."""
        return self.declared.path

    @property
    def sizes(self) -> dict[str, Attribute]:
        """The arguments of the constructor."""
        return {
            p.name: Attribute(p.name, p.pattern, p.doc, p.default) for p in self.part.parameters
        }

    @property
    def attribute_sizes(self) -> list[str]:
        """The sizes that are attributes: those whose name is no weight's and no part's."""
        held = {*self.part.weights, *self.part.parts}
        return [name for name in self.sizes if name not in held]

    @property
    def parameters(self) -> list[SignatureParameter]:
        """The sizes as Python's parameters; those with a default stand behind those without."""
        known = {v: self._dtype(name) for v, name in self.variables.items()}
        chosen = [with_default(size, known, self.imports) for size in self.sizes.values()]
        optional = {size.name for size in self.part.parameters if size.optional}
        chosen = [
            replace(each, default="None", computed=True) if each.name in optional else each
            for each in chosen
        ]
        return sorted(chosen, key=lambda parameter: parameter.default is not None)

    @property
    def variables(self) -> dict[str, str]:
        """The type variables, with the dtypes that they have by default."""
        return {DEFAULT_VARIABLE: "float32", **self.part.types}

    @property
    def inherited(self) -> dict[str, str]:
        """The type variables that a specification gives its dtypes, with the attributes for them.

        A variable that no argument gives a dtype is an attribute itself.
        """
        sizes = [size for size in self.part.parameters if size.variable]
        known = {size.variable for size in sizes} | self.part.types.keys()
        found = {s.variable: s.name for s in sizes if s.default and s.default.text == s.variable}
        if DEFAULT_VARIABLE not in known and DEFAULT_VARIABLE in elements(self.part):
            found[DEFAULT_VARIABLE] = DEFAULT_VARIABLE
        return found

    def element(self, variable: str, prefix: str = "") -> ast.expr:
        """The dtype of a type: that of an argument, `dtype`, or `dtypes.float32`."""
        for size in self.part.parameters:
            if size.variable == variable:
                return ast.Name(prefix + size.name)
        if self.inherited.get(variable) == variable:
            return ast.Attribute(ast.Name("self"), variable)
        return self._dtype(self.variables.get(variable, variable))

    def home(self, name: str) -> str:
        """The package of a module's class, imported."""
        return self.calls.package_of(name, self.imports)

    def _dtype(self, name: str) -> ast.expr:
        self.imports.name("tripybuild.types", "dtypes")
        return ast.Attribute(ast.Name("dtypes"), name)


def class_file(module: ModuleClass) -> str:
    """The file of one class.

    ```python
    @dataclass(init=False, repr=False, eq=False)
    class Linear(Module):
        "Multiply by a matrix and add a constant."

        weight: Tensor
        bias: Tensor | None

        def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
            self.weight = tp.Parameter((out_features, in_features))
            self.bias = tp.Parameter((out_features,)) if bias else None

        def forward(self, x: Tensor) -> Tensor: ...
    ```
    """
    part, imports = module.part, module.imports
    imports.module("tripyapi as tp")
    imports.name("dataclasses", "dataclass")
    imports.name("tripyapi.tensor", "Tensor")
    imports.name("tripybuild.eager", "Module")
    imports.name("tripybuild.trace", "Declaration")
    operator = as_operator(module)
    constructor, forward = constructor_lines(module, operator), forward_lines(module)
    about = docstring(
        part.doc,
        4,
        [
            ("Args", _arguments(module)),
            ("Attributes", _weight_entries(module)),
            ("Raises", _raises(module)),
        ],
    )
    attributes = "\n".join(f"    {line}" for line in _annotations(module))
    declared = declaration(operator, imports, 0, "DECLARATION = ")
    members = "\n\n".join(part for part in (attributes, constructor, forward) if part)
    return (
        f"{header(module.path)}\n{imports.text(module.calls.package)}\n\n{declared}\n\n\n"
        f"{_head(module)}\n{about}\n\n{members}\n"
    )


def _head(module: ModuleClass) -> str:
    """`class Linear(Module, fixed=("in_features", "dtype")):`, with what parameters depend on.

    It is a data class for `dataclasses.fields` alone: it is made and compared by itself.
    """
    read = set(_read(module.part))
    variables = {p.name for p in module.part.parameters if p.variable in read}
    fixed: list[ast.expr] = [
        ast.Constant(name) for name in module.attribute_sizes if name in read | variables
    ]
    options = [ast.keyword("fixed", ast.Tuple(fixed))] if fixed else []
    if types := module.inherited:
        keys: list[ast.expr | None] = [ast.Constant(each) for each in types]
        values: list[ast.expr] = [ast.Constant(each) for each in types.values()]
        options.append(ast.keyword("types", ast.Dict(keys, values)))
    bases = ast.Call(ast.Name(module.part.name), [ast.Name("Module")], options)
    head = render(["class ", document(bases), ":"])
    return f"@dataclass(init=False, repr=False, eq=False)\n{head}"


def elements(part: Part) -> set[str]:
    """The type variables and dtypes of what a module takes and holds."""
    patterns = (*part.inputs.values(), *(weight.pattern for weight in part.weights.values()))
    return {each.element for pattern in patterns for each in tensors(pattern)}


def _read(part: Part) -> Iterator[str]:
    """The names that what a module holds is made from, those of dtypes among them."""
    for weight in part.weights.values():
        assert isinstance(weight.pattern, TensorPattern)
        yield weight.pattern.element
        for dimension in weight.pattern.shape or ():
            yield from free_names(dimension.expression)
        for snippet in (weight.when, weight.optional):
            yield from free_names(snippet.program) if snippet else ()
    for snippet in part.parts.values():
        yield from free_names(snippet.program)


def _arguments(module: ModuleClass) -> list[tuple[str, str]]:
    return [(s.name, f"{s.doc or 'A size.'} (`{s.pattern}`)") for s in module.sizes.values()]


def _weight_entries(module: ModuleClass) -> list[tuple[str, str]]:
    """The weights with their types."""
    return [
        (weight.name, f"{', '.join([f'`{weight.pattern}`', *conditions(weight)])}.")
        for weight in module.part.weights.values()
    ]


def conditions(weight: Weight) -> Iterator[str]:
    """When a weight is there, in words."""
    if weight.ranks:
        yield f"or of rank {' or '.join(map(str, weight.ranks))}"
    if weight.when:
        yield f"where `{' '.join(weight.when.text.split())}`"
    if weight.optional:
        yield f"or given where `{' '.join(weight.optional.text.split())}`"


def _raises(module: ModuleClass) -> list[tuple[str, str]]:
    laws = ", ".join(f"`{module.part.name}/{name}`" for name in module.part.laws)
    return [("DiagnosticError", f"Where a law does not hold: {laws}.")] if laws else []


def _annotations(module: ModuleClass) -> Iterator[str]:
    """`in_features: int`, `weight: Tensor`, `out_proj: tp.Linear`."""
    by_name = {parameter.name: parameter for parameter in module.parameters}
    for name in module.attribute_sizes:
        kept = by_name[name].without_default() if by_name[name].computed else by_name[name]
        pattern = kept.argument.pattern
        if isinstance(pattern, ValuePattern) and pattern.alone:
            yield f"{name}: {field_annotation(kept, module.imports)}"
        else:
            yield f"{name}: {annotation(kept, PUBLIC, module.imports)}"
    for weight in module.part.weights.values():
        yield f"{weight.name}: Tensor" + ("" if weight.when is None else " | None")
    for name, snippet in module.part.parts.items():
        yield f"{name}: {_part_annotation(snippet, module)}"
    if module.inherited.get(DEFAULT_VARIABLE) == DEFAULT_VARIABLE:
        module.imports.name("tripybuild.types", "dtypes")
        yield f"{DEFAULT_VARIABLE}: dtypes.dtype = dtypes.{module.variables[DEFAULT_VARIABLE]}"


def _part_annotation(snippet: Snippet, module: ModuleClass) -> str:
    match snippet.result:
        case ast.Call(func=ast.Name(id=name)):
            return f"{module.home(name)}.{name}"
        case ast.IfExp(body=ast.Call(func=ast.Name(id=name)), orelse=ast.Constant(value=None)):
            return f"{module.home(name)}.{name} | None"
    module.imports.name("typing", "Any")
    return "Any"

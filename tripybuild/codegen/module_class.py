"""The Python class of a module: typed, documented, with parameters of known types."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tripybuild.codegen.arguments import PUBLIC, Parameter, annotation, with_default
from tripybuild.codegen.calls import Calls, Tensors
from tripybuild.codegen.expressions import statement_value
from tripybuild.codegen.layout import call, render
from tripybuild.codegen.module_forward import forward_lines
from tripybuild.codegen.rewrite import Rewriter
from tripybuild.codegen.text import Body, Imports, docstring, header
from tripybuild.language.names import free
from tripybuild.schema.model import DEFAULT_VARIABLE, Part, Weight
from tripybuild.schema.operator import Attribute, Snippet
from tripybuild.types.patterns import TensorPattern


@dataclass(frozen=True)
class Module:
    """A module with what its class is written from.

    `path` is that of its file, as shown to people; `calls` tells of operators and other modules.
    """

    part: Part
    path: str
    calls: Calls
    imports: Imports

    @property
    def sizes(self) -> dict[str, Attribute]:
        """The arguments of the constructor."""
        return {
            p.name: Attribute(p.name, p.pattern, p.doc, p.default) for p in self.part.parameters
        }

    @property
    def kept(self) -> list[str]:
        """The sizes that are attributes: those whose name is no weight's and no part's."""
        held = {*self.part.weights, *self.part.parts}
        return [name for name in self.sizes if name not in held]

    @property
    def parameters(self) -> list[Parameter]:
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

    def element(self, variable: str, prefix: str = "") -> ast.expr:
        """The dtype of a type: that of an argument, `dtype`, or `dtypes.float32`."""
        for size in self.part.parameters:
            if size.variable == variable:
                return ast.Name(prefix + size.name)
        return self._dtype(self.variables.get(variable, variable))

    def _dtype(self, name: str) -> ast.expr:
        self.imports.name("tripybuild.types", "dtypes")
        return ast.Attribute(ast.Name("dtypes"), name)


def class_file(module: Module) -> str:
    """The file of one class.

    ```python
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
    imports.name("tripyapi.tensor", "Tensor")
    imports.name("tripybuild.eager", "Module")
    imports.name("tripybuild.trace", "Declaration")
    constructor, forward = _constructor(module), forward_lines(module)
    about = docstring(part.doc, 4, [("Args", _arguments(module)), ("Attributes", _held(module))])
    attributes = "\n".join(f"    {line}" for line in _annotations(module))
    declaration = f'DECLARATION = Declaration("{part.name}", "{module.path}")'
    return (
        f"{header(module.path)}\n{imports.text()}\n\n{declaration}\n\n\n"
        f"class {part.name}(Module):\n{about}\n\n{attributes}\n\n{constructor}\n\n{forward}\n"
    )


def _arguments(module: Module) -> list[tuple[str, str]]:
    return [(s.name, f"{s.doc or 'A size.'} (`{s.pattern}`)") for s in module.sizes.values()]


def _held(module: Module) -> list[tuple[str, str]]:
    """The weights with their types."""
    found = []
    for weight in module.part.weights.values():
        when = "" if weight.when is None else f", where `{' '.join(weight.when.text.split())}`"
        found.append((weight.name, f"`{weight.pattern}`{when}."))
    return found


def _annotations(module: Module) -> Iterator[str]:
    """`in_features: int`, `weight: Tensor`, `out_proj: tp.Linear`."""
    by_name = {parameter.name: parameter for parameter in module.parameters}
    for name in module.kept:
        kept = by_name[name].required() if by_name[name].computed else by_name[name]
        yield f"{name}: {annotation(kept, PUBLIC, module.imports)}"
    for weight in module.part.weights.values():
        yield f"{weight.name}: Tensor" + ("" if weight.when is None else " | None")
    for name, snippet in module.part.parts.items():
        yield f"{name}: {_part_annotation(snippet, module)}"


def _part_annotation(snippet: Snippet, module: Module) -> str:
    match snippet.result:
        case ast.Call(func=ast.Name(id=name)):
            return f"{_home(name, module)}.{name}"
        case ast.IfExp(body=ast.Call(func=ast.Name(id=name)), orelse=ast.Constant(value=None)):
            return f"{_home(name, module)}.{name} | None"
    module.imports.name("typing", "Any")
    return "Any"


def _home(name: str, module: Module) -> str:
    """The package of a module's class, imported."""
    return module.calls.package_of(name, module.imports)


def _constructor(module: Module) -> str:
    chosen = module.parameters
    given = [p.declared(annotation(p, PUBLIC, module.imports)) for p in chosen]
    lines = [f"    {render([call('def __init__', ['self', *given]), ' -> None:'], 4)}"]
    body = Body(module.imports, 8)
    rewriter = Rewriter(_elements(module), module.imports)
    for parameter in chosen:
        default = module.sizes[parameter.name].default
        if parameter.computed and default is not None:
            name = parameter.name
            body.block(f"if {name} is None:").add(
                f"{name} = ", statement_value(rewriter.rewrite(default.result))
            )
    for name in module.kept:
        body.add(f"self.{name} = {name}")
    for weight in module.part.weights.values():
        body.add(f"self.{weight.name} = ", statement_value(_weight(weight, module, rewriter)))
    parts = _parts_rewriter(module)
    for name, snippet in module.part.parts.items():
        body.add(f"self.{name} = ", statement_value(parts.rewrite(snippet.result)))
    return "\n".join([*lines, body.text()])


def _elements(module: Module) -> dict[str, ast.expr]:
    """What stands for a type variable."""
    return {name: module.element(name) for name in module.variables}


def _weight(weight: Weight, module: Module, rewriter: Rewriter) -> ast.expr:
    """`tp.Parameter((out_features,), dtype) if bias else None`."""
    assert isinstance(weight.pattern, TensorPattern)
    sizes: list[ast.expr] = []
    for dimension in weight.pattern.shape or ():
        size = rewriter.rewrite(dimension.expression)
        sizes.append(ast.Starred(size) if dimension.star else size)
    element = module.element(weight.pattern.element)
    function = ast.Attribute(ast.Name("tp"), "Parameter")
    made = ast.Call(function, [ast.Tuple(sizes), element], [])
    if weight.when is None:
        return made
    return ast.IfExp(rewriter.rewrite(weight.when.result), made, ast.Constant(None))


def _parts_rewriter(module: Module) -> Rewriter:
    """`Linear(width, width)` is `tp.Linear(width, width)`."""
    called = {name for snippet in module.part.parts.values() for name in free(snippet.program)}
    modules = {name for name in called if name in module.calls.modules}
    names: dict[str, ast.expr] = {n: ast.Attribute(ast.Name(_home(n, module)), n) for n in modules}
    tensors = Tensors((), (), modules)
    return module.calls.rewriting(tensors, {**_elements(module), **names}, module.imports)

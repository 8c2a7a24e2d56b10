"""Emitter of a module's constructor: sizes are checked like operator arguments."""

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tripybuild.codegen.operators.arguments import PUBLIC, annotation
from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.operators.checks import check_call
from tripybuild.codegen.python.expressions import statement_value
from tripybuild.codegen.python.file_text import Body
from tripybuild.codegen.python.layout import call, render
from tripybuild.codegen.python.rewrite import NameRewriter
from tripybuild.codegen.snippets.kind_inference import KindInference
from tripybuild.language.names import free_names
from tripybuild.schema.entries import AliasEntry
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.operator.part import Weight
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import TensorPattern

if TYPE_CHECKING:
    from tripybuild.codegen.modules.module_class import ModuleClass

FLOATS = ("float32", "float16", "bfloat16")  # what a type variable can be, where nothing is said


def constructor_lines(module: "ModuleClass", operator: Operator) -> str:
    """The method, of a module and of what makes it; none where there is nothing to make.

    ```python
    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        check = begin(DECLARATION)
        in_features = check.integer("in_features", in_features)
        ...
        with check.law("not-negative", in_features=in_features) as require:
            require(in_features >= 0)
        self.in_features = in_features
        self.weight = tp.Parameter((out_features, in_features))
        self.bias = tp.Parameter((out_features,)) if bias else None
    ```
    """
    given = [p.declaration(annotation(p, PUBLIC, module.imports)) for p in module.parameters]
    head = render([call("def __init__", ["self", *given]), " -> None:"], 4)
    body = Body(module.imports, 8)
    body.write_block(lambda part, unread: _write(module, operator, part, unread))
    return f"    {head}\n{body.text()}" if body.lines else ""


def _write(module: "ModuleClass", operator: Operator, body: Body, unread: frozenset[str]) -> None:
    part = module.part
    if module.parameters:
        body.add("check = begin(DECLARATION)")
        check_call(CheckScope(operator, module.parameters, body, unread))
    for name in module.attribute_sizes:
        body.add(f"self.{name} = {name}")
    rewriter = NameRewriter(_elements(module), body.imports)
    for weight in part.weights.values():
        body.add(f"self.{weight.name} = ", statement_value(_weight(weight, module, rewriter)))
    parts = _parts_rewriter(module)
    for name, snippet in part.parts.items():
        made = parts.rewrite(_unroll(snippet.result))
        body.add(f"self.{name} = ", statement_value(made))


def as_operator(module: "ModuleClass") -> Operator:
    """What makes a module, as an operator that takes its sizes and gives nothing."""
    part = module.part
    return Operator(
        name=part.name,
        path=module.path,
        folder="",
        document=part.document,
        doc=part.doc,
        inline=True,
        types=dict(_variables(module)),
        inputs={},
        attributes=module.sizes,
        signatures=(),
        outputs={},
        laws=part.laws,
        infer={},
        on_sizes=None,
        shortcut=None,
        decompose=None,
        reference=None,
        lower={},
        targets={},
        tolerance={},
        random=False,
        sample={},
        examples=(),
        aliases=AliasEntry(),
        foreign=(),
        cost={},
        families=module.declared.families,
        family_paths=module.declared.family_paths,
    )


def _variables(module: "ModuleClass") -> Mapping[str, tuple[dtype, ...]]:
    """The type variables that a size gives a dtype, with those that they can have."""
    allowed = module.part.allowed
    chosen = [size.variable for size in module.part.parameters if size.variable is not None]
    return {name: tuple(BY_NAME[each] for each in allowed.get(name, FLOATS)) for name in chosen}


def _elements(module: "ModuleClass") -> dict[str, ast.expr]:
    """What stands for a type variable."""
    return {name: module.element(name) for name in module.variables}


def _weight(weight: Weight, module: "ModuleClass", rewriter: NameRewriter) -> ast.expr:
    """`tp.Parameter((out_features,), dtype) if bias else None`.

    One that is optional is `tp.Parameter((), dtype, optional=True)` where it is not there.
    """
    assert isinstance(weight.pattern, TensorPattern)
    sizes: list[ast.expr] = []
    for dimension in weight.pattern.shape or ():
        size = rewriter.rewrite(dimension.expression)
        sizes.append(ast.Starred(size) if dimension.star else size)
    element = module.element(weight.pattern.element)
    function = ast.Attribute(ast.Name("tp"), "Parameter")
    ranks: list[ast.expr] = [ast.Constant(rank) for rank in weight.ranks]
    more = [ast.keyword("ranks", ast.Tuple(ranks))] if ranks else []
    arguments = [ast.Tuple(sizes), element]
    made: ast.expr = ast.Constant(None)
    if weight.optional is not None:
        given = [*more, ast.keyword("optional", ast.Constant(True))]
        test = rewriter.rewrite(weight.optional.result)
        made = ast.IfExp(test, ast.Call(function, arguments, given), made)
    if weight.when is None:
        return ast.Call(function, arguments, more)
    return ast.IfExp(
        rewriter.rewrite(weight.when.result), ast.Call(function, arguments, more), made
    )


def _parts_rewriter(module: "ModuleClass") -> NameRewriter:
    """`Linear(width, width)` is `tp.Linear(width, width)`."""
    called = {
        name for snippet in module.part.parts.values() for name in free_names(snippet.program)
    }
    modules = {name for name in called if name in module.calls.modules}
    names: dict[str, ast.expr] = {n: ast.Attribute(ast.Name(module.home(n)), n) for n in modules}
    tensors = KindInference({}, (), modules)
    return module.calls.rewriter_for(tensors, {**_elements(module), **names}, module.imports)


def _unroll(node: ast.expr) -> ast.expr:
    """`[Linear(n, n) for _ in range(3)]` for `Linear(n, n) * 3`: parts are of their own."""
    match node:
        case ast.BinOp(left=made, op=ast.Mult(), right=count):
            times = ast.comprehension(
                ast.Name("_"), ast.Call(ast.Name("range"), [count], []), [], 0
            )
            if isinstance(made, ast.Call):
                return ast.ListComp(made, [times])
            each = ast.Name("_each")  # which no size is called
            return ast.ListComp(each, [times, ast.comprehension(each, _unroll(made), [], 0)])
        case ast.ListComp(elt=each, generators=loops):
            return ast.ListComp(_unroll(each), loops)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return type(node)(list(map(_unroll, items)))
        case ast.Starred(value=items):
            return ast.Starred(_unroll(items))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return ast.IfExp(test, _unroll(body), _unroll(orelse))
    return node

"""Lowerings from aliases: an operator that ONNX has is lowered as its aliases say.

```python
def lower(op: Softmax, input: onnx.Value) -> onnx.Value:
    "Lower `softmax` to the `onnx` dialect."
    if op.dim is not None:
        return onnx.Softmax(input, axis=op.dim)
    return onnx.unavailable("softmax")
```

An alias is used for the calls that it can say and does not differ in; one for which that is not
decided before sizes are known is not used.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tripybuild.codegen.python.conditions import reads, size_names
from tripybuild.language.grammar import UNREAD, Assignment, Program
from tripybuild.language.program import choice
from tripybuild.onnx.table import NEWEST, OperatorSchema, find_operator
from tripybuild.schema.operator.operator import Alias, Operator
from tripybuild.schema.snippets.vocabularies import ALIASES, DECOMPOSE
from tripybuild.types.patterns import tensors

DIALECT = ALIASES["onnx"]


@dataclass(frozen=True, slots=True)
class LoweringSnippet:
    """A program of a lowering.

    Args:
        program: The program.
        sizes: The names whose values may be sizes that are not known yet, where truths of them
            are kept open.
        helper: What is called where a call is one of a function that only aliases have, else None.
    """

    program: Program
    sizes: frozenset[str] = frozenset()
    helper: Callable[[ast.Call], ast.expr | None] = lambda _: None


def alias_lowering(operator: Operator) -> LoweringSnippet | None:
    """What lowers an operator to ONNX as its aliases say; None where it has none."""
    aliases = [alias for alias in operator.foreign if alias.system == "onnx"]
    if not aliases:
        return None
    sizes = size_names(operator)
    cases = [(_condition(each, sizes), _program(operator, each)) for each in aliases]
    last = next((at for at, (test, _) in enumerate(cases) if test is None), None)
    if last is None:
        end = _builder("unavailable", [ast.Constant(operator.name)])
        cases.append((None, Program((), end)))
        last = len(aliases)
    cases = cases[: last + 1]
    program = choice(None, cases) if len(cases) > 1 else cases[0][1]
    for root in (*(line.value for line in program.assignments), program.result):
        ast.fix_missing_locations(root)
    return LoweringSnippet(program, sizes, _helper)


def _helper(call: ast.Call) -> ast.expr | None:
    """`onnx.dtype_of`: functions of aliases are helpers of the dialect."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return _name(name) if name in DECOMPOSE else None


def _condition(alias: Alias, sizes: frozenset[str]) -> ast.expr | None:
    """The calls that an alias is used for, or None for all."""
    tests = list(_tests(alias))
    if not tests:
        return None
    test = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
    return _builder("holds", [test]) if reads(test, sizes) else test


def _tests(alias: Alias) -> Iterator[ast.expr]:
    if alias.opset is not None:
        yield ast.Compare(_builder("opset", []), [ast.GtE()], [ast.Constant(alias.opset)])
    if alias.when is not None:
        yield alias.when.result
    for difference in alias.differs.values():
        yield ast.UnaryOp(ast.Not(), difference.when.result)


def _program(operator: Operator, alias: Alias) -> Program:
    """The call with what is taken of its results, in the dtypes that the operator declares."""
    schema = find_operator(alias.signature.name, NEWEST)
    assert schema is not None, "aliases name operators of the table"
    value, taken = _call(alias), alias.result
    several = len(schema.outputs) > 1 or schema.outputs[0].variadic
    if several and taken is None and _is_single(operator):
        taken = 0
    kinds = [_fixed_dtype(schema, index) for index in range(len(schema.outputs))]
    own = [_element(operator, index) for index in range(len(operator.outputs))]
    if taken is None and several:
        same = all(kind in (None, each) for kind, each in zip(kinds, own, strict=False))
        return Program((), value if same else _cast_each(value))
    lines: tuple[Assignment, ...] = ()
    if taken is not None:  # `output, *_ = onnx.MaxPool(...)`
        name = next(iter(operator.outputs))
        lines = (Assignment((*[UNREAD] * taken, name, f"*{UNREAD}"), value),)
        value = ast.Name(name)
    kind = kinds[taken or 0]
    return Program(lines, value if kind in (None, own[0]) else _cast(value, _declared()))


def _is_single(operator: Operator) -> bool:
    outputs = operator.outputs.values()
    return len(outputs) == 1 and not any(map(operator.any_number, outputs))


def _call(alias: Alias) -> ast.expr:
    """`onnx.Softmax(input, axis=dim)`: inputs by position up to the first that is left out."""
    signature, given = alias.signature, alias.arguments
    positional: list[ast.expr] = []
    for parameter in signature.by_position:
        if parameter not in given:
            break
        value = given[parameter].result
        positional.append(
            ast.Starred(value, ast.Load()) if parameter == signature.several else value
        )
    placed = signature.by_position[: len(positional)]
    rest = {name: each.result for name, each in given.items() if name not in placed}
    keywords = [ast.keyword(name, value) for name, value in rest.items()]
    return ast.Call(_name(signature.name), positional, keywords)


def _fixed_dtype(schema: OperatorSchema, index: int) -> str | None:
    """The one dtype of a result that no input says, as indices have."""
    variable = schema.outputs[index].type
    types = schema.dtypes[variable]
    bound = variable in {each.type for each in schema.inputs}
    return next(iter(types)).name if len(types) == 1 and not bound else None


def _element(operator: Operator, index: int) -> str:
    """What the declaration writes for the dtype of an output."""
    output = list(operator.outputs.values())[index]
    return next((tensor.element for tensor in tensors(output.pattern)), "")


def _declared() -> ast.expr:
    """`op.outputs[0].dtype`."""
    outputs = ast.Attribute(ast.Name("op"), "outputs")
    return ast.Attribute(ast.Subscript(outputs, ast.Constant(0)), "dtype")


def _cast(value: ast.expr, kind: ast.expr) -> ast.expr:
    return _builder("cast", [value, kind])


def _cast_each(values: ast.expr) -> ast.expr:
    """Each of several results in the dtype of the output that it is."""
    pairs = ast.Call(ast.Name("zip"), [values, ast.Attribute(ast.Name("op"), "outputs")], [])
    target = ast.Tuple([ast.Name("value"), ast.Name("output")], ast.Store())
    each = _cast(ast.Name("value"), ast.Attribute(ast.Name("output"), "dtype"))
    return ast.ListComp(each, [ast.comprehension(target, pairs, [], 0)])


def _builder(name: str, arguments: list[ast.expr]) -> ast.expr:
    return ast.Call(_name(name), arguments, [])


def _name(name: str) -> ast.expr:
    return ast.Attribute(ast.Name(DIALECT), name)

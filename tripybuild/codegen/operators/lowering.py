"""Emitter of lowerings: builder calls of an engine, other operators, or NumPy."""

import ast
from collections.abc import Callable, Sequence, Set as AbstractSet
from functools import partial

from tripybuild.codegen.operators.alias_lowering import LoweringSnippet, alias_lowering
from tripybuild.codegen.operators.arguments import function_type, parameters
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.operators.signatures import returns_several
from tripybuild.codegen.package.fragment import dotted_name
from tripybuild.codegen.python.file_text import Body, Imports, docstring, header
from tripybuild.codegen.python.layout import call, render
from tripybuild.codegen.python.rewrite import NameRewriter, attribute
from tripybuild.codegen.python.statements import define, target_name, write_return
from tripybuild.language.grammar import Program
from tripybuild.language.names import free_names
from tripybuild.schema.operator.operator import Input, Operator
from tripybuild.schema.snippets.snippet_scope import choice_words
from tripybuild.schema.snippets.vocabularies import ALIASES, HELPERS
from tripybuild.types.naming import class_name
from tripybuild.types.patterns import (
    Dimension,
    LikePattern,
    Pattern,
    options,
    subscript_text,
    tensors,
)

# The builders of each dialect, as a lowering imports them.
BUILDERS = {
    "stablehlo": ("tripybuild", "stablehlo as hlo"),
    "tensorrt": ("tripybuild.tensorrt", "layers as trt"),
    "onnx": ("tripybuild.onnx", "dialect as onnx"),
}
COUNTED = {
    "flops": "arithmetic operations",
    "bytes": "bytes read and written",
    "turns": "runs of the bodies",
}


def lowering_snippet(operator: Operator, target: str) -> LoweringSnippet | None:
    """What lowers an operator to an engine: its own snippet, or what its aliases say."""
    snippet = operator.lower.get(target)
    if snippet is not None:
        return LoweringSnippet(snippet.program)
    return alias_lowering(operator) if target == "onnx" else None


def lowering_file(operator: Operator, target: str, snippet: LoweringSnippet, package: str) -> str:
    """The file that lowers one operation to one engine.

    ```python
    def lower(op: Softmax, input: trt.Value) -> trt.Value:
        "Lower `softmax` to the `tensorrt` dialect."
        return trt.softmax(input, axis=op.dim)
    ```
    """
    alias = ALIASES[target]
    body = Body(Imports())
    body.imports.name(*BUILDERS[target])
    names = bind_names(operator, snippet.program, body)
    rewriter = NameRewriter(names, body.imports, snippet.helper, snippet.sizes)
    write_return(snippet.program, rewriter, body)
    summary = f"Lower `{operator.name}` to the `{target}` dialect."
    return _file(operator, package, ("lower", f"{alias}.Value", summary), body)


def decomposition_file(operator: Operator, calls: CallResolver) -> str:
    """The file that says one operation in terms of others, for engines that have no such operation.

    ```python
    def decompose(op: Softmax, input: Tensor) -> Tensor:
        "Say `softmax` with other operators."
        weights = tp.exp(input - tp.max(input, op.dim, keepdim=True))
        return weights / tp.sum(weights, op.dim, keepdim=True)
    ```
    """
    assert operator.decompose is not None
    body = Body(Imports())
    body.imports.name("tripyapi.tensor", "Tensor")
    program = operator.decompose.program
    names = bind_names(operator, program, body)
    write_return(program, calls.rewriter(operator, names, body.imports), body)
    summary = f"Say `{operator.name}` with other operators."
    return _file(operator, calls.package, ("decompose", "Tensor", summary), body)


def reference_file(operator: Operator, package: str) -> str:
    """The file that computes one operation in NumPy.

    ```python
    def compute(op: Softsign, input: Array) -> Any:
        "Compute `softsign` in NumPy."
        return input / (1 + np.abs(input))
    ```
    """
    assert operator.reference is not None
    body = Body(Imports())
    program = operator.reference.program
    names = bind_names(operator, program, body)
    write_return(program, NameRewriter(names, body.imports, partial(_helper, body.imports)), body)
    if "np." in body.text():
        body.imports.name("tripybuild.reference.numerics.numpy_guard", "numpy as np")
    body.imports.name("typing", "Any")
    if operator.inputs:
        body.imports.name("tripybuild.reference.numerics.arrays", "Array")
    summary = f"Compute `{operator.name}` in NumPy."
    return _file(operator, package, ("compute", "Array", summary), body, "Any")


def cost_file(operator: Operator, package: str) -> str | None:
    """The file that counts what one operation costs; None where a rule says all of it.

    ```python
    def flops(op: Matmul) -> Any:
        "Count the arithmetic operations of `matmul`."
        A = op.lhs.shape
        E = op.outputs[0].shape
        return 2 * shapes.prod(E) * A[-1]
    ```
    """
    imports = Imports()
    functions = []
    for name, snippet in operator.cost.items():
        if name == "flops" and operator.moves and snippet.text.strip() == "0":
            continue  # `Declaration.moves` says so
        body = Body(imports)
        names = bind_names(operator, snippet.program, body)
        write_return(snippet.program, NameRewriter(names, imports), body)
        given = call(
            f"def {name}", [f"{target_name('op', body.read())}: {class_name(operator.name)}"]
        )
        summary = docstring(f"Count the {COUNTED[name]} of `{operator.name}`.", 4)
        functions.append("\n".join([render([given, " -> Any:"]), summary, body.text()]))
    if not functions:
        return None
    imports.name("typing", "Any")
    imports.name(dotted_name(package, "trace", operator), class_name(operator.name))
    lines = "\n\n\n".join(functions)
    return f"{header(operator.path)}\n{imports.text(package)}\n\n\n{lines}\n"


def _helper(imports: Imports, call: ast.Call) -> ast.expr | None:
    """`arrays.convert`: the named helpers of references."""
    function = call.func
    name = function.id if isinstance(function, ast.Name) else None
    module = next((module for module, names in HELPERS.items() if name in names), None)
    if name is None or module is None:
        return None
    imports.name("tripybuild.reference.numerics", module)
    return ast.Attribute(ast.Name(module), name)


def _file(
    operator: Operator,
    package: str,
    what: tuple[str, str, str],
    body: Body,
    result: str | None = None,
) -> str:
    """A file with one function: its name, what it calls a tensor, its summary, what it gives."""
    function, value, summary = what
    operation = class_name(operator.name)
    body.imports.name(dotted_name(package, "trace", operator), operation)
    text = body.text()
    read = body.read()  # an unused parameter begins with an underscore
    inputs = _inputs(operator, value, body.imports, read)
    if result is None and returns_several(operator):
        body.imports.name("collections.abc", "Sequence")
        result = f"Sequence[{value}]"
    given = call(f"def {function}", [f"{target_name('op', read)}: {operation}", *inputs])
    signature = render([given, f" -> {result or value}:"])
    lines = "\n".join([signature, docstring(summary, 4), text])
    return f"{header(operator.path)}\n{body.imports.text(package)}\n\n\n{lines}\n"


def _inputs(operator: Operator, value: str, imports: Imports, read: AbstractSet[str]) -> list[str]:
    """`input: trt.Value`, `bias: trt.Value | None`: in the order of the operation's fields.

    Regions follow: each is a function that builds what is inside of it. All are given by place, so
    that what is not in `read` can begin with an underscore.
    """
    given = []
    for parameter in parameters(operator, Imports()):
        input = parameter.argument
        if isinstance(input, Input):
            kind = value
            if input.several:
                imports.name("collections.abc", "Sequence")
                kind = f"Sequence[{value}]"
            absent = input.optional and not input.several
            given.append(f"{target_name(input.name, read)}: {kind}{' | None' if absent else ''}")
    regions = (target_name(name, read) for name in operator.regions())
    given += [f"{name}: {function_type(value, imports)}" for name in regions]
    return given


def bind_names(operator: Operator, program: Program, body: Body) -> dict[str, ast.expr]:
    """Bind the shape names that a program reads, and say what stands for its other names.

    ```python
    N, C, *D = op.input.shape
    E = op.outputs[0].shape[2:]
    ```
    """
    prelude = _Prelude(operator, body, free_names(program))
    prelude.bind(free_names(program))
    return prelude.names


class _Prelude:
    """Binds names, each once. `wanted` are those that a program reads, itself or by inference."""

    def __init__(self, operator: Operator, body: Body, read: Sequence[str]) -> None:
        self.operator = operator
        self.body = body
        self.wanted: set[str] = set()
        self._want(read)
        self.names: dict[str, ast.expr] = {
            word: ast.Constant(word) for word in choice_words(operator)
        }
        known = operator.attributes.keys() - operator.regions()  # a region is handed over
        self.names |= {name: attribute(f"op.{name}") for name in known}
        self.bound: set[str] = set()

    def _want(self, names: Sequence[str]) -> None:
        """Note names, and what they are inferred from where no output's shape says them."""
        for name in names:
            snippet = self.operator.infer.get(name)
            if name not in self.wanted and snippet is not None and not self._in_outputs(name):
                self._want(free_names(snippet.program))
            self.wanted.add(name)

    def _in_outputs(self, name: str) -> bool:
        shapes = (_shape(output.pattern) for output in self.operator.outputs.values())
        return any(name == dimension.name for shape in shapes for dimension in shape)

    def bind(self, names: Sequence[str]) -> None:
        """Bind some names, each from the first place that says it."""
        for name in names:
            given = {*self.bound, *self.names, *self.operator.inputs, *self.operator.regions()}
            if name in given:
                continue
            self.bound.add(name)
            if name in self.operator.types:
                self._bind_element(name)
            elif not any(bind(name) for bind in self._places()):
                self._bind_infer(name)

    def _places(self) -> tuple[Callable[[str], bool], ...]:
        return self._bind_from_input, self._bind_from_output, self._bind_dtypes

    def _bind_element(self, name: str) -> None:
        """`T = op.input.dtype`; an attribute that is the dtype stands for it."""
        for attribute_ in self.operator.attributes.values():
            if attribute_.variable == name:
                self.names[name] = attribute(f"op.{attribute_.name}")
                return
        sources = [
            f"{input.name}[0]" if input.several else input.name
            for input in self.operator.inputs.values()
            if [t.element for t in tensors(input.pattern)] == [name] and not input.optional
        ]
        self.body.add(f"{name} = op.{[*sources, 'outputs[0]'][0]}.dtype")

    def _bind_from_input(self, name: str) -> bool:
        """`N, C, *D = op.input.shape`."""
        if name in self.operator.infer:  # an input is compared with it, and may be left out
            return False
        for input in self.operator.inputs.values():
            shape = _shape(input.pattern)
            if name in [dimension.name for dimension in shape]:
                where = f"op.{input.name}.shape"
                if input.several:
                    self.body.add(f"{name} = [tensor.shape for tensor in op.{input.name}]")
                elif input.optional:
                    self._unpack(shape, f"() if op.{input.name} is None else {where}")
                else:
                    self._unpack(shape, where)
                return True
        return False

    def _bind_from_output(self, name: str) -> bool:
        """`E = op.outputs[0].shape[2:]`."""
        for index, output in enumerate(self.operator.outputs.values()):
            shape = _shape(output.pattern)
            if name in [dimension.name for dimension in shape]:
                if self.operator.any_number(output):
                    outputs = self._outputs(index)
                    self.body.add(f"{name} = [output.shape for output in {outputs}]")
                else:
                    self._unpack(shape, f"op.outputs[{index}].shape")
                return True
        return False

    def _bind_dtypes(self, name: str) -> bool:
        """`D = [output.dtype for output in op.outputs]`."""
        for input in self.operator.inputs.values():
            if self.operator.dtype_list(input) == name:
                self.body.add(f"{name} = [tensor.dtype for tensor in op.{input.name}]")
                return True
        for index, output in enumerate(self.operator.outputs.values()):
            elements = [tensor.element for tensor in tensors(output.pattern)]
            if name in elements and self.operator.any_number(output):
                self.body.add(f"{name} = [output.dtype for output in {self._outputs(index)}]")
                return True
        return False

    def _outputs(self, index: int) -> str:
        """The outputs from one that the declaration names: `op.outputs[len(op.init):]`."""
        before = list(self.operator.outputs.values())[:index]
        counts = []
        for output in before:
            several = self.operator.any_number(output)
            like = next((o for o in options(output.pattern) if isinstance(o, LikePattern)), None)
            counts.append(f"len(op.{like.name})" if several and like is not None else "1")
        start = " + ".join(counts)  # the formatter puts a space between a call and `:`
        return f"op.outputs[{start} :]" if start else "op.outputs"

    def _bind_infer(self, name: str) -> None:
        """`pairs = zip(D, stride)`: what no shape says is computed again."""
        snippet = self.operator.infer.get(name)
        if snippet is not None:
            self.bind(free_names(snippet.program))
            define(name, snippet.program, NameRewriter(self.names, self.body.imports), self.body)

    def _unpack(self, shape: tuple[Dimension, ...], where: str) -> None:
        """Bind what is wanted of a shape: all of it, one entry, or several."""
        if len(shape) == 1 and shape[0].star:
            self.body.add(f"{shape[0].name} = {where}")
            return
        kept = {i: d.name for i, d in enumerate(shape) if d.name in self.wanted}
        self.bound.update(name for name in kept.values() if name is not None)
        if len(kept) == 1:
            ((index, name),) = kept.items()
            self.body.add(f"{name} = {where}{subscript_text(shape, index)}")
            return
        targets = [("*" if d.star else "") + (kept.get(i) or "_") for i, d in enumerate(shape)]
        self.body.add(f"{', '.join(targets)} = {where}")


def _shape(pattern: Pattern) -> tuple[Dimension, ...]:
    tensor = next(tensors(pattern), None)
    return tensor.shape or () if tensor is not None else ()

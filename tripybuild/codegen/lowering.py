"""How an operation becomes something else: builder calls of an engine, or other operators."""

import ast
from collections.abc import Sequence

from tripybuild.codegen.arguments import parameters
from tripybuild.codegen.calls import Calls
from tripybuild.codegen.expressions import statement_value
from tripybuild.codegen.layout import Doc, call, render
from tripybuild.codegen.rewrite import Rewriter, attribute
from tripybuild.codegen.text import Body, Imports, docstring, header
from tripybuild.language.names import free
from tripybuild.schema.operator import Input, Operator, Snippet
from tripybuild.schema.scope import words
from tripybuild.types.naming import class_name
from tripybuild.types.patterns import (
    Dimension,
    TensorPattern,
    TensorsPattern,
    UnionPattern,
    tensors,
)

ALIASES = {"tensorrt": "trt", "stablehlo": "hlo"}


def lowering_file(operator: Operator, target: str, package: str) -> str:
    """The file that lowers one operation to one engine.

    ```python
    def lower(op: Softmax, input: trt.Value) -> trt.Value:
        "Lower `softmax` to the tensorrt dialect."
        return trt.softmax(input, axis=op.dim)
    ```
    """
    imports = Imports()
    alias = ALIASES[target]
    imports.name("tripybuild.dialects", f"{target} as {alias}")
    snippet = operator.lower[target]
    body = Body(imports, 4)
    names = _prelude(operator, snippet, body)
    _program(snippet, Rewriter(names, imports), body, several=_gives_several(operator))
    result = f"{alias}.Value" if not _gives_several(operator) else f"tuple[{alias}.Value, ...]"
    if _gives_several(operator):
        result = f"Sequence[{alias}.Value]"
        imports.name("collections.abc", "Sequence")
    summary = f"Lower `{operator.name}` to the `{target}` dialect."
    return _file(operator, package, imports, "lower", f"{alias}.Value", result, summary, body)


def decomposition_file(operator: Operator, calls: Calls) -> str:
    """The file that says one operation in terms of others, for engines that have no such operation.

    ```python
    def decompose(op: Softmax, input: Tensor) -> Tensor:
        "Say `softmax` with other operators."
        weights = tp.exp(input - tp.max(input, op.dim, keepdim=True))
        return weights / tp.sum(weights, op.dim, keepdim=True)
    ```
    """
    imports = Imports()
    imports.name("tripyapi.tensor", "Tensor")
    assert operator.decompose is not None
    body = Body(imports, 4)
    names = _prelude(operator, operator.decompose, body)
    _program(operator.decompose, calls.rewriter(operator, names, imports), body, several=False)
    result = "Tensor"
    if _gives_several(operator):
        result = "Sequence[Tensor]"
        imports.name("collections.abc", "Sequence")
    summary = f"Say `{operator.name}` with other operators."
    return _file(operator, calls.package, imports, "decompose", "Tensor", result, summary, body)


def _gives_several(operator: Operator) -> bool:
    outputs = operator.outputs.values()
    return len(outputs) > 1 or any(isinstance(o.pattern, TensorsPattern) for o in outputs)


def _file(
    operator: Operator,
    package: str,
    imports: Imports,
    name: str,
    value: str,
    result: str,
    summary: str,
    body: Body,
) -> str:
    module = ".".join(
        part for part in (package, "trace", *operator.folder.split("/"), operator.name) if part
    )
    imports.name(module, class_name(operator.name))
    given: list[Doc] = [f"op: {class_name(operator.name)}"]
    chosen = [p for p in parameters(operator, Imports()) if isinstance(p.argument, Input)]
    for parameter in chosen:
        kind = (
            f"Sequence[{value}]"
            if isinstance(parameter.argument, Input) and parameter.argument.several
            else value
        )
        if kind.startswith("Sequence"):
            imports.name("collections.abc", "Sequence")
        optional = (
            " | None"
            if isinstance(parameter.argument, Input) and parameter.argument.optional
            else ""
        )
        given.append(f"{parameter.name}: {kind}{optional}")
    signature = render([call(f"def {name}", given), f" -> {result}:"])
    text = "\n".join([signature, docstring(summary, 4), body.text()])
    if "op." not in body.text():
        text = _unused(text, class_name(operator.name))
    return f"{header(operator.path)}\n{imports.text()}\n\n\n{text}\n"


def _unused(text: str, name: str) -> str:
    """A parameter that a function does not read begins with an underscore."""
    return text.replace(f"(op: {name}", f"(_op: {name}", 1).replace(
        f"\n    op: {name}", f"\n    _op: {name}", 1
    )


def _program(snippet: Snippet, rewriter: Rewriter, body: Body, *, several: bool) -> None:
    for step in snippet.program.assignments:
        body.add(f"{', '.join(step.targets)} = ", statement_value(rewriter.rewrite(step.value)))
    result = rewriter.rewrite(snippet.program.result)
    if several and isinstance(result, ast.Tuple):
        body.add("return ", _bare(result))
        return
    body.add("return ", statement_value(result))


def _bare(node: ast.Tuple) -> Doc:
    """`return a, b` where it fits."""
    from tripybuild.codegen.expressions import document  # noqa: PLC0415
    from tripybuild.codegen.layout import joined  # noqa: PLC0415

    flat = render(joined([document(e) for e in node.elts], ", "), 11)
    return flat if "\n" not in flat and len(flat) <= 88 else statement_value(node)


def _prelude(operator: Operator, snippet: Snippet, body: Body) -> dict[str, ast.expr]:
    """Bind the shape names that a snippet reads, and say what stands for the other names."""
    names: dict[str, ast.expr] = {word: ast.Constant(word) for word in words(operator)}
    for name in operator.attributes:
        names[name] = attribute(f"op.{name}")
    return _Prelude(operator, body, names).bind(free(snippet.program))


class _Prelude:
    def __init__(self, operator: Operator, body: Body, names: dict[str, ast.expr]) -> None:
        self.operator, self.body, self.names = operator, body, names
        self.done: set[str] = set()

    def bind(self, wanted: Sequence[str]) -> dict[str, ast.expr]:
        for name in wanted:
            self.one(name, wanted)
        return self.names

    def one(self, name: str, wanted: Sequence[str]) -> None:
        if name in self.done or name in self.names or name in self.operator.inputs:
            return
        self.done.add(name)
        if name in self.operator.types:
            self._element(name)
        elif not self._from_input(name, wanted) and not self._from_output(name, wanted):
            self._inferred(name)

    def _element(self, name: str) -> None:
        for attribute_ in self.operator.attributes.values():
            argument = getattr(attribute_.pattern, "argument", None)
            if isinstance(argument, ast.Name) and argument.id == name:
                self.names[name] = attribute(f"op.{attribute_.name}")
                return
        for input in self.operator.inputs.values():
            if [t.element for t in tensors(input.pattern)] == [name] and not input.optional:
                path = (
                    f"op.{input.name}.dtype" if not input.several else f"op.{input.name}[0].dtype"
                )
                self.body.add(f"{name} = {path}")
                return
        self.body.add(f"{name} = op.outputs[0].dtype")

    def _from_input(self, name: str, wanted: Sequence[str]) -> bool:
        if name in self.operator.infer:  # an input's shape is compared with it, and may be absent
            return False
        for input in self.operator.inputs.values():
            pattern = next(tensors(input.pattern), None)
            if (
                pattern is None
                or pattern.shape is None
                or name not in [d.name for d in pattern.shape]
            ):
                continue
            if input.several:
                self.body.add(f"{name} = [tensor.shape for tensor in op.{input.name}]")
                return True
            optional = input.optional or (
                isinstance(input.pattern, UnionPattern) and len(pattern.shape) > 1
            )
            where = f"op.{input.name}.shape"
            if optional:
                where = f"() if op.{input.name} is None else {where}"
            self._unpack(pattern.shape, where, wanted)
            return True
        return False

    def _from_output(self, name: str, wanted: Sequence[str]) -> bool:
        for index, output in enumerate(self.operator.outputs.values()):
            pattern = output.pattern
            if isinstance(pattern, TensorsPattern):
                shape = pattern.each.shape
                if shape is not None and len(shape) == 1 and shape[0].name == name:
                    self.body.add(f"{name} = [output.shape for output in op.outputs]")
                    return True
            elif isinstance(pattern, TensorPattern) and pattern.shape is not None:
                if name in [d.name for d in pattern.shape]:
                    self._unpack(pattern.shape, f"op.outputs[{index}].shape", wanted)
                    return True
        return False

    def _unpack(self, shape: tuple[Dimension, ...], where: str, wanted: Sequence[str]) -> None:
        if len(shape) == 1 and shape[0].star:
            self.body.add(f"{shape[0].name} = {where}")
            return
        keep = [d.name if d.name in wanted else None for d in shape]
        self.done.update(name for name in keep if name)
        kept = [index for index, name in enumerate(keep) if name]
        if len(kept) == 1:
            self.body.add(f"{keep[kept[0]]} = {where}{_element(shape, kept[0])}")
            return
        names = [
            ("*" if d.star else "") + (name or "_") for d, name in zip(shape, keep, strict=True)
        ]
        self.body.add(f"{', '.join(names)} = {where}")

    def _inferred(self, name: str) -> None:
        snippet = self.operator.infer.get(name)
        if snippet is None:
            return
        self.bind(free(snippet.program))
        rewriter = Rewriter(self.names, self.body.imports)
        for step in snippet.program.assignments:
            self.body.add(
                f"{', '.join(step.targets)} = ", statement_value(rewriter.rewrite(step.value))
            )
        self.body.add(f"{name} = ", statement_value(rewriter.rewrite(snippet.result)))


def _element(shape: tuple[Dimension, ...], index: int) -> str:
    """`[0]`, `[-1]` or `[2:]`: one entry of a shape, counted from the end behind a run."""
    star = next((i for i, d in enumerate(shape) if d.star), len(shape))
    behind = len(shape) - index - 1
    if index < star:
        return f"[{index}]"
    if index > star:
        return f"[{-behind - 1}]"
    return f"[{index or ''}:{-behind or ''}]"

"""Emitter of a module's `forward`: input checks, then steps as operator calls.

The names of steps are those of the specification. Sizes, weights and parts are attributes.
"""

import ast
from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING

from tripybuild.codegen.operators.shape_checks import targets
from tripybuild.codegen.python.expressions import document, quote, statement_value
from tripybuild.codegen.python.file_text import Body, docstring
from tripybuild.codegen.python.layout import Doc, bracket_list, call, render
from tripybuild.codegen.python.rewrite import NameRewriter, attribute
from tripybuild.codegen.python.statements import read_names, target_name
from tripybuild.codegen.snippets.kind_inference import KindInference
from tripybuild.codegen.snippets.value_kinds import TENSOR, TENSORS
from tripybuild.schema.operator.part import Part, Step
from tripybuild.types.patterns import Dimension, TensorPattern, TensorsPattern, shape_text

if TYPE_CHECKING:
    from tripybuild.codegen.modules.module_class import ModuleClass


def forward_lines(module: "ModuleClass") -> str:
    """The method.

    ```python
    def forward(self, x: Tensor) -> Tensor:
        check = begin(DECLARATION)
        check.element("F", (self.dtype,), x=x)
        y = x @ tp.transpose(self.weight, 0, 1)
        return check.finish(y if self.bias is None else y + self.bias)
    ```
    """
    part, imports = module.part, module.imports
    imports.name("tripybuild.frontend", "begin")
    needed = [name for name in part.inputs if name not in part.optional]
    order = [*needed, *(name for name in part.inputs if name in part.optional)]
    given = [f"{name}: {_annotation(name, module)}" for name in order]
    count = sum(len(step.targets) for step in part.outputs)
    result = "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"
    head = render([call("def forward", ["self", *given]), f" -> {result}:"], 4)
    types = [(name, f"`{part.inputs[name]}`.") for name in order]
    about = docstring(f"Give {_names(part.outputs)}.", 8, [("Args", types)])
    body = Body(imports, 8)
    body.write_block(lambda inner, unread: _ForwardWriter(module, inner, unread).write())
    return "\n".join([f"    {head}", about, body.text()])


def _names(steps: Iterable[Step]) -> str:
    return " and ".join(f"`{target}`" for step in steps for target in step.targets)


def _annotation(name: str, module: "ModuleClass") -> str:
    several = isinstance(module.part.inputs[name], TensorsPattern)
    if several:
        module.imports.name("collections.abc", "Sequence")
    one = "Sequence[Tensor]" if several else "Tensor"
    return f"{one} | None = None" if name in module.part.optional else one


def tensors_of(part: Part, operators: Container[str]) -> KindInference:
    """What the steps of a part begin with: the kinds of its inputs and weights."""
    several = {n: TENSORS for n, p in part.inputs.items() if isinstance(p, TensorsPattern)}
    names = {**dict.fromkeys([*part.inputs, *part.weights], TENSOR), **several}
    return KindInference(names, operators, frozenset(part.parts))


def follow_step(tensors: KindInference, step: Step) -> None:
    """Note the kinds of a step's values, and of the names that it gives."""
    tensors.give(step.targets, tensors.follow(step.value.program))


class _ForwardWriter:
    """Writes the body. `unread` are names that nothing reads, as a first writing has shown."""

    def __init__(self, module: "ModuleClass", body: Body, unread: frozenset[str]) -> None:
        part = module.part
        self.module, self.part, self.body, self.unread = module, part, body, unread
        held = (*module.attribute_sizes, *part.weights, *part.parts)
        self.names: dict[str, ast.expr] = {name: attribute(f"self.{name}") for name in held}
        for name in module.variables:
            element = module.element(name, "self.")
            self.names[name] = attribute(element.id) if isinstance(element, ast.Name) else element
        self.tensors = tensors_of(part, module.calls.operators)
        self.bound = {d.name for d in self._dimensions() if d.name and d.name not in module.sizes}
        targets = {target for step in (*part.steps, *part.outputs) for target in step.targets}
        self.read = {n for s in (*part.steps, *part.outputs) for n in read_names(s.value.program)}
        self.read |= {target for step in part.outputs for target in step.targets}
        self.taken = {*part.inputs, *self.bound, *targets}

    def _dimensions(self) -> Iterator[Dimension]:
        for pattern in self.part.inputs.values():
            if isinstance(pattern, TensorPattern):
                yield from pattern.shape or ()

    def write(self) -> None:
        self.body.add("check = begin(DECLARATION)")
        self._check_elements()
        self._check_shapes()
        for step in self.part.steps:
            self._step(step)
        *first, last = self.part.outputs
        for step in first:
            self._step(step)
        if first or len(last.targets) > 1:
            self._step(last)
            names = [name for step in self.part.outputs for name in step.targets]
            result: Doc = bracket_list("(", list(names), ")")
        else:
            result = document(self._value(last))
        self.body.add("return ", call("check.finish", [result]))

    # --- inputs ---

    def _check_elements(self) -> None:
        """`check.element("F", (self.dtype,), x=x)`: inputs of one type variable have one dtype."""
        groups: dict[str, list[str]] = {}
        for name, pattern in self.part.inputs.items():
            each = pattern.each if isinstance(pattern, TensorsPattern) else pattern
            groups.setdefault(each.element if isinstance(each, TensorPattern) else "any", [])
            groups[each.element if isinstance(each, TensorPattern) else "any"].append(name)
        for variable, names in groups.items():
            if variable == "any":
                self._check_tensors(names)
                continue
            element = document(
                NameRewriter(self.names, self.body.imports).rewrite(ast.Name(variable))
            )
            given = [f"{name}={name}" for name in names]
            optional = [name for name in names if name in self.part.optional]
            body = self.body
            if len(optional) == len(names):
                body = body.block(f"if {' or '.join(f'{n} is not None' for n in names)}:")
            allowed = ["(", element, ",)"]
            body.add(call("check.element", [f'"{variable}"', allowed, *given]))

    def _check_tensors(self, names: list[str]) -> None:
        """Any dtype will do."""
        for name in names:
            pattern = self.part.inputs[name]
            function = "tensors" if isinstance(pattern, TensorsPattern) else "tensor"
            if isinstance(pattern, TensorPattern) and pattern.shape is not None:
                continue  # what asks for its shape asks whether it is one
            self._guard(name).add(call(f"check.{function}", [f'"{name}"', name]))

    def _guard(self, name: str) -> Body:
        if name not in self.part.optional:
            return self.body
        return self.body.block(f"if {name} is not None:")

    def _check_shapes(self) -> None:
        """Bind the plain names of shapes, then compare those that hold anything else."""
        compared, seen = list[tuple[str, tuple[Dimension, ...]]](), set[str]()
        for name, pattern in self.part.inputs.items():
            shape = pattern.shape if isinstance(pattern, TensorPattern) else None
            if shape is None:
                continue
            fresh = [d.name if d.name in self.bound - seen else None for d in shape]
            seen |= {each for each in fresh if each}
            self._check_shape(name, shape, fresh)
            if not all(fresh):
                compared.append((name, shape))
        for name, shape in compared:
            arguments = [f'"{name}"', name, quote(shape_text(shape)), self._sizes(shape)]
            self._guard(name).add(call("check.match", arguments))

    def _check_shape(
        self, name: str, shape: tuple[Dimension, ...], fresh: list[str | None]
    ) -> None:
        """`N, _, *D = check.shape("x", x, "[N, in_channels, *D]")`."""
        read = [None if each in self.unread else each for each in fresh]
        start = ""
        if any(read):
            start = targets(shape, read)
        elif not all(fresh) and not (len(shape) == 1 and shape[0].star):
            return  # the comparison says what there is to say
        arguments = [f'"{name}"', name, quote(shape_text(shape))]
        self._guard(name).add(start, call("check.shape", arguments))

    def _sizes(self, shape: tuple[Dimension, ...]) -> Doc:
        rewriter = NameRewriter(self.names, self.body.imports)
        items: list[Doc] = []
        for dimension in shape:
            size = document(rewriter.rewrite(dimension.expression))
            items.append(["*" if dimension.star else "", size])
        return bracket_list("(", items, ")", comma=True)

    # --- steps ---

    def _step(self, step: Step) -> None:
        value = self._value(step)
        self.names = {n: e for n, e in self.names.items() if n not in step.targets}
        targets = [target_name(target, self.read) for target in step.targets]
        self.body.add(f"{', '.join(targets)} = ", statement_value(value))

    def _value(self, step: Step) -> ast.expr:
        """What a step gives, behind the assignments of its own.

        Their names are the step's: one that stands for something else, too, is written anew.
        """
        program, names = step.value.program, dict(self.names)
        follow_step(self.tensors, step)
        rewriter = self.module.calls.rewriter_for(self.tensors, names, self.body.imports)
        used = read_names(program)
        for each in program.assignments:
            value = statement_value(rewriter.rewrite(each.value))
            own = [target.lstrip("*") for target in each.targets]
            written = [f"{step.targets[0]}_{n}" if n in self.taken else n for n in own]
            names |= {name: ast.Name(new) for name, new in zip(own, written, strict=True)}
            stars = ["*" * target.startswith("*") for target in each.targets]
            unread = [
                new if name in used else target_name(new, used)
                for name, new in zip(own, written, strict=True)
            ]
            left = [star + new for star, new in zip(stars, unread, strict=True)]
            self.body.add(f"{', '.join(left)} = ", value)
        return rewriter.rewrite(program.result)

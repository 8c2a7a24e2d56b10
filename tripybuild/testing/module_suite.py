"""Checks of every module: its class computes what its declaration says.

Specifications instantiate the class, so the oracle is the declaration itself: it is written into a
model's `define:`, whose interpreter runs it without any code that was generated from it.
"""

import ast
import json
import tempfile
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.language.evaluate import evaluate
from tripybuild.language.grammar import Program, parse
from tripybuild.language.names import free_names
from tripybuild.model.graph_builder import build
from tripybuild.model.libraries import OperatorLibrary
from tripybuild.model.model_graph import ModelGraph
from tripybuild.reference.execute import reference_run
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.load import Registry
from tripybuild.schema.model.model import load_module
from tripybuild.schema.operator.part import Part
from tripybuild.schema.registry_files import ModuleDeclaration
from tripybuild.schema.snippets.expressions import expression_text
from tripybuild.testing.check_counts import count_check, refuse_difference, suite_check
from tripybuild.testing.generators import generate_array
from tripybuild.testing.registry import roots, suite_registry
from tripybuild.trace.generated_code import BUILT_IN
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import BY_NAME, int32
from tripybuild.types.patterns import TensorPattern
from tripybuild.types.vocabulary import SHAPE

SPEC = """\
tripybuild: 1
model: sample
types:
  F: {dtype}
inputs:
{inputs}
parts:
  module: {made}
steps:
  results: module({given})
outputs:
{outputs}
define: {define}
"""
# What a declaration says to its class and its suite, and not to a model.
CLASS_KEYS: dict[str, Any] = {
    **dict.fromkeys(("tripybuild", "module", "extends", "sample", "examples"), True),
    "weights": {"__all__": {"ranks", "optional"}},
}


class ModuleSuite:
    """The questions about one module.

    Args:
        source: The path of its declaration.
        package: The generated package.
        suite: The file of the suite.
    """

    def __init__(self, source: str, package: str, suite: str) -> None:
        self.source, self.home, self.suite = source, package, suite

    @cached_property
    def registry(self) -> Registry:
        """All declarations that the package can use."""
        return suite_registry(self.source, self.suite)

    @cached_property
    def module(self) -> ModuleDeclaration:
        """The declaration."""
        return next(each for each in self.registry.modules.values() if each.path == self.source)

    @cached_property
    def part(self) -> Part:
        """What the declaration says."""
        return load_module(self.module.document, self.module.file)[0]

    @cached_property
    def package(self) -> Any:
        """The generated package."""
        return import_module(self.home)

    @cached_property
    def homes(self) -> list[OperatorLibrary]:
        """Where specifications find what is not built in."""
        return [OperatorLibrary(self.home)] if roots(self.source, self.suite)[1:] else []

    @cached_property
    def examples(self) -> Any:
        """The calls that are refused."""
        return self.module.file.examples

    @cached_property
    def _programs(self) -> dict[str, Program]:
        sample = self.module.file.sample
        return {name: parse(expression_text(value)) for name, value in sample.items()}

    @cached_property
    def generators(self) -> dict[str, Program]:
        """How the sample makes the data of tensors, by name."""
        return {n: p for n, p in self._programs.items() if n in self._tensors}

    @cached_property
    def names(self) -> dict[str, Any]:
        """The sizes of the sample."""
        names: dict[str, Any] = {}
        for name, program in self._programs.items():
            if name not in self._tensors:
                names[name] = evaluate(program, names, SHAPE)
        return names

    @property
    def _tensors(self) -> set[str]:
        return {*self.part.inputs, *self.part.weights}

    @suite_check
    def check_weights(self, dtype: str | None = None) -> None:
        """The parameters are the weights that the declaration gives a model."""
        weights = self._build_graph(dtype or "float32").graph.weights
        wanted = {name.removeprefix("module."): value.type for name, value in weights.items()}

        module = self._make_module(dtype)

        count_check()
        found = {name: each.type for name, each in module.state_dict().items()}
        refuse_difference("the parameters", found, wanted)

    @suite_check
    def check_values(self, dtype: str | None = None) -> None:
        """The class computes what the interpreter of definitions computes."""
        graph = self._build_graph(dtype or "float32").graph
        inputs = {name: self._data(name, value) for name, value in graph.inputs.items()}
        weights = {name: self._data(name, value) for name, value in graph.weights.items()}
        wanted = reference_run(graph, weights)(list(inputs.values()))
        tensor = import_module(BUILT_IN).Tensor
        state = {name.removeprefix("module."): tensor(each) for name, each in weights.items()}

        module = self._make_module(dtype)
        module.load_state_dict(state)
        found = module(*map(tensor, inputs.values()))

        several = found if isinstance(found, tuple) else (found,)
        for got, want in zip(several, wanted, strict=True):
            count_check()
            np.testing.assert_array_equal(np.asarray(got), want)

    @suite_check
    def check_example(self, index: int) -> None:
        """An example's violation is reported by the class and by the interpreter of definitions."""
        example = self.examples[index]
        call = parse(example.call).result
        assert isinstance(call, ast.Call)
        given = [self._value(each) for each in call.args]
        named = {each.arg: self._value(each.value) for each in call.keywords if each.arg}

        count_check()
        with pytest.raises(DiagnosticError) as raised:
            getattr(self.package, self.part.name)(*given, **named)

        code = f"{self.part.name}/{example.fails}"
        refuse_difference("the class", [each.code for each in raised.value.diagnostics], [code])
        if example.fails in self.part.laws:
            with pytest.raises(DiagnosticError) as raised:
                self._build_graph("float32", example.call)
            codes = sorted({each.code for each in raised.value.diagnostics})
            refuse_difference("the specification", [each for each in codes if each == code], [code])

    def _value(self, node: ast.expr) -> object:
        return evaluate(node, BY_NAME, SHAPE)

    def _make_module(self, dtype: str | None) -> Any:
        """The class, made with the sample's sizes."""
        chosen = {p.name: BY_NAME[dtype] for p in self.part.parameters if p.variable and dtype}
        return getattr(self.package, self.part.name)(**self._sizes(), **chosen)

    def _sizes(self) -> dict[str, Any]:
        return {p.name: self.names[p.name] for p in self.part.parameters if p.name in self.names}

    def _build_graph(self, dtype: str, made: str | None = None) -> ModelGraph:
        """The graph of a model that defines the module as it is declared, as its only part."""
        part = self.part
        inputs = {name: p for name, p in part.inputs.items() if name not in part.optional}
        targets = [name for step in part.outputs for name in step.targets]
        results = [f"results[{i}]" for i in range(len(targets))] if targets[1:] else ["results"]
        sizes = ", ".join(f"{name}={value!r}" for name, value in self._sizes().items())
        text = SPEC.format(
            dtype=dtype,
            inputs="\n".join(f'  {name}: "{self._type(p)}"' for name, p in inputs.items()),
            made=f'"{made or f"{part.name}({sizes})"}"',
            given=", ".join(inputs),
            outputs="\n".join(f"  {n}: {r}" for n, r in zip(targets, results, strict=True)),
            define=self._definitions,
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sample.yaml"
            path.write_text(text, encoding="utf-8")
            return build(path, homes=lambda _: self.homes)

    @cached_property
    def _definitions(self) -> str:
        """The module and those that it is made of as definitions: JSON, which is YAML."""
        found: dict[str, Any] = {}
        waiting = [self.part.name]
        while waiting:
            module = self.registry.modules[waiting.pop()]
            found[module.name] = definition = module.file.model_dump(
                mode="json", exclude=CLASS_KEYS, exclude_unset=True
            )
            sizes = definition.get("sizes")
            for size in sizes.values() if isinstance(sizes, dict) else ():
                if isinstance(size, dict):
                    size["doc"] = "A size."  # one that is inherited as a name alone has none
            part = load_module(module.document, module.file)[0]
            snippets = [*part.parts.values(), *(s.value for s in (*part.steps, *part.outputs))]
            names = {name for each in snippets for name in free_names(each.program)}
            waiting += (names & self.registry.modules.keys()) - found.keys()
        return json.dumps(found)

    def _type(self, pattern: object) -> str:
        """The type of an input with numbers for names; `any` is a whole number."""
        assert isinstance(pattern, TensorPattern)
        sizes = [
            size
            for _, size in pattern.sizes(lambda each: evaluate(each.expression, self.names, SHAPE))
        ]
        element = int32 if pattern.element == "any" else pattern.element
        return f"{element}[{', '.join(map(str, sizes)) or '()'}]"

    def _data(self, path: str, value: Value) -> Array:
        name = path.removeprefix("module.")
        names: Mapping[str, Any] = self.names
        return generate_array(self.generators.get(name), names, value.shape, value.dtype, path)

"""Modules of registries in a program: a run is one if it calls what that module does.

The run has the weights that the module has by these names, and its calls are those of the module's
steps for the sizes that the weights and calls say.
"""

import ast
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from tripybuild.importer.call_patterns import CallPattern, operators_by_method, same
from tripybuild.importer.call_program import Call, CallValue
from tripybuild.importer.spec_writer.module_runs import ModuleNode, ModuleRun
from tripybuild.importer.spec_writer.texts import Keyword, SizeNumber, Text, listed, literal
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.schema.load import Registry
from tripybuild.schema.model.model import load_module
from tripybuild.schema.operator.part import Part, PartParameter
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import TensorPattern, ValuePattern, options
from tripybuild.types.vocabulary import SHAPE


class RegistryModules:
    """Finds modules of a registry in runs.

    Args:
        registry: The declarations.
        main: The dtype that floats have by default.
    """

    def __init__(self, registry: Registry, main: dtype) -> None:
        self.registry, self.main = registry, main
        self.methods = operators_by_method(registry.operators)
        loaded = (load_module(each.document, each.file) for each in registry.modules.values())
        self.modules = [part for part, found in loaded if not found and not part.parts]

    def __call__(self, node: ModuleNode, run: ModuleRun) -> Text | None:
        """The text that makes the module that a run is; None if it is none."""
        if (
            len(run.results) != 1
            or not node.weights
            or not all(isinstance(item, Call) for item in run.items)
        ):
            return None
        for part in self.modules:
            if node.weights.keys() <= part.weights.keys():
                for flags in _flags(part):
                    sizes = _Match(self, part, node, run).sizes(flags)
                    if sizes is not None:
                        return self._text(part, sizes, node.path)
        return None

    def _text(self, part: Part, sizes: Mapping[str, Any], path: str) -> Text:
        counted = _plain_sizes(part)
        given: list[Text] = []
        last: list[Keyword] = []
        is_gapless = True
        for parameter in part.parameters:
            value, default = _shortest(parameter, sizes[parameter.name]), _default(parameter)
            if parameter.variable is not None:
                default = self.main
            if type(value) is type(default) is int:
                last.append(Keyword(parameter.name, SizeNumber(value, "", parameter.name), default))
                is_gapless = False
                continue
            if parameter.default is not None and same(value, default):
                is_gapless = False
                continue
            is_gapless = is_gapless and parameter.default is None
            role = "size" if parameter.name in counted else parameter.name
            kind = "rows" if parameter.name.startswith("num_") else "weight"
            text = literal(value, role, parameter.name, f"{kind} {path}:{parameter.name}")
            given.append(text if is_gapless else Text.of(f"{parameter.name}=", text))
        return Text.of(part.name, listed(given, "(", ""), *last, ")")


class _Match:
    """One module of a registry beside one run."""

    def __init__(
        self, modules: RegistryModules, part: Part, node: ModuleNode, run: ModuleRun
    ) -> None:
        self.part, self.node, self.run = part, node, run
        names = {**dict.fromkeys(part.inputs, True)}
        names |= {each.name: False for each in part.parameters if each.name not in part.weights}
        names |= dict.fromkeys(self._variables(), False)
        defaults = {each.name: _default(each) for each in part.parameters if each.default}
        self.pattern = CallPattern(
            modules.registry.operators, modules.methods, names, defaults=defaults
        )

    def _variables(self) -> Iterator[str]:
        """The type variables of the weights."""
        for weight in self.part.weights.values():
            if isinstance(weight.pattern, TensorPattern):
                yield weight.pattern.element

    def sizes(self, flags: Mapping[str, bool]) -> Mapping[str, Any] | None:
        """What the module is made with to do what the run does; None if there is no such."""
        bound = self.pattern.bound
        bound.update({name: flag for name, flag in flags.items() if name not in self.part.weights})
        if not self._bind_weights():
            return None
        for step in self.part.steps:
            self.pattern.add_line(step.targets, self.pattern.add_lines(step.value.program))
        (output,) = self.part.outputs
        result = self.pattern.add_lines(output.value.program)
        if not self.pattern.match(result, self.run.results[0]) or not self._bind_inputs():
            return None
        known = {**{n: v for n, v in bound.items() if n not in self.part.weights}, **flags}
        known |= {p.name: bound[p.variable] for p in self.part.parameters if p.variable in bound}
        found = {p.name: known.get(p.name, _default(p)) for p in self.part.parameters}
        missing = [p for p in self.part.parameters if p.name not in known and p.default is None]
        is_whole = len(self.pattern.calls) == len(self.run.calls)
        return found if is_whole and not missing and self._is_right(found) else None

    def _bind_weights(self) -> bool:
        for name, weight in self.part.weights.items():
            value = self.node.weights.get(name)
            self.pattern.bound[name] = value
            if value is None and weight.when is None:
                return False
            if value is not None and not self._bind(weight.pattern, value):
                return False
        return True

    def _bind_inputs(self) -> bool:
        bound, arguments = self.pattern.bound, self.run.arguments
        given = [bound.get(name) for name in self.part.inputs]
        if list(map(id, given)) != list(map(id, arguments)):
            return False
        patterns = zip(self.part.inputs.values(), arguments, strict=True)
        return all(self._bind(pattern, value) for pattern, value in patterns)

    def _bind(self, pattern: object, value: CallValue) -> bool:
        """Bind the sizes of a type; those that are no plain names are compared later."""
        if not isinstance(pattern, TensorPattern):
            return False
        pairs = {} if pattern.shape is None else pattern.bindings(value.shape)
        if pattern.shape is not None and pattern.match(value.shape) is None:
            return False
        if pattern.element in self.pattern.names:
            pairs[pattern.element] = value.dtype
        own = {n: v for n, v in pairs.items() if n in self.pattern.names}
        bound = self.pattern.bound
        if any(n in bound and not same(bound[n], v) for n, v in own.items()):
            return False
        bound.update(own)
        return True

    def _is_right(self, sizes: Mapping[str, Any]) -> bool:
        """Whether the module that is made with the sizes has the weights that there are."""
        names = {**BY_NAME, **self.pattern.bound, **sizes}
        for name, weight in self.part.weights.items():
            value = self.node.weights.get(name)
            try:
                wanted = weight.when is None or evaluate(weight.when.program, names, SHAPE)
                if bool(wanted) != (value is not None):
                    return False
                if value is not None and not _has_shape(weight.pattern, value, names):
                    return False
            except (EvaluationError, UndecidedSize):
                return False
        return True


def _has_shape(pattern: object, value: CallValue, names: Mapping[str, Any]) -> bool:
    assert isinstance(pattern, TensorPattern)
    sizes: list[Any] = []
    for dimension in pattern.shape or ():
        found = evaluate(dimension.expression, names, SHAPE)
        several = dimension.star and isinstance(found, (list, tuple))
        sizes += found if several else [found]
    return same(sizes, list(value.shape))


def _flags(part: Part) -> Iterator[dict[str, bool]]:
    """All values of the sizes that say which weights there are, the usual ones first."""
    names = {
        node.id
        for weight in part.weights.values()
        if weight.when is not None
        for node in ast.walk(weight.when.program.result)
        if isinstance(node, ast.Name)
    }
    flags = {p.name: bool(_default(p)) for p in part.parameters if p.name in names and _is_flag(p)}
    for values in product(*((usual, not usual) for usual in flags.values())):
        yield dict(zip(flags, values, strict=True))


def _is_flag(parameter: PartParameter) -> bool:
    return isinstance(parameter.pattern, ValuePattern) and parameter.pattern.kind == "bool"


def _default(parameter: PartParameter) -> Any:
    if parameter.default is None:
        return None
    try:
        return evaluate(parameter.default.program, BY_NAME, SHAPE)
    except (EvaluationError, UndecidedSize):
        return None


def _plain_sizes(part: Part) -> set[str]:
    """The sizes that stand for themselves in a shape."""
    patterns = [*(w.pattern for w in part.weights.values()), *part.inputs.values()]
    shapes = [p.shape or () for p in patterns if isinstance(p, TensorPattern)]
    return {d.name for shape in shapes for d in shape if d.name and (not d.star or len(shape) == 1)}


def _shortest(parameter: PartParameter, value: Any) -> Any:
    """One number where that stands for a list of it."""
    if not isinstance(value, (list, tuple)):
        return value
    for pattern in options(parameter.pattern):
        if isinstance(pattern, ValuePattern) and pattern.lengths is not None:
            flat = value
            while isinstance(flat, (list, tuple)) and flat and all(same(e, flat[0]) for e in flat):
                flat = flat[0]
            alone = pattern.alone and len(value) == 1
            if (pattern.lengths or alone) and not isinstance(flat, (list, tuple)):
                return flat
    return list(value)

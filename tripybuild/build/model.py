"""From a model's file to a graph: definitions and modules become parts, steps record operations."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from tripybuild.build.context import Context, Skipped
from tripybuild.build.parts import (
    Chain,
    Each,
    Instance,
    Next,
    Template,
    chunks,
    instantiate,
    run_steps,
)
from tripybuild.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.frontend import Tensor
from tripybuild.language.vocabulary import ANY_NAME, Vocabulary
from tripybuild.project import registry
from tripybuild.schema.files import ModuleFile, RangeEntry, WeightsEntry
from tripybuild.schema.model import DEFAULT_VARIABLE, Model, Part, load_model, load_module
from tripybuild.schema.validate import validate
from tripybuild.source import Document, read
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import Size, TensorType, Value
from tripybuild.types.dims import symbol
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import TensorPattern
from tripybuild.types.vocabulary import SHAPE

PACKAGE = "tripyapi"
METHODS = frozenset({"cast", "flatten", "permute", "reshape", "squeeze", "transpose", "unsqueeze"})


# What models need beside operators: to deal items to the parts of a chain, and to group them.
LISTS = {"each": Each, "chunks": chunks}


@dataclass(frozen=True, slots=True)
class Range:
    """The sizes that a dynamic dimension can have; `high` is None where there is no limit."""

    low: int
    opt: int
    high: int | None
    multiple_of: int = 1


@dataclass(frozen=True, eq=False)
class Built:
    """A model as a graph, with what the graph does not say."""

    graph: Graph
    states: tuple[str, ...]
    ranges: Mapping[str, Range]
    doc: str
    document: Document
    weights: WeightsEntry | None
    sizes: Mapping[str, object]


def build(path: Path, overrides: Mapping[str, object] | None = None) -> Built:
    """Build the graph of a model.

    Args:
        path: The model's file.
        overrides: Sizes to put in the place of the file's own.

    Raises:
        DiagnosticError: With all that is wrong with the file.
    """
    model, found = load_model(path)
    if model is None:
        raise DiagnosticError(*found)
    return _Builder(model, overrides or {}).built()


class _Builder:
    def __init__(self, model: Model, overrides: Mapping[str, object]) -> None:
        self.model = model
        import_module(f"{PACKAGE}.tensor")  # its Tensor has the operators
        self.context = Context(model.document, {}, self._types(), _vocabulary())
        self.context.templates = self._template
        self.context.functions = self._function
        operators = frozenset(import_module(PACKAGE).__all__)
        self.context.known = frozenset(model.define) | _module_names() | operators
        self._modules: dict[str, Part] = {}
        self._sizes(overrides)
        self.ranges: dict[str, Range] = {}

    def built(self) -> Built:
        context, model = self.context, self.model
        inputs = self._inputs()
        top = self._top(inputs)
        missing = run_steps(context, (*model.top.steps, *model.top.outputs), top, "")
        if context.found or missing:
            raise DiagnosticError(*context.found)
        outputs = {}
        for step in model.top.outputs:
            for target in step.targets:
                outputs[target] = self._output(target, top[target], step)
        if context.found:
            raise DiagnosticError(*context.found)
        values = {name: tensor.value for name, tensor in inputs.items()}
        values |= context.states
        outputs |= {f"{path}.next": value for path, value in context.updates.items()}
        graph = Graph(model.name, values, context.weights, outputs)
        sizes = {name: context.sizes[name] for name in model.sizes}
        return Built(
            graph,
            tuple(context.states),
            self.ranges,
            model.doc,
            model.document,
            model.weights,
            sizes,
        )

    def _top(self, inputs: Mapping[str, Tensor]) -> dict[str, object]:
        context = self.context
        local: dict[str, object] = {**context.sizes, **context.types}
        for name, snippet in self.model.top.parts.items():
            try:
                with context.at(snippet, name):
                    value = context.evaluate(snippet, context.making_names(context.sizes))
                    local[name] = instantiate(context, value, name)
            except DiagnosticError as error:
                context.report(error)
        if context.found:
            raise DiagnosticError(*context.found)
        return {**local, **inputs}

    def _output(self, name: str, value: object, step: Any) -> Value:
        if isinstance(value, Tensor):
            return value.value
        message = f"the output `{name}` must be a tensor, but this is {value!r}"
        self.context.found.append(Diagnostic("wrong-type", message, step.value.span()))
        return Value(TensorType(BY_NAME["float32"], ()))

    # --- sizes, symbols, inputs ---

    def _types(self) -> dict[str, dtype]:
        types = {DEFAULT_VARIABLE: BY_NAME["float32"]}
        for name, text in self.model.types.items():
            if text not in BY_NAME:
                span = self.model.document.span(("types", name))
                raise DiagnosticError(Diagnostic("unknown-dtype", f"`{text}` is no dtype", span))
            types[name] = BY_NAME[text]
        return types

    def _sizes(self, overrides: Mapping[str, object]) -> None:
        context = self.context
        for name in overrides:
            if name not in self.model.sizes:
                near = suggest(name, self.model.sizes)
                raise DiagnosticError(
                    Diagnostic(
                        "unknown-size",
                        f"`{self.model.name}` has no size `{name}`",
                        self.model.document.span(("sizes",) if self.model.sizes else ()),
                        hint=f"did you mean `{near}`?" if near else None,
                    )
                )
        for name, snippet in self.model.sizes.items():
            with context.at(snippet, name):
                value = context.evaluate(snippet, context.sizes | context.types)
            context.sizes[name] = overrides.get(name, value)

    def _inputs(self) -> dict[str, Tensor]:
        inputs = {}
        for name, pattern in self.model.top.inputs.items():
            span = self.model.document.span(("inputs", name))
            assert isinstance(pattern, TensorPattern)
            for dimension in pattern.shape or ():
                if dimension.star:
                    message = f"`{dimension}`: the rank of a model's input is fixed"
                    raise DiagnosticError(Diagnostic("type-syntax", message, span))
                if dimension.name is not None and dimension.name not in self.context.sizes:
                    self.context.sizes[dimension.name] = self._symbol(dimension.name)
            shape = self.context.shape(pattern, self.context.sizes, span)
            element = self.context.types.get(pattern.element) or BY_NAME[pattern.element]
            inputs[name] = Tensor.of(Value(TensorType(element, shape), name=name))
        for name in self.model.ranges:
            if name not in self.ranges:
                span = self.model.document.span(("ranges", name), key=True)
                message = f"no input has a dimension `{name}`"
                self.context.found.append(Diagnostic("unknown-size", message, span))
        return inputs

    def _symbol(self, name: str) -> Size:
        entry = self.model.ranges.get(name, RangeEntry())
        given = {
            key: self._bound(name, key, getattr(entry, key))
            for key in ("min", "opt", "max", "multiple_of")
        }
        low, high, step = given["min"], given["max"], given["multiple_of"] or 1
        assert low is not None
        opt = given["opt"] if given["opt"] is not None else (high if high is not None else low)
        span = self.model.document.span(("ranges", name))
        if not 0 <= low <= opt or (high is not None and opt > high) or step < 1:
            message = (
                f"`{name}` needs min <= opt <= max, but has min = {low}, opt = {opt}, max = {high}"
            )
            raise DiagnosticError(Diagnostic("bad-range", message, span))
        if any(bound is not None and bound % step for bound in (low, opt, high)):
            message = f"the bounds of `{name}` must be multiples of {step}"
            raise DiagnosticError(Diagnostic("bad-range", message, span))
        self.ranges[name] = Range(low, opt, high, step)
        return symbol(name, low, high, step)

    def _bound(self, name: str, key: str, value: int | str | None) -> int | None:
        if value is None or isinstance(value, int):
            return value
        from tripybuild.language.grammar import SnippetError, parse  # noqa: PLC0415
        from tripybuild.schema.operator import Snippet  # noqa: PLC0415

        location = ("ranges", name, key)
        try:
            snippet = Snippet(parse(value), self.model.document, location)
        except SnippetError as error:
            raise DiagnosticError(
                Diagnostic(error.code, error.message, self.model.document.span(location))
            ) from error
        result = self.context.evaluate(snippet, self.context.sizes)
        return operator.index(result)

    # --- names ---

    def _part(self, name: str) -> Part | None:
        if name in self.model.define:
            return self.model.define[name]
        if name not in self._modules:
            part = _module(name)
            if part is None:
                return None
            self._modules[name] = part
        return self._modules[name]

    def _template(self, name: str) -> Template | Any:
        if name in LISTS:
            return LISTS[name]
        part = self._part(name)
        return None if part is None else Template(self.context, part)

    def _function(self, name: str) -> Any:
        """What a step's name means where no part, input or size has it."""
        part = self.model.define.get(name)
        if part is not None:
            return partial(self._run, part)
        if name in LISTS:
            return LISTS[name]
        if name in SHAPE.functions:
            found = _operator(name)
            return None if found is None else _either(found, SHAPE.functions[name])
        return _operator(name) or BY_NAME.get(name)

    def _run(self, part: Part, *given: object, **named: object) -> object:
        """A definition used as a function: it can have no weights, since it has no path."""
        if part.parts or part.weights or part.parameters:
            message = f"`{part.name}` has parts or sizes of its own: name it under `parts:` first"
            raise DiagnosticError(Diagnostic("part-arguments", message, self.context.place()))
        return Instance(self.context, part, {}, part.name)(*given, **named)


def _operator(name: str) -> Any:
    package = import_module(PACKAGE)
    found = getattr(package, name, None) if name in package.__all__ else None
    return found if isinstance(found, FunctionType) else None


def _either(function: Any, python: Any) -> Any:
    """A name is the operator when its first argument is a tensor, else Python's."""

    def either(*given: Any, **named: Any) -> Any:
        return (function if given and isinstance(given[0], Tensor) else python)(*given, **named)

    return either


def _module_names() -> frozenset[str]:
    return frozenset(path.stem for path in (registry() / "modules").glob("*.yaml"))


@cache
def _module(name: str) -> Part | None:
    """A module of the registry, by its name."""
    folder = registry() / "modules"
    for stem in (name, name.lower()):
        path = folder / f"{stem}.yaml"
        if path.is_file():
            document, found = read(path)
            if document is None or found:
                raise DiagnosticError(*found)
            file, found = validate(document, ModuleFile)
            if file is None or found:
                raise DiagnosticError(*found)
            part, found = load_module(document, file)
            if found:
                raise DiagnosticError(*found)
            return part if part.name == name else None
    return None


def _vocabulary() -> Vocabulary:
    own = (Template, Instance, Chain, Each, FunctionType, partial)
    return SHAPE | Vocabulary(
        callables=own,
        methods=((Tensor, METHODS), (Instance, ANY_NAME)),
        attributes=(
            (Tensor, frozenset({"shape", "dtype", "rank"})),
            (Instance, ANY_NAME),
            (Next, ANY_NAME),
        ),
    )


__all__ = ["Built", "Range", "Skipped", "build"]

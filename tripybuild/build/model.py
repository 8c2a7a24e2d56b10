"""From a model's file to a graph: definitions and modules become parts, steps record operations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, Protocol

from tripybuild.build.chains import LISTS, Chain, Each
from tripybuild.build.context import Context, Scope, Skipped
from tripybuild.build.parts import Instance
from tripybuild.build.sizes import Range, fix_sizes, fixed_sizes, make_inputs, make_symbols
from tripybuild.build.steps import Next
from tripybuild.build.templates import Template
from tripybuild.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.frontend import Tensor
from tripybuild.garbage import uncollected
from tripybuild.language.vocabulary import ANY_NAME, Vocabulary
from tripybuild.project import registry
from tripybuild.schema.files import ModuleFile, WeightsEntry
from tripybuild.schema.model import DEFAULT_VARIABLE, Model, Part, load_module
from tripybuild.schema.use import load_model
from tripybuild.schema.validate import validate
from tripybuild.source import Document, read
from tripybuild.trace.graph import Graph
from tripybuild.trace.messages import shown
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.shapes import fresh_symbols
from tripybuild.types.vocabulary import SHAPE

PACKAGE = "tripyapi"
OPERATORS = f"{PACKAGE}.ops."
METHODS = frozenset({"cast", "flatten", "permute", "reshape", "squeeze", "transpose", "unsqueeze"})


class Origin(Protocol):
    """What a graph was recorded from, and where its parts stand in it."""

    @property
    def path(self) -> str:
        """The file."""
        ...

    @property
    def text(self) -> str:
        """What the file holds, if it alone says what the graph is."""
        ...

    def span(self, location: tuple[str | int, ...], *, key: bool = False) -> Span:
        """The place of a part, such as `("ranges", "B")`."""
        ...


@dataclass(frozen=True, eq=False)
class Built:
    """A model as a graph, with what the graph does not say."""

    graph: Graph
    states: tuple[str, ...]
    ranges: Mapping[str, Range]
    doc: str
    document: Origin
    used: tuple[Document, ...]
    weights: WeightsEntry | None
    sizes: Mapping[str, object]


def build(path: Path, overrides: Mapping[str, object] | None = None) -> Built:
    """Build the graph of a model.

    Args:
        path: The model's file.
        overrides: Sizes and dtypes to put in the place of the file's own.

    Raises:
        DiagnosticError: With all that is wrong with the file.
    """
    model, found = load_model(path)
    if model is None:
        raise DiagnosticError(*found)
    # One file gives one graph, whatever was built before.
    with fresh_symbols(), uncollected():
        return _Builder(model).built(overrides or {})


class _Builder:
    def __init__(self, model: Model) -> None:
        self.model = model
        import_module(f"{PACKAGE}.tensor")  # its Tensor has the operators
        self.context = Context(model.document, _dtypes(model.types), _vocabulary())
        self.context.templates = self._template
        self.context.functions = self._function
        self.context.known = self._known
        self._modules: dict[str, Part] = {}

    def built(self, overrides: Mapping[str, object]) -> Built:
        context, model = self.context, self.model
        overrides = self._chosen_types(overrides)
        self.scope = Scope(context.sizes, context.types, model.define)
        context.open_scope(model.document, self.scope)
        for file in model.files:
            types, define = _dtypes(file.types), {**file.define, **file.used}
            sizes: dict[str, object] = {}
            context.open_scope(file.document, Scope(sizes, types, define))
            sizes |= fixed_sizes(context, file.sizes, types)
        fix_sizes(context, model, overrides)
        ranges = {} if context.found else make_symbols(context, model, overrides)
        inputs = {} if context.found else make_inputs(context, model)
        if context.found:
            raise DiagnosticError(*context.found)
        outputs = self._outputs(inputs)
        values = {name: tensor.value for name, tensor in inputs.items()}
        values |= context.states
        outputs |= {f"{path}.next": value for path, value in context.updates.items()}
        graph = Graph(model.name, values, context.weights, outputs)
        sizes = {name: context.sizes[name] for name in model.sizes}
        entry = model.weights
        states = tuple(context.states)
        used = tuple(file.document for file in model.files)
        return Built(graph, states, ranges, model.doc, model.document, used, entry, sizes)

    def _chosen_types(self, overrides: Mapping[str, object]) -> dict[str, object]:
        """Take the dtypes among what the caller chose; what is left are sizes."""
        context, left = self.context, dict(overrides)
        for name in list(left):
            if name in context.types and name not in self.model.sizes:
                text = str(left.pop(name))
                if text in BY_NAME:
                    context.types[name] = BY_NAME[text]
                    continue
                near = suggest(text, BY_NAME)
                hint = f"did you mean `{near}`?" if near else None
                message = f"`{name}` is a dtype, and `{text}` is none"
                span = self.model.document.span(("types", name))
                context.found.append(Diagnostic("unknown-dtype", message, span, hint=hint))
        return left

    def _outputs(self, inputs: Mapping[str, Tensor]) -> dict[str, Value]:
        """Run the outermost part."""
        context, top = self.context, self.model.top
        steps = [(target, step) for step in top.outputs for target in step.targets]
        try:
            whole = Instance(context, Template(context, top, self.scope, {}), "")
            result = whole(*inputs.values())
        except Skipped:
            raise DiagnosticError(*context.found) from None
        except DiagnosticError as error:
            context.report(error)
            raise DiagnosticError(*context.found) from error
        outputs = {}
        for (name, step), value in zip(steps, _several(result, len(steps)), strict=True):
            if isinstance(value, Tensor):
                outputs[name] = value.value
                continue
            message = f"the output `{name}` must be a tensor, but this is {shown(value)}"
            several = isinstance(value, tuple) and len(steps) == 1
            hint = "name each of them: `left, right: ...`" if several else None
            context.found.append(Diagnostic("wrong-type", message, step.value.span(), hint=hint))
        if context.found:
            raise DiagnosticError(*context.found)
        return outputs

    # --- names ---

    def _part(self, scope: Scope, name: str) -> Part | None:
        if name in scope.define:
            return scope.define[name]
        if name not in self._modules:
            part = _module(name)
            if part is None:
                return None
            self._modules[name] = part
        return self._modules[name]

    def _template(self, scope: Scope, name: str) -> Template | Any:
        if name in LISTS:
            return LISTS[name]
        part = self._part(scope, name)
        if part is None:
            return BY_NAME.get(name)
        return Template(self.context, part, self.context.scope(part, scope))

    def _known(self, scope: Scope) -> frozenset[str]:
        """All names that a part or a step can use; only who asks for one that is not needs them."""
        modules = {_read_module(p).name for p in (registry() / "modules").glob("*.yaml")}
        functions = filter(str.islower, import_module(PACKAGE).__all__)  # the others are classes
        return frozenset({*scope.define, *modules, *LISTS, *functions})

    def _function(self, scope: Scope, name: str) -> Any:
        """What a step's name means where no part, input or size has it."""
        part = scope.define.get(name)
        if part is not None:
            return partial(self._run, scope, part)
        if name in LISTS:
            return LISTS[name]
        if name in SHAPE.functions:
            found = _operator(name)
            return None if found is None else _either(found, SHAPE.functions[name])
        found = _operator(name) or BY_NAME.get(name)
        module = None if found else _module(name)
        return found if module is None else partial(self._run, scope, module)

    def _run(self, scope: Scope, part: Part, /, *given: object, **named: object) -> object:
        """A definition used as a function: it can have no weights, since it has no path."""
        if part.parts or part.weights or part.state or part.parameters:
            what = "parts, weights, state or sizes"
            message = f"`{part.name}` has {what} of its own: name it under `parts:` first"
            raise DiagnosticError(Diagnostic("part-arguments", message, self.context.place()))
        template = Template(self.context, part, self.context.scope(part, scope), {})
        return Instance(self.context, template, part.name)(*given, **named)


def _dtypes(types: Mapping[str, str]) -> dict[str, dtype]:
    """The type variables of a file."""
    given = {DEFAULT_VARIABLE: "float32", **types}
    return {name: BY_NAME[text] for name, text in given.items()}


def _operator(name: str) -> Any:
    """The function of an operator; what else the package has is for programs, not for data."""
    package = import_module(PACKAGE)
    found = getattr(package, name, None) if name in package.__all__ else None
    is_declared = isinstance(found, FunctionType) and found.__module__.startswith(OPERATORS)
    return found if is_declared else None


def _either(function: Any, python: Any) -> Any:
    """A name is the operator when its first argument is a tensor, else Python's."""

    @wraps(function)
    def either(*given: Any, **named: Any) -> Any:
        return (function if given and isinstance(given[0], Tensor) else python)(*given, **named)

    return either


def _module(name: str) -> Part | None:
    """A module of the registry, by its name."""
    for stem in (name, name.lower()):
        path = registry() / "modules" / f"{stem}.yaml"
        if path.is_file():
            part = _read_module(path)
            return part if part.name == name else None
    return None


@cache
def _read_module(path: Path) -> Part:
    document, found = read(path)
    if document is None or found:
        raise DiagnosticError(*found)
    document = replace(document, path=f"ops_registry/modules/{path.name}")  # as operators are shown
    file, found = validate(document, ModuleFile)
    if file is None or found:
        raise DiagnosticError(*found)
    part, found = load_module(document, file)
    if found:
        raise DiagnosticError(*found)
    return part


def _several(result: object, count: int) -> Sequence[object]:
    return result if count != 1 and isinstance(result, tuple) else [result]


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

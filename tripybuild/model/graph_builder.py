"""Graph builder: definitions and modules become parts, steps record operations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from tripybuild.documents.document import Reader, read
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.errors.limits import first_problems, within_budget
from tripybuild.frontend import Tensor
from tripybuild.frontend.checks.messages import format_value
from tripybuild.language.vocabulary import ANY_NAME, Vocabulary
from tripybuild.model.chains import LISTS, Chain, Each, list_of_parts
from tripybuild.model.config import CONFIG, ConfigChoice, read_config
from tripybuild.model.context import (
    BuildContext,
    FileScope,
    Observer,
    SkipStep,
    observe_nothing,
)
from tripybuild.model.instances import Instance
from tripybuild.model.libraries import Homes, OperatorLibrary, builtin_library, no_libraries
from tripybuild.model.mesh import read_axes, split_graphs
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.model.modules import ModuleInstance, ModuleTemplate
from tripybuild.model.size_laws import check_size_laws
from tripybuild.model.size_values import nested_choices
from tripybuild.model.sizes import fix_sizes, make_inputs, make_symbols
from tripybuild.model.states import unchanged_states
from tripybuild.model.steps import Next
from tripybuild.model.templates import Template
from tripybuild.model.used_files import add_reach_hints, open_file, type_variables
from tripybuild.process.gc_pause import pause_gc
from tripybuild.schema.files import WeightsEntry
from tripybuild.schema.model.entry_points import entry_label
from tripybuild.schema.model.includes import load_model
from tripybuild.schema.model.model import Model
from tripybuild.schema.operator.part import Part
from tripybuild.trace.generated_code import BUILT_IN
from tripybuild.trace.graph import Graph, next_name
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.shapes import fresh_symbols
from tripybuild.types.size_range import SizeRange
from tripybuild.types.vocabulary import SHAPE

CONVERT = "weights.convert"  # what a caller may choose beside sizes and dtypes
METHODS = frozenset({"cast", "flatten", "permute", "reshape", "squeeze", "transpose", "unsqueeze"})


def build(
    path: Path,
    overrides: Mapping[str, object] | None = None,
    *,
    homes: Homes = no_libraries,
    config: ConfigChoice | None = None,
    reader: Reader = read,
    observe: Observer = observe_nothing,
) -> ModelGraph:
    """Build the graph of a model.

    Args:
        path: The model's file.
        overrides: Sizes and dtypes to put in the place of the file's own, and `weights.convert`.
        homes: Says where the operators and modules of other registries are.
        config: What to put in the place of the file's own configuration.
        reader: Gives the document of each file.
        observe: Is told what values are while the graph is built, also where that fails.

    Raises:
        DiagnosticError: With all that is wrong with the file.
    """
    chosen = dict(overrides or {})
    converts = chosen.pop(CONVERT, None)
    with within_budget() as budget:
        model, found = load_model(path, reader)
        if model is None:
            raise DiagnosticError(*first_problems(found))
    own = homes(model.registries)  # whose files have budgets of their own
    # One file gives one graph, whatever was built before.
    with within_budget(budget=budget), fresh_symbols(), pause_gc():
        try:
            built = _Builder(model, own, observe).build(chosen, config or ConfigChoice())
        except DiagnosticError as error:
            raise add_reach_hints(error, model.files, chosen) from error
    return built if converts is None else _with_conversion(built, converts)


def _with_conversion(built: ModelGraph, converts: object) -> ModelGraph:
    """The model with its weights converted, or not, whatever its file says."""
    if not isinstance(converts, bool):
        message = f"`{CONVERT}` is true or false, and not {format_value(converts)}"
        raise DiagnosticError(Diagnostic("wrong-value", message))
    entry = built.weights or WeightsEntry.model_construct(file=[])  # the caller names the files
    return replace(built, weights=entry.model_copy(update={"convert": converts}))


class _Builder:
    def __init__(self, model: Model, added: Sequence[OperatorLibrary], observe: Observer) -> None:
        self.model = model
        self.homes = (*added, builtin_library())
        import_module(f"{BUILT_IN}.tensor")  # its Tensor has the operators
        vocabulary = _vocabulary(lambda items: list_of_parts(self.context, items))
        self.context = BuildContext(model.document, type_variables(model.types), vocabulary)
        self.context.observe = observe
        self.context.outermost = frozenset({model.top, *model.entries.values()})
        self.context.templates = self._template
        self.context.functions = self._function
        self.context.known = self._known_names
        self.context.translate = self._translate

    def build(self, overrides: Mapping[str, object], config: ConfigChoice) -> ModelGraph:
        context, model = self.context, self.model
        overrides = self._chosen_types(nested_choices(overrides))
        self.scope = FileScope(context.sizes, context.types, model.define)
        context.open_scope(model.document, self.scope)
        found = read_config(model.document, model.config, config)
        if found is not None:
            context.sizes[CONFIG] = found.record
        fix_sizes(context, model, overrides)
        for file in model.files:
            open_file(context, file)
        ranges = {} if context.found else make_symbols(context, model, overrides)
        for key, found_sizes in (("sizes", context.sizes), ("ranges", ranges)):
            for name, each in found_sizes.items():
                context.observe(model.document, (key, name), each)
        context.results = [] if model.mesh else None
        axes = {} if context.found else read_axes(context, model)
        inputs: dict[str, dict[str, Tensor]] = {}
        if not context.found:
            inputs = {name: make_inputs(context, part) for name, part in model.entries.items()}
        if not context.found:
            check_size_laws(context, model.name, model.laws, {**context.types, **context.sizes})
        if context.found:
            raise context.failure()
        entries, mesh = split_graphs(context, model, axes, self._entries(inputs, ranges))
        sizes = {name: context.sizes[name] for name in model.sizes}
        used = {file.document.path: file.document for file in model.files}
        origin = None if found is None else found.origin
        about = model.doc, model.document, tuple(used.values()), model.weights, sizes
        computed = (context.prepared, context.origins.found)
        span = model.document.span((CONFIG,))
        outputs = {name for each in entries.values() for name in each.graph.outputs}
        warnings = (
            *(() if found is None else found.warnings(span)),
            *unchanged_states(context, outputs),
            *mesh,
        )
        return ModelGraph(model.name, entries, *about, origin, *computed, warnings)

    def _entries(
        self, inputs: Mapping[str, Mapping[str, Tensor]], ranges: Mapping[str, SizeRange]
    ) -> dict[str, EntryGraph]:
        """Run each entry over one outermost part; what is wrong with one does not hide another."""
        context, model = self.context, self.model
        try:
            whole = Instance(context, Template(context, model.top, self.scope, {}), "")
        except DiagnosticError as error:
            context.report(error)
            raise context.failure() from error
        laws, found = len(context.laws), dict[str, EntryGraph]()
        for name, part in model.entries.items():
            # What one entry updates and what its calls decide is not another one's.
            del context.laws[laws:]
            context.updates, context.recordings = {}, {}
            outputs = self._outputs(whole, name, part, inputs[name])
            if not context.found:
                found[name] = self._entry_graph(name, part, inputs[name], outputs, ranges)
        if context.found:
            raise context.failure()
        return found

    def _entry_graph(
        self,
        name: str,
        part: Part,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Value],
        ranges: Mapping[str, SizeRange],
    ) -> EntryGraph:
        context = self.context
        results = {**outputs, **{next_name(path): v for path, v in context.updates.items()}}
        values = {name: tensor.value for name, tensor in inputs.items()}
        laws = tuple(context.laws)
        label = entry_label(self.model.name, name)
        made = {
            path: context.states[path] for path in context.state_paths if path in context.states
        }
        graph = Graph(label, values | made, context.weights, results, laws)
        read = graph.read_values
        states = {path: value for path, value in made.items() if value in read}
        graph = replace(graph, inputs=values | states)
        touched = tuple(path for path in made if path in {*states, *context.updates})
        own = {name: each for name, each in ranges.items() if name in graph.symbols}
        first = {path: context.state_paths[path] for path in touched}
        numbers = {path: number for path, number in first.items() if number is not None}
        return EntryGraph(graph, touched, own, part.doc, numbers)

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

    def _outputs(
        self, whole: Instance, name: str, entry: Part, inputs: Mapping[str, Tensor]
    ) -> dict[str, Value]:
        """Run the outermost part as one entry; what is wrong is kept in the context."""
        context = self.context
        steps = [(target, step) for step in entry.outputs for target in step.targets]
        try:
            result = Instance.of_entry(whole, entry, name)(*inputs.values())
        except SkipStep:
            return {}
        except DiagnosticError as error:
            context.report(error)
            raise context.failure() from error
        outputs = {}
        for (target, step), value in zip(steps, _result_sequence(result, len(steps)), strict=True):
            if isinstance(value, Tensor):
                outputs[target] = value.value
                continue
            message = f"the output `{target}` must be a tensor, but this is {format_value(value)}"
            several = isinstance(value, tuple) and len(steps) == 1
            hint = "name each of them: `left, right: ...`" if several else None
            context.found.append(Diagnostic("wrong-type", message, step.value.span(), hint=hint))
        return outputs

    # --- names ---

    def _template(self, scope: FileScope, name: str) -> Any:
        if name in LISTS:
            return LISTS[name]
        if name in scope.define:
            part = scope.define[name]
            return Template(self.context, part, self.context.scope(part))
        if name in SHAPE.functions:
            return None
        if kind := self._module(name):
            return ModuleTemplate(self.context, kind, scope.types)
        return BY_NAME.get(name) or self._operator(name)

    def _known_names(self, scope: FileScope) -> frozenset[str]:
        """All names available to a part or step, computed for suggestions only."""
        names = (name for home in self.homes for name in home.names())
        return frozenset({*scope.define, *LISTS, *names})

    def _translate(self, name: str) -> str | None:
        """What another system's operator is called here."""
        return next(filter(None, (home.translate(name) for home in self.homes)), None)

    def _operator(self, name: str) -> Any:
        return next(filter(None, (home.operator(name) for home in self.homes)), None)

    def _module(self, name: str) -> Any:
        return next(filter(None, (home.module(name) for home in self.homes)), None)

    def _function(self, scope: FileScope, name: str) -> Any:
        """What a step's name means where no part, input or size has it."""
        part = scope.define.get(name)
        if part is not None:
            return _StepFunction(self._run, part)
        if name in LISTS:
            return LISTS[name]
        if name in SHAPE.functions:
            found = self._operator(name)
            return None if found is None else _dispatch(found, SHAPE.functions[name])
        found = self._operator(name) or BY_NAME.get(name)
        kind = None if found else self._module(name)
        return found if kind is None else _StepFunction(self._run_module, scope, kind)

    def _run(self, part: Part, /, *given: object, **named: object) -> object:
        """A definition used as a function: it can have no weights, since it has no path."""
        if part.parts or part.weights or part.prepared or part.state or part.parameters:
            raise self._unnamed_part_error(part.name)
        template = Template(self.context, part, self.context.scope(part), {})
        caller = self.context.part_path
        return Instance(self.context, template, part.name, caller)(*given, **named)

    def _run_module(
        self, scope: FileScope, kind: Any, /, *given: object, **named: object
    ) -> object:
        """A module used as a function."""
        template = ModuleTemplate(self.context, kind, scope.types)
        if template.holds_members:
            raise self._unnamed_part_error(template.name)
        context, module = self.context, template.make()
        return ModuleInstance(context, module, template.name, context.part_path)(*given, **named)

    def _unnamed_part_error(self, name: str) -> DiagnosticError:
        has = "has parts, weights, state or sizes of its own"
        message, hint = f"`{name}` {has}: name it under `parts:` first", None
        if self._operator(name):
            message = f"`{name}` is a definition, which hides the operator `{name}` and {has}"
            hint = (
                "to call the operator, rename the definition; to call that, name it under `parts:`"
            )
        place = self.context.current_span()
        return DiagnosticError(Diagnostic("part-arguments", message, place, hint=hint))


def _dispatch(function: Any, python: Any) -> Any:
    """A name is the operator when its first argument is a tensor, else the function.

    No function takes all of its arguments by name (see `codegen.snippets.kind_inference`, for what
    is generated).
    """

    @wraps(function)
    def either(*given: Any, **named: Any) -> Any:
        is_operator = isinstance(given[0], Tensor) if given else bool(named)
        return (function if is_operator else python)(*given, **named)

    return either


class _StepFunction(partial[object]):
    """A definition or a module, the last of what is bound, as a function of steps."""

    def __repr__(self) -> str:
        called = self.args[-1]
        return f"the function `{called.name if isinstance(called, Part) else called.__name__}`"


def _result_sequence(result: object, count: int) -> Sequence[object]:
    return result if count != 1 and isinstance(result, tuple) else [result]


def _vocabulary(call_list: Callable[[list[Any]], Chain]) -> Vocabulary:
    parts = (Instance, ModuleInstance)
    own = (Template, ModuleTemplate, *parts, Chain, Each, FunctionType, partial)
    return SHAPE | Vocabulary(
        callables=own,
        lists=call_list,
        methods=((Tensor, METHODS), *((each, ANY_NAME) for each in parts)),
        attributes=(
            (Tensor, frozenset({"shape", "dtype", "rank"})),
            *((each, ANY_NAME) for each in parts),
            (Next, ANY_NAME),
        ),
    )

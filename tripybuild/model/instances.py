"""Part instances: templates with weights, whose steps are run.

The path of an instance is the name of its weights. A member that cannot be made is reported, and
steps that read it are passed over: one run finds all that is wrong.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import ClassVar

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.frontend import Tensor
from tripybuild.model import replay
from tripybuild.model.chains import Chain
from tripybuild.model.constants import compute_constant
from tripybuild.model.context import BuildContext, NonterminationError, SkipStep
from tripybuild.model.modules import ModuleInstance, ModuleTemplate
from tripybuild.model.prepared import prepare_weight
from tripybuild.model.shape_match import (
    bind_sizes,
    check_input,
    pattern_dimensions,
    pattern_sizes,
    shadowed_sizes,
)
from tripybuild.model.states import (
    check_next,
    declared_type,
    first_number,
    state_of_call,
    waits_for_call,
)
from tripybuild.model.steps import Next, run_steps
from tripybuild.model.templates import Template, identity_items, join_names, refuse_types
from tripybuild.model.weight_origins import WeightOrigin
from tripybuild.schema.operator.operator import Location, Snippet
from tripybuild.schema.operator.part import Part, State, Step, Weight
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import TensorType, Value, in_region
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import TensorPattern


def instantiate(context: BuildContext, value: object, path: str) -> object:
    """What steps use for a part's value: an instance, a chain, an operator, or None."""
    if isinstance(value, Template):
        whole = value if value.sizes is not None else value()
        with context.enter_part(context.making, value.part, "contains"):
            return Instance(context, whole, path)
    if isinstance(value, ModuleTemplate):
        return ModuleInstance(context, context.memoize(value, value.make), path)
    if isinstance(value, (list, tuple)):
        items = [instantiate(context, item, f"{path}.{i}") for i, item in enumerate(value)]
        return Chain(context, path, items)
    if value is None or isinstance(value, FunctionType):
        return value
    message = f"a part is made of parts, but this is {value!r}"
    raise DiagnosticError(Diagnostic("wrong-type", message, context.current_span()))


class Instance:
    """A part with a path: its children, its weights, and what its steps do when it is called."""

    NOUN: ClassVar = "a part"  # in messages of snippets

    def __init__(
        self, context: BuildContext, template: Template, path: str, caller: str | None = None
    ) -> None:
        part, scope, sizes = template.part, template.scope, template.sizes or {}
        self._context, self._part, self._path = context, part, path
        self._label = path  # of its steps
        self._home = path if caller is None else caller  # the part that its operations are of
        own = {name: BY_NAME[t] for name, t in part.types.items() if t in BY_NAME}
        for parameter in part.parameters:
            chosen = sizes.get(parameter.name)
            if parameter.variable is not None and isinstance(chosen, dtype):
                own[parameter.variable] = chosen
        self._scope = replace(scope, types={**scope.types, **own})
        self._types = self._scope.types
        self._own = (*identity_items(sizes), *identity_items(self._types))
        spend("members", len(part.weights) + len(part.prepared) + len(part.state))
        shared = ("sizes", id(part), *self._own)  # a file may have many sizes
        self._sizes = context.memoize(shared, lambda: {**scope.sizes, **sizes})
        for name, size in sizes.items():
            context.observe(part.document, (*part.location, "sizes", name), size)
        self._members: dict[str, object] = {}
        self._lost: set[str] = set()
        for name, snippet in part.parts.items():
            self._make_part(name, snippet)
        for name, weight in part.weights.items():
            with self._collect_errors(None, name):
                self._members[name] = self._weight(weight)
        self._waiting: list[State] = []  # whose sizes are those of arguments
        for name, state in part.state.items():
            with self._collect_errors(None, name):
                self._declare_state(state)
        self._hidden = shadowed_sizes(context, part) - set(sizes)
        if part.constants:
            self._members |= self._constants(self._names())
        for step in part.prepared:
            self._prepare(step)

    @classmethod
    def of_entry(cls, whole: "Instance", entry: Part, label: str) -> "Instance":
        """The outermost part with the inputs and the steps of one of a model's entries."""
        made = cls.__new__(cls)
        made.__dict__.update(vars(whole), _part=entry, _label=label)
        return made

    def _names(self) -> dict[str, object]:
        """What steps see beside their inputs, in a dictionary of its own."""
        spend("bindings", len(self._sizes) + len(self._members))
        names = {**self._sizes, **self._types, **self._members}
        for name in self._hidden - self._types.keys() - self._members.keys():
            names.pop(name, None)
        return names

    def _make_part(self, name: str, snippet: Snippet) -> None:
        """Make the part of a name, with all that is below it."""
        context, child = self._context, self._child_path(name)
        with self._collect_errors(snippet, name):
            value = context.memoize((id(snippet), self._own), partial(self._part_value, snippet))
            context.members[child] = snippet
            context.observe(snippet.document, snippet.location, child)
            self._members[name] = instantiate(context, value, child)
        origin = WeightOrigin(snippet.span, [snippet.program], self._sizes, self._types)
        context.origins.place(origin)

    def _part_value(self, snippet: Snippet) -> object:
        """What a part's expression stands for: a template, a list of them, or None."""
        return self._context.evaluate(
            snippet, self._context.instantiation_names(self._scope, self._sizes)
        )

    def _child_path(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    @contextmanager
    def _collect_errors(self, snippet: Snippet | None, name: str) -> Iterator[None]:
        """Make a member; what is wrong is kept, and steps that read the member are passed over."""
        context = self._context
        try:
            with nullcontext() if snippet is None else context.at(snippet, self._child_path(name)):
                yield
        except NonterminationError:
            raise
        except SkipStep:
            self._lost.add(name)
        except DiagnosticError as error:
            context.report(error)
            self._lost.add(name)

    def _weight(self, weight: Weight) -> Tensor | None:
        context = self._context
        if weight.when is not None and not context.evaluate(weight.when, self._sizes):
            return None
        value = self._value(weight.name, weight.pattern, weight.location, weight=True)
        if any(isinstance(size, Dim) for size in value.shape):
            message = f"the weight `{weight.name}` would be {value.type}, whose size a call tells"
            hint = "a weight has fixed sizes"
            place = self._part.document.span(weight.location)
            raise DiagnosticError(Diagnostic("undecided-size", message, place, hint=hint))
        path = self._child_path(weight.name)
        context.weights[path] = value
        context.observe(self._part.document, weight.location, value)
        context.origins.add(path)
        line = partial(self._part.document.span, weight.location)
        reads = [each.expression for each in pattern_dimensions(weight.pattern)]
        context.origins.place(WeightOrigin(line, reads, self._sizes, self._types))
        return Tensor.of(value)

    def _declare_state(self, state: State) -> None:
        """Make a state, or leave it to the first call."""
        context, path = self._context, self._child_path(state.name)
        assert isinstance(state.pattern, TensorPattern)
        element = self._dtype(state.pattern.element)
        context.state_lines[path] = partial(self._part.document.span, state.location)
        context.state_paths[path] = first_number(context, state, self._sizes, element)
        if waits_for_call(context, self._part, state, self._sizes):
            self._waiting.append(state)
        else:
            self._members[state.name] = self._state(state, self._sizes)

    def _state(self, state: State, names: Mapping[str, object]) -> Tensor:
        context, part = self._context, self._part
        type = declared_type(context, part, state, names, self._types)
        context.observe(part.document, state.location, type)
        return Tensor.of(state_of_call(context, part, state, self._child_path(state.name), type))

    def _constants(self, names: Mapping[str, object]) -> dict[str, object]:
        """Constants are computed once for all parts of one definition and the same sizes."""
        context, found = self._context, dict[str, object]()
        for step in self._part.constants:
            if step.reads & self._lost:
                self._lost.add(step.name)
                continue
            with self._collect_errors(step.value, step.name):
                known = context.step_names(self._scope, {**names, **found})
                make = partial(compute_constant, context, self._part, step, known)
                value = context.memoize((id(step), self._own), make)
                found[step.name] = Tensor.of(value)
                context.observe(step.value.document, step.value.location, value)
        return found

    def _prepare(self, step: Step) -> None:
        """Make a weight that is computed from those of the part and of the parts below."""
        if step.reads & self._lost:
            self._lost.add(step.name)
            return
        with self._collect_errors(step.value, step.name):
            known = self._context.step_names(self._scope, self._names())
            path = self._child_path(step.name)
            value = prepare_weight(self._context, self._part, step, known, path)
            self._members[step.name] = value
            self._context.observe(step.value.document, step.value.location, value)

    def _value(
        self, name: str, pattern: object, location: Location, *, weight: bool = False
    ) -> Value:
        assert isinstance(pattern, TensorPattern)
        context, document = self._context, self._part.document

        def declared_type() -> TensorType:
            shape = pattern_sizes(context, pattern, self._sizes, document.span(location))
            return TensorType(self._dtype(pattern.element), shape)

        type = context.memoize((id(pattern), self._own), declared_type)
        return Value(type, name=self._child_path(name), weight=weight)

    def __repr__(self) -> str:
        return f"the part `{self._path}`"

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or name not in self._members:
            near = suggest(name, self._members)
            meant = f"; did you mean `{near}`?" if near else ""
            if name in self._part.state:
                meant = f"; its state `{name}` is there once the part is called"
            raise AttributeError(f"`{self._part.name}` has no part and no weight `{name}`{meant}")
        return self._members[name]

    def __call__(self, /, *given: object, **named: object) -> object:
        """Run the steps: one output is its value, several are a tuple."""
        part, context = self._part, self._context
        names = list(part.inputs)
        inputs = dict(zip(names, given, strict=False)) | named
        refuse_types(context, part, names, named)
        left_out = set(names) - set(inputs)
        twice = len(inputs) != len(given) + len(named)
        if twice or not set(inputs) <= set(names) or not left_out <= part.optional:
            found = f"got {len(given) + len(named)} inputs"
            message = f"`{part.name}` takes {join_names(names, 'no inputs')}, but {found}"
            raise DiagnosticError(Diagnostic("part-arguments", message, context.current_span()))
        inputs = {name: inputs.get(name) for name in names}  # a call can name them in any order
        values = [tensor.value for tensor in inputs.values() if isinstance(tensor, Tensor)]
        alike = len(values) == len(names) and replay.is_replayable(context, self._path, values)
        known = replay.replay_key(part, self._own, values) if alike else None
        first = context.recordings.get(known)
        if first is not None:
            again = replay.replay_run(context, first, (self._path, self._home), values)
            return context.observe_call(self._path, _tensors(again))
        problems, states = len(context.found), len(context.updates)
        begin = len(context.results or ())
        result = self._run(inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        quiet = len(context.found) == problems and len(context.updates) == states
        if known is not None and quiet and all(isinstance(item, Tensor) for item in outputs):
            given_back = [tensor.value for tensor in outputs]
            paths = self._path, self._home
            context.recordings[known] = replay.record_run(context, paths, values, given_back, begin)
        return context.observe_call(self._path, result)

    def _run(self, inputs: Mapping[str, object]) -> object:
        part, context = self._part, self._context
        local = self._names()
        for name, pattern in part.inputs.items():
            value = inputs[name]
            if isinstance(value, Tensor) and isinstance(pattern, TensorPattern):
                bind_sizes(pattern, value.shape, local)
        for name in part.inputs:
            if inputs[name] is not None or name not in part.optional:
                check_input(context, part, name, inputs[name], local, self._types)
        for state in self._waiting:
            self._members[state.name] = local[state.name] = self._state(state, local)
        local |= inputs
        for name, value in inputs.items():
            context.observe(part.document, (*part.location, "inputs", name), value)
        with context.enter_part(context.running, part, "calls"), context.run_part(self._home):
            missing = run_steps(context, self._scope, part.steps, local, self._label, self._lost)
            missing |= self._update(local, missing)
            missing |= run_steps(context, self._scope, part.outputs, local, self._label, missing)
        results = [local.get(target) for step in part.outputs for target in step.targets]
        if missing & {target for step in part.outputs for target in step.targets}:
            raise SkipStep
        return results[0] if len(results) == 1 else tuple(results)

    def _update(self, local: dict[str, object], missing: set[str]) -> set[str]:
        """Run `next:`; the outputs may read what the state will be."""
        part, context = self._part, self._context
        if not part.next:
            return set()
        if any(self._child_path(name) in context.updates for name in part.state):
            message = f"`{part.name}` has state, so it can be called once"
            raise DiagnosticError(Diagnostic("part-arguments", message, context.current_span()))
        if in_region():
            message = f"`{part.name}` has state, so it cannot run in a branch or in a loop"
            hint = "let the branch or loop return the new state"
            raise DiagnosticError(
                Diagnostic("part-arguments", message, context.current_span(), hint=hint)
            )
        values = dict(local)
        lost = run_steps(context, self._scope, part.next, values, self._label, missing)
        updates = {step.name: values[step.name] for step in part.next if step.name not in lost}
        local["next"] = Next(updates)
        for step in part.next:
            if step.name in updates:
                with self._collect_errors(step.value, step.name):
                    self._store(step.name, updates[step.name])
        return {"next"} if lost else set()

    def _store(self, name: str, value: object) -> None:
        """Keep what a state will be."""
        path = self._child_path(name)
        check_next(self._context, self._part, name, value, self._context.states[path])
        self._context.updates[path] = value.value  # type: ignore[attr-defined]

    def _dtype(self, name: str) -> dtype:
        return self._types[name] if name in self._types else BY_NAME[name]


def _tensors(values: Sequence[Value]) -> object:
    tensors = tuple(map(Tensor.of, values))
    return tensors[0] if len(tensors) == 1 else tensors

"""Parts at work: templates are made into instances with weights of their own, and instances run
their steps.

The path of an instance is the name of its weights. A step that fails is reported, what it should
have
given is missing from then on, and steps that need it are passed over: one run finds all that is
wrong.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.build import replay
from tripybuild.build.context import Context, Skipped
from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.schema.model import Part, Step
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import TensorPattern, TensorsPattern


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A definition, or a module, with the sizes that it will be made with."""

    context: Context
    part: Part
    sizes: Mapping[str, object] | None = None

    def __call__(self, *given: object, **named: object) -> "Template":
        """`Linear(width, 3 * width, bias=False)`: bind the sizes."""
        parameters = self.part.parameters
        names = [parameter.name for parameter in parameters]
        sizes = dict(zip(names, given, strict=False)) | named
        if len(given) > len(names) or set(sizes) - set(names):
            extra = sorted(set(sizes) - set(names)) or [f"{len(given)} values"]
            raise self._misused(
                f"`{self.part.name}` takes {_listed(names)}, but was given {', '.join(extra)}"
            )
        for parameter in parameters:
            if parameter.name not in sizes:
                if parameter.default is None:
                    raise self._misused(f"`{self.part.name}` needs `{parameter.name}`")
                sizes[parameter.name] = self.context.evaluate(
                    parameter.default, {**self.context.sizes, **sizes}
                )
        return Template(self.context, self.part, sizes)

    def __mul__(self, count: object) -> "list[Template]":
        """`block * depth`: a chain of parts, each with weights of its own."""
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= 10_000:
            raise self._misused(
                f"`{self.part.name}` can be repeated 0 to 10000 times, not {count!r} times"
            )
        return [self] * count

    __rmul__ = __mul__

    def made(self, path: str) -> "Instance":
        """An instance with weights below a path."""
        template = self if self.sizes is not None else self()
        if len(self.context.making) >= self.context.DEEPEST:
            way = " -> ".join(part.name for part in self.context.making[-4:])
            raise self._misused(
                f"`{self.part.name}` contains itself: {way} -> ...", code="cyclic-parts"
            )
        self.context.making.append(self.part)
        try:
            return Instance(self.context, self.part, template.sizes or {}, path)
        finally:
            self.context.making.pop()

    def _misused(self, message: str, code: str = "part-arguments") -> DiagnosticError:
        return DiagnosticError(Diagnostic(code, message, self.context.place()))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) if names else "no sizes"


def instantiate(context: Context, value: object, path: str) -> object:
    """Make a part expression's value into what steps can use: an instance, a chain of them, or None."""
    if isinstance(value, Template):
        return value.made(path)
    if isinstance(value, (list, tuple)):
        return Chain([instantiate(context, item, f"{path}.{i}") for i, item in enumerate(value)])
    if value is None:
        return None
    message = f"a part is made of parts, but this is {value!r}"
    raise DiagnosticError(Diagnostic("wrong-type", message, context.place()))


class Each:
    """`each(xs)`: one item for each part of a chain."""

    def __init__(self, items: Sequence[object]) -> None:
        self.items = items


def chunks(items: Sequence[object], size: int) -> list[list[object]]:
    """`chunks(stack, 3)`: the items in groups of a size; the last may be smaller."""
    return [list(items[begin : begin + size]) for begin in range(0, len(items), size)]


class Next:
    """`next.keys`: what a part's state will be."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def __getattr__(self, name: str) -> object:
        if name not in self._values:
            raise AttributeError(f"there is no next `{name}`")
        return self._values[name]


class Chain:
    """A list of parts; calling it is a scan.

    The first output is threaded through, further outputs are collected, further inputs are shared,
    and
    `each(xs)` deals one item to each part. No parts give back what came in.
    """

    def __init__(self, parts: Sequence[object]) -> None:
        self.parts = parts

    def __getitem__(self, index: int) -> object:
        return self.parts[index]

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Any:
        return iter(self.parts)

    def __call__(self, first: object, *shared: object) -> object:
        collected: list[list[object]] = []
        for index, part in enumerate(self.parts):
            given = [item.items[index] if isinstance(item, Each) else item for item in shared]
            result = part(first, *given)  # type: ignore[operator]
            first, *rest = result if isinstance(result, tuple) else (result,)
            collected = collected or [[] for _ in rest]
            for column, item in zip(collected, rest, strict=True):
                column.append(item)
        return (first, *collected) if collected else first


class Instance:
    """A part with a path: its children, its weights, and what its steps do when it is called."""

    def __init__(
        self, context: Context, part: Part, sizes: Mapping[str, object], path: str
    ) -> None:
        self._context, self._part, self._path = context, part, path
        self._types = context.types | {
            name: BY_NAME[t] for name, t in part.types.items() if t in BY_NAME
        }
        self._sizes = {**context.sizes, **sizes}
        self._own = sizes
        below = f"{path}." if path else ""
        self._members: dict[str, object] = {}
        for name, snippet in part.parts.items():
            with context.at(snippet, f"{below}{name}"):
                value = context.evaluate(snippet, context.making_names(self._sizes))
                self._members[name] = instantiate(context, value, f"{below}{name}")
        for name, weight in part.weights.items():
            if weight.when is not None and not context.evaluate(weight.when, self._sizes):
                self._members[name] = None
                continue
            assert isinstance(weight.pattern, TensorPattern)
            span = part.document.span(weight.location)
            shape = context.shape(weight.pattern, self._sizes, span)
            type = TensorType(self._dtype(weight.pattern.element), shape)
            value = Value(type, name=f"{below}{name}")
            context.weights[f"{below}{name}"] = value
            self._members[name] = Tensor.of(value)

        for name, pattern in part.state.items():
            assert isinstance(pattern, TensorPattern)
            shape = context.shape(
                pattern, self._sizes, part.document.span((*part.location, "state", name))
            )
            state = Value(TensorType(self._dtype(pattern.element), shape), name=f"{below}{name}")
            context.states[f"{below}{name}"] = state
            self._members[name] = Tensor.of(state)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or name not in self._members:
            raise AttributeError(f"`{self._part.name}` has no part and no weight `{name}`")
        return self._members[name]

    def __call__(self, *given: object, **named: object) -> object:
        """Run the steps: one output is its value, several are a tuple."""
        part, context = self._part, self._context
        names = list(part.inputs)
        inputs = dict(zip(names, given, strict=False)) | named
        if len(given) > len(names) or set(inputs) != set(names):
            message = f"`{part.name}` takes {_listed(names)}, but was given {len(given) + len(named)} inputs"
            raise DiagnosticError(Diagnostic("part-arguments", message, context.place()))
        values = [tensor.value for tensor in inputs.values() if isinstance(tensor, Tensor)]
        known = replay.key(part, self._own, values) if len(values) == len(names) else None
        first = context.recordings.get(known)
        if first is not None:
            return _tensors(replay.replayed(context, first, self._path, values))
        found, states = len(context.found), len(context.updates)
        result = self._run(inputs)
        outputs = result if isinstance(result, tuple) else (result,)
        quiet = len(context.found) == found and len(context.updates) == states
        if known is not None and quiet and all(isinstance(item, Tensor) for item in outputs):
            given_back = [tensor.value for tensor in outputs]
            context.recordings[known] = replay.recording(context, self._path, values, given_back)
        return result

    def _run(self, inputs: Mapping[str, object]) -> object:
        part, context = self._part, self._context
        local: dict[str, object] = {**self._sizes, **self._types, **self._members}
        for name, pattern in part.inputs.items():
            self._bind(name, pattern, inputs[name], local)
        local |= inputs
        context.enter(part)
        try:
            missing = run_steps(context, part.steps, local, self._path)
            missing |= self._update(local, missing)
            missing |= run_steps(context, part.outputs, local, self._path, missing)
        finally:
            context.leave()
        results = [local.get(target) for step in part.outputs for target in step.targets]
        if missing & {target for step in part.outputs for target in step.targets}:
            raise Skipped
        return results[0] if len(results) == 1 else tuple(results)

    def _update(self, local: dict[str, object], missing: set[str]) -> set[str]:
        """Run `next:`; the outputs may read what the state will be."""
        part, context = self._part, self._context
        if not part.next:
            return set()
        values = dict(local)
        lost = run_steps(context, part.next, values, self._path, missing)
        updates = {
            name: values[name] for step in part.next for name in step.targets if name not in lost
        }
        local["next"] = Next(updates)
        below = f"{self._path}." if self._path else ""
        for name, value in updates.items():
            if isinstance(value, Tensor):
                context.updates[f"{below}{name}"] = value.value
        return {"next"} if lost else set()

    def _bind(self, name: str, pattern: object, value: object, local: dict[str, object]) -> None:
        """Check an input against its type; names that nothing has bound take the sizes that they find."""
        if isinstance(pattern, TensorsPattern):
            for item in value if isinstance(value, (list, tuple)) else [value]:
                self._bind(name, pattern.each, item, dict(local))
            return
        assert isinstance(pattern, TensorPattern)
        context = self._context
        if not isinstance(value, Tensor):
            message = f"`{name}` of `{self._part.name}` must be a tensor, but this is {value!r}"
            raise DiagnosticError(Diagnostic("wrong-type", message, context.place()))
        element = value.dtype if pattern.element == "any" else self._dtype(pattern.element)
        fits = value.dtype is element
        if not fits or not context.fits(pattern, value.shape, local):
            wanted = context.described(pattern, local, element)
            where = self._part.document.span((*self._part.location, "inputs", name))
            raise DiagnosticError(
                Diagnostic(
                    "shape-mismatch" if fits else "dtype-mismatch",
                    f"`{name}` of `{self._part.name}` must be `{pattern}`, which is {wanted}",
                    context.place(),
                    label=f"gives {value.type}",
                    notes=(f"required by {where}",),
                )
            )

    def _dtype(self, name: str) -> dtype:
        return self._types[name] if name in self._types else BY_NAME[name]


def _tensors(values: Sequence[Value]) -> object:
    tensors = tuple(map(Tensor.of, values))
    return tensors[0] if len(tensors) == 1 else tensors


def run_steps(
    context: Context,
    steps: Sequence[Step],
    local: dict[str, object],
    path: str,
    lost: set[str] | None = None,
) -> set[str]:
    """Run steps in order, each under its own place.

    Returns:
        The names that could not be given; `lost` are those from before.
    """
    missing = set(lost or ())
    names = context.step_names(local)
    for step in steps:
        if step.reads & missing:
            missing.update(step.targets)
            continue
        label = f"{path}.{step.name}" if path else step.name
        try:
            with context.at(step.value, label):
                value = context.evaluate(step.value, names)
                bound = _unpacked(context, step, value)
        except Skipped:
            missing.update(step.targets)
        except DiagnosticError as error:
            context.report(error)
            missing.update(step.targets)
        else:
            names.update(bound)
            local.update(bound)
    return missing


def _unpacked(context: Context, step: Step, value: object) -> dict[str, object]:
    if len(step.targets) == 1:
        return {step.targets[0]: value}
    items = list(value) if isinstance(value, (tuple, list)) else [value]
    if len(items) != len(step.targets):
        message = f"`{step.name}` names {len(step.targets)} values, but the step gives {len(items)}"
        raise DiagnosticError(Diagnostic("step-count", message, context.place()))
    return dict(zip(step.targets, items, strict=True))

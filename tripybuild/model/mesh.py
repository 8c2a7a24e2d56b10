"""Mesh of a model: its axes are evaluated, and its shardings are laid on the tensors of graphs.

A mesh is the outermost model's: what `use:` takes of another file is split as this file says. One
of a single device is none, so that `--set` can make of any model one that every target takes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from math import prod

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.model.context import BuildContext, NonterminationError
from tripybuild.model.model_graph import EntryGraph
from tripybuild.schema.model.model import Model
from tripybuild.symbolic.dims import Dim, same
from tripybuild.trace.graph import Graph
from tripybuild.trace.mesh import Axes, Mesh, ResultPlace, result_places
from tripybuild.trace.operation import DeferredLaw, Law
from tripybuild.trace.values import Size, Value

BAD_MESH, BAD_SHARDING, UNUSED = "bad-mesh", "bad-sharding", "unused-axis"
MOST_DEVICES = 1 << 31  # what they are counted in, wherever they are
ANY_PART = "*"


def read_axes(context: BuildContext, model: Model) -> dict[str, int]:
    """The size of each axis; what is wrong with one is kept in the context."""
    axes: dict[str, int] = {}
    for name, snippet in model.mesh.items():
        try:
            with context.at(snippet, name):
                size = context.evaluate(snippet, context.sizes)
                axes[name] = _axis_size(name, size, snippet.span())
                context.observe(model.document, snippet.location, size)
        except NonterminationError:
            raise
        except DiagnosticError as error:
            context.report(error)
    devices = prod(axes.values())
    if devices >= MOST_DEVICES:
        message = f"the mesh has {devices} devices, and none has more than {MOST_DEVICES - 1}"
        span = model.document.span(("mesh",))
        hint = "the devices of a mesh are the product of its axes"
        context.found.append(Diagnostic(BAD_MESH, message, span, hint=hint))
    if model.sharding and not model.mesh:
        message = "`sharding:` splits tensors over the axes of a mesh, and there is none"
        span = model.document.span(("sharding",), key=True)
        hint = "declare one: `mesh: {data: 2}`"
        context.found.append(Diagnostic(BAD_SHARDING, message, span, hint=hint))
    return axes


def _axis_size(name: str, size: object, span: Span) -> int:
    if isinstance(size, Dim):
        message = f"the axis `{name}` must have a fixed size, and a call tells `{size}`"
        hint = "take a number, or one of `sizes:`; a call has as many devices as all others"
        raise DiagnosticError(Diagnostic(BAD_MESH, message, span, hint=hint))
    if type(size) is not int or size < 1:
        message = f"the axis `{name}` must have a size of 1 or more, but has {size!r}"
        raise DiagnosticError(
            Diagnostic(BAD_MESH, message, span, hint="an axis of size 1 splits nothing")
        )
    return size


def split_graphs(
    context: BuildContext, model: Model, axes: Mapping[str, int], entries: Mapping[str, EntryGraph]
) -> tuple[dict[str, EntryGraph], list[Diagnostic]]:
    """The graphs of entries with the mesh, and what each call decides; and warnings.

    Raises:
        DiagnosticError: A sharding does not fit the model.
    """
    if not axes:
        return dict(entries), []
    found: list[Diagnostic] = []
    declared = [*_read_shardings(model, axes, found)]
    places = {name: result_places(each.graph.operations) for name, each in entries.items()}
    tensors = {n: _tensors(context, e.graph, places[n]) for n, e in entries.items()}
    whole = _Layout(context, model, axes, found)
    for each in declared:
        whole.check_known(each, [*tensors.values()])
    made = {}
    for name, entry in entries.items():
        shardings, laws = whole.lay(declared, tensors[name])
        border = _named(entry.graph)
        steps = {
            places[name][value]: shardings[each]
            for each in shardings
            for value in (() if each in border else tensors[name][each])
        }
        mesh = Mesh(axes, {n: each for n, each in shardings.items() if n in border}, steps)
        graph = replace(entry.graph, mesh=mesh, laws=(*entry.graph.laws, *laws))
        made[name] = replace(entry, graph=graph)
    if found:
        raise DiagnosticError(*dict.fromkeys(found))
    if prod(axes.values()) == 1:
        return dict(entries), []
    return made, [*_unused_axes(model, axes, declared)]


@dataclass(frozen=True, slots=True)
class _Sharding:
    """What `sharding:` says of a path."""

    path: str
    axes: Axes
    parts: list[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", self.path.split("."))

    def matches(self, name: str) -> bool:
        """Whether it is of this tensor."""
        if ANY_PART not in self.parts:
            return name == self.path
        parts = name.split(".")
        return len(parts) == len(self.parts) and all(
            wanted in (ANY_PART, part) for wanted, part in zip(self.parts, parts, strict=True)
        )


def _read_shardings(
    model: Model, axes: Mapping[str, int], found: list[Diagnostic]
) -> Iterator[_Sharding]:
    """What `sharding:` says; an axis that is unknown, or there twice, is reported."""
    for path, said in model.sharding.items():
        seen: set[str] = set()
        listed = [(each,) if isinstance(each, str) else tuple(each or ()) for each in said]
        for at, names in enumerate(listed):
            for name in names:
                span = model.document.span(("sharding", path, at))
                if name not in axes:
                    near = suggest(name, axes)
                    known = ", ".join(f"`{each}`" for each in axes)
                    hint = f"did you mean `{near}`?" if near else f"the mesh has {known}"
                    message = f"the mesh has no axis `{name}`"
                    found.append(Diagnostic(BAD_SHARDING, message, span, hint=hint))
                elif name in seen:
                    message = f"`{path}` is split over the axis `{name}` twice"
                    hint = "each axis splits one dimension of a tensor; `null` leaves one whole"
                    found.append(Diagnostic(BAD_SHARDING, message, span, hint=hint))
                seen.add(name)
        known_axes = tuple(tuple(name for name in names if name in axes) for names in listed)
        yield _Sharding(path, known_axes)


def _named(graph: Graph) -> dict[str, Value]:
    """What a graph takes and gives."""
    return {**graph.weights, **graph.inputs, **graph.outputs}


def _tensors(
    context: BuildContext, graph: Graph, places: Mapping[Value, ResultPlace]
) -> dict[str, list[Value]]:
    """What can be split of a graph, by name; a part that is called twice gives two."""
    found: dict[str, dict[Value, None]] = {}
    for name, value in context.results or ():
        if value in places:  # it is needed, and no other name of an input or a weight
            found.setdefault(name, {})[value] = None
    steps = {name: list(values) for name, values in found.items()}
    return steps | {name: [value] for name, value in _named(graph).items()}


class _Layout:
    """Lays shardings on tensors, and reports what does not fit."""

    def __init__(
        self,
        context: BuildContext,
        model: Model,
        axes: Mapping[str, int],
        found: list[Diagnostic],
    ) -> None:
        self.context, self.model, self.axes, self.found = context, model, axes, found

    def span(self, sharding: _Sharding, *at: int) -> Span:
        return self.model.document.span(("sharding", sharding.path, *at))

    def check_known(
        self, sharding: _Sharding, entries: Sequence[Mapping[str, Sequence[Value]]]
    ) -> None:
        """Report a path that no tensor has: what is not found would be whole without a word."""
        spend("comparisons", sum(map(len, entries)))
        names = {name for each in entries for name in each}
        if any(map(sharding.matches, names)):
            return
        message = f"no input, state, weight, step, part or output is called `{sharding.path}`"
        near = suggest(sharding.path, names)
        hint = f"did you mean `{near}`?" if near else self._hint(sharding, names)
        span = self.model.document.span(("sharding", sharding.path), key=True)
        self.found.append(Diagnostic(BAD_SHARDING, message, span, hint=hint))

    def _hint(self, sharding: _Sharding, names: set[str]) -> str:
        """What a part has that can be split, where the path begins as one does."""
        parent = sharding.path.rpartition(".")[0]
        last = sharding.parts[-1]
        for name in sorted(names):
            if last == name.rpartition(".")[2]:
                return f"a path is whole: `{name}`; `*` stands for one part of it"
        if "**" in sharding.path:
            return "`*` stands for one part of a path, and nothing stands for several"
        if parent and (below := sorted(n for n in names if n.startswith(f"{parent}."))):
            return f"there is `{below[0]}`; loops and branches have no tensors with names"
        return "weights are named by path, as `inspect` lists them; `*` stands for one part of it"

    def lay(
        self, declared: Sequence[_Sharding], tensors: Mapping[str, Sequence[Value]]
    ) -> tuple[dict[str, Axes], list[DeferredLaw]]:
        """The axes of each tensor by name, and what each call decides."""
        shardings: dict[str, Axes] = {}
        known: dict[Value, Axes] = {}
        laws: dict[str, DeferredLaw] = {}  # each size is asked once
        for each in declared:
            spend("comparisons", len(tensors))
            for name in filter(each.matches, tensors):
                if any(known.setdefault(v, each.axes) != each.axes for v in tensors[name]):
                    message = f"`{name}` is split twice, and otherwise than here"
                    hint = (
                        "a tensor has one entry of `sharding:`, and what a part gives is its output"
                    )
                    span = self.model.document.span(("sharding", each.path), key=True)
                    self.found.append(Diagnostic(BAD_SHARDING, message, span, hint=hint))
                shardings[name] = each.axes
                for value in tensors[name]:
                    for law in self._laws(each, name, value):
                        laws.setdefault(str(law.names), law)
        return shardings, [*laws.values()]

    def _laws(self, sharding: _Sharding, name: str, value: Value) -> Iterator[DeferredLaw]:
        """Compare a tensor with its sharding; what its sizes leave open, each call decides."""
        if len(sharding.axes) > len(value.shape):
            message = f"`{name}` is {value.type}, and `sharding:` says {len(sharding.axes)}"
            hint = f"say what happens to at most {len(value.shape)} dimensions"
            found = Diagnostic(
                BAD_SHARDING, f"{message} dimensions", self.span(sharding), hint=hint
            )
            self.found.append(found)
            return
        for at, (axes, size) in enumerate(zip_longest(sharding.axes, value.shape, fillvalue=())):
            pieces = prod(self.axes[axis] for axis in axes or ())
            if not isinstance(size, int | Dim) or same(size % pieces, 0):
                continue
            law = self._law(sharding, (name, at), size, pieces)
            if isinstance(size, Dim) and law.symbols <= self.context.symbols:
                yield law
                continue
            over = ", ".join(f"{axis}: {self.axes[axis]}" for axis in axes)
            message = f"`{name}` is {value.type}, and `{over}` does not divide its dimension {at}"
            hint = f"split another dimension, or choose an axis whose size divides {size}"
            found = Diagnostic(
                BAD_SHARDING, message, self.span(sharding, at), f"{size} % {pieces} != 0", hint=hint
            )
            self.found.append(found)

    def _law(
        self, sharding: _Sharding, place: tuple[str, int], size: Size, pieces: int
    ) -> DeferredLaw:
        name, at = place
        span = self.span(sharding, at)
        hint = f"a call with others is refused; `ranges:` can promise it by `multiple_of: {pieces}`"
        words = f"dimension {at} of `{name}` must be a multiple of {pieces}, over which it is split"
        return DeferredLaw(
            BAD_SHARDING,
            Law("size % pieces == 0", f"{words}, but is {{size}}", hint=hint, line=span.line),
            {"size": size, "pieces": pieces},
            self.context.relative_path(span.path),
        )


def _unused_axes(
    model: Model, axes: Mapping[str, int], declared: Sequence[_Sharding]
) -> Iterator[Diagnostic]:
    used = {axis for each in declared for names in each.axes for axis in names}
    for name, size in axes.items():
        if size > 1 and name not in used:
            message = f"the axis `{name}` splits no tensor: its {size} devices compute the same"
            span = model.document.span(("mesh", name), key=True)
            hint = f"name it under `sharding:`, such as `{{tokens: [{name}]}}`"
            yield Diagnostic(UNUSED, message, span, hint=hint)

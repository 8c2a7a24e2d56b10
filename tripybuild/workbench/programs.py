"""Programs as the workbench takes them: something that is called, and its graph where it has one.

A graph can be cut and compiled again for the same target, with the same weights.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from tripybuild.artifact.call_signature import Array, CallSignature
from tripybuild.compiler.executable import Executable, ExecutableEntry
from tripybuild.compiler.session import Config, compile_graph, prune_weights
from tripybuild.errors.diagnostics import DiagnosticError, Span
from tripybuild.importer.peers import match_inputs
from tripybuild.model.config import ConfigChoice
from tripybuild.model.graph_builder import build
from tripybuild.model.libraries import Homes, no_libraries
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.targets.executable_file import GRAPH, entry_member
from tripybuild.targets.model_manifest import entry_manifest
from tripybuild.targets.protocol import Target
from tripybuild.targets.table import parse_target
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import Value
from tripybuild.weights.checkpoint import check_weights
from tripybuild.weights.prepared import PreparedWeights
from tripybuild.weights.source import WeightSource

Outputs = Mapping[str, Array] | Sequence[Array]
ABSENT = "weights-not-found"


@dataclass(frozen=True, slots=True)
class GraphSource:
    """An entry of a model that can be compiled, whole or cut.

    Args:
        built: The model, with this entry alone.
        weights: Where its weights are.
        target: What it is compiled for.
    """

    built: ModelGraph
    weights: WeightSource
    target: Target

    @property
    def entry(self) -> EntryGraph:
        """The entry."""
        return self.built.entry()

    @property
    def signature(self) -> CallSignature:
        """What the entry takes."""
        return CallSignature(self.entry.graph.name, entry_manifest("", self.entry, ()))

    @property
    def tolerance(self) -> Mapping[str, float]:
        """What the spec says below `test: tolerance:`, by dtype."""
        data = getattr(self.built.document, "data", None)
        test = data.get("test") if isinstance(data, dict) else None
        found = test.get("tolerance") if isinstance(test, dict) else None
        return found if isinstance(found, dict) else {}

    def compile(self, sizes: Mapping[str, int], graph: Graph | None = None) -> ExecutableEntry:
        """Compile the entry for sizes, or another graph over its inputs and weights.

        Raises:
            DiagnosticError: The target refuses it.
        """
        return self.executable(sizes, graph).entry()

    def executable(self, sizes: Mapping[str, int], graph: Graph | None = None) -> Executable:
        """The same as an executable of one entry, which can be saved."""
        entry = self.entry
        if graph is not None:
            own = {name: each for name, each in entry.ranges.items() if name in graph.symbols}
            entry = EntryGraph(graph, (), own)
        built = replace(self.built, entries={"": entry}, warnings=())
        chosen = {name: size for name, size in sizes.items() if name in entry.ranges}
        return compile_graph(built, self.weights, self.target, {"": [chosen]}, {})


def _as_they_are(found: Any) -> Outputs:
    return found  # type: ignore[no-any-return]


@dataclass
class Program:
    """What is compared: an executable, a spec, or a program of another system.

    Args:
        name: What the user calls it.
        target: What it runs by.
        prepare: Makes a call for inputs by name.
        signature: What it takes, if it says that.
        graph_source: Gives its graph, if it is one of ours.
        read: Makes arrays of what a call gives.
        note: What the user should know of it.
    """

    name: str
    target: str
    prepare: Callable[[Mapping[str, Any]], Callable[[], Any]]
    signature: CallSignature | None = None
    graph_source: Callable[[], GraphSource] | None = None
    read: Callable[[Any], Outputs] = _as_they_are
    note: str = ""

    @cached_property
    def source(self) -> GraphSource | None:
        """Its graph, if it is one of ours."""
        return None if self.graph_source is None else self.graph_source()

    def arguments(self, arrays: Mapping[str, Array]) -> Mapping[str, Array]:
        """Inputs by its own names, each in the dtype that it declares.

        Raises:
            DiagnosticError: It takes more inputs, or fewer.
        """
        if self.signature is None:  # a peer matches names itself
            return arrays
        known = self.signature.inputs
        named = match_inputs(known, arrays)
        return {n: a.astype(known[n].dtype.numpy, copy=False) for n, a in named.items()}

    def run(self, arrays: Mapping[str, Array]) -> Outputs:
        """The outputs for inputs by name, or else in their order."""
        return self.read(self.prepare(self.arguments(arrays))())


def open_executable(loaded: Executable, path: Path, entry: str | None) -> Program:
    """An entry of an executable; its own code is what runs, and cuts of its graph are compiled."""
    chosen = loaded.entry(entry)

    prepare = partial(partial, chosen.run)
    source = (
        partial(executable_source, chosen, path)
        if entry_member(GRAPH, chosen.name) in loaded.members
        else None
    )
    return Program(str(path), str(loaded.target), prepare, chosen.signature, source)


def executable_source(chosen: ExecutableEntry, path: Path) -> GraphSource:
    """The graph that an executable keeps, with its weights and for its target."""
    whole = EntryGraph(chosen.graph, chosen.states, chosen.signature.ranges)
    built = ModelGraph(chosen.model.manifest["model"], {"": whole}, "", _FileOrigin(path))
    weights = ArrayWeights(lambda: chosen.model.weights)
    return GraphSource(prune_weights(built), weights, chosen.model.target)


def open_spec(
    path: Path,
    target: str,
    *,
    entry: str | None = None,
    sizes: Mapping[str, object] | None = None,
    homes: Homes = no_libraries,
    weights: Path | None = None,
    config: Config = None,
    seed: int | None = None,
    draws: bool = False,
) -> Program:
    """An entry of a spec, which is compiled at its first call.

    Args:
        path: The file.
        target: What it is compiled for.
        entry: The entry, where there are several.
        sizes: Sizes and dtypes to put in the place of the file's own.
        homes: Says where the operators and modules of other registries are.
        weights: Where its weights are, in the place of what it names.
        config: Values in the place of its own configuration.
        seed: Draw weights, by this seed, where those that the file names are not there.
        draws: Whether they are drawn, whatever is there.

    Raises:
        DiagnosticError: With all that is wrong with the file or its weights.
    """
    built = build(path, sizes, homes=homes, config=ConfigChoice(config, weights))
    is_drawn = False
    found: WeightSource
    try:
        if draws and seed is not None:
            found, is_drawn = drawn_weights(built, seed), bool(built.stored_weights)
        else:
            found = check_weights(built, weights)
    except DiagnosticError as error:
        absent = all(each.code == ABSENT for each in error.diagnostics)
        if seed is None or weights is not None or not absent:
            raise
        found, is_drawn = drawn_weights(built, seed), True
    one = replace(built, entries={"": built.entry(entry)})
    opened = open_graph(str(path), prune_weights(one), found, target)
    notes = [f"{name}={value}" for name, value in (sizes or {}).items()]
    opened.note = ", ".join([*notes, *["with random weights"] * is_drawn])
    return opened


def open_graph(name: str, built: ModelGraph, weights: WeightSource, target: str) -> Program:
    """An entry that is compiled at its first call, once for each combination of sizes."""
    source = GraphSource(built, weights, parse_target(target))
    signature, made = source.signature, dict[tuple[int, ...], ExecutableEntry]()

    def prepare(arrays: Mapping[str, Any]) -> Callable[[], Any]:
        sizes = signature.bind(signature.arrays(arrays))
        key = tuple(sizes.values())
        if key not in made:
            made[key] = source.compile(sizes, source.entry.graph)
        return partial(made[key].run, arrays)

    return Program(name, str(source.target), prepare, signature, lambda: source)


@dataclass(frozen=True)
class ArrayWeights:
    """Weights that are arrays in memory.

    Args:
        arrays: Gives them by path.
        span: Where the user says which they are.
    """

    arrays: Callable[[], Mapping[str, Array]]
    span: Span = field(default_factory=lambda: Span("<memory>", 1, 1, 1, 2))
    place: str = ""
    noun: str = "weight"

    @property
    def paths(self) -> tuple[Path, ...]:
        """None: they are in no file that is read."""
        return ()

    @cached_property
    def _held(self) -> Mapping[str, Array]:
        return self.arrays()

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """The arrays of some weights."""
        return {name: self._held[name] for name in wanted}

    def compute(self, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Those of these weights, which are there."""
        return iter(self(wanted).items())

    def file_entries(self, wanted: Iterable[str]) -> Mapping[Path, Any]:
        """None of them lies in a file."""
        del wanted
        return {}

    def same_data(self, wanted: Iterable[str]) -> dict[str, str]:
        """None is known to have the data of another one."""
        del wanted
        return {}

    def verify(self) -> None:
        """Nothing can be written to meanwhile."""


class _DrawnArrays(Mapping[str, Array]):
    """Random arrays for weights, made when they are asked for."""

    def __init__(self, declared: Mapping[str, Value], seed: int) -> None:
        self.declared, self.seed = declared, seed

    def __getitem__(self, name: str) -> Array:
        return draw_weight(name, self.declared[name], self.seed)

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


def drawn_weights(built: ModelGraph, seed: int) -> WeightSource:
    """Random weights: one seed gives the same values in each dtype, as far as that has them."""
    arrays = _DrawnArrays(built.stored_weights, seed)
    span = built.document.span(("weights",))
    drawn = ArrayWeights(lambda: arrays, span)
    return PreparedWeights(drawn, built.prepared) if built.prepared else drawn


def draw_weight(name: str, like: Value, seed: int) -> Array:
    """A random weight, by its name and a seed.

    Matrices and kernels have the variance `1 / columns` of a layer that keeps the size of its
    inputs (LeCun, 1998), columns being all dimensions but the first. Vectors, which scale and
    shift, lie between 0.5 and 1.5, and so are good as variances. Integers are small.
    """
    random = np.random.default_rng([seed, crc32(name.encode())])
    shape = tuple(int(each) for each in like.shape)
    if like.dtype.kind == "boolean":
        return np.ones(shape, like.dtype.numpy)
    if like.dtype.kind == "integer":
        return np.asarray(random.integers(0, 4, shape)).astype(like.dtype.numpy)
    if len(shape) <= 1:
        drawn = random.random(shape, np.float32) + np.float32(0.5)
    else:
        columns = max(1, int(np.prod(shape[1:])))
        drawn = random.standard_normal(shape, np.float32) / np.float32(np.sqrt(columns))
    return np.asarray(drawn).astype(like.dtype.numpy)


@dataclass(frozen=True)
class _FileOrigin:
    """An executable's file in the place of a spec."""

    file: Path
    text: str = ""

    @property
    def path(self) -> str:
        """The file."""
        return str(self.file)

    def span(self, *_: object, **__: object) -> Span:
        """The file as a whole."""
        return Span(str(self.file), 1, 1, 1, 2)

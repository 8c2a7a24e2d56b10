"""The `test:` sections of specs: the model compiled, and its peer, on the same inputs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import tripybuild
from tripybuild.documents.document import read
from tripybuild.model.config import ConfigChoice, merge_values
from tripybuild.model.graph_builder import build
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.schema.comparison_files import DrawEntry, EntryTestEntry, TestEntry
from tripybuild.schema.files import ModelFile
from tripybuild.schema.validate import validate
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import Value
from tripybuild.weights.names import match_name
from tripybuild.workbench import differences
from tripybuild.workspace.spec_inputs import draw_entry, entry_section, named_bound, shape_of

SPECS = Path(__file__).resolve().parents[2] / "specs"
# The largest difference from the peer, which computes in float32, as a part of what it gives: the
# root of the mean square of an output. Epsilons that are wrong differ by more than the first.
TOLERANCE = differences.MODEL_TOLERANCE

Arrays = dict[str, np.ndarray]


def published(name: str) -> bool:
    """Whether the spec says what its full size is compared with."""
    text = (SPECS / f"{name}.yaml").read_text(encoding="utf-8")
    return "\nconfig:\n" in text or "\n  published: " in text


def tested() -> list[str]:
    """The names of the specs that say what they are compared with."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(SPECS.glob("*.yaml"))}
    return [name for name, text in texts.items() if "\ntest:\n" in text]


@dataclass
class Comparison:
    """One spec with its peer."""

    path: Path
    folder: Path

    @cached_property
    def file(self) -> ModelFile:
        """The spec as it is written."""
        document, found = read(self.path)
        assert document is not None, found
        file, found = validate(document, ModelFile)
        assert file is not None, found
        return file

    @cached_property
    def section(self) -> TestEntry:
        """What it says of its test."""
        assert self.file.test is not None
        return self.file.test

    @cached_property
    def declared(self) -> dict[str, Any]:
        """The configuration that the spec has, of the full size."""
        declared = self.file.config or {}
        if isinstance(declared, str):
            declared = json.loads((self.path.parent / declared).read_text(encoding="utf-8"))
        return dict(declared)

    @cached_property
    def config(self) -> dict[str, Any]:
        """The configuration of the small variant."""
        return merge_values(self.declared, self.section.config)

    def published_weights(self) -> dict[str, tuple[int, ...]]:
        """The names and shapes of the weights that a checkpoint of the full size has."""
        from oracles import peers  # noqa: PLC0415 - where torch is installed

        section = self.section
        if section.published is not None:
            return peers.published_weights(section.published, {}, {})
        config = merge_values(section.config, self.declared)
        return peers.published_weights(section.against, config, section.arguments)

    @cached_property
    def peer(self) -> Any:
        """What it is compared with."""
        from oracles.peers import Peer  # noqa: PLC0415 - where torch is installed

        return Peer(self.section.against, self.config, self.section.arguments, self.section.seed)

    @cached_property
    def weights(self) -> Path:
        """The peer's checkpoint."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.peer.save(self.folder)

    @cached_property
    def built(self) -> ModelGraph:
        """The small variant without its weights."""
        return build(self.path, self.section.sizes, config=ConfigChoice(self.own_config))

    @property
    def own_config(self) -> dict[str, Any] | None:
        """The configuration, if the spec reads one."""
        return None if self.file.config is None else self.config

    @cached_property
    def calls(self) -> list["Call"]:
        """What is compared: each entry, or those that the section names."""
        names = self.section.entries or self.built.entries
        return [Call(self, name, self.built.entries[name]) for name in names]

    def static_sizes(self) -> dict[str, int]:
        """The sizes that are set by `--set`: of what comes in pieces, one."""
        found: dict[str, int] = {}
        for call in self.calls:
            found |= call.section.shapes[0]
            found |= {} if call.section.along is None else {call.section.along: 1}
        return found

    def compile(
        self, *, target: str = "cpu:xla", dtype: str = "float32", static: bool = False
    ) -> Any:
        """The spec with the peer's weights, for any sizes or for fixed ones."""
        fixed: Mapping[str, object] = self.static_sizes() if static else {}
        return tripybuild.compile(
            self.path,
            target=target,
            sizes={**self.section.sizes, "F": dtype, **fixed},
            weights=self.weights,
            config=self.own_config,
        )

    def is_invariant(self, name: str) -> bool:
        """Whether the outputs need not depend on a weight."""
        return any(match_name(each, name) is not None for each in self.section.invariant)

    def tolerance(self, dtype: str) -> float:
        """How far the outputs may be from the peer's."""
        return dict(self.section.tolerance).get(dtype, TOLERANCE[dtype])

    def slips(self) -> dict[str, float]:
        """How far each slip that a spec could have takes the peer from itself."""
        given = [(call, call.draw(call.section.shapes[-1], 0)) for call in self.calls]
        before = [call.expected(arrays) for call, arrays in given]
        changed = {}
        for name, change in self.peer.changes(self.is_invariant):
            with change:
                after = [call.expected(arrays) for call, arrays in given]
            changed[name] = max(map(difference, after, before))
        return changed


@dataclass
class Call:
    """One entry of a spec, and what the peer calls it."""

    comparison: Comparison
    name: str
    entry: EntryGraph

    @cached_property
    def section(self) -> EntryTestEntry:
        """What is said of it, in its own section or for all."""
        return entry_section(self.comparison.section, self.name)

    @property
    def inputs(self) -> dict[str, Value]:
        """What it takes beside its state."""
        values = self.entry.graph.inputs.items()
        return {name: value for name, value in values if name not in self.entry.states}

    @property
    def outputs(self) -> dict[str, Value]:
        """What it gives beside its state."""
        values = self.entry.graph.outputs.items()
        updates = {f"{name}.next" for name in self.entry.states}
        return {name: value for name, value in values if name not in updates}

    def draw(self, sizes: Mapping[str, int], seed: int) -> Arrays:
        """Inputs in float32, and what is no float in its own dtype."""
        begin = [self.comparison.section.seed, seed]
        return draw_entry(self.section, self.inputs, sizes, begin, self._limit)

    def _limit(self, below: int | str) -> int:
        return named_bound(below, self.comparison.built.sizes, self.comparison.config)

    def run(self, executable: Any, arrays: Arrays, sizes: Mapping[str, int]) -> Arrays:
        """What the model gives, in float32: at once, or piece by piece with one state."""
        kinds = {n: _numpy(e["dtype"]) for n, e in executable.entry(self.name).inputs.items()}
        called = self.session(executable, sizes) if self.entry.states else executable
        found: dict[str, list[np.ndarray]] = {name: [] for name in self.outputs}
        for piece in self._pieces(executable, arrays, sizes):
            given = {name: each.astype(kinds[name]) for name, each in piece.items()}
            results = called.entry(self.name)(**given)
            for name, each in found.items():
                each.append(np.asarray(results[name]).astype(np.float32))
        return {name: self._joined(name, each) for name, each in found.items()}

    def session(self, executable: Any, sizes: Mapping[str, int]) -> Any:
        """A session, whose state begins as zeros where the spec does not say how."""
        entry = executable.entry(self.name)
        kinds = {name: _numpy(each["dtype"]) for name, each in entry.inputs.items()}
        states = {name: self.entry.graph.inputs[name] for name in self.entry.states}
        open_states = [name for name in states if name not in entry.manifest.get("first", {})]
        zeros = {n: np.zeros(shape_of(states[n], sizes), kinds[n]) for n in open_states}
        dynamic = {
            symbol
            for value in states.values()
            for size in value.shape
            if isinstance(size, Dim)
            for symbol in size.symbols
        }
        ranges = entry.manifest["ranges"]
        return executable.start(state=zeros, **{n: sizes[n] for n in dynamic if n in ranges})

    def _pieces(
        self, executable: Any, arrays: Arrays, sizes: Mapping[str, int]
    ) -> Iterator[Arrays]:
        along = self.section.along
        if along is None:
            yield arrays
            return
        is_fixed = along not in executable.entry(self.name).manifest["ranges"]
        counts, start = [1] * sizes[along] if is_fixed else list(self.section.pieces), 0
        for count in [*counts, sizes[along] - sum(counts)]:
            if count:
                yield {n: self._cut(n, each, start, count) for n, each in arrays.items()}
            start += count

    def _cut(self, name: str, array: np.ndarray, start: int, count: int) -> np.ndarray:
        if self.section.inputs.get(name, DrawEntry()).draw == "start":
            return np.full_like(array, start)
        axis = _axis(self.inputs[name], self.section.along)
        return array if axis is None else array.take(range(start, start + count), axis)

    def _joined(self, name: str, pieces: list[np.ndarray]) -> np.ndarray:
        axis = _axis(self.outputs[name], self.section.along)
        return pieces[-1] if axis is None else np.concatenate(pieces, axis)

    def peer_arguments(self, arrays: Arrays) -> Arrays:
        """What the peer takes of them, under its own names."""
        taken = {}
        for name, array in arrays.items():
            said = self.section.inputs.get(name, DrawEntry())
            called = name if said.as_ is None else said.as_
            if called and said.draw != "start":
                taken[called] = array
        return taken

    def expected(self, arrays: Arrays) -> Arrays:
        """What the peer gives for everything at once."""
        from oracles import peers  # noqa: PLC0415 - where torch is installed

        section, taken = self.section, self.peer_arguments(arrays)
        result = self.comparison.peer(section.method, taken, section.keywords)
        return peers.outputs(result, list(self.outputs), section.outputs)


def difference(found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> float:
    """The largest difference, as a part of the root of the mean square of what is wanted."""
    assert list(found) == list(wanted)
    worst = 0.0
    for name, want in wanted.items():
        assert found[name].shape == want.shape, f"{name}: {found[name].shape} for {want.shape}"
        assert np.isfinite(want).all(), f"{name} is not finite"
        assert want.std() > 0, f"{name} is the same everywhere"
        scale = np.sqrt(np.mean(np.square(want, dtype=np.float64)))
        apart = np.nan_to_num(np.abs(found[name] - want), nan=np.inf)
        worst = max(worst, float(apart.max() / scale))
    return worst


def _axis(value: Value, along: str | None) -> int | None:
    """The dimension that is cut into pieces."""
    names = [each.name if isinstance(each, Dim) else None for each in value.shape]
    return names.index(along) if along is not None and along in names else None


def _numpy(dtype: str) -> Any:
    return ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)

"""The `test:` sections of specs: the model compiled, and its peer, on the same inputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import tripybuild
from tripybuild.documents.document import read
from tripybuild.model.graph_builder import build
from tripybuild.model.model_graph import ModelGraph
from tripybuild.schema.comparison_files import DrawEntry, TestEntry
from tripybuild.schema.files import ModelFile
from tripybuild.schema.validate import validate
from tripybuild.symbolic.dims import substitute
from tripybuild.trace.values import Value
from tripybuild.weights.names import match_name

SPECS = Path(__file__).resolve().parents[2] / "specs"
# The largest difference from the peer, which computes in float32, as a part of what it gives: the
# root of the mean square of an output. Epsilons that are wrong differ by more than the first.
TOLERANCE = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 8e-2}


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
    def section(self) -> TestEntry:
        """What it says of its test."""
        document, found = read(self.path)
        assert document is not None, found
        file, found = validate(document, ModelFile)
        assert file is not None, found
        assert file.test is not None
        return file.test

    @cached_property
    def peer(self) -> Any:
        """What it is compared with."""
        from oracles.peers import Peer  # noqa: PLC0415 - where torch is installed

        section = self.section
        return Peer(section.against, section.config, section.arguments, section.seed)

    @cached_property
    def weights(self) -> Path:
        """The peer's checkpoint."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.peer.save(self.folder)

    def compile(self, *, target: str = "cpu", dtype: str = "float32", static: bool = False) -> Any:
        """The spec with the peer's weights, for all of its shapes or for the first alone."""
        shapes = self.section.shapes
        fixed: Mapping[str, object] = shapes[0] if static else {}
        return tripybuild.compile(
            self.path,
            target=target,
            sizes={**self.section.sizes, "F": dtype, **fixed},
            shapes=() if static or target != "cpu" else shapes,
            weights=self.weights,
        )

    @cached_property
    def built(self) -> ModelGraph:
        """The small variant without its weights."""
        return build(self.path, self.section.sizes)

    def draw(self, sizes: Mapping[str, int], seed: int) -> dict[str, np.ndarray]:
        """Inputs in float32, and what is no float in its own dtype."""
        random = np.random.default_rng([self.section.seed, seed])
        values = self.built.graph.inputs.items()
        inputs = {name: value for name, value in values if name not in self.built.entry().states}
        return {name: self._drawn(name, each, sizes, random) for name, each in inputs.items()}

    def _drawn(
        self, name: str, like: Value, sizes: Mapping[str, int], random: np.random.Generator
    ) -> np.ndarray:
        said = self.section.inputs.get(name, DrawEntry())
        shape = tuple(int(substitute(each, sizes)) for each in like.shape)
        is_float = "float" in str(like.dtype)
        own = np.dtype("float32" if is_float else str(like.dtype))
        if said.values is not None:
            return np.broadcast_to(np.asarray(said.values, own), shape).copy()
        if said.below is not None:
            return random.integers(0, self._limit(said.below), shape).astype(own)
        if said.draw in ("padding", "mask"):
            return _mask(shape, random, sorted_=said.draw == "padding").astype(own)
        if said.draw == "start":
            return np.zeros(shape, own)
        assert is_float, f"`{name}` is drawn by `below`, `draw` or `values`"
        drawn = random.random(shape) if said.draw == "uniform" else random.normal(size=shape)
        return drawn.astype(own)

    def _limit(self, below: int | str) -> int:
        if isinstance(below, int):
            return below
        first, *rest = below.split(".")
        found: Any = self.section.config if first == "config" else self.built.sizes[first]
        for key in rest:
            found = found[key]
        return int(found)

    def run(self, executable: Any, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What the model gives, in float32."""
        kinds = {n: _numpy(e["dtype"]) for n, e in executable.inputs.items()}
        results = executable(**{name: each.astype(kinds[name]) for name, each in arrays.items()})
        return {name: np.asarray(each).astype(np.float32) for name, each in results.items()}

    def expected(self, arrays: Mapping[str, np.ndarray], names: list[str]) -> dict[str, np.ndarray]:
        """What the peer gives."""
        from oracles import peers  # noqa: PLC0415 - where torch is installed

        section, taken = self.section, {}
        for name, array in arrays.items():
            said = section.inputs.get(name, DrawEntry())
            called = name if said.as_ is None else said.as_
            if called and said.draw != "start":
                taken[called] = array
        result = self.peer(section.method, taken, section.keywords)
        return peers.outputs(result, names, section.outputs)

    def slips(self) -> dict[str, float]:
        """How far each slip that a spec could have takes the peer from itself."""
        section, names = self.section, list(self.built.graph.outputs)
        arrays = self.draw(section.shapes[-1], 0)
        before, changed = self.expected(arrays, names), {}
        for name, change in self.peer.changes(self.is_invariant):
            with change:
                changed[name] = difference(self.expected(arrays, names), before)
        return changed

    def is_invariant(self, name: str) -> bool:
        """Whether the outputs need not depend on a weight."""
        return any(match_name(each, name) is not None for each in self.section.invariant)

    def tolerance(self, dtype: str) -> float:
        """How far the outputs may be from the peer's."""
        return dict(self.section.tolerance).get(dtype, TOLERANCE[dtype])


def difference(found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> float:
    """The largest difference, as a part of the root of the mean square of what is wanted."""
    assert list(found) == list(wanted)
    worst = 0.0
    for name, want in wanted.items():
        assert found[name].shape == want.shape, f"{name}: {found[name].shape} for {want.shape}"
        assert np.isfinite(want).all(), f"{name} is not finite"
        assert want.std() > 0, f"{name} is the same everywhere"
        scale = float(np.sqrt(np.mean(np.square(want, dtype=np.float64))))
        worst = max(
            worst, float(np.nan_to_num(np.abs(found[name] - want), nan=np.inf).max()) / scale
        )
    return worst


def _mask(shape: tuple[int, ...], random: np.random.Generator, *, sorted_: bool) -> np.ndarray:
    drawn = random.random(shape) < 0.6
    at = np.zeros(shape[:-1], int) if sorted_ else random.integers(0, shape[-1], shape[:-1])
    np.put_along_axis(drawn, at[..., None], True, -1)
    return -np.sort(-drawn.astype(int), -1) if sorted_ else drawn


def _numpy(dtype: str) -> Any:
    return ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)

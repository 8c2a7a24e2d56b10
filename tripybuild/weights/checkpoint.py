"""Checkpoints: a model's weights, matched with the declaration in one report."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tripybuild.errors.budget import Budget, spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.errors.limits import first_problems, within_budget
from tripybuild.model.model_graph import ModelGraph, Origin
from tripybuild.schema.files import WeightsEntry
from tripybuild.trace.values import Value
from tripybuild.weights import safetensors
from tripybuild.weights.comparison import Comparison
from tripybuild.weights.files import CheckpointFiles, Shard, open_checkpoint, open_path
from tripybuild.weights.names import COMPILED, match_name, name_in_file
from tripybuild.weights.prepared import PreparedWeights
from tripybuild.weights.source import WeightSource

# The dtypes among which NumPy itself notices that a value is too large; else it is searched for.
OWN = frozenset(np.dtype(kind) for kind in (np.float16, np.float32, np.float64))


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The weights of a model in their files; called with paths, it reads their arrays.

    Invariant: what is read is what was compared with the model. A file that was written to since is
    refused, whichever part of it is read.
    """

    declared: Mapping[str, Value]
    names: Mapping[str, str]
    span: Span
    files: CheckpointFiles = field(default_factory=lambda: CheckpointFiles("", ()))
    noun: str = "weight"

    @property
    def place(self) -> str:
        """What messages call the files."""
        return self.files.name

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files with the tensors."""
        return tuple(shard.path for shard in self.files.shards)

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Read the weights at these paths, each in its declared dtype."""
        wanted = list(wanted)
        arrays: dict[str, Any] = {}
        with _with_span(self.span):
            for shard, paths in self._by_shard(wanted):
                arrays |= shard.read([self.names[path] for path in paths])
        return {
            path: convert_weight(path, arrays[self.names[path]], self.declared[path], self.span)
            for path in wanted
        }

    def compute(self, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """None: all of them are in files."""
        del wanted
        return iter(())

    def file_entries(self, wanted: Iterable[str]) -> dict[Path, dict[str, safetensors.FileEntry]]:
        """Where the weights at these paths lie, but for those that the file has in other dtypes."""
        found: dict[Path, dict[str, safetensors.FileEntry]] = {}
        with _with_span(self.span):
            for shard, paths in self._by_shard(wanted):
                entries = shard.entries()
                found.setdefault(shard.path, {}).update(
                    (path, entries[self.names[path]])
                    for path in paths
                    if shard.index[self.names[path]][0] == self.declared[path].dtype.numpy
                )
        return {path: each for path, each in found.items() if each}

    def same_data(self, wanted: Iterable[str]) -> dict[str, str]:
        """The weights that are the tensor of one before them, in the same dtype."""
        first: dict[tuple[str, Any], str] = {}
        keys = ((path, (self.names[path], self.declared[path].dtype)) for path in wanted)
        found = ((path, first.setdefault(key, path)) for path, key in keys)
        return {path: before for path, before in found if path != before}

    def verify(self) -> None:
        """Refuse files that were written to since they were compared with the model."""
        with _with_span(self.span):
            for shard in self.files.shards:
                shard.verify()

    def _by_shard(self, wanted: Iterable[str]) -> Iterator[tuple[Shard, list[str]]]:
        """The shards that hold some of these weights, with their paths."""
        wanted = list(wanted)
        for shard in self.files.shards:
            if paths := [path for path in wanted if self.names[path] in shard.index]:
                yield shard, paths


def check_weights(built: ModelGraph, path: Path | None = None) -> WeightSource:
    """Compare the weights of a model with their files, of which only the headers are read.

    Args:
        built: The model's graph, and what it says of its weights.
        path: A file, an index of shards or a folder, in the place of what the model names.

    Raises:
        DiagnosticError: With all weights that are missing, left over, or of another dtype or shape.
    """
    found = _check_stored(built, built.stored_weights, path)
    return PreparedWeights(found, built.prepared) if built.prepared else found


def _check_stored(
    built: ModelGraph, declared: Mapping[str, Value], path: Path | None
) -> Checkpoint:
    """Compare the weights that are in files."""
    span = built.document.span(("weights",))
    if not declared:
        if path is not None:
            message = f"`{built.name}` has no weights, and takes none of `{path}`"
            raise DiagnosticError(Diagnostic("wrong-value", message, hint="leave out `--weights`"))
        return Checkpoint({}, {}, span)
    entry = built.weights
    if path is None and (entry is None or entry.file == []):
        message = f"`{built.name}` has {len(declared)} weights, but does not declare where they are"
        hint = "add `weights: FILE.safetensors`, or name them with `--weights`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint))
    entry = entry or WeightsEntry(file=str(path))
    with within_budget(span, Budget()):
        if path is None:
            with _with_span(span):
                files = open_checkpoint(entry, Path(built.document.path).parent, span)
        else:
            files = open_path(path)
        names = {name: name_in_file(name, entry) for name in declared}
        found = list(_stale_renames(declared, entry, built.document))
        place = "the file" if len(files.shards) == 1 else "the checkpoint"
        place = place if path is None else f"`{path}`"
        about = (entry, span, built.origins, partial(_rename_span, built.document))
        found += Comparison(declared, names, files.index(), *about, place).differences()
    if found:
        raise DiagnosticError(*first_problems(found))
    return Checkpoint(declared, names, span, files)


@contextlib.contextmanager
def _with_span(span: Span) -> Iterator[None]:
    """Say which line names the file that is malformed."""
    try:
        yield
    except DiagnosticError as error:
        raise DiagnosticError(
            *(replace(d, span=d.span or span) for d in error.diagnostics)
        ) from error


def _stale_renames(
    declared: Mapping[str, Value], entry: WeightsEntry, document: Origin
) -> Iterator[Diagnostic]:
    """What `rename:` maps must be there: else it is most likely misspelled."""
    spend("comparisons", COMPILED * (len(entry.rename) + len(entry.unused)))
    for pattern in entry.rename:
        if not any(match_name(pattern, path) for path in declared):
            parts = [".".join(path.split(".")[: pattern.count(".") + 1]) for path in declared]
            near = suggest(pattern, parts)
            hint = f"did you mean `{near}`?" if near else None
            span = _rename_span(document, pattern)
            message = f"`rename:` maps `{pattern}`, but no weight is there"
            yield Diagnostic("unbound-name", message, span, hint=hint)


def _rename_span(document: Origin, pattern: str) -> Span:
    return document.span(("weights", "rename", pattern), key=True)


def convert_weight(name: str, array: Any, declared: Value, span: Span) -> Any:
    """A weight in its declared dtype; what was finite must stay so.

    Raises:
        DiagnosticError: A value is beyond what the dtype can hold.
    """
    wanted = declared.dtype.numpy
    if array.dtype == wanted:
        return array
    if OWN.issuperset((wanted, array.dtype)):
        with contextlib.suppress(FloatingPointError), np.errstate(over="raise"):
            return array.astype(wanted)
    with np.errstate(over="ignore"):
        result = array.astype(wanted)
    lost = np.isfinite(array) & ~np.isfinite(result)
    if lost.any():
        message = f"the weight `{name}` holds {array[lost][0]}, which {declared.dtype} cannot hold"
        raise DiagnosticError(Diagnostic("weight-dtype", message, span))
    return result

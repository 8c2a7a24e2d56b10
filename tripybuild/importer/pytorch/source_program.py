"""Programs of PyTorch in the form that both readers give: of a graph in memory and of a file."""

import ast
import linecache
import re
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import PurePath
from typing import Any

import numpy as np

from tripybuild.importer.foreign_program import CheckpointPlace, SourceStatement
from tripybuild.importer.onnx_model.names import UniqueNames, identifier
from tripybuild.schema.foreign import signatures
from tripybuild.types.dtypes import BY_NAME, dtype

BY_TORCH: Mapping[str, dtype] = {each.torch: each for each in BY_NAME.values() if each.torch}
_NUMBER = re.compile(r"\d+", re.ASCII)
FRAME = re.compile(
    r'File "(?P<file>[^"\n]*)", line (?P<line>\d+), in (?P<function>[^\n]*)(\n[ \t]+(?P<text>.*))?'
)
_FORWARD = "forward"
_LIBRARY = "torch"
_PACKAGES = ("site-packages", "dist-packages")
_KEPT = 1 << 10  # paths, files and lines of blocks that repeat
HIGHER_ORDER = "higher_order"  # the namespace of the operators that take graphs


def positional_parameters(operator: str, count: int) -> list[str]:
    """Give names to arguments by position of an operator that has no schema."""
    known = signatures("aten").get(operator)
    names = [] if known is None else [*known.by_position]
    return [*names, *(str(at) for at in range(len(names), count))][:count]


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """What the source says of a tensor: PyTorch's name of the dtype, and sizes as text."""

    dtype: str
    sizes: Sequence[int | str]


@dataclass(frozen=True, slots=True)
class SizeMeta:
    """What the source says of a number that is computed of sizes."""

    text: str


@dataclass(frozen=True, slots=True)
class ValueName:
    """A value of the graph, by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class NodeMeta:
    """Where a node stands: the stack of modules, as key, path and class, and that of lines.

    The key of a module's second call ends in `@1`.
    """

    modules: Sequence[tuple[str, str, str]] = ()
    trace: str = ""


# A number is one that is no size: `True`, 0.5.
Meta = TensorMeta | SizeMeta | bool | int | float | None


@dataclass(frozen=True, slots=True)
class SourceGraph:
    """A graph within a graph, still as its reader has it."""

    inputs: Sequence[tuple[str, Meta]]
    nodes: Iterable["SourceNode"]
    outputs: Sequence[Any]


@dataclass(frozen=True, slots=True)
class SourceNode:
    """A node of either form.

    Attributes:
        domain: The namespace of its operator, `aten`.
        operator: Its name with that of the overload.
        arguments: By parameter; values are `ValueName`, and graphs `SourceGraph`.
        results: Name and meaning of each result; a name is empty where nothing reads the result.
        is_list: Whether the results are one list.
        mutates: Whether it changes what it is given.
    """

    name: str
    domain: str
    operator: str
    arguments: Mapping[str, Any]
    results: Sequence[tuple[str, Meta]]
    is_list: bool
    meta: NodeMeta
    mutates: bool = False


@dataclass(frozen=True, slots=True)
class SourceInput:
    """An input of the whole graph; `path` is that of a weight."""

    name: str
    meta: Meta
    path: str = ""
    is_constant: bool = False


@dataclass(frozen=True, slots=True)
class SourceOutput:
    """An output of the whole graph: what is returned by a name, or what a buffer is afterwards."""

    value: Any
    name: str
    is_update: bool = False


@dataclass(frozen=True, slots=True)
class SourceWeight:
    """A weight's data; those of one identity are the same tensor."""

    load: Callable[[], np.ndarray[Any, Any]]
    identity: Hashable
    place: CheckpointPlace | None = None


@dataclass(frozen=True, slots=True)
class SourceSymbol:
    """A symbol of the sizes: its name, if the source states one, its bounds and its example."""

    name: str = ""
    low: int = 1
    high: int | None = None
    example: int | None = None


@dataclass(frozen=True, slots=True)
class SourceProgram:
    """A whole program in either form."""

    name: str
    inputs: Sequence[SourceInput]
    nodes: Iterable[SourceNode]
    outputs: Sequence[SourceOutput]
    symbols: Mapping[str, SourceSymbol]
    weights: Mapping[str, SourceWeight]


def output_names(paths: Sequence[tuple[str, ...]], count: int) -> list[str]:
    """Give each output a name that is an identifier: its keys in what the model returns."""
    if len(paths) != count:
        paths = [(str(at),) for at in range(count)] if count > 1 else [()]
    names = UniqueNames("output")
    return [names.make("_".join(path)) for path in paths]


@lru_cache(maxsize=_KEPT)
def spec_path(path: str) -> str:
    """Give the path of a module or a weight with names that a spec can have."""
    parts = path.split(".")
    return ".".join(part if _NUMBER.fullmatch(part) else identifier(part, "part") for part in parts)


def model_name(stacks: Iterable[tuple[str, str, str]]) -> str:
    """Give the name of the root module's class, as names of models are written."""
    for _, path, class_name in stacks:
        if not path:
            last = class_name.rpartition(".")[2]
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last).lower()
            return identifier(words, "model")
    return "model"


def leaf_keys(context: object, count: int) -> list[str]:
    """Give the keys of a container's children: those that it names, or their positions."""
    if isinstance(context, list | tuple) and len(context) == count:
        names = [each for each in context if isinstance(each, str)]
        if len(names) == count:
            return names
    return [str(at) for at in range(count)]


def own_frames(trace: str) -> list[re.Match[str]]:
    """Give the lines of a stack that are the model's own, outermost first."""
    frames = [each for each in FRAME.finditer(trace) if not each["file"].startswith("<")]
    return [each for each in frames if _LIBRARY not in _parts(each["file"])]


@lru_cache(maxsize=_KEPT)
def _parts(file: str) -> tuple[str, ...]:
    return PurePath(file).parts


@dataclass(frozen=True)
class SourceStatements:
    """The statements that nodes stand in, read from the files of the model that are there.

    A line that is not in its file as the stack has it is read alone.
    """

    files: dict[str, dict[int, SourceStatement]] = field(default_factory=dict)

    def of(self, meta: NodeMeta) -> tuple[SourceStatement, ...]:
        """Give the statements of a node, outermost first."""
        frames = own_frames(meta.trace)
        own = [path for _, path, kind in meta.modules if kind.partition(".")[0] != _LIBRARY]
        forward = [each["function"] == _FORWARD for each in frames]
        is_certain = sum(forward) == len(own)
        found, module = [], iter(own)
        path: str | None = None
        for frame, is_forward in zip(frames, forward, strict=True):
            if is_certain and is_forward:
                path = spec_path(text) if (text := next(module).partition("@")[0]) else ""
            found.append(replace(self._read(frame), module=path, is_forward=is_forward))
        return tuple(found)

    def _read(self, frame: re.Match[str]) -> SourceStatement:
        file, line, text = frame["file"], int(frame["line"]), (frame["text"] or "").strip()
        short = _without_folders(file)
        if file.endswith(".py") and linecache.getline(file, line).strip() == text:
            if file not in self.files:
                self.files[file] = dict(_numbered("".join(linecache.getlines(file)), short))
            return self.files[file].get(line, SourceStatement(short, line))
        known = _first_statement(text, short)
        return SourceStatement(short, line) if known is None else replace(known, line=line)


@cache
def _without_folders(file: str) -> str:
    """The path of a file as an import would find it: behind the folder that it is looked up in.

    What is left of it in any case is its name, since the folders before can be a user's own.
    """
    path = PurePath(file)
    folders = {PurePath(each) for each in sys.path if each} - {PurePath(path.anchor)}
    roots = (each for each in path.parents if each.name in _PACKAGES or each in folders)
    return path.relative_to(next(roots, path.parent)).as_posix()


@lru_cache(maxsize=_KEPT)
def _first_statement(text: str, file: str) -> SourceStatement | None:
    """The statement of a line that is read alone; blocks that repeat have the same ones."""
    return dict(_numbered(text, file)).get(1)


def _numbered(text: str, file: str) -> Iterator[tuple[int, SourceStatement]]:
    """The plain statements of a text, by each of their lines."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _inner_statements(module, SourceStatement(file, 0))


def _inner_statements(
    node: ast.AST, around: SourceStatement
) -> Iterator[tuple[int, SourceStatement]]:
    match node:
        case ast.ClassDef():
            around = replace(around, class_name=node.name, class_line=node.lineno)
        case ast.FunctionDef(args=args):
            every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
            around = replace(around, parameters=tuple(each.arg for each in every))
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return() | ast.Expr():
            made = _statement(node, around)
            yield from ((at, made) for at in range(node.lineno, (node.end_lineno or 0) + 1))
            return
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.stmt):
            yield from _inner_statements(each, around)


def _statement(node: ast.stmt, around: SourceStatement) -> SourceStatement:
    assigned = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    items = assigned[0].elts if isinstance(assigned[0], ast.Tuple) else assigned
    targets = tuple(each.id if isinstance(each, ast.Name) else "" for each in items)
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    reads = {each.id for each in names if isinstance(each.ctx, ast.Load)}
    reads |= {*targets} if isinstance(node, ast.AugAssign) else set()
    return replace(around, line=node.lineno, targets=targets, reads=frozenset(reads))

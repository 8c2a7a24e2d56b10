"""Names of ONNX's models: calls of modules, names that are identifiers, and paths of weights.

PyTorch's exporter writes the paths and classes of modules beside a node. Elsewhere the name of a
node has its modules between slashes, as `/encoder/layer.0/attention/MatMul`.
"""

import ast
import json
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tripybuild.importer.foreign_program import (
    ForeignNode,
    ForeignValue,
    ForeignWeight,
    ModuleCall,
    SourcePlace,
)
from tripybuild.symbolic.dims import RESERVED

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

# What PyTorch's exporter writes: paths of modules and their classes, of which the last are the
# node's own; and the lines of the program, of which the last is the nearest.
_SCOPES, _CLASSES = "pkg.torch.onnx.name_scopes", "pkg.torch.onnx.class_hierarchy"
_STACK = "pkg.torch.onnx.stack_trace"
_LINE = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d{1,9}), in')
_NUMBER = re.compile(r"(^|_)(const(ant)?|scalar|val|eps(ilon)?|zero|one|two|half)($|_)|_\d+$")
_LONGEST = 1 << 14  # of metadata that are read
LONGEST_NAME = 72  # what a spec takes, with room for a number behind it
_PART = re.compile(r"[A-Za-z_]\w*|\d+", re.ASCII)


class UniqueNames:
    """Identifiers for names of a kind: each its own, and the same one each time."""

    def __init__(self, otherwise: str, reserved: Iterable[str] = ()) -> None:
        self._otherwise, self._taken = otherwise, set(reserved)
        self._found: dict[str, str] = {}
        self._numbers: dict[str, int] = {}

    def find(self, name: str) -> str:
        """The identifier for a name; it is the name itself if that is one."""
        if name not in self._found:
            self._found[name] = self.make(name)
        return self._found[name]

    def make(self, name: str, otherwise: str = "") -> str:
        """A new identifier that is near to a name."""
        base = identifier(name, otherwise or self._otherwise)
        found, count = base, self._numbers.get(base, 1)
        while found in self._taken:
            count += 1
            found = f"{base}_{count}"
        self._numbers[base] = count
        self._taken.add(found)
        return found


def identifier(name: str, otherwise: str) -> str:
    """The nearest identifier of ASCII to a name."""
    found = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_" if name != "_" else "")
    if name.isidentifier() and name.isascii():
        found = name
    if not found:
        found = otherwise
    if found[0].isdigit():
        found = f"{otherwise}_{found}"
    taken = keyword.iskeyword(found) or found in RESERVED or "__" in found
    found = re.sub("_+", "_", f"{otherwise}_{found}") if taken else found
    return found[:LONGEST_NAME]


def metadata_of(node: "NodeProto") -> Mapping[str, str]:
    """What an exporter wrote beside a node."""
    return {each.key: each.value for each in node.metadata_props}


def modules_of(node: "NodeProto", said: Mapping[str, str]) -> tuple[ModuleCall, ...]:
    """The calls of modules that a node stands in, outermost first; none where nothing says so."""
    scopes, classes = _read_list(said.get(_SCOPES)), _read_list(said.get(_CLASSES))
    if scopes is not None and classes is not None and len(scopes) == len(classes) > 0:
        each = zip(scopes[:-1], classes[:-1], strict=True)
        return tuple(ModuleCall(path, kind.rpartition(".")[2], origin=kind) for path, kind in each)
    parts = [part for part in node.name.split("/")[:-1] if part]
    if (not node.name.startswith("/") and not parts) or not all(map(_is_path, parts)):
        return ()
    paths = [".".join(parts[: end + 1]) for end in range(len(parts))]
    return (ModuleCall("", "Model"), *(ModuleCall(path, _class_name(path)) for path in paths))


def place_unnamed(nodes: Sequence[ForeignNode]) -> None:
    """Let a node of which nothing says a module stand in the one around its neighbors.

    Optimizers write such nodes among those of an exporter.
    """
    after: list[Sequence[ModuleCall]] = [()]
    for node in reversed(nodes):
        after.append(node.modules or after[-1])
    before: Sequence[ModuleCall] = ()
    for node, behind in zip(nodes, reversed(after[:-1]), strict=True):
        if not node.modules:
            pairs = takewhile(lambda pair: pair[0] == pair[1], zip(before, behind, strict=False))
            node.modules = tuple(pair[0] for pair in pairs)
        before = node.modules


def is_number(tensor: "TensorProto") -> bool:
    """Whether an initializer is a number of the program, which has no name of its own."""
    has_name = "." in tensor.name or not _NUMBER.search(tensor.name)
    return not tensor.dims and not (has_name and _is_path(tensor.name))


def module_path(node: "NodeProto", modules: Sequence[ModuleCall]) -> str:
    """The path of a call of a function, in the modules that it stands in."""
    name = identifier(node.name.rpartition("/")[2] or node.output[0], "function")
    around = modules[-1].path if modules else ""
    return f"{around}.{name}" if around else name


def place_of(node: "NodeProto", said: Mapping[str, str]) -> SourcePlace:
    """Where a node comes from: a line of a Python program, or its name, or that of its result."""
    first = next((name for name in node.output if name), "")
    text = f"`{node.name}`" if node.name else f"the `{node.op_type}` that gives `{first}`"
    lines = [*_LINE.finditer(said.get(_STACK, "")[-_LONGEST:])]
    if not lines:
        return SourcePlace(text)
    return SourcePlace(text, lines[-1]["file"], int(lines[-1]["line"]))


def weight_paths(
    weights: Sequence[ForeignWeight], nodes: Iterable[ForeignNode]
) -> dict[str, ForeignWeight]:
    """Weights by path: their own name where it is one, else one in the module that reads them.

    The latter is that of the parameter that the weight is, so that it is the same one in modules
    that are alike: exporters number what they name.
    """
    readers: dict[int, list[tuple[list[str], str]]] = {id(each): [] for each in weights}
    for node in nodes:
        paths = [each.path for each in node.modules]
        for parameter, value in _tensors(node.arguments):
            if id(value) in readers:
                readers[id(value)].append((paths, f"{node.operator}_{parameter}"))
    found: dict[str, ForeignWeight] = {}
    inner: Counter[str] = Counter()
    numbers: dict[str, int] = {}
    for weight in weights:
        read = readers[id(weight)]
        module = _common_module([paths for paths, _ in read])
        base = weight.name
        if weight.is_constant or "." not in base or not _is_path(base):
            leaf = identifier(read[0][1].lower() if module else base, "weight")
            base = f"{module}.{leaf}" if module else leaf
        path, count = base, numbers.get(base, 1)  # none is given back: lower ones stay taken
        while _taken(path, found, inner):
            count += 1
            path = f"{base}_{count}"
        numbers[base] = count
        found[path] = weight
        inner.update(_prefixes(path))
    return found


def _taken(path: str, found: Mapping[str, object], inner: Mapping[str, int]) -> bool:
    """Whether a path is one of a weight, or of what has weights, or is below a weight."""
    return path in found or path in inner or any(each in found for each in _prefixes(path))


def _prefixes(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:end]) for end in range(1, len(parts))]


def _common_module(readers: Sequence[Sequence[str]]) -> str:
    """The innermost module that is called around all of these; no list of modules is."""
    shared = takewhile(lambda paths: len(set(paths)) == 1, zip(*readers, strict=False))
    return "".join(paths[0] for paths in [*shared][-1:])


def _tensors(arguments: Mapping[str, Any]) -> Iterable[tuple[str, ForeignValue]]:
    for name, value in arguments.items():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ForeignValue):
                yield name, each


def _is_path(text: str) -> bool:
    """Whether a name is a path of identifiers and numbers."""
    parts = text.split(".")
    plain = all(_PART.fullmatch(part) and not keyword.iskeyword(part) for part in parts)
    return plain and "__" not in text and not parts[0].isdigit()


def _class_name(path: str) -> str:
    """A class's name for a module of which only the path is known."""
    last = next(part for part in reversed(path.split(".")) if not part.isdigit())
    return "".join(word[:1].upper() + word[1:] for word in last.split("_"))


def _read_list(text: str | None) -> list[str] | None:
    """The words of a list as Python prints it."""
    if text is None or len(text) > _LONGEST:
        return None
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(found, list) and all(isinstance(each, str) for each in found):
        return found
    return None


def json_metadata(said: Mapping[str, str], key: str) -> Any:
    """What a model's metadata have under a key of ours; None where there is nothing to read."""
    try:
        return json.loads(said[key]) if key in said else None
    except (ValueError, RecursionError):
        return None

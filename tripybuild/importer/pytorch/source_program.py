"""Programs of PyTorch in the form that both readers give: of a graph in memory and of a file."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripybuild.importer.foreign_program import CheckpointPlace
from tripybuild.importer.onnx_model.names import UniqueNames, identifier
from tripybuild.schema.foreign import signatures
from tripybuild.types.dtypes import BY_NAME, dtype

BY_TORCH: Mapping[str, dtype] = {each.torch: each for each in BY_NAME.values() if each.torch}
_NUMBER = re.compile(r"\d+", re.ASCII)
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

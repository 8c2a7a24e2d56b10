"""Foreign operators: tables of their signatures, and what maps their arguments back to ours.

ONNX's are those of an opset of `onnx.table`: inputs by position or by name, attributes by name.
Those that ONNX Runtime adds are among them, with their domain: `com.microsoft.Gelu`.
ATen's are `aten.txt`: the core overloads of PyTorch 2.13 and the functional ones, of which one line
is one operator, `softmax.int(self, dim, dtype?) -> 1`. What stands before `;` is given by position
or by name, what stands behind it by name; `?` may be left out, and so may what has a value behind
`=`; `*` is any number of tensors.

A list, a choice by word and the helpers of aliases are inverted where they stand in an alias's
call, so that `reads:` is for what nothing here can say. A helper is data: three expressions.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tripybuild.language.grammar import SnippetError
from tripybuild.language.names import free_names
from tripybuild.language.syntax import position, walk
from tripybuild.onnx.table import (
    NEWEST,
    find_operator,
    operator_names,
    runtime_operator_names,
)
from tripybuild.schema.snippets.vocabularies import SHAPE
from tripybuild.types.dtypes import BY_NAME

SYSTEMS = ("onnx", "aten")
TITLES = {"onnx": "ONNX", "aten": "ATen"}
# Our dtypes that a system has no tensors of.
LACKING = {
    "aten": frozenset(each.name for each in BY_NAME.values() if each.torch is None),
    "onnx": frozenset[str](),
}
_LINE = re.compile(
    r"(?P<name>[\w.]+)\((?P<given>[^;)]*)(; (?P<named>[^)]*))?\) -> (?P<count>\d+|\*)"
)
_WORD = re.compile(r"\*?\w+(?:\?|=(?:\[[^\]]*\]|[^,]+))?")


@dataclass(frozen=True, slots=True)
class ForeignSignature:
    """What an operator of another system takes, in order, and how many results it gives.

    `several` is the parameter that takes any number of tensors. `results` is None for any number.
    `defaults` has what each parameter is that is left out. `graphs` are those that are functions.
    """

    name: str
    by_position: tuple[str, ...]
    by_name: tuple[str, ...]
    defaults: Mapping[str, Any]
    several: str | None
    results: int | None
    graphs: frozenset[str] = frozenset()

    @property
    def parameters(self) -> tuple[str, ...]:
        """All parameters, in order."""
        return (*self.by_position, *self.by_name)

    @property
    def optional(self) -> frozenset[str]:
        """The parameters that may be left out."""
        return frozenset(self.defaults)

    def __str__(self) -> str:
        words = [f"{name}?" if name in self.optional else name for name in self.parameters]
        return f"{self.name}({', '.join(words)})"


class ForeignSignatures(Mapping[str, ForeignSignature]):
    """Signature table by name, each of which is read when it is asked for."""

    def __init__(self, said: Mapping[str, str], read: Callable[[str], ForeignSignature]) -> None:
        self._said, self._read = said, cache(read)

    def __getitem__(self, name: str) -> ForeignSignature:
        return self._read(self._said[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._said)

    def __len__(self) -> int:
        return len(self._said)

    def has_parameter(self, name: str) -> bool:
        """Whether some operator has a parameter of this name."""
        return any(name in each.parameters for each in self.values())


@cache
def signatures(system: str, opset: int | None = None) -> ForeignSignatures:
    """The operators of a system by name; ATen's with their overloads, ONNX's of an opset."""
    if system == "onnx":
        opset = NEWEST if opset is None else opset
        names = {name: name for name in sorted(operator_names(opset) | runtime_operator_names())}
        return ForeignSignatures(names, partial(_from_schema, opset=opset))
    text = (Path(__file__).parent / "aten.txt").read_text(encoding="utf-8")
    return ForeignSignatures({line.partition("(")[0]: line for line in text.splitlines()}, _read)


def _from_schema(name: str, opset: int) -> ForeignSignature:
    """The signature of an operator of ONNX."""
    schema = find_operator(name, opset)
    assert schema is not None
    optional = [(each.name, None) for each in schema.inputs if each.optional]
    optional += [(e.name, e.default) for e in schema.attributes.values() if not e.required]
    return ForeignSignature(
        name=name,
        by_position=tuple(each.name for each in schema.inputs),
        by_name=tuple(schema.attributes),
        defaults=MappingProxyType(
            {word: [*value] if isinstance(value, tuple) else value for word, value in optional}
        ),
        several=next((each.name for each in schema.inputs if each.variadic), None),
        results=None if any(each.variadic for each in schema.outputs) else len(schema.outputs),
        graphs=frozenset(e.name for e in schema.attributes.values() if e.kind == "graph"),
    )


def _read(line: str) -> ForeignSignature:
    found = _LINE.fullmatch(line)
    assert found is not None
    given, named = (_WORD.findall(found[part] or "") for part in ("given", "named"))
    optional = [word for word in (*given, *named) if word.endswith("?") or "=" in word]
    return ForeignSignature(
        name=found["name"],
        by_position=tuple(map(_name, given)),
        by_name=tuple(map(_name, named)),
        defaults=MappingProxyType({_name(word): _default(word) for word in optional}),
        several=next((word[1:] for word in given if word.startswith("*")), None),
        results=None if found["count"] == "*" else int(found["count"]),
    )


def _name(word: str) -> str:
    return word.strip("*?").partition("=")[0]


def _default(word: str) -> Any:
    _, given, text = word.partition("=")
    return ast.literal_eval(text) if given else None


@dataclass(frozen=True, slots=True)
class Helper:
    """A function of an alias: `says` gives the other's argument, and `reads` ours of its `value`.

    It is over its parameters, of which the first one is what is read back. `when` are the values
    that it can say.
    """

    parameters: tuple[str, ...]
    says: str
    reads: str
    when: str | None = None
    doc: str = ""


HELPERS: Mapping[str, Helper] = MappingProxyType(
    {
        "axes": Helper(
            ("dims", "shape"),
            "dims",
            "value or range(len(shape))",
            "len(dims) > 0 or len(shape) == 0",
            "Dimensions of a shape, of which none stand for all.",
        ),
        "or_else": Helper(
            ("given", "other"),
            "given",
            "value or other",
            doc="A value, or another one where the other system is given nothing.",
        ),
        "only": Helper(
            ("values",), "values[0]", "[value]", "len(values) == 1", "The one value of a list."
        ),
        "pads": Helper(
            ("pairs",),
            "[*[p[0] for p in pairs], *[p[1] for p in pairs]]",
            "list(zip(value[:len(value) // 2], value[len(value) // 2:]))",
            doc="Padding before all dimensions, then behind all, as ONNX has it.",
        ),
        "pads_from_last": Helper(
            ("pairs", "shape"),
            "[n for p in reversed(pairs) for n in p]",
            "[*[(0, 0) for d in shape[len(value) // 2:]],"
            " *reversed(list(zip(value[::2], value[1::2])))]",
            doc="Padding of the last dimension first, as PyTorch's `pad` has it.",
        ),
        "symmetric": Helper(
            ("pairs", "sizes"),
            "[p[0] for p in pairs]",
            "[(p, p) for p in (value * len(sizes) if len(value) == 1 else value)]",
            "all(p[0] == p[1] for p in pairs)",
            "Padding that is the same before and behind; one number is for all of `sizes`.",
        ),
    }
)


class Expansion(ast.NodeTransformer):
    """Puts what helpers say in their place; `when` are the conditions under which they can."""

    def __init__(self) -> None:
        self.when: list[ast.expr] = []

    def expand(self, node: ast.expr) -> ast.expr:
        """An argument as the other system is given it: the same one where no helper is in it."""
        if isinstance(node, ast.Name | ast.Constant):  # as most arguments are
            return node
        calls = (each for each in walk(node) if isinstance(each, ast.Call))
        if not any(_helper(each) for each in calls):
            return node
        found: ast.expr = self.visit(deepcopy(node))
        return found

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call of a helper, or of anything else."""
        self.generic_visit(node)
        helper = _helper(node)
        if helper is None:
            return node
        if helper.when is not None:
            self.when.append(_parse_with(helper.when, helper.parameters, node.args, node))
        return _parse_with(helper.says, helper.parameters, node.args, node)


def inversions(
    node: ast.expr, value: ast.expr, known: Mapping[str, ast.expr]
) -> Iterator[tuple[str, ast.expr]]:
    """The names in an argument that is no plain name, with what reads them back.

    Args:
        node: An argument as the alias says it, with its helpers.
        value: What stands for the other's argument.
        known: What stands for our other names, where the rest of a helper reads them.
    """
    match node:
        case ast.List(elts=items) if not any(isinstance(each, ast.Starred) for each in items):
            for index, item in enumerate(items):
                yield from _named(item, ast.Subscript(value, ast.Constant(index)), known)
        case ast.Subscript(value=ast.Dict(keys=keys, values=values), slice=chosen):
            if all(isinstance(each, ast.Constant) for each in values):
                back = ast.Dict([*values], [_word(key) for key in keys if key is not None])
                yield from _named(chosen, ast.Subscript(back, value), known)
        case ast.Call():
            helper = _helper(node)
            others = [_other(each, known) for each in node.args[1:]]
            if helper is not None and None not in others:
                names = ("value", *helper.parameters[1:])
                given = [value, *(each for each in others if each is not None)]
                yield from _named(
                    node.args[0], _parse_with(helper.reads, names, given, node), known
                )


def _named(
    node: ast.expr, value: ast.expr, known: Mapping[str, ast.expr]
) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Name):
        yield node.id, value
    else:
        yield from inversions(node, value, known)


def _word(key: ast.expr) -> ast.expr:
    """An enumeration word: a name in an alias, a string as a value."""
    return ast.Constant(key.id) if isinstance(key, ast.Name) else key


def _helper(node: ast.Call) -> Helper | None:
    """The helper that a call is of."""
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    helper = HELPERS.get(name)
    if helper is not None and (len(node.args) != len(helper.parameters) or node.keywords):
        wanted = f"{name}({', '.join(helper.parameters)})"
        message = f"`{name}` takes {len(helper.parameters)} arguments by position"
        raise SnippetError(message, position(node), code="alias-argument", hint=f"write `{wanted}`")
    return helper


def _other(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr | None:
    """An expression over the other's arguments, or None where one of its names is not there."""
    names = tuple(name for name in free_names(node) if name not in SHAPE)
    if any(name not in known for name in names):
        return None
    return _parse_with(ast.unparse(node), names, [known[name] for name in names], node)


def _parse_with(
    text: str, names: Sequence[str], given: Sequence[ast.expr], place: ast.AST
) -> ast.expr:
    """An expression with others in the place of its names; it stands where `place` does."""
    filling = _Filling(dict(zip(names, given, strict=True)), place)
    return filling.substitute(ast.parse(text, mode="eval").body)


class _Filling(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr], place: ast.AST) -> None:
        self.names, self.place = names, place

    def substitute(self, node: ast.expr) -> ast.expr:
        for each in ast.walk(node):
            ast.copy_location(each, self.place)
        found: ast.expr = self.visit(node)
        return found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.names.get(node.id, node)

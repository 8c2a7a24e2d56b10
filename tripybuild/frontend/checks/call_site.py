"""Call-site analysis: source locations of arguments and of the tensors in them.

Nothing of this is noted while recording. When a call is refused, its frames are still there: the
user's, which says where the call is, and ours, which say what was given for which parameter. The
user's source says the rest.
"""

import ast
import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FrameType
from typing import Any

from tripybuild.errors.diagnostics import Related, Span
from tripybuild.trace.location import Location, PythonLocation, span_between
from tripybuild.trace.values import TensorType, Value

_KINDS = (
    ast.Call, ast.BinOp, ast.AugAssign, ast.Compare, ast.UnaryOp, ast.Subscript, ast.Attribute,
)  # fmt: skip
_COMPARED = {
    ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__",
}  # fmt: skip


@lru_cache(maxsize=4)
def _parse(text: str) -> ast.Module | None:
    """A program's tree; one refusal asks several times for that of its file."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def expression_at(location: PythonLocation) -> ast.AST | None:
    """The expression that an instruction computes."""
    line, end_line, column, end_column = location.position
    linecache.checkcache(location.code.co_filename)  # another file may have had the name
    tree = _parse("".join(linecache.getlines(location.code.co_filename)))
    last = None
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, _KINDS):
            if (node.end_lineno, node.end_col_offset) != (end_line, end_column):
                continue
            if (node.lineno, node.col_offset) == (line, column):
                return node
            if isinstance(node, ast.Call):  # of a call on several lines, the last one counts
                last = node
    return last


def argument_nodes(node: ast.AST, entry: FrameType) -> Iterator[tuple[str | None, ast.expr]]:
    """What is written for each parameter of the function that an expression calls."""
    code = entry.f_code
    names = list(code.co_varnames[: code.co_argcount])
    match node:
        case ast.Call():
            yield from _call_arguments(node, names, entry)
        case ast.BinOp(left=one, right=other):
            reflected = code.co_name.startswith("__r") and code.co_name != "__rshift__"
            yield from zip(names, (other, one) if reflected else (one, other), strict=False)
        case ast.Compare(left=one, ops=[compared], comparators=[other]):
            wanted = _COMPARED.get(type(compared), code.co_name)
            reflected = wanted != code.co_name or isinstance(one, ast.Constant)
            yield from zip(names, (other, one) if reflected else (one, other), strict=False)
        case ast.AugAssign(target=one, value=other) | ast.Subscript(value=one, slice=other):
            yield from zip(names, (one, other), strict=False)
        case ast.UnaryOp(operand=one) | ast.Attribute(value=one):
            yield from zip(names, (one,), strict=False)


def _call_arguments(
    node: ast.Call, names: list[str], entry: FrameType
) -> Iterator[tuple[str | None, ast.expr]]:
    """What a call gives: the object of a method first, then arguments by place and by name."""
    function = node.func
    if names[:1] == ["self"] and not _is_class(function, entry):
        on = isinstance(function, ast.Attribute) and function.attr == entry.f_code.co_name
        yield "self", function.value if on else function  # type: ignore[attr-defined]
        names = names[1:]
    names += [f"*{i}" for i in range(len(node.args) - len(names))]
    for name, argument in zip(names, node.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        yield name, argument
    yield from ((each.arg, each.value) for each in node.keywords)


def _is_class(function: ast.expr, entry: FrameType) -> bool:
    """Whether a method is called on its class: `Tensor.cast(x, ...)`."""
    if not isinstance(function, ast.Attribute):
        return False
    name = ast.unparse(function.value).rpartition(".")[2]
    return name in [kind.__name__ for kind in type(entry.f_locals.get("self")).__mro__]


def elements(node: ast.expr) -> list[ast.expr]:
    """What is written in a list or a tuple, if all of it is; else nothing."""
    items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    return [] if any(isinstance(each, ast.Starred) for each in items) else items


def element(node: ast.expr, key: int | str) -> ast.expr | None:
    """What is written at an index of a list, or for a key of a dictionary."""
    if isinstance(node, ast.Dict):
        keys = [each.value if isinstance(each, ast.Constant) else None for each in node.keys]
        return node.values[keys.index(key)] if key in keys else None
    items = elements(node)
    return items[key] if isinstance(key, int) and key < len(items) else None


def span_of(location: PythonLocation, node: ast.expr | ast.keyword) -> Span:
    """The place of an expression in the file that a location is in."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    path = location.code.co_filename
    return span_between(path, node.lineno, node.col_offset, end_line, end_column)


def text_of(location: PythonLocation, node: ast.expr) -> str:
    """An expression as it is written; empty if it goes over several lines."""
    if node.lineno != node.end_lineno:
        return ""
    line = linecache.getline(location.code.co_filename, node.lineno).encode()
    return line[node.col_offset : node.end_col_offset].decode(errors="replace")


# Modules whose frames check an argument and do not take it.
CHECKS = ("tripybuild.frontend.checks.", "tripybuild.trace.")
GUARD = "tripybuild.frontend.guard"  # a frame that hands on what it is given
LONGEST = 40  # letters of an operand that is called as it is written
MOST = 4  # tensors of a list that are followed to where they were made
_SCALARS = (bool, int, float, str, type(None))  # things that are equal without being the same


@dataclass(frozen=True)
class CallSite:
    """A call that is being made: where it is, and the frames between the user's code and the check.

    `entry` is what the user called, `checked` is what takes the argument that is looked at. `whole`
    is the operator that was called, where what is checked may be a part of it.
    """

    location: PythonLocation
    entry: FrameType
    checked: FrameType
    whole: str = ""

    def argument(self, name: str, path: Sequence[int | str] = ()) -> Span | None:
        """The place of what is given for a parameter of what is checked.

        Args:
            name: The parameter.
            path: Which element of the nested lists and dictionaries that it is given.

        Returns:
            None, where the source does not say it: a default, or `*several`.
        """
        node = expression_at(self.location)
        if node is None:
            return None
        given = dict(argument_nodes(node, self.entry)).get(self._parameter(name))
        if given is None:
            return None
        for index in path:
            inner = element(given, index)
            if inner is None:
                break
            given = inner
        return span_of(self.location, given)

    def operand_texts(self) -> dict[str, str]:
        """What the user wrote for the parameters of what is checked, where it is no call.

        `a + b` names no parameters, so they are called as they are written: `a` and `b`. An index,
        and what is long or on several lines, keeps the name of its parameter.
        """
        node = expression_at(self.location)
        if isinstance(node, ast.Call):
            return {}
        index = node.slice if isinstance(node, ast.Subscript) else None
        named = {
            name: operand for name, operand in self._argument_nodes(node) if operand is not index
        }
        return {name: text for name, text in self.argument_texts().items() if name in named}

    def argument_texts(self) -> dict[str, str]:
        """What the user wrote for each parameter of what is checked, and for each tensor of a list.

        An index that is no expression, and what is long or on several lines, is not there.
        """
        node = expression_at(self.location)
        found: dict[str, str] = {}
        for name, operand in self._argument_nodes(node):
            in_brackets = isinstance(node, ast.Subscript) and operand is node.slice
            if in_brackets and isinstance(operand, (ast.Slice, ast.Tuple)):
                continue
            items = elements(operand)
            parts = {name: operand} | {f"{name}[{i}]": each for i, each in enumerate(items)}
            texts = {part: text_of(self.location, each) for part, each in parts.items()}
            found |= {part: text for part, text in texts.items() if 0 < len(text) <= LONGEST}
        return found

    def _argument_nodes(self, node: ast.AST | None) -> Iterator[tuple[str, ast.expr]]:
        """What is written for the parameters of what is checked."""
        given = {} if node is None else dict(argument_nodes(node, self.entry))
        for name, _ in _values(self.checked):
            operand = given.get(self._parameter(name))
            if operand is not None:
                yield name, operand

    def _parameter(self, name: str) -> str | None:
        """What the parameter is called in the function that the user called."""
        outer = dict(_values(self.entry))
        if name in outer and name not in self.checked.f_locals:
            return name
        value = self.checked.f_locals.get(name)
        same = [each for each, found in outer.items() if _is_same(found, value)]
        if name in same or (
            name in outer and self.entry.f_code.co_name == _operator_name(self.checked)
        ):
            return name
        distinct = not isinstance(value, _SCALARS) or self.entry is self.checked
        return same[0] if len(same) == 1 and distinct else None

    def tensors(self, names: Sequence[str] | None = None) -> Iterator[tuple[str, Value]]:
        """The tensors among the arguments of what is checked, or those of some names."""
        for name, value in _values(self.checked):
            if names is not None and name not in names:
                continue
            if isinstance(value, (list, tuple)):
                for index, each in enumerate(value[:MOST]):
                    if (found := _value(each)) is not None:
                        yield f"{name}[{index}]", found
            elif (found := _value(value)) is not None:
                yield name, found


def call_at(location: Location) -> CallSite | None:
    """The call that is being made at a place; None where it is not one in a user's Python code."""
    if not isinstance(location, PythonLocation):
        return None
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
    frames: list[FrameType] = []
    while frame is not None:
        if frame.f_code is location.code and frame.f_lasti == location.instruction:
            break
        if _module_name(frame) != GUARD:
            frames.append(frame)
        frame = frame.f_back
    checked = next((each for each in frames if not _module_name(each).startswith(CHECKS)), None)
    if frame is None or checked is None:
        return None
    whole = next((name for each in reversed(frames) if (name := _operator_name(each))), "")
    return CallSite(location, frames[-1], checked, whole)


def keyword_span(location: Location, name: str) -> Span | None:
    """The place of `name=...` in the call that is written at a place."""
    if isinstance(location, PythonLocation) and isinstance(
        node := expression_at(location), ast.Call
    ):
        return next((span_of(location, each) for each in node.keywords if each.arg == name), None)
    return None


def argument_span(location: Location, index: int) -> Span | None:
    """The place of an argument without a name in the call that is written at a place."""
    if isinstance(location, PythonLocation) and isinstance(
        node := expression_at(location), ast.Call
    ):
        first = node.args[: index + 1]
        if len(first) > index and not any(isinstance(each, ast.Starred) for each in first):
            return span_of(location, first[index])
    return None


def origins(tensors: Mapping[str, Value], span: Span) -> Iterator[Related]:
    """Where tensors were made, but for those that are made in the line that is shown anyway."""
    seen = {span}
    for name, value in tensors.items():
        location = value.producer.location if value.producer is not None else None
        if not isinstance(location, PythonLocation):
            continue
        place = location.span()
        if place not in seen and not _is_within(place, span):
            seen.add(place)
            yield Related(f"`{name}` is {value.type}, made here", place)


def _module_name(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _operator_name(frame: FrameType) -> str:
    """The name of the operator that a frame checks."""
    check = frame.f_locals.get("check")
    return str(getattr(getattr(check, "declaration", None), "name", ""))


def _values(frame: FrameType) -> Iterator[tuple[str, Any]]:
    """What a function was given, by the parameters' names: `*1` for the second of `*several`."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    for name in code.co_varnames[:count]:
        yield name, frame.f_locals.get(name)
    if code.co_flags & CO_VARARGS:
        several = frame.f_locals.get(code.co_varnames[count], ())
        yield from ((f"*{i}", value) for i, value in enumerate(several))
        count += 1
    if code.co_flags & CO_VARKEYWORDS:
        yield from frame.f_locals.get(code.co_varnames[count], {}).items()


def _value(given: object) -> Value | None:
    """The value of a graph that something stands for."""
    found = getattr(given, "value", given)
    return found if isinstance(found, Value) and isinstance(found.type, TensorType) else None


def _is_same(one: object, other: object) -> bool:
    """Whether two arguments are the same one; a list is copied on its way to a check."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_is_same, one, other))
    value = _value(one)
    return one is other or (value is not None and value is _value(other))


def _is_within(inner: Span, outer: Span) -> bool:
    """Whether a place is in the line that is shown of a larger one."""
    return (inner.path, inner.line) == (outer.path, outer.line) and (
        outer.column <= inner.column
        and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    )

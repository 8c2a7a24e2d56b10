"""Where an argument of a call is written, and where the tensors in it come from.

Nothing of this is noted while recording. When a call is refused, its frames are still there: the
user's, which says where the call is, and ours, which say what was given for which parameter. The
user's source says the rest.
"""

import ast
import linecache
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FrameType
from typing import Any

from tripybuild.diagnostics import Related, Span
from tripybuild.trace.location import Location, PythonLocation, span_between
from tripybuild.trace.values import TensorType, Value

CHECKS = "tripybuild.trace."  # modules whose frames check an argument and do not take it
GUARD = "tripybuild.frontend.guard"  # a frame that hands on what it is given
LONGEST = 40  # letters of an operand that is called as it is written
MOST = 4  # tensors of a list that are followed to where they were made
_SCALARS = (bool, int, float, str, type(None))  # things that are equal without being the same
_COMPARED = {
    ast.Lt: "__lt__", ast.LtE: "__le__", ast.Gt: "__gt__", ast.GtE: "__ge__",
}  # fmt: skip


@dataclass(frozen=True)
class CallSite:
    """A call that is being made: where it is, and the frames between the user's code and the check.

    `entry` is what the user called, `checked` is what takes the argument that is looked at.
    """

    location: PythonLocation
    entry: FrameType
    checked: FrameType

    def argument(self, name: str, path: Sequence[int] = ()) -> Span | None:
        """The place of what is given for a parameter of what is checked.

        Args:
            name: The parameter.
            path: Which element of the nested lists that it is given.

        Returns:
            None, where the source does not say it: a default, or `*several`.
        """
        node = _written(self.location)
        if node is None:
            return None
        given = dict(_given(node, self.entry)).get(self._parameter(name))
        if given is None:
            return None
        for index in path:
            items = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
            if index >= len(items) or any(isinstance(each, ast.Starred) for each in items):
                break
            given = items[index]
        return _span(self.location, given)

    def operands(self) -> dict[str, str]:
        """What the user wrote for the parameters of what is checked, where it is no call.

        `a + b` names no parameters, so they are called as they are written: `a` and `b`. An index,
        and what is long or on several lines, keeps the name of its parameter.
        """
        node = _written(self.location)
        if node is None or isinstance(node, ast.Call):
            return {}
        given = dict(_given(node, self.entry))
        found = {}
        for name, _ in _values(self.checked):
            operand = given.get(self._parameter(name))
            if isinstance(node, ast.Subscript) and operand is node.slice:
                continue
            text = "" if operand is None else _text(self.location, operand)
            if 0 < len(text) <= LONGEST:
                found[name] = text
        return found

    def _parameter(self, name: str) -> str | None:
        """What the parameter is called in the function that the user called."""
        outer = dict(_values(self.entry))
        if name in outer and name not in self.checked.f_locals:
            return name
        value = self.checked.f_locals.get(name)
        same = [each for each, found in outer.items() if _is(found, value)]
        if name in same or (name in outer and self.entry.f_code.co_name == _operator(self.checked)):
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
        if _module(frame) != GUARD:
            frames.append(frame)
        frame = frame.f_back
    checked = next((each for each in frames if not _module(each).startswith(CHECKS)), None)
    if frame is None or checked is None:
        return None
    return CallSite(location, frames[-1], checked)


def written_keyword(location: Location, name: str) -> Span | None:
    """The place of `name=...` in the call that is written at a place."""
    node = _written(location) if isinstance(location, PythonLocation) else None
    for each in node.keywords if isinstance(node, ast.Call) else ():
        if each.arg == name and isinstance(location, PythonLocation):
            return _span(location, each)
    return None


def written_argument(location: Location, index: int) -> Span | None:
    """The place of an argument without a name in the call that is written at a place."""
    node = _written(location) if isinstance(location, PythonLocation) else None
    found = node.args if isinstance(node, ast.Call) else []
    starred = any(isinstance(each, ast.Starred) for each in found[: index + 1])
    if index >= len(found) or starred or not isinstance(location, PythonLocation):
        return None
    return _span(location, found[index])


def origins(tensors: Mapping[str, Value], span: Span) -> Iterator[Related]:
    """Where tensors were made, but for those that are made in the line that is shown anyway."""
    seen = {span}
    for name, value in tensors.items():
        location = value.producer.location if value.producer is not None else None
        if not isinstance(location, PythonLocation):
            continue
        place = location.span()
        if place not in seen and not _shown_in(place, span):
            seen.add(place)
            yield Related(f"`{name}` is {value.type}, made here", place)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _operator(frame: FrameType) -> str:
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


def _is(one: object, other: object) -> bool:
    """Whether two arguments are the same one; a list is copied on its way to a check."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_is, one, other))
    value = _value(one)
    return one is other or (value is not None and value is _value(other))


def _written(location: PythonLocation) -> ast.AST | None:
    """The expression that an instruction computes."""
    line, end_line, column, end_column = location.position
    try:
        tree = ast.parse("".join(linecache.getlines(location.code.co_filename)))
    except (SyntaxError, ValueError):
        return None
    last = None
    for node in ast.walk(tree):
        if isinstance(node, _KINDS):
            if (node.end_lineno, node.end_col_offset) != (end_line, end_column):
                continue
            if (node.lineno, node.col_offset) == (line, column):
                return node
            if isinstance(node, ast.Call):  # of a call on several lines, the last one counts
                last = node
    return last


_KINDS = (
    ast.Call, ast.BinOp, ast.AugAssign, ast.Compare, ast.UnaryOp, ast.Subscript, ast.Attribute,
)  # fmt: skip


def _given(node: ast.AST, entry: FrameType) -> Iterator[tuple[str | None, ast.expr]]:
    """What is written for each parameter of the function that an expression calls."""
    code = entry.f_code
    names = list(code.co_varnames[: code.co_argcount])
    match node:
        case ast.Call():
            yield from _called(node, names, entry)
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


def _called(
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


def _span(location: PythonLocation, node: ast.expr | ast.keyword) -> Span:
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    path = location.code.co_filename
    return span_between(path, node.lineno, node.col_offset, end_line, end_column)


def _text(location: PythonLocation, node: ast.expr) -> str:
    """An expression as it is written; empty if it goes over several lines."""
    if node.lineno != node.end_lineno:
        return ""
    line = linecache.getline(location.code.co_filename, node.lineno).encode()
    return line[node.col_offset : node.end_col_offset].decode(errors="replace")


def _shown_in(inner: Span, outer: Span) -> bool:
    """Whether a place is in the line that is shown of a larger one."""
    return (inner.path, inner.line) == (outer.path, outer.line) and (
        outer.column <= inner.column
        and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    )

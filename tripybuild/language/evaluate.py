"""Tree-walking evaluator of snippets: never compiles, reaches values by closed tables only.

A name is looked up in the snippet's own lines, then in `names`, then in the vocabulary. Values of
the host (sizes, tensors, arrays) take part through Python's operators. What goes wrong is an
`EvaluationError` at the node where it did, except for what passes through unchanged: an error
that carries diagnostics, `Undecided`, a budget that is spent, and the types in `passes`.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from tripybuild.errors.budget import current
from tripybuild.language.frame import COLLECTIONS, EvaluationError, Frame, Meter, is_type_error
from tripybuild.language.grammar import Assignment, Program
from tripybuild.language.limits import MAXIMUM_STEPS, check_length, show
from tripybuild.language.operations import Truth, binary, comparison, unary
from tripybuild.language.program import Choice, Function, Let, LetBinding
from tripybuild.language.records import Record
from tripybuild.language.vocabulary import Vocabulary

__all__ = ["EvaluationError", "evaluate"]


def evaluate(
    program: Program | ast.expr,
    names: Mapping[str, object],
    vocabulary: Vocabulary,
    *,
    passes: tuple[type[BaseException], ...] = (),
    blamed: list[ast.AST] | None = None,
) -> Any:
    """Give the value of a snippet that `grammar.parse` accepted.

    Args:
        program: The snippet.
        names: What its names mean.
        vocabulary: What else it can name and do.
        passes: Errors that pass through unchanged, beside those that say more by themselves.
        blamed: Takes the nodes at which such an error came up, the innermost first.
    """
    meter = Meter(passes, blamed)
    frame = Frame({}, names, vocabulary, meter)
    file = current()
    if file is None:
        return _run(frame, program)
    try:
        return _run(frame, program)
    finally:
        file.spend("steps", MAXIMUM_STEPS - meter.left)


def _run(frame: Frame, program: Program | ast.expr) -> Any:
    if not isinstance(program, Program):
        return _result(frame, program)
    _assign(frame, program.assignments)
    return _result(frame, program.result)


def _assign(frame: Frame, lines: Iterable[Assignment | LetBinding]) -> None:
    for line in lines:
        frame.assign(line.targets, _value(frame, line.value), line.value)


def _lines(frame: Frame, node: Let) -> Any:
    inner = frame.inner()
    _assign(inner, node.lines)
    return _value(inner, node.value)


class _LocalFunction:
    """A function of the snippet, which sees the names above it; its steps are the snippet's."""

    def __init__(self, frame: Frame, node: Function) -> None:
        self.frame, self.node = frame.inner(), node

    def __call__(self, *values: object) -> Any:
        parameters = self.node.parameters
        if len(values) != len(parameters):
            count = f"{len(parameters)} tensors, and is given {len(values)}"
            self.frame.fail(self.node, f"this function takes {count}")
        inner = self.frame.inner()
        inner.variables.update(zip(parameters, values, strict=True))
        return _value(inner, self.node.value)


def _result(frame: Frame, node: ast.expr) -> Any:
    """Give the last value, when what it holds can be walked in fair time."""
    value = _value(frame, node)
    if isinstance(value, COLLECTIONS):
        frame.charge(value, node)
    return value


def _value(frame: Frame, node: ast.expr) -> Any:
    meter = frame.meter
    meter.left -= 1
    if meter.left < 0:
        frame.fail_limit(node)
    return _WALKERS[type(node)](frame, node)


def _constant(_: Frame, node: ast.Constant) -> Any:
    return node.value


def _attribute(frame: Frame, node: ast.Attribute) -> Any:
    if (entries := namespace(frame, node.value)) is not None:
        return entry(frame, node, entries)
    return attribute(frame, node, _value(frame, node.value), "attribute")


def _display(frame: Frame, elements: list[ast.expr]) -> list[Any]:
    found: list[Any] = []
    for element in elements:
        if isinstance(element, ast.Starred):
            found.extend(frame.to_list(_value(frame, element.value), element))
            try:
                check_length(len(found))
            except ValueError as error:
                frame.wrap(element, error, "too many values")
        else:
            found.append(_value(frame, element))
    return found


def _list(frame: Frame, node: ast.List) -> list[Any]:
    return _display(frame, node.elts)


def _tuple(frame: Frame, node: ast.Tuple) -> tuple[Any, ...]:
    return tuple(_display(frame, node.elts))


def _dict(frame: Frame, node: ast.Dict) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is not None:
            _put(frame, made, key, value)
    return made


def _put(frame: Frame, made: dict[Any, Any], key: ast.expr, value: ast.expr) -> None:
    name = _value(frame, key)
    frame.charge(name, key)  # a key is hashed with all that it holds
    item = _value(frame, value)
    try:
        made[name] = item
    except Exception as error:  # noqa: BLE001
        frame.wrap(key, error, f"{show(name)} cannot be a key")


def _list_comprehension(frame: Frame, node: ast.ListComp) -> list[Any]:
    return [_value(inner, node.elt) for inner in _loops(frame.inner(), node.generators)]


def _dict_comprehension(frame: Frame, node: ast.DictComp) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for inner in _loops(frame.inner(), node.generators):
        _put(inner, made, node.key, node.value)
    return made


def _generator(frame: Frame, node: ast.GeneratorExp) -> Iterator[Any]:
    return (_value(inner, node.elt) for inner in _loops(frame.inner(), node.generators))


def _loops(inner: Frame, generators: list[ast.comprehension]) -> Iterator[Frame]:
    """Bind the names of a comprehension to each of their values in turn."""
    loop, *rest = generators
    for item in inner.to_list(_value(inner, loop.iter), loop.iter):
        inner.bind(loop.target, item)
        if all(inner.truth(_value(inner, test), test) for test in loop.ifs):
            if rest:
                yield from _loops(inner, rest)
            else:
                yield inner


def _unary(frame: Frame, node: ast.UnaryOp) -> Any:
    return unary(frame, node, _value(frame, node.operand))


def _binary(frame: Frame, node: ast.BinOp) -> Any:
    left = _value(frame, node.left)
    return binary(frame, node, left, _value(frame, node.right))


def _compare(frame: Frame, node: ast.Compare) -> Any:
    value = _value(frame, node.left)
    truth, last = Truth(frame, node, decides=False), len(node.ops) - 1
    result: Any = True
    for index, (sign, following) in enumerate(zip(node.ops, node.comparators, strict=True)):
        left, value = value, _value(frame, following)
        result = comparison(frame, node, sign, left, value)
        if last and truth.short_circuits(result, node, is_last=index == last):
            return result
    return truth.whole(result)


def _boolean(frame: Frame, node: ast.BoolOp) -> Any:
    truth = Truth(frame, node, decides=isinstance(node.op, ast.Or))
    value: Any = None
    for part in node.values:
        try:
            value = _value(frame, part)
        except EvaluationError:
            truth.demand()  # it may have a value only where what is undecided says so
            raise
        if truth.short_circuits(value, part, is_last=part is node.values[-1]):
            return value
    return truth.whole(value)


def _conditional(frame: Frame, node: ast.IfExp) -> Any:
    holds = frame.truth(_value(frame, node.test), node.test)
    return _value(frame, node.body if holds else node.orelse)


def _subscript(frame: Frame, node: ast.Subscript) -> Any:
    value = _value(frame, node.value)
    key = _value(frame, node.slice)
    if isinstance(key, tuple):
        frame.charge(key, node.slice)
    try:
        part = value[key]
    except Exception as error:  # noqa: BLE001
        if is_type_error(error):
            frame.fail(node, f"{show(value)} cannot be read at {show(key)}")
        what = "such part" if isinstance(key, slice) else f"item {show(key)}"
        frame.wrap(node, error, f"{show(value)} has no {what}")
    return frame.check_value(part) if isinstance(key, slice) else part


def _slice(frame: Frame, node: ast.Slice) -> slice:
    bounds = (node.lower, node.upper, node.step)
    return slice(*(None if bound is None else _value(frame, bound) for bound in bounds))


def _call(frame: Frame, node: ast.Call) -> Any:
    function, lazy = _function(frame, node.func)
    arguments: list[Any] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            arguments.extend(_display(frame, [argument]))
            continue
        value = _value(frame, argument)
        if isinstance(argument, ast.GeneratorExp) and not lazy:
            value = frame.to_list(value, argument)
        arguments.append(value)
    named = {word.arg: _value(frame, word.value) for word in node.keywords if word.arg}
    for value in (*arguments, *named.values()) if named else arguments:
        if isinstance(value, COLLECTIONS):
            frame.charge(value, node)
    try:
        return frame.check_value(function(*arguments, **named))
    except Exception as error:  # noqa: BLE001
        if is_type_error(error) and arguments and isinstance(node.func, ast.Name):
            shown = ", ".join(map(show, arguments))
            frame.fail(node, f"`{node_text(node.func)}` does not take {shown}")
        return frame.wrap(node, error, f"`{node_text(node.func)}`")


def _function(frame: Frame, node: ast.expr) -> tuple[Callable[..., Any], bool]:
    """Find what is called, and whether it takes a generator as it is."""
    if isinstance(node, ast.Name) and node.id not in frame.variables:
        value = name_value(frame, node)
        if callable(value):
            lazy = node.id in frame.vocabulary.lazy and node.id not in frame.names
            return value, lazy
    elif isinstance(node, ast.Attribute):
        return _method(frame, node), False
    else:
        value = _value(frame, node)
    return require_callable(frame, node, value), False


def _method(frame: Frame, node: ast.Attribute) -> Callable[..., Any]:
    if (entries := namespace(frame, node.value)) is not None:
        return require_callable(frame, node, entry(frame, node, entries))
    value = _value(frame, node.value)
    if not frame.vocabulary.has_method(value, node.attr):
        return require_callable(frame, node, attribute(frame, node, value, "method"))
    try:
        return getattr(value, node.attr)  # type: ignore[no-any-return]
    except Exception as error:  # noqa: BLE001
        frame.wrap(node, error, f"`{node.attr}` of {show(value)}")


def name_value(frame: Frame, node: ast.Name) -> Any:
    """Find the value of a name."""
    name = node.id
    if name in frame.variables:
        return frame.variables[name]
    try:
        if name in frame.names:
            return frame.names[name]
    except Exception as error:  # noqa: BLE001  names may be computed on demand
        frame.wrap(node, error, f"`{name}`")
    if name in frame.words:
        return frame.words[name]
    if name in frame.vocabulary.namespaces:
        frame.fail(node, f"`{name}` is not a value; write `{name}.` and one of its names")
    return frame.fail(node, f"`{name}` is not defined", "unbound-name")


def namespace(frame: Frame, node: ast.expr) -> Mapping[str, object] | None:
    """Find the namespace that a name stands for, where nothing hides it."""
    if not isinstance(node, ast.Name) or node.id not in frame.vocabulary.namespaces:
        return None
    if node.id in frame.variables or node.id in frame.names or node.id in frame.words:
        return None
    return frame.vocabulary.namespaces[node.id]


def entry(frame: Frame, node: ast.Attribute, entries: Mapping[str, object]) -> Any:
    """Find `np.where` in the namespace `np`."""
    if node.attr not in entries:
        frame.fail(node, f"`{node_text(node)}` is not defined", "unbound-name")
    return entries[node.attr]


def attribute(frame: Frame, node: ast.Attribute, value: Any, what: str) -> Any:
    """Read an attribute that the vocabulary allows on values of this type."""
    if not frame.vocabulary.has_attribute(value, node.attr):
        frame.fail(node, f"{show(value)} has no {what} `{node.attr}` here")
    try:
        return value[node.attr] if isinstance(value, Record) else getattr(value, node.attr)
    except AttributeError as error:
        return frame.fail(node, str(error)[:300])
    except Exception as error:  # noqa: BLE001  a property may raise anything
        frame.wrap(node, error, f"`{node.attr}` of {show(value)}")


def require_callable(frame: Frame, node: ast.expr, value: Any) -> Callable[..., Any]:
    """Let a value be called that is of the snippet or the vocabulary, or a name of the host's."""
    if callable(value) and (
        isinstance(value, _LocalFunction)
        or frame.vocabulary.may_call(value)
        or any(value is own for own in frame.names.values())
    ):
        return value  # type: ignore[no-any-return]
    if isinstance(value, list) and frame.vocabulary.lists is not None:
        return frame.vocabulary.lists(value)
    return frame.fail(node, f"`{node_text(node)}` is {show(value)}, which cannot be called")


def node_text(node: ast.expr) -> str:
    """Write a node for a message."""
    return ast.unparse(node)[:60]


_WALKERS: Final[dict[type[ast.AST], Callable[[Frame, Any], Any]]] = {
    ast.Name: name_value,
    ast.Constant: _constant,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Dict: _dict,
    ast.ListComp: _list_comprehension,
    ast.DictComp: _dict_comprehension,
    ast.GeneratorExp: _generator,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    Choice: _conditional,
    Let: _lines,
    Function: _LocalFunction,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Attribute: _attribute,
}

"""Name resolution of plain and dotted names, and whether the result is callable.

The order is: the snippet's own lines, the host's names, the vocabulary's words, its namespaces.
"""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from tripybuild.language.frame import Frame
from tripybuild.language.limits import show


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
        return getattr(value, node.attr)
    except AttributeError as error:
        return frame.fail(node, str(error)[:300])
    except Exception as error:  # noqa: BLE001  a property may raise anything
        frame.wrap(node, error, f"`{node.attr}` of {show(value)}")


def require_callable(frame: Frame, node: ast.expr, value: Any) -> Callable[..., Any]:
    """Let a value be called that is of the vocabulary, or is one of the host's names."""
    if callable(value) and (
        frame.vocabulary.may_call(value) or any(value is own for own in frame.names.values())
    ):
        return value  # type: ignore[no-any-return]
    return frame.fail(node, f"`{node_text(node)}` is {show(value)}, which cannot be called")


def node_text(node: ast.expr) -> str:
    """Write a node for a message."""
    return ast.unparse(node)[:60]

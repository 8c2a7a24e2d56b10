"""What rules read of the syntax of this repository's files."""

import ast
from collections.abc import Iterator

STATEMENTS = ast.stmt, ast.ExceptHandler, ast.match_case


def statements(node: ast.AST, *, types: bool = True) -> Iterator[ast.AST]:
    """The statements below a node, at any depth.

    Args:
        node: A module, or a part of it.
        types: Whether those count that only type checkers see.
    """
    found = [node]
    while found:
        for child in ast.iter_child_nodes(found.pop()):
            if isinstance(child, STATEMENTS) and (types or not is_type_checking(child)):
                found.append(child)
                yield child


def is_type_checking(node: ast.AST) -> bool:
    """Whether a statement is an `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"

"""Snippet values of a file, whichever YAML scalar type they are spelled with."""

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypeAliasType

# A snippet of the closed language. YAML's own numbers, booleans and lists are snippets too.
_RULE = (
    "An expression in Python, in quotes where YAML needs them; a string has quotes of its own: "
    "`\"'zeros'\"`. Constants are YAML's: `1`, `true`, `null`."
)
Expression = TypeAliasType(
    "Expression",
    Annotated[str | int | float | bool | list[Any] | None, Field(description=_RULE)],
)


def expression_text(value: object) -> str:
    """A YAML value as the text of a snippet: YAML's own numbers and lists are Python's too."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(expression_text, value))}]"
    return repr(value)

"""Values of a file that are snippets, whichever way YAML spells them."""

from typing import Any

# A snippet of the closed language. YAML's own numbers, booleans and lists are snippets too.
Expression = str | int | float | bool | None | list[Any]


def expression_text(value: object) -> str:
    """A YAML value as the text of a snippet: YAML's own numbers and lists are Python's too."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(expression_text, value))}]"
    return repr(value)

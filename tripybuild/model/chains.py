"""Chains: a list of parts, called as a scan over its items.

A list under `parts:` has a path, and a list that a step makes of parts has none.
The first output is threaded through, further outputs are collected, further inputs are shared, and
`each(xs)` deals one item to each part. No parts give back what came in. An operator may stand
among the parts: `[Linear(4, 8), relu, Linear(8, 2)]` is what `tp.Sequential` is in Python.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.checks.messages import format_value
from tripybuild.model.context import BuildContext
from tripybuild.model.templates import Repeatable


class Each:
    """`each(xs)`: one item for each part of a chain."""

    def __init__(self, items: Sequence[object]) -> None:
        self.items = items


def chunks(items: Sequence[object], size: int) -> list[list[object]]:
    """`chunks(stack, 3)`: the items in groups of a size; the last may be smaller."""
    return [list(items[begin : begin + size]) for begin in range(0, len(items), size)]


class Chain:
    """A list of parts; its items can be called one by one, too.

    Args:
        context: The build.
        path: The name of the list; empty for one that a step makes.
        parts: The items, which may be chains.
    """

    NOUN: ClassVar = "a list of parts"  # in messages of snippets

    def __init__(self, context: BuildContext, path: str, parts: Sequence[object]) -> None:
        self.context, self.path, self.parts = context, path, parts

    def __getitem__(self, index: int) -> object:
        """One of the parts, or some of them as a chain."""
        found = self.parts[index]
        return Chain(self.context, self.path, found) if isinstance(index, slice) else found

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[object]:
        return iter(self.parts)

    def __repr__(self) -> str:
        return f"the parts `{self.path}`" if self.path else "a list of parts"

    def __call__(self, /, *given: object, **named: object) -> object:
        """Run the parts in order."""
        if not given:
            whole = f"`{self.path}`" if self.path else "a list of parts"
            raise self._argument_error(f"{whole} takes what its first part takes, by position")
        first, *shared = given
        for item in (*shared, *named.values()):
            if isinstance(item, Each) and len(item.items) != len(self.parts):
                whole = f"`{self.path}`" if self.path else "the list"
                found = f"`each` has {len(item.items)} items"
                raise self._argument_error(f"{whole} has {len(self.parts)} parts, but {found}")
        collected: list[list[object]] | None = None
        for index, part in enumerate(self.parts):
            if not callable(part) or isinstance(part, Repeatable):
                raise self._refusal(index, part)
            own = [_item_at(item, index) for item in shared]
            result = part(first, *own, **{n: _item_at(item, index) for n, item in named.items()})
            first, *rest = result if isinstance(result, tuple) else (result,)
            collected = [[] for _ in rest] if collected is None else collected
            if len(rest) != len(collected):
                before = f"{self._item_name(0)} gives {len(collected) + 1}"
                outputs = f"{len(rest) + 1} output{'s' if rest else ''}"
                found = f"gives {outputs}, but {before}"
                raise self._argument_error(f"{self._item_name(index)} {found}", "step-count")
            for column, item in zip(collected, rest, strict=True):
                column.append(item)
        result = (first, *collected) if collected else first
        return self.context.observe_call(self.path, result)

    def _item_name(self, index: int) -> str:
        return f"`{self.path}.{index}`" if self.path else f"item {index} of the list"

    def _refusal(self, index: int, part: object) -> DiagnosticError:
        """The refusal of an item that is no part."""
        message = f"{self._item_name(index)} is {format_value(part)}, which is not a part to call"
        hint = None
        if part is None:
            hint = "`[]` stands for a part that does nothing; leave out one that is absent"
        elif isinstance(part, Repeatable):
            hint = f"a part of `{part.name}` has a name: declare it under `parts:`"
        return self._argument_error(message, hint=hint)

    def _argument_error(
        self, message: str, code: str = "part-arguments", hint: str | None = None
    ) -> DiagnosticError:
        return DiagnosticError(Diagnostic(code, message, self.context.current_span(), hint=hint))


def list_of_parts(context: BuildContext, items: Sequence[object]) -> Chain:
    """A list that a step made of parts, as what can be called; lists in it are chains, too."""
    inner = [list_of_parts(context, i) if isinstance(i, (list, tuple)) else i for i in items]
    return Chain(context, "", inner)


def _item_at(item: object, index: int) -> object:
    return item.items[index] if isinstance(item, Each) else item


# What models need beside operators: to deal items to the parts of a chain, and to group them.
LISTS: Mapping[str, object] = {"each": Each, "chunks": chunks}

"""Chains: a list of parts, called as a scan over its items.

The first output is threaded through, further outputs are collected, further inputs are shared, and
`each(xs)` deals one item to each part. No parts give back what came in. An operator may stand
among the parts: `[Linear(4, 8), relu, Linear(8, 2)]` is what `tp.Sequential` is in Python.
"""

from collections.abc import Iterator, Mapping, Sequence

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.context import BuildContext


class Each:
    """`each(xs)`: one item for each part of a chain."""

    def __init__(self, items: Sequence[object]) -> None:
        self.items = items


def chunks(items: Sequence[object], size: int) -> list[list[object]]:
    """`chunks(stack, 3)`: the items in groups of a size; the last may be smaller."""
    return [list(items[begin : begin + size]) for begin in range(0, len(items), size)]


class Chain:
    """A list of parts with a path; its items can be called one by one, too."""

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
        return f"the parts `{self.path}`"

    def __call__(self, first: object, /, *shared: object, **named: object) -> object:
        """Run the parts in order."""
        for item in (*shared, *named.values()):
            if isinstance(item, Each) and len(item.items) != len(self.parts):
                found = f"`each` has {len(item.items)} items"
                raise self._argument_error(
                    f"`{self.path}` has {len(self.parts)} parts, but {found}"
                )
        collected: list[list[object]] | None = None
        for index, part in enumerate(self.parts):
            if not callable(part):
                raise self._argument_error(
                    f"`{self.path}.{index}` is {part!r}, which is not a part to call"
                )
            given = [_item_at(item, index) for item in shared]
            result = part(first, *given, **{n: _item_at(item, index) for n, item in named.items()})
            first, *rest = result if isinstance(result, tuple) else (result,)
            collected = [[] for _ in rest] if collected is None else collected
            if len(rest) != len(collected):
                found = f"{len(rest) + 1} outputs, but `{self.path}.0` gives {len(collected) + 1}"
                raise self._argument_error(f"`{self.path}.{index}` gives {found}", "step-count")
            for column, item in zip(collected, rest, strict=True):
                column.append(item)
        return (first, *collected) if collected else first

    def _argument_error(self, message: str, code: str = "part-arguments") -> DiagnosticError:
        return DiagnosticError(Diagnostic(code, message, self.context.current_span()))


def _item_at(item: object, index: int) -> object:
    return item.items[index] if isinstance(item, Each) else item


# What models need beside operators: to deal items to the parts of a chain, and to group them.
LISTS: Mapping[str, object] = {"each": Each, "chunks": chunks}

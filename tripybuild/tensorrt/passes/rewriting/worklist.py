"""Worklist of ops: last in, first out, without duplicates."""

from xdsl.ir import Operation


class Worklist:
    """A stack of ops from which an op can be taken out of turn."""

    __slots__ = ("_places", "_stack")

    def __init__(self) -> None:
        self._stack: list[Operation | None] = []
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    def push(self, op: Operation) -> None:
        """Put an op on top, unless it waits already."""
        if id(op) not in self._places:
            self._places[id(op)] = len(self._stack)
            self._stack.append(op)

    def reverse(self) -> None:
        """Turn the stack over: what was pushed first is taken first."""
        self._stack = [op for op in reversed(self._stack) if op is not None]
        self._places = {id(op): place for place, op in enumerate(self._stack) if op is not None}

    def pop(self) -> Operation | None:
        """Take the op on top; None says that nothing waits."""
        while self._stack:
            op = self._stack.pop()
            if op is not None:
                del self._places[id(op)]
                return op
        return None

    def forget(self, op: Operation) -> None:
        """Take out an op that is erased."""
        place = self._places.pop(id(op), None)
        if place is not None:
            self._stack[place] = None

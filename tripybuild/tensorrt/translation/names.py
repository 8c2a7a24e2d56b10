"""Layer names: unique, and mapped back to operations."""

from typing import Any

from xdsl.ir import Operation

from tripybuild.tensorrt.translation import location_text

LONGEST = 2042  # TensorRT takes 4096 characters; this is where mlir-tensorrt cuts


class LayerNames:
    """The names in one network, and whose each is."""

    def __init__(self) -> None:
        self.owners: dict[str, Operation] = {}
        self.op: Any = None
        self.given: list[str] = []
        self.place = ""
        self.metadata: str | None = None
        self._base = ""
        self._counts: dict[str, int] = {}

    def enter(self, op: Operation) -> None:
        """Let the names that are given from now on be an operation's."""
        self.op, self.given = op, []
        self.place = location_text.text(op.location)
        place = self.place.replace('"', "")
        self._base = f"[{op.name}] loc({place})"[:LONGEST]
        self.metadata = location_text.metadata(op.location)

    def current(self) -> tuple[Any, ...]:
        """Return whose names are given now, for `resume`."""
        return self.op, self.given, self.place, self.metadata, self._base

    def resume(self, current: tuple[Any, ...]) -> None:
        """Go on with an operation after those inside of it."""
        self.op, self.given, self.place, self.metadata, self._base = current

    def unique(self) -> str:
        """Give the next name of the operation."""
        count = self._counts.get(self._base, 0)
        name = self._base if count == 0 else f"{self._base}_{count}"
        while name in self.owners:
            count += 1
            name = f"{self._base}_{count}"
        self._counts[self._base] = count + 1
        self.owners[name] = self.op
        self.given.append(name)
        return name

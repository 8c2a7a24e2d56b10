"""One thing that is wrong with an operation, in MLIR's words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """A message; MLIR puts the operation's name before it, or shows it bare."""

    message: str
    op_name_first: bool = True
    notes: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Give the message as it is shown for the operation of a name."""
        return f"'{name}' op {self.message}" if self.op_name_first else self.message

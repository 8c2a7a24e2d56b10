"""Verifier problem: one violation of an operation, in MLIR's words."""

from dataclasses import dataclass

from xdsl.ir import Operation


@dataclass(frozen=True, slots=True)
class OpProblem:
    """A message; MLIR puts the operation's name before it, or shows it bare.

    `at` is the operation that is shown, where it is another one, inside.
    """

    message: str
    op_name_first: bool = True
    notes: tuple[str, ...] = ()
    at: Operation | None = None

    def text(self, name: str) -> str:
        """Give the message as it is shown for the operation of a name."""
        shown = name if self.at is None else self.at.name
        return f"'{shown}' op {self.message}" if self.op_name_first else self.message

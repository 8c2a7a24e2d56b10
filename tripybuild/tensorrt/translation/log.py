"""TensorRT logger: messages are collected, cleaned, and drained after each step.

TensorRT logs what is wrong and goes on: a setter that it ignores leaves an ERROR behind and
nothing else. So the log is drained after each layer, and an error in it is an error.
"""

import re

ERROR, WARNING = 1, 2  # TensorRT's severities; 0 is an internal error, more than 2 is detail
MOST_ENTRIES = 1000

# After each error TensorRT adds one about the driver, where the machine has none.
NO_DRIVER = "cudaError 35"
_PREFIX = re.compile(
    r"\s*(?:\[[^\]\s]+::\w+::\d+\]|[\w:~]+:)\s*Error Code \d+:[^(]*\((.*)\)\s*\Z", re.DOTALL
)
_MYELIN = re.compile(r"\[\w+\.(?:cpp|h|hpp|cc):\d+: \w+\] ")
_PLACE = re.compile(r"\s*\bIn [\w:~<>]+(?: at /?[\w./-]+:\d+)?\.?\s*\Z")


class Log:
    """The messages since the log was last drained."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, str]] = []

    def write(self, severity: int, text: str) -> None:
        """Take one message; detail and what only says that there is no driver are dropped."""
        if severity <= WARNING and NO_DRIVER not in text and len(self._entries) < MOST_ENTRIES:
            self._entries.append((severity, text))

    def __bool__(self) -> bool:
        return bool(self._entries)

    def drain(self) -> tuple[str, ...]:
        """Forget all messages, and return those that are errors, each once."""
        entries, self._entries = self._entries, []
        return tuple(
            dict.fromkeys(clean_message(text) for level, text in entries if level <= ERROR)
        )


def clean_message(text: str) -> str:
    """Return a message without the places in TensorRT's own source."""
    found = _PREFIX.match(text)
    inner = text if found is None else found[1]
    shown = _MYELIN.sub("", _PLACE.sub("", inner))
    return " ".join(shown.split()) or " ".join(text.split())

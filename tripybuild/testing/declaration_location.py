"""Declaration locations: tests report the operator's declaration as the call site.

While its decomposition runs, the place is the line of it that is running.
"""

import ast
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType

from tripybuild.errors.diagnostics import Span
from tripybuild.language.cases import statements
from tripybuild.schema.operator.operator import Operator

# Below a generated package, what says an operator with others.
_LAYERS = ("ops", "decompositions")


@dataclass(frozen=True, slots=True)
class DeclarationLocation:
    """The declaration of an operator, as a location."""

    operator: Operator

    @property
    def label(self) -> str:
        """The operator's name."""
        return self.operator.name

    def span(self) -> Span:
        """The line of the decomposition that is running, or the whole of it, or the name."""
        snippet = self.operator.decompose
        if snippet is None:
            return self.operator.document.span(("op",))
        steps = statements(snippet.program)
        running = next(self._active_statements(len(steps)), None)
        return snippet.span(None if running is None else steps[running])

    def _active_statements(self, count: int) -> Iterator[int]:
        """Which statement of the decomposition is running, in frames from the nearest."""
        file = "/".join(filter(None, [self.operator.folder, f"{self.operator.name}.py"]))
        own = tuple(f"/{layer}/{file}" for layer in _LAYERS)
        frame = sys._getframe(1)  # noqa: SLF001 - the documented way to a frame
        while frame := frame.f_back:  # type: ignore[assignment]
            if frame.f_code.co_filename.endswith(own):
                lines = _last_lines(frame.f_code, count)
                yield from (i for i, each in enumerate(lines) if frame.f_lineno in each)


@lru_cache(maxsize=64)
def _last_lines(code: CodeType, count: int) -> tuple[range, ...]:
    """The lines of the last statements of a function: those of its snippet, behind the checks."""
    module = ast.parse("".join(linecache.getlines(code.co_filename)))
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            ends = ((each.lineno, each.end_lineno or each.lineno) for each in node.body[-count:])
            return tuple(range(first, last + 1) for first, last in ends)
    return ()

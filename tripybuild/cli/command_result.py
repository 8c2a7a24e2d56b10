"""Result of a command as data, independent of its output format."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tripybuild.errors.diagnostics import Diagnostic


@dataclass(frozen=True)
class CommandResult:
    """The result of a command; with diagnostics it is a failure. `code` is another exit code."""

    text: str = ""  # for stdout: what was asked for
    remark: str = ""  # for stderr: what was done
    data: Mapping[str, object] = field(default_factory=dict)  # for `--json`
    diagnostics: tuple[Diagnostic, ...] = ()
    code: int | None = None

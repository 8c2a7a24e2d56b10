"""Deprecation warnings, at the line of the call."""

import warnings
from typing import Any

from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.location import caller_location

_shown: dict[Any, Any] = {}  # Python's record of what it showed: once for each line


def warn_deprecation(name: str, instead: str, package: str) -> None:
    """Warn about a call, at the user's line or step.

    Args:
        name: The operator.
        instead: What its declaration says about it.
        package: The generated package that holds the operator.
    """
    span = caller_location({*PACKAGES, package}).span()
    message = f"`{name}` is deprecated: {instead}"
    # Python hides DeprecationWarning from users; what they call themselves concerns them.
    warnings.warn_explicit(message, FutureWarning, span.path, span.line, registry=_shown)

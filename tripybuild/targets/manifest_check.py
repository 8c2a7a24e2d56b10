"""The check of a manifest before anything in it is used: its form, its target, and its members."""

from collections.abc import Collection, Mapping
from typing import Any

from tripybuild.artifact.manifest_schema import check_content, manifest_error
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets.table import TARGETS, find_target


def check_manifest(content: Mapping[str, Any], members: Collection[str]) -> None:
    """Refuse a manifest that does not describe a model for a target that is here.

    Raises:
        DiagnosticError: It says at which key.
    """
    check_content(content)
    if content["target"] not in TARGETS:
        message = f"the executable is for the target `{content['target']}`, which is not one here"
        hint = f"compile the model again for one of {', '.join(f'`{each}`' for each in TARGETS)}"
        raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
    for member in find_target(content["target"]).required_members(content):
        if member not in members:
            raise manifest_error(f"it has no `{member}`")

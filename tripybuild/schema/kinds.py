"""File kinds, by the key that names the declaration."""

from tripybuild.schema.compositions import ForeignSystemFile
from tripybuild.schema.entries import StrictModel
from tripybuild.schema.files import (
    DefinitionsFile,
    FamilyFile,
    ModelFile,
    ModuleFile,
    OperatorFile,
)
from tripybuild.schema.target_files import TargetsFile
from tripybuild.schema.workspace_files import WorkspaceFile

TARGETS = "targets"  # the only file of its kind in a registry, hence its name
DEFINE = "define"
WORKSPACE = "workspace"

REGISTRY_KINDS: dict[str, type[StrictModel]] = {
    "op": OperatorFile,
    "family": FamilyFile,
    "module": ModuleFile,
    TARGETS: TargetsFile,
    "foreign": ForeignSystemFile,
}
KINDS: dict[str, type[StrictModel]] = {
    **REGISTRY_KINDS,
    "model": ModelFile,
    DEFINE: DefinitionsFile,
    WORKSPACE: WorkspaceFile,
}


def kind_of(data: object) -> str | None:
    """What a file declares, if it is one thing; operators have `targets:`, and models `define:`."""
    kinds = [kind for kind in KINDS if isinstance(data, dict) and kind in data]
    declared = [kind for kind in kinds if kind not in (TARGETS, DEFINE)] or kinds
    return declared[0] if len(declared) == 1 else None

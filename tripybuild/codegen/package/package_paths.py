"""Paths of generated code: one source path, mirrored in each layer."""

from typing import Protocol

BUILT_IN = "tripyapi"
SUITES, DOCS, SCHEMAS = "suites", "docs/operators", "schemas"
MODULE_DOCS = "docs/modules"


class PackageMember(Protocol):
    """Whatever has a name, and a folder below the registry's root."""

    @property
    def name(self) -> str:
        """The operator's name."""

    @property
    def folder(self) -> str:
        """The folder, or an empty text."""


def operator_path(operator: PackageMember, prefix: str = "") -> str:
    """`nn/softmax`: what all files of an operator have in common."""
    folder = f"{operator.folder}/" if operator.folder else ""
    return f"{folder}{prefix}{operator.name}"


def dotted_name(package: str, layer: str, operator: PackageMember) -> str:
    """`tripyapi.trace.nn.softmax`: the dotted name of an operator's file in one layer."""
    return ".".join([package, layer, *operator_path(operator).split("/")])


def generated_folders(package: str = BUILT_IN) -> tuple[str, ...]:
    """The folders that hold nothing but what is planned; anything else in them is stale."""
    return (package, SUITES, DOCS, MODULE_DOCS, *([SCHEMAS] if package == BUILT_IN else []))

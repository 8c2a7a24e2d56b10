"""Package fragments: one declaration's own files and its entries in shared files.

One declaration gives one file in each layer, on the same path. A fragment is plain data, so that it
can be kept for as long as its declaration stays the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

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


@dataclass(frozen=True, slots=True)
class PackageFragment:
    """One operator's or module's part of a package.

    `home` is where its public name lives, and `others` are what other systems call it. `uses` are
    the operators that its decomposition calls. `takes` are the ways to call it, and
    `calls` what it calls in which way, both for `codegen.snippets.call_check`. `methods` are
    the texts of the Tensor's methods by name, and `imports` the modules that they need, with the
    names taken from them. `files` has none where another package holds it. `digest` is that of an
    operator's declaration, and `entry` its line in the index of the registry.
    """

    name: str
    folder: str
    summary: str
    home: str
    uses: tuple[str, ...]
    methods: Mapping[str, str]
    imports: Mapping[str, list[str]]
    files: Mapping[str, str]
    others: tuple[str, ...] = ()
    family: str | None = None
    is_module: bool = False
    entry: str = ""
    digest: str = ""
    takes: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    calls: Sequence[Sequence[Any]] = field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """The fragment as JSON holds it."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "PackageFragment":
        """The fragment that `data()` gave."""
        return cls(**{**data, "uses": tuple(data["uses"]), "others": tuple(data["others"])})

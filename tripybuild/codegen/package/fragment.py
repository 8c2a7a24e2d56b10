"""Package fragments: one declaration's own files and its entries in shared files.

A contribution is plain data, so that it can be kept for as long as its declaration stays the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class PackageFragment:
    """One operator's or module's part of a package.

    `home` is where its public name lives, and `others` are what other systems call it. `uses` are
    the operators that its decomposition calls. `takes` are the ways to call it, and
    `calls` what it calls in which way, both for `codegen.snippets.call_check`. `methods` are
    the texts of the Tensor's methods by name, and `imports` the modules that they need, with the
    names taken from them. `files` has none where another package holds it. `digest` is that of an
    operator's declaration.
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
    digest: str = ""
    takes: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    calls: Sequence[Sequence[Any]] = field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """The contribution as JSON holds it."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "PackageFragment":
        """The contribution that `data()` gave."""
        return cls(**{**data, "uses": tuple(data["uses"]), "others": tuple(data["others"])})

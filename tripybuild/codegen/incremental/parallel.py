"""Parallel generation: two processes read all families and half of the other declarations each.

Invariant: what both give is what one of them would give, or nothing. A half takes the names of the
other half's declarations from a look at the texts; where anything is wrong, or is not as it looked,
one process reads all, which also reports all problems.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tripybuild.codegen.incremental import registries
from tripybuild.codegen.incremental.fork import run_in_fork
from tripybuild.codegen.incremental.fragment_records import (
    MODULE,
    OPERATOR,
    FragmentStore,
    laws_hold,
    make_records,
)
from tripybuild.codegen.package.package_paths import BUILT_IN
from tripybuild.schema.operator.places import sources

if TYPE_CHECKING:
    from tripybuild.schema.load import Registry

LEAST = 40  # fewer files are read before a second process has begun
_DECLARES = re.compile(rb"^(op|module): *(\w+) *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DeclaredNames:
    """The operators and modules of registries, and those of the package that is made."""

    operators: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)

    def data(self) -> list[list[str]]:
        """The names as JSON holds them."""
        return [sorted(self.operators), sorted(self.modules), sorted(self.own)]

    @classmethod
    def of(cls, declared: "Registry") -> "DeclaredNames":
        """The names of what is declared."""
        return cls(set(declared.operators), set(declared.modules), set(declared.own))


@dataclass(frozen=True, slots=True)
class _Work:
    """What both halves know: names, and the files of either kind and of no kind of their own."""

    package: str
    added: Sequence[Path]
    digests: Mapping[str, str]
    names: DeclaredNames = field(default_factory=DeclaredNames)
    paths: Mapping[str | None, list[str]] = field(
        default_factory=lambda: {OPERATOR: [], MODULE: [], None: []}
    )


@dataclass(frozen=True, slots=True)
class _Half:
    """What one of the processes gives: the names that it met, and the parts."""

    names: DeclaredNames
    parts: FragmentStore


def make_in_parallel(
    digests: Mapping[str, str], added: Sequence[Path], package: str
) -> FragmentStore | None:
    """The parts of all declarations, or None where one process has to read them."""
    if len(digests) < LEAST:
        return None
    _prepare()
    work = _scan_declarations(_Work(package, added, digests))
    operators = work.paths[OPERATOR]
    found = run_in_fork(
        lambda: _encode_half(_half(work, [*operators[1::2], *work.paths[MODULE]])),
        lambda: (_half(work, operators[::2]), _schemas(package)),
    )
    if found is None:
        return None
    other, (half, schemas) = _decode_half(found[0]), found[1]
    if other is None or half is None:
        return None
    names = zip(other.names.data(), half.names.data(), strict=True)
    if [sorted(a + b) for a, b in names] != work.names.data():  # a name in both is a mistake
        return None
    parts = FragmentStore({**other.parts.by_path, **half.parts.by_path}, schemas)
    return parts if laws_hold(parts.fragments) else None


def _prepare() -> None:
    """Do once what either process would do before its first file."""
    from tripybuild.codegen.modules import module  # noqa: F401, PLC0415
    from tripybuild.codegen.operators import operator  # noqa: F401, PLC0415
    from tripybuild.codegen.package import schemas  # noqa: F401, PLC0415
    from tripybuild.codegen.snippets import composition_check  # noqa: F401, PLC0415
    from tripybuild.schema.kinds import KINDS  # noqa: PLC0415

    for kind in KINDS.values():
        kind.model_rebuild()


def _scan_declarations(work: _Work) -> _Work:
    """The work, with what the texts seem to declare."""
    roots = registries.roots(work.added)
    for index, root in enumerate(roots):
        for shown, path in sources(root).items():
            match = _DECLARES.search(registries.contents(path))
            kind = match[1].decode() if match else None
            work.paths[kind].append(shown)
            if match:
                known = work.names.operators if kind == OPERATOR else work.names.modules
                known.add(name := match[2].decode())
                if index or len(roots) == 1:
                    work.names.own.add(name)
    return work


def _half(work: _Work, paths: Sequence[str]) -> _Half | None:
    """The parts of some files with their names; None if anything is wrong."""
    from tripybuild.codegen.operators.operator_calls import CallResolver  # noqa: PLC0415
    from tripybuild.codegen.snippets.composition_check import check_snippets  # noqa: PLC0415
    from tripybuild.schema.load import FileSubset, load  # noqa: PLC0415

    read, names = {*paths, *work.paths[None]}, work.names
    declared, found = load(
        registries.roots(work.added), FileSubset(read, frozenset(names.operators))
    )
    if found or check_snippets(declared, names.operators):
        return None
    calls = CallResolver(names.operators, names.own, work.package, names.modules)
    parts = FragmentStore(
        make_records(declared, {path: work.digests[path] for path in read}, calls), {}
    )
    return _Half(DeclaredNames.of(declared), parts)


def _encode_half(half: _Half | None) -> bytes:
    """A half as bytes: a line with its names, and its parts; nothing where it is None."""
    if half is None:
        return b""
    return json.dumps(half.names.data()).encode() + b"\n" + half.parts.to_bytes()


def _decode_half(content: bytes) -> _Half | None:
    line, _, stored = content.partition(b"\n")
    return (
        _Half(DeclaredNames(*map(set, json.loads(line))), FragmentStore.from_bytes(stored))
        if stored
        else None
    )


def _schemas(package: str) -> dict[str, str]:
    from tripybuild.codegen.package.schemas import schema_files  # noqa: PLC0415

    return schema_files() if package == BUILT_IN else {}

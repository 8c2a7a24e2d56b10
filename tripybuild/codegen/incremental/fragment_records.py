"""Fragment records: a declaration's fragment and its digest, built and stored."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, Any

from tripybuild.codegen.package.fragment import PackageFragment

if TYPE_CHECKING:
    from tripybuild.codegen.operators.operator_calls import CallResolver
    from tripybuild.schema.load import Registry

OPERATOR, MODULE, FAMILY = "op", "module", "family"


@dataclass(frozen=True, slots=True)
class FragmentRecord:
    """What one declaration gives, the digest that it had then, and the paths of its families.

    `is_formatted` is false where `tripybuild fmt` would change the declaration.
    """

    digest: str
    kind: str
    families: tuple[str, ...] = ()
    given: PackageFragment | None = None
    is_formatted: bool = True


@dataclass(frozen=True, slots=True)
class FragmentStore:
    """The parts by the paths of the declarations, and the schemas by the paths of their files."""

    by_path: Mapping[str, FragmentRecord]
    schemas: Mapping[str, str]

    @property
    def fragments(self) -> list[PackageFragment]:
        """What operators and modules give, in the order of their names."""
        found = [part.given for part in self.by_path.values() if part.given]
        return sorted(found, key=lambda each: each.name)

    def to_bytes(self) -> bytes:
        """The parts as bytes: one line of JSON, and then the texts of all files as they are.

        The texts are most of it, and would be written and read ten times as slowly in JSON.
        """
        texts: list[str] = []
        parts = {
            path: [
                p.digest,
                p.kind,
                p.families,
                _fragment_data(p.given, texts) if p.given else None,
                p.is_formatted,
            ]
            for path, p in self.by_path.items()
        }
        line = json.dumps({"parts": parts, "schemas": _lengths(self.schemas, texts)})
        return "".join([line, "\n", *texts]).encode()

    @classmethod
    def from_bytes(cls, stored: bytes) -> "FragmentStore":
        """The parts that `stored()` gave."""
        line, _, rest = stored.partition(b"\n")
        data, texts = json.loads(line), StringIO(rest.decode(), newline="")
        parts = {
            path: FragmentRecord(
                digest,
                kind,
                tuple(families),
                _read_fragment(given, texts) if given else None,
                formatted,
            )
            for path, (digest, kind, families, given, formatted) in data["parts"].items()
        }
        return cls(parts, _split_texts(data["schemas"], texts))


def _fragment_data(given: PackageFragment, texts: list[str]) -> dict[str, Any]:
    return {**given.data(), "files": _lengths(given.files, texts)}


def _read_fragment(said: Mapping[str, Any], texts: StringIO) -> PackageFragment:
    return PackageFragment.of({**said, "files": _split_texts(said["files"], texts)})


def _lengths(files: Mapping[str, str], texts: list[str]) -> dict[str, int]:
    texts += files.values()
    return {path: len(text) for path, text in files.items()}


def _split_texts(lengths: Mapping[str, int], texts: StringIO) -> dict[str, str]:
    return {path: texts.read(length) for path, length in lengths.items()}


def make_records(
    declared: "Registry", digests: Mapping[str, str], calls: "CallResolver"
) -> dict[str, FragmentRecord]:
    """The parts of declarations by path; a path of which nothing is declared is a family's."""
    from tripybuild.codegen.operators.operator import operator_fragment  # noqa: PLC0415
    from tripybuild.schema.formatting import is_formatted  # noqa: PLC0415

    parts = {path: FragmentRecord(digest, FAMILY) for path, digest in digests.items()}
    for module in declared.modules.values():
        from tripybuild.codegen.modules.module import module_fragment  # noqa: PLC0415

        parts[module.path] = FragmentRecord(
            digests[module.path], MODULE, (), module_fragment(module, calls)
        )
    for each in declared.operators.values():
        given = operator_fragment(each, calls)
        parts[each.path] = FragmentRecord(digests[each.path], OPERATOR, each.family_paths, given)
    for path, document in declared.documents.items():
        if not is_formatted(document):
            parts[path] = replace(parts[path], is_formatted=False)
    return parts


def laws_hold(contributions: Iterable[PackageFragment]) -> bool:
    """Tell whether the laws between declarations hold."""
    from tripybuild.schema.operator.checks import cycle  # noqa: PLC0415

    contributions = list(contributions)
    used = {each.name: each.uses for each in contributions}
    methods = [name for each in contributions for name in each.methods]
    alone = len(used) == len(contributions) and len(set(methods)) == len(methods)
    return alone and not any(cycle(name, used) for name in used) and _calls_match(contributions)


def _calls_match(contributions: Sequence[PackageFragment]) -> bool:
    """Tell whether each call of an operator is one that its declaration allows."""
    from tripybuild.codegen.snippets.call_check import CallRecord, find_mismatch  # noqa: PLC0415

    takes = {name: ways for each in contributions for name, ways in each.takes.items()}
    calls = (CallRecord(*call) for each in contributions for call in each.calls)
    return not any(call.name in takes and find_mismatch(call, takes[call.name]) for call in calls)

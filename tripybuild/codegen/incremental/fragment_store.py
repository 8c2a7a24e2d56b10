"""Fragment store: the fragment and digest of each declaration, and their form in the cache."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from tripybuild.codegen.package.fragment import PackageFragment


@dataclass(frozen=True, slots=True)
class FragmentRecord:
    """What one file of a registry gives, its digest, and the paths of the families that it names.

    There is no fragment where it is itself a family, or tells of targets. `is_formatted` is false
    where `tripybuild fmt` would change it.
    """

    digest: str
    families: tuple[str, ...] = ()
    fragment: PackageFragment | None = None
    is_formatted: bool = True


@dataclass(frozen=True, slots=True)
class FragmentStore:
    """The records of all files by their shown paths, and the JSON schemas by theirs."""

    records: Mapping[str, FragmentRecord] = field(default_factory=dict)
    schemas: Mapping[str, str] = field(default_factory=dict)

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each file."""
        return {path: record.digest for path, record in self.records.items()}

    @property
    def fragments(self) -> list[PackageFragment]:
        """What operators and modules give, in the order of their names."""
        found = [each.fragment for each in self.records.values() if each.fragment]
        return sorted(found, key=lambda each: each.name)

    @property
    def unformatted(self) -> list[str]:
        """The files that `tripybuild fmt` would change."""
        return sorted(path for path, each in self.records.items() if not each.is_formatted)

    def to_bytes(self) -> bytes:
        """The store as bytes: one line of JSON, and then the texts of all files as they are.

        The texts are most of it, and would be written and read ten times as slowly in JSON.
        """
        texts: list[str] = []
        records = {
            path: [
                each.digest,
                each.families,
                _fragment_data(each.fragment, texts) if each.fragment else None,
                each.is_formatted,
            ]
            for path, each in self.records.items()
        }
        line = json.dumps({"records": records, "schemas": _lengths(self.schemas, texts)})
        return "".join([line, "\n", *texts]).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "FragmentStore":
        """The store that `to_bytes()` gave."""
        line, _, rest = content.partition(b"\n")
        data, texts = json.loads(line), StringIO(rest.decode(), newline="")
        records = {
            path: FragmentRecord(
                digest,
                tuple(families),
                _read_fragment(fragment, texts) if fragment else None,
                is_formatted,
            )
            for path, (digest, families, fragment, is_formatted) in data["records"].items()
        }
        return cls(records, _split_texts(data["schemas"], texts))


def _fragment_data(fragment: PackageFragment, texts: list[str]) -> dict[str, Any]:
    return {**fragment.data(), "files": _lengths(fragment.files, texts)}


def _read_fragment(data: Mapping[str, Any], texts: StringIO) -> PackageFragment:
    return PackageFragment.of({**data, "files": _split_texts(data["files"], texts)})


def _lengths(files: Mapping[str, str], texts: list[str]) -> dict[str, int]:
    texts += files.values()
    return {path: len(text) for path, text in files.items()}


def _split_texts(lengths: Mapping[str, int], texts: StringIO) -> dict[str, str]:
    return {path: texts.read(length) for path, length in lengths.items()}

"""Manifest of an executable: a JSON object with a format version and the members' digests.

The rest is filled in and read by others. There is one way to write each manifest. It is the first
member, and its digest the second. A large member follows them, with blanks behind the manifest's
text so that its offset is known before the rest is: the file in which an engine was written becomes
the executable, and nothing is copied. The others stand in the order of their names.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripybuild.artifact.zip_layout import ALIGNMENT, Entry, Layout, lay_out
from tripybuild.process.hashing import LARGE, algorithm

MANIFEST, DIGEST = "manifest.json", "manifest.sha256"
DIGEST_SIZE = 65  # hexadecimal digits and a line break

FORMAT = 2
OWN = frozenset({"format", "members"})


class MalformedManifestError(Exception):
    """The bytes are no manifest, or not as `encode` writes it."""


class OtherFormatError(Exception):
    """Another version wrote the manifest; its only argument is the format's number."""


@dataclass(frozen=True, slots=True)
class MemberRecord:
    """What must be true of a member's content."""

    size: int
    digest: str
    crc32: int

    @property
    def algorithm(self) -> str:
        """Which digest it is."""
        return algorithm(self.size)


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest; `content` is all that is not this module's."""

    members: Mapping[str, MemberRecord]
    content: Mapping[str, Any]
    format: int = FORMAT


def encode(manifest: Manifest) -> bytes:
    """Write a manifest: keys in order, one item a line, ASCII.

    Raises:
        ValueError: The content holds what JSON cannot say, or a key of this module.
    """
    if taken := OWN & manifest.content.keys():
        raise ValueError(f"the manifest's `{min(taken)}` is not for others to set")
    members = {
        name: {"crc32": member.crc32, member.algorithm: member.digest, "size": member.size}
        for name, member in manifest.members.items()
    }
    return _text({**manifest.content, "format": manifest.format, "members": members})


def _text(data: object) -> bytes:
    text = json.dumps(data, sort_keys=True, indent=1, allow_nan=False)
    return text.encode("ascii") + b"\n"


def decode(text: bytes) -> Manifest:
    """Read a manifest.

    Raises:
        MalformedManifestError: It is not exactly what `encode` would have written.
        OtherFormatError: Its format is an earlier or a later one.
    """
    try:
        data = json.loads(text)
        canonical = isinstance(data, dict) and _text(data) == text
    except (ValueError, RecursionError) as error:
        raise MalformedManifestError("it is not JSON") from error
    if not canonical:
        raise MalformedManifestError("it is not in canonical form")
    found = data.get("format")
    if type(found) is not int or found < 1:
        raise MalformedManifestError("its format is not a number")
    if found != FORMAT:
        raise OtherFormatError(found)
    listed = data.get("members")
    if not isinstance(listed, dict):
        raise MalformedManifestError("it lists no members")
    members = {name: _member(name, fields) for name, fields in listed.items()}
    content = {key: value for key, value in data.items() if key not in OWN}
    return Manifest(members, content)


def _member(name: str, fields: object) -> MemberRecord:
    match fields:
        case {"crc32": int(crc32), "size": int(size), **rest} if (
            0 <= crc32 < 1 << 32 and 0 <= size < 1 << 62 and set(rest) == {algorithm(size)}
        ):
            digest = rest[algorithm(size)]
            if isinstance(digest, str) and len(digest) == 64:
                return MemberRecord(size, digest, crc32)
    raise MalformedManifestError(f"its entry for `{name}` is malformed")


def member_order(members: Mapping[str, MemberRecord]) -> list[str]:
    """The largest member first if it is large; the others by name."""
    names = sorted(members)
    largest = max(names, key=lambda name: members[name].size, default=None)
    if largest is None or members[largest].size < LARGE:
        return names
    return [largest, *(name for name in names if name != largest)]


def pad_manifest(text: bytes, members: Mapping[str, MemberRecord]) -> bytes:
    """A manifest's text with blanks behind it that put a large member to its place."""
    names = member_order(members)
    if not names or members[names[0]].size < LARGE:
        return text
    before = container_layout(text, b" " * DIGEST_SIZE, members).offsets[2]
    return text + b" " * (-before % ALIGNMENT)


def container_layout(text: bytes, digest: bytes, members: Mapping[str, MemberRecord]) -> Layout:
    """Where everything stands: the manifest, its digest, and the members."""
    first = (
        Entry(MANIFEST, len(text), zlib.crc32(text)),
        Entry(DIGEST, len(digest), zlib.crc32(digest)),
    )
    rest = (Entry(name, members[name].size, members[name].crc32) for name in member_order(members))
    return lay_out((*first, *rest))

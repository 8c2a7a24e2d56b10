"""Member layout: the order and the offsets of an executable's members.

The manifest stands first, and its digest. A large member follows them, with blanks behind the
manifest's text so that its place is known before the rest is: the file in which an engine was
written becomes the executable, and nothing is copied. The others stand in the order of their names.
"""

import zlib
from collections.abc import Mapping

from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.zip_layout import ALIGNMENT, Entry, Layout, lay_out
from tripybuild.process.hashing import LARGE

MANIFEST, DIGEST = "manifest.json", "manifest.sha256"
DIGEST_SIZE = 65  # hexadecimal digits and a line break


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
    """Where everything stands: the manifest, its digest, and the members as `ordered` has them."""
    first = (
        Entry(MANIFEST, len(text), zlib.crc32(text)),
        Entry(DIGEST, len(digest), zlib.crc32(digest)),
    )
    rest = (Entry(name, members[name].size, members[name].crc32) for name in member_order(members))
    return lay_out((*first, *rest))

"""Cache keys: digests of named parts, which stay readable beside the digest.

A part is a short text, which is itself, or the digest of what is long or binary. The key is a
digest of exactly that, so that it can be computed again from what is recorded of an entry: no
record can claim parts that its key does not have.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Self

SHORT = 200  # characters of a text that is recorded as it is
KIND = "what"  # the part that says what kind of content it is
TEXT, LONG, BYTES = "text", "sha256 of text", "sha256 of bytes"
MOST_PARTS = 1000
Part = tuple[str, str]


class CacheKey(str):
    """The digest under which a content is stored: 64 hexadecimal digits.

    Args:
        parts: How each part is recorded, by name: `(TEXT, itself)`, or a digest.
    """

    __slots__ = ("parts",)
    parts: Mapping[str, Part]

    def __new__(cls, parts: Mapping[str, Part]) -> Self:
        """The key of recorded parts; neither their order nor a shifted border can confuse it."""
        digest = sha256()
        for name in sorted(parts):
            for field in (name, *parts[name]):
                content = field.encode(errors="surrogatepass")
                digest.update(len(content).to_bytes(8, "little"))
                digest.update(content)
        made = super().__new__(cls, digest.hexdigest())
        made.parts = dict(sorted(parts.items()))
        return made

    def __reduce__(self) -> tuple[type[Self], tuple[dict[str, Part]]]:
        """Let another process have it: by its parts."""
        return type(self), (dict(self.parts),)

    @property
    def kind(self) -> str:
        """What kind of content it is of."""
        return self.parts[KIND][1] if KIND in self.parts else "content"


def key(parts: Mapping[str, str | bytes]) -> CacheKey:
    """The key of a content, by all that the content depends on.

    Args:
        parts: Its parts by name; the one called `what` says what kind of content it is.
    """
    return CacheKey({name: _record(part) for name, part in parts.items()})


def _record(part: str | bytes) -> Part:
    if isinstance(part, bytes):
        return BYTES, sha256(part).hexdigest()
    if len(part) <= SHORT:
        return TEXT, part
    return LONG, sha256(part.encode(errors="surrogatepass")).hexdigest()


def read_key(parts: object) -> CacheKey:
    """The key of parts that were recorded as JSON.

    Raises:
        ValueError: They are not as `CacheKey.parts` is.
    """
    if not isinstance(parts, dict) or len(parts) > MOST_PARTS:
        raise ValueError("the parts of the key are not recorded")
    found: dict[str, Part] = {}
    for name, part in parts.items():
        match part:
            case [str(form), str(value)] if form in {TEXT, LONG, BYTES}:
                found[name] = form, value
            case _:
                raise ValueError(f"the part `{name[:SHORT]}` of the key is malformed")
    return CacheKey(found)

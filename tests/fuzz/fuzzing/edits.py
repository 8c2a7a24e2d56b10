"""Edits of a file: bytes, lines, numbers, words, and trees of JSON.

Law: an edit follows from its input and its source of randomness alone, which may be a
`random.Random` or what Hypothesis draws.
"""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Location = tuple[str | int, ...]
LONGEST = 1 << 16
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9.]*")
NUMBERS = (
    b"0", b"1", b"-1", b"2", b"7", b"64", b"65", b"255", b"256", b"32768", b"65536", b"-128",
    b"2147483647", b"2147483648", b"4294967296", b"9223372036854775807", b"9223372036854775808",
    b"-9223372036854775808", b"18446744073709551616", b"1" * 30, b"0.5", b"-0.0", b"1e308",
    b"1e400", b"1e-400",
)  # fmt: skip
TEXTS = (
    b"", b"\0", b"\n", b"\t", b"#", b"'", b'"', b"\\", b"{", b"}", b"[", b"]", b"(", b")", b":",
    b",", b"..", b"/", b"*", b"**", b"&a ", b"*a", b"!!python/object", b"<<", b"\xff", b"\xc3\xa9",
    b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\xf0\x9f\x92\xa5", b"null", b"true", b"nan", b"inf", b"?",
    b"__class__", b"None", b"for a in range(9)", b"if 1 else", b"lambda: 0", b"->", b"=", b"%s",
)  # fmt: skip
VALUES = (
    None, True, False, 0, 1, -1, 2, 3, 65, 2**31, 2**63, 2**64, 10**30, -(2**63), 0.5, 1e300, "",
    "x", "\0", "a/../b", "..", "/", "\u202e", "\ud800", "x" * 300, [], {}, [[]], [{}], {"x": 1},
)  # fmt: skip


def mutate(data: bytes, pick: random.Random, words: Sequence[bytes] = ()) -> bytes:
    """Change some places of a file.

    Args:
        data: The file.
        pick: What is drawn from.
        words: Words of its language.
    """
    for _ in range(pick.choice((1, 1, 1, 2, 3, 5))):
        data = pick.choice(EDITS)(data, pick, words)[:LONGEST]
    return data


def spliced(data: bytes, other: bytes, pick: random.Random) -> bytes:
    """The beginning of one file and the end of another."""
    return data[: pick.randint(0, len(data))] + other[pick.randint(0, len(other)) :]


def _stretch(data: bytes, pick: random.Random, longest: int = 32) -> tuple[int, int]:
    begin = pick.randint(0, len(data))
    return begin, min(len(data), begin + pick.randint(0, longest))


def _flip(data: bytes, pick: random.Random, _: Sequence[bytes]) -> bytes:
    if not data:
        return b"\0"
    at = pick.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << pick.randrange(8))]) + data[at + 1 :]


def _integer(data: bytes, pick: random.Random, _: Sequence[bytes]) -> bytes:
    """An integer in memory, of any size and at any place."""
    size, order = pick.choice((1, 2, 4, 8)), pick.choice(("little", "big"))
    value = pick.choice((0, 1, 2, -1, 127, 1 << 15, 1 << 31, 1 << 62, 1 << 63, len(data)))
    at = pick.randint(0, len(data))
    bits = (value & ((1 << 8 * size) - 1)).to_bytes(size, order)
    return data[:at] + bits + data[at + size :]


def _remove(data: bytes, pick: random.Random, _: Sequence[bytes]) -> bytes:
    begin, end = _stretch(data, pick, pick.choice((1, 8, 64, 512)))
    return data[:begin] + data[end:]


def _copy(data: bytes, pick: random.Random, _: Sequence[bytes]) -> bytes:
    begin, end = _stretch(data, pick, pick.choice((8, 64, 512)))
    at = pick.randint(0, len(data))
    return data[:at] + data[begin:end] * pick.choice((1, 1, 1, 2, 50)) + data[at:]


def _truncate(data: bytes, pick: random.Random, _: Sequence[bytes]) -> bytes:
    return data[: pick.randint(0, len(data))]


def _insert(data: bytes, pick: random.Random, words: Sequence[bytes]) -> bytes:
    at = pick.randint(0, len(data))
    return data[:at] + pick.choice((*TEXTS, *words)) + data[at:]


def _number(data: bytes, pick: random.Random, words: Sequence[bytes]) -> bytes:
    return _replace(NUMBER, NUMBERS, data, pick) or _insert(data, pick, words)


def _word(data: bytes, pick: random.Random, words: Sequence[bytes]) -> bytes:
    own = WORD.findall(data) or [b"x"]
    given = [pick.choice(own), pick.choice((*words, *TEXTS))]
    return _replace(WORD, given, data, pick) or _insert(data, pick, words)


def _replace(
    form: re.Pattern[bytes], given: Sequence[bytes], data: bytes, pick: random.Random
) -> bytes:
    found = list(form.finditer(data))
    if not found:
        return b""
    begin, end = pick.choice(found).span()
    return data[:begin] + pick.choice(given) + data[end:]


def _line(data: bytes, pick: random.Random, _: Sequence[bytes]) -> bytes:
    """A line is left out, moved, repeated or indented."""
    lines = data.split(b"\n")
    at, to = pick.randrange(len(lines)), pick.randrange(len(lines))
    match pick.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines.pop(at))
        case 2:
            lines[to:to] = [lines[at]] * pick.choice((1, 1, 100))
        case _:
            lines[at] = pick.choice((b" ", b"  ", b"\t", b"- ")) + lines[at]
    return b"\n".join(lines)


EDITS: Sequence[Callable[[bytes, random.Random, Sequence[bytes]], bytes]] = (
    _flip, _integer, _remove, _copy, _truncate, _insert, _number, _word, _number, _word, _line,
)  # fmt: skip


def mutate_json(text: bytes, pick: random.Random, words: Sequence[bytes] = ()) -> bytes:
    """Change some places of a tree, so that it stays JSON; anything else is changed as bytes."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return mutate(text, pick, words)
    return json.dumps(mutate_tree(tree, pick, words)).encode()


def mutate_tree(tree: Any, pick: random.Random, words: Sequence[bytes] = ()) -> Any:
    """Change some places of a tree of plain data, in place where it is a container."""
    for _ in range(pick.choice((1, 1, 2, 4))):
        places = list(_places(tree))
        if not places:
            return _new(pick)
        location = pick.choice(places)
        parent, key = _at(tree, location[:-1]), location[-1]
        other = _at(tree, pick.choice(places))
        _change(parent, key, other, pick, words)
    return tree


def _change(parent: Any, key: Any, other: Any, pick: random.Random, words: Sequence[bytes]) -> None:
    old, kind = parent[key], pick.randrange(8)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[pick.choice([*parent, _text(pick, words)])] = parent.pop(key)
    elif kind == 1:
        parent[key:key] = [old] * pick.choice((1, 1, 70))
    elif kind == 2:  # what stands elsewhere, and not a container that holds itself
        parent[key] = copy.deepcopy(other)
    elif kind == 3 and isinstance(old, dict):
        old[_text(pick, words)] = _new(pick)
    elif kind < 6 and isinstance(old, str):
        data = mutate(old.encode(errors="surrogatepass"), pick, words)
        parent[key] = data.decode(errors="replace")
    elif kind < 6 and isinstance(old, int | float) and not isinstance(old, bool):
        parent[key] = pick.choice((old + 1, old - 1, -old, old * 2, 2**31, 2**63, 10**30, 0))
    else:
        parent[key] = _new(pick) if pick.random() < 0.7 else _text(pick, words)


def _new(pick: random.Random) -> Any:
    return json.loads(json.dumps(pick.choice(VALUES)))


def _text(pick: random.Random, words: Sequence[bytes]) -> str:
    return pick.choice((*words, b"x", b"")).decode(errors="replace")


def _places(tree: Any, location: Location = ()) -> Iterator[Location]:
    if not isinstance(tree, dict | list):
        return
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in entries:
        yield (*location, key)
        if isinstance(value, dict | list):
            yield from _places(value, (*location, key))


def _at(tree: Any, location: Location) -> Any:
    for step in location:
        tree = tree[step]
    return tree

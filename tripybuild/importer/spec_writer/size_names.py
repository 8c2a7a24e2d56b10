"""Names of sizes: numbers of a spec that are values of the model's configuration.

A number is named where the configuration has it under a key that says a size, or where it follows
from two of those. The names are the configuration's own, which readers know.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tripybuild.importer.call_program import CallProgram
from tripybuild.importer.spec_writer.definition import Definition
from tripybuild.importer.spec_writer.texts import SizeNumber, is_name

SMALLEST = 3  # smaller numbers are axes, halves and pairs
LARGEST_FACTOR = 4  # of the width, as that of a perceptron in the middle
NARROW = 12  # a width of which multiples are that by chance
_COUNT = re.compile(r"layer|depth|block")
_SIZE = re.compile(
    r"size|dim|width|d_|heads?$|n_head|vocab|positions|embd|channels|labels|classes|ffn|inner"
)
_NO_SIZE = re.compile(r"_ids?$|token|version|seed|stride|kernel|per_")
_HEADS = re.compile(r"heads?$")


@dataclass(frozen=True)
class ConfigSizes:
    """The sizes of a spec.

    Attributes:
        sizes: Their names, with numbers or expressions over those before.
        named: How a number is written, by number and role.
    """

    sizes: Mapping[str, object] = field(default_factory=dict)
    named: Mapping[tuple[int, str], str] = field(default_factory=dict)


def name_sizes(
    program: CallProgram, definitions: Iterable[Definition], taken: Iterable[str]
) -> ConfigSizes:
    """Name the sizes of a spec by the configuration.

    Args:
        program: The program.
        definitions: The definitions, the model's own included.
        taken: Names that mean something else.
    """
    used = Counter(
        (piece.value, piece.role)
        for definition in definitions
        for piece in definition.pieces()
        if isinstance(piece, SizeNumber)
    )
    known = {n: v for n, v in _values(program.config) if v >= SMALLEST}
    free = {n: v for n, v in known.items() if is_name(n) and n not in {*taken}}
    named: dict[tuple[int, str], str] = {}
    for role, pattern in (("count", _COUNT), ("size", _SIZE)):
        for name, value in free.items():
            fits = bool(_COUNT.search(name)) == (role == "count") and pattern.search(name)
            if fits and not _NO_SIZE.search(name) and (value, role) in used:
                named.setdefault((value, role), name)
    sizes: dict[str, object] = {n: free[n] for n in free if n in named.values()}
    _name_heads(used, free, named, sizes)
    _name_multiples(used, named)
    return ConfigSizes(sizes, named)


def _values(config: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """The whole numbers of a configuration; those of one inside of it come behind its own."""
    for name, value in config.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield name, value
    inner = [value for value in config.values() if isinstance(value, Mapping)]
    if len(inner) == 1:
        yield from _values(inner[0])


def _name_heads(
    used: Counter[tuple[int, str]],
    free: Mapping[str, int],
    named: dict[tuple[int, str], str],
    sizes: dict[str, object],
) -> None:
    """The size of a head is the width through the number of heads."""
    heads = [n for n in free if _HEADS.search(n) and free[n] not in (1, 2)]
    widths = [n for (value, role), n in named.items() if role == "size" and value == free[n]]
    for count in heads[:1]:
        for width in sorted(widths, key=lambda name: -used[free[name], "size"])[:1]:
            head, rest = divmod(free[width], free[count])
            key = (head, "size")
            if not rest and head >= SMALLEST and key in used and key not in named:
                named[key] = "head_dim"
                sizes[count] = free[count]
                sizes["head_dim"] = f"{width} // {count}"


def _name_multiples(used: Counter[tuple[int, str]], named: dict[tuple[int, str], str]) -> None:
    """Small multiples of the size that there is most often."""
    widths = [each for each in named if each[1] == "size"]
    if not widths:
        return
    width = max(widths, key=lambda each: used[each])
    if width[0] < NARROW:
        return
    for factor in range(2, LARGEST_FACTOR + 1):
        key = (factor * width[0], "size")
        if key in used:
            named.setdefault(key, f"{factor} * {named[width]}")

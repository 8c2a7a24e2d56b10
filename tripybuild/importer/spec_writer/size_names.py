"""Names of sizes: numbers of a spec that are values of the model's configuration.

A number is named where the configuration has it under a key that can say what the number is there:
a table of places has as many rows as there are positions, and no weight is as wide as there are
heads. Numbers that follow from two of those are said by them. The names are the configuration's
own, which readers know; where there is more than one configuration, with the name of its model.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from tripybuild.importer.call_program import CallProgram
from tripybuild.importer.spec_writer.definition import Definition
from tripybuild.importer.spec_writer.texts import SizeNumber, is_name
from tripybuild.symbolic.dims import Dim

SMALLEST = 3  # smaller numbers are axes, halves and pairs, but for rows of a table
LARGEST_FACTOR = 4  # of the width, as that of a perceptron in the middle
NARROW = 12  # a width of which multiples are that by chance
_NO_SIZE = re.compile(r"_ids?$|token|version|seed|stride|kernel|per_|group|bucket|window")
_POSITIONS = re.compile(r"position_embeddings$|n_positions|_positions$|n_ctx|context")
_HEADS = re.compile(r"heads?$|n_head")
# What a key says by its name, and where a number can be that: the first key that fits is asked.
_PLACES = tuple(
    (re.compile(key), re.compile(place))
    for key, place in (
        (r"layer(?!_?norm)|depth|block", r"list "),
        (_POSITIONS.pattern, r"rows \S*(pos|wpe)"),
        (r"type_vocab", r"rows \S*(type|segment)"),
        (r"vocab", r"rows (?!\S*(pos|wpe|type|segment))|weight |last |data \S*(weight|embed)"),
        (r"image|patch|crop", r"(data|last) \S*(pixel|image)"),
        (r"channels", r"weight \S*in_channels|data \S*(pixel|image)"),
        (_HEADS.pattern, r"data"),
        (r"size|dim|width|d_|embd|labels|classes|ffn|inner", r"data|last|weight"),
    )
)
_MAIN = re.compile(r"(hidden_size|d_model|n_embd|embed_dim|^dim)$")
_HEAD = "head_dim"
_TOKENS = 2  # dimensions of words: the batch and the length
_SIDES = re.compile(r"encoder|decoder|text|vision|audio|qformer")

_Place = tuple[int, str, str, str]


@dataclass(frozen=True)
class ConfigSizes:
    """The sizes of a spec.

    Attributes:
        sizes: Their names, with numbers or expressions over those before.
        named: How a number is written, by the number and where it stands.
        ranges: How the largest sizes of dynamic dimensions are written, by dimension.
    """

    sizes: Mapping[str, object] = field(default_factory=dict)
    named: Mapping[_Place, str] = field(default_factory=dict)
    ranges: Mapping[str, str] = field(default_factory=dict)

    def name(self, number: SizeNumber, definition: Definition) -> str | None:
        """How a number in a definition is written; None where it has no name."""
        return self.named.get(_place(number, definition))


def _place(number: SizeNumber, definition: Definition) -> _Place:
    return number.value, number.role, number.place, definition.path


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
        _place(piece, definition)
        for definition in definitions
        for piece in definition.pieces()
        if isinstance(piece, SizeNumber) and piece.role in ("size", "count")
    )
    own = {*taken}
    free = {n: v for n, v in _values(program.config) if is_name(n) and n not in own and v > 1}
    named: dict[_Place, str] = {}
    for place in used:
        fitting = [name for name in free if free[name] == place[0] and _rule(name, place) >= 0]
        if fitting:
            named[place] = max(fitting, key=partial(_rank, place))
    expressions = _name_heads(used, free, named)
    _name_multiples(used, named)
    longest = _longest(program, free)
    texts = [*named.values(), *expressions.values(), *longest.values()]
    read = {*re.findall(r"\w+", " ".join(texts))}
    sizes = {**{n: v for n, v in free.items() if n in read}, **expressions}
    return ConfigSizes(sizes, named, longest)


def _values(config: Mapping[str, object]) -> Iterator[tuple[str, int]]:
    """The whole numbers of a configuration; those of one inside of it come behind its own.

    Those of several have the name of their model in front.
    """
    for name, value in config.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield name, value
    inner = {name: value for name, value in config.items() if isinstance(value, Mapping)}
    models = {n.removesuffix("_config"): v for n, v in inner.items() if n.endswith("_config")}
    for model, values in models.items():
        start = f"{model}_" if len(models) > 1 else ""
        yield from ((f"{start}{name}", value) for name, value in _values(values))


def _rule(name: str, place: _Place) -> int:
    """The number of the rule by which a key can be what a number is; -1 if it cannot."""
    value, _, where, path = place
    least = SMALLEST if where.startswith(("data", "last", "weight")) else 2
    sides = _sides(name)
    around = _sides(f"{path} {where}")
    if _NO_SIZE.search(name) or value < least or (sides and around and not sides & around):
        return -1
    for number, (key, places) in enumerate(_PLACES):
        if key.search(name):
            return number if places.match(where) else -1
    return -1


def _sides(text: str) -> set[str]:
    """The models that a text speaks of."""
    return {*_SIDES.findall(text)}


def _rank(place: _Place, name: str) -> tuple[bool, bool, int, bool]:
    """How well a key fits: that of the same model, then the one that says the most."""
    is_far = "vocab" in name and not place[2].startswith("rows")
    sides = _sides(name) & _sides(f"{place[3]} {place[2]}")
    return bool(sides), not is_far, -_rule(name, place), bool(_MAIN.search(name))


def _name_heads(
    used: Counter[_Place], free: Mapping[str, int], named: dict[_Place, str]
) -> dict[str, str]:
    """The size of a head is the width through the number of heads; what weights have of both."""
    heads = sorted((n for n in free if _HEADS.search(n)), key=lambda n: "k" in n.split("_")[0])
    mains = dict.fromkeys(n for n in named.values() if _MAIN.search(n))
    pairs = [(main, n) for main in mains for n in heads if free[main] % free[n] == 0]
    pairs.sort(key=lambda each: _sides(each[0]) != _sides(each[1]))
    expressions = {}
    if _HEAD in free:
        size = free[_HEAD]
    elif pairs:
        main, count = pairs[0]
        size = free[main] // free[count]
        expressions[_HEAD] = f"{main} // {count}"
    else:
        return {}
    products = {free[n] * size: f"{n} * {_HEAD}" for n in reversed(heads)}
    for place in used.keys() - named.keys():
        value, role, where, _ = place
        if role != "size" or value < SMALLEST:
            continue
        if value == size and not where.startswith("rows"):
            named[place] = _HEAD
        elif value in products and where.startswith("weight"):
            named[place] = products[value]
        elif value * 2 == size and re.match(r"last|weight \S*freq", where):
            named[place] = f"{_HEAD} // 2"
    is_read = any(_HEAD in text for text in named.values())
    return expressions if is_read else {}


def _name_multiples(used: Counter[_Place], named: dict[_Place, str]) -> None:
    """Small multiples of the size that there is most often."""
    widths: Counter[tuple[int, str]] = Counter()
    for place, name in named.items():
        if place[1] == "size" and is_name(name):
            widths[place[0], name] += used[place]
    if not widths:
        return
    ((width, name), _), *_ = widths.most_common()
    for place in used.keys() - named.keys() if width >= NARROW else ():
        factor, rest = divmod(place[0], width)
        if place[1] == "size" and not rest and 2 <= factor <= LARGEST_FACTOR:
            named[place] = f"{factor} * {name}"


def _longest(program: CallProgram, free: Mapping[str, int]) -> dict[str, str]:
    """The dimensions of words, which go as far as there are positions."""
    lengths = {
        str(size)
        for value in program.graph.inputs
        if value.dtype.kind == "integer" and value.rank == _TOKENS
        for size in value.shape[1:]
        if isinstance(size, Dim)
    }
    positions = {value: name for name, value in free.items() if _POSITIONS.search(name)}
    ranges = {n: each.max for n, each in program.ranges.items() if n in lengths}
    return {n: positions[most] for n, most in ranges.items() if most in positions}

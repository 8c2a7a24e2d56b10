"""Definitions of a spec as data: what a module takes, is made of, does and gives."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tripybuild.importer.spec_writer.texts import (
    PRODUCT,
    Keyword,
    Number,
    Piece,
    Reference,
    Slot,
    Text,
    TypeText,
    listed,
)
from tripybuild.symbolic.dims import Dim

Change = Callable[[Piece], Iterable[Piece]]


@dataclass(eq=False, slots=True)
class Definition:
    """A definition of the file, or the model itself.

    Attributes:
        hint: What it is called, if that is free.
        inputs: Names of its inputs, with their types.
        parts: What its parts are made of, by name.
        weights: Types of its own weights.
        steps: Names of values, and the expressions that give them.
        state: Types of what is kept, and the numbers that it begins with.
        next: Names of what is kept, and what it will be.
        outputs: Names of results, and their expressions.
        operators: What its expressions call; nothing in it can have such a name.
        sizes: Names of the sizes that it is made with.
    """

    hint: str
    inputs: list[tuple[Slot, TypeText]] = field(default_factory=list)
    parts: "dict[str, Text | list[object]]" = field(default_factory=dict)
    weights: dict[str, TypeText] = field(default_factory=dict)
    steps: list[tuple[tuple[Slot, ...], Text]] = field(default_factory=list)
    next: list[tuple[Slot, Text]] = field(default_factory=list)
    outputs: list[tuple[Slot, Text]] = field(default_factory=list)
    state: list[tuple[Slot, TypeText, float | bool | None]] = field(default_factory=list)
    operators: set[str] = field(default_factory=set)
    sizes: list[Slot] = field(default_factory=list)

    def is_function(self) -> bool:
        """Whether it can be called without being made: it has no parts, weights and sizes."""
        return not (self.parts or self.weights or self.sizes)

    def pieces(self) -> Iterator[Piece]:
        """All of it in one row, with words between; what has the same row is the same."""
        for piece in self._pieces():
            if isinstance(piece, Keyword):
                yield from (piece.name, piece.value, str(piece.default))
            else:
                yield piece

    def _pieces(self) -> Iterator[Piece]:
        for slot, type in self.inputs:
            yield from ("in", slot, type.dtype.name, *type.shape.pieces)
        for name, kind in self.parts.items():
            yield f"part {name}"
            yield from kind_pieces(kind)
        for name, type in self.weights.items():
            yield from (f"weight {name}", type.dtype.name, *type.shape.pieces)
        for targets, text in self.steps:
            yield from ("step", *targets, "=", *text.pieces)
        for slot, text in self.next:
            yield from ("next", slot, "=", *text.pieces)
        for slot, text in self.outputs:
            yield from ("out", slot, "=", *text.pieces)


def kind_pieces(kind: object) -> Iterator[Piece]:
    """What a part is made of, in one row."""
    if isinstance(kind, Text):
        yield from kind.pieces
        return
    assert isinstance(kind, list)
    yield "["
    for each in kind:
        yield from kind_pieces(each)
        yield ","
    yield "]"


def canonical(definition: Definition) -> tuple[object, ...]:
    """What two equal definitions share, whatever their values and dynamic sizes are called."""
    slots: dict[int, int] = {}
    atoms: dict[Dim, int] = {}
    for _, type in definition.inputs:
        for size in type.shape.pieces:
            if isinstance(size, Dim):
                atoms.setdefault(size, len(atoms))
    row: list[object] = []
    for piece in definition.pieces():
        if isinstance(piece, Slot):
            row.append(("slot", slots.setdefault(id(piece), len(slots))))
        elif isinstance(piece, Dim):
            row.append(("size", atoms.get(piece, str(piece))))
        elif isinstance(piece, Reference):
            row.append(("definition", id(piece.to)))
        else:
            row.append(piece)
    return tuple(row)


def changed(definition: Definition, change: Change) -> Definition:
    """A definition with other pieces; they change in the order of `Definition.pieces`."""

    def text(old: Text) -> Text:
        new = (each for piece in old.pieces for each in _changed_piece(piece, change))
        return Text.of(*new, strength=old.strength)

    def type_text(old: TypeText) -> TypeText:
        return TypeText(old.dtype, text(old.shape))

    def kind(old: object) -> Text:
        if isinstance(old, Text):
            return text(old)
        assert isinstance(old, list)
        return row_text([kind(each) for each in old])

    return replace(
        definition,
        inputs=[(slot, type_text(type)) for slot, type in definition.inputs],
        parts={name: kind(each) for name, each in definition.parts.items()},
        weights={name: type_text(type) for name, type in definition.weights.items()},
        steps=[(targets, text(step)) for targets, step in definition.steps],
        next=[(slot, text(each)) for slot, each in definition.next],
        outputs=[(slot, text(each)) for slot, each in definition.outputs],
        sizes=list(definition.sizes),
    )


def _changed_piece(piece: Piece, change: Change) -> Iterable[Piece]:
    if not isinstance(piece, Keyword):
        return change(piece)
    (value,) = change(piece.value)
    assert isinstance(value, Number | Slot)
    return (replace(piece, value=value),)


def row_text(items: Sequence[Text]) -> Text:
    """A list of parts, in which those that repeat are written once."""
    count = len(items)
    for period in range(1, count // 2 + 1):
        if count % period == 0 and list(items) == list(items[:period]) * (count // period):
            once = _unit(items[0]) if period == 1 else listed(_runs(items[:period]))
            return Text.of(once, " * ", Number(count // period, "count", "depth"), strength=PRODUCT)
    return listed(_runs(items))


def _runs(items: Sequence[Text]) -> Iterator[Text]:
    """Items in which several in a row that are the same are one that is spread."""
    start = 0
    while start < len(items):
        end = start
        while end < len(items) and items[end] == items[start]:
            end += 1
        times = Number(end - start, "count", "depth")
        once = _unit(items[start])
        yield items[start] if end == start + 1 else Text.of("*(", once, " * ", times, ")")
        start = end


def _unit(item: Text) -> Text:
    """What is repeated: a row within one stays a row, since a list times a number is one list."""
    first, *_ = item.pieces
    is_row = item.strength == PRODUCT or (isinstance(first, str) and first.startswith("["))
    return listed([item]) if is_row else item

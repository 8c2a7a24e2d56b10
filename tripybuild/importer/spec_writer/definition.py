"""Definitions of a spec as data: what a module takes, is made of, does and gives.

Definitions that differ in numbers alone are folded: they become one that is made with sizes.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tripybuild.importer.call_program import CallValue
from tripybuild.importer.spec_writer.texts import (
    PRODUCT,
    DefinitionName,
    Keyword,
    Piece,
    SizeNumber,
    Slot,
    Text,
    TypeText,
    listed,
)
from tripybuild.symbolic.dims import Dim

MOST = 8  # sizes that a definition is made with

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
        origins: Where the classes that it is are declared.
        path: That of the first module that it is.
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
    origins: list[str] = field(default_factory=list)
    path: str = ""

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
        elif isinstance(piece, DefinitionName):
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

    def kind(old: object, name: str) -> Text:
        if isinstance(old, Text):
            return text(old)
        assert isinstance(old, list)
        return row_text([kind(each, name) for each in old], f"list {name}")

    return replace(
        definition,
        inputs=[(slot, type_text(type)) for slot, type in definition.inputs],
        parts={name: kind(each, name) for name, each in definition.parts.items()},
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
    assert isinstance(value, SizeNumber | Slot)
    return (replace(piece, value=value),)


def row_text(items: Sequence[Text], place: str) -> Text:
    """A list of parts, in which those that repeat are written once."""
    count = len(items)
    for period in range(1, count // 2 + 1):
        if count % period == 0 and list(items) == list(items[:period]) * (count // period):
            once = _unit(items[0]) if period == 1 else listed(_runs(items[:period], place))
            return Text.of(
                once, " * ", SizeNumber(count // period, "count", "depth", place), strength=PRODUCT
            )
    return listed(_runs(items, place))


def _runs(items: Sequence[Text], place: str) -> Iterator[Text]:
    """Items in which several in a row that are the same are one that is spread."""
    start = 0
    while start < len(items):
        end = start
        while end < len(items) and items[end] == items[start]:
            end += 1
        times = SizeNumber(end - start, "count", "depth", place)
        once = _unit(items[start])
        yield items[start] if end == start + 1 else Text.of("*(", once, " * ", times, ")")
        start = end


def _unit(item: Text) -> Text:
    """What is repeated: a row within one stays a row, since a list times a number is one list."""
    first, *_ = item.pieces
    is_row = item.strength == PRODUCT or (isinstance(first, str) and first.startswith("["))
    return listed([item]) if is_row else item


@dataclass(frozen=True)
class _Made:
    """How a definition is made by another one: with these sizes."""

    definition: Definition
    sizes: Sequence[SizeNumber] = ()

    def pieces(self) -> tuple[Piece, ...]:
        """The text of a part that is made so."""
        if not self.sizes:
            return (DefinitionName(self.definition),)
        sizes = listed((Text((each,)) for each in self.sizes), "(", ")")
        return Text.of(DefinitionName(self.definition), sizes).pieces


@dataclass
class Folding:
    """Folds the definitions of a model, the inner ones first.

    Attributes:
        definitions: All of them, each behind those that it is made of.
        made: What definitions have become, by their identity.
        kept: The definitions that are left.
    """

    definitions: Sequence[Definition]
    made: dict[int, _Made] = field(default_factory=dict)
    kept: list[Definition] = field(default_factory=list)

    def fold(self, model: Definition) -> Definition:
        """The model over the definitions that are left."""
        heights: dict[int, int] = {}
        levels: dict[int, list[Definition]] = defaultdict(list)
        for definition in self.definitions:
            height = max((heights[id(each)] + 1 for each in inner(definition)), default=0)
            heights[id(definition)] = height
            levels[height].append(definition)
        for height in sorted(levels):
            groups: dict[object, list[tuple[Definition, Definition]]] = defaultdict(list)
            for definition in levels[height]:
                over = changed(definition, self._refer)
                groups[_skeleton(over)].append((definition, over))
            for members in groups.values():
                self._fold_group(members)
        return changed(model, self._refer)

    def _refer(self, piece: Piece) -> Iterable[Piece]:
        if isinstance(piece, DefinitionName) and id(piece.to) in self.made:
            return self.made[id(piece.to)].pieces()
        return (piece,)

    def _fold_group(self, members: Sequence[tuple[Definition, Definition]]) -> None:
        rows = [[p for p in over.pieces() if isinstance(p, SizeNumber)] for _, over in members]
        values = [tuple(each.value for each in row) for row in rows]
        _, first = members[0]
        columns = [i for i, column in enumerate(zip(*values, strict=True)) if len({*column}) > 1]
        distinct = {i: tuple(row[i] for row in values) for i in columns}
        groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for index, column in distinct.items():
            groups[column].append(index)
        slots = {column: Slot(_hint(rows[0], indexes)) for column, indexes in groups.items()}
        by_index = {i: slots[column] for column, indexes in groups.items() for i in indexes}
        bound = _bound(first, by_index)
        for slot in bound:
            slot.hint = "H"
        sizes = [(column, slot) for column, slot in slots.items() if slot not in bound]
        if len(sizes) > MOST or (sizes and first.is_function()):  # which is called as it is
            for (old, over), _ in zip(members, rows, strict=True):
                self._keep([old], over, [])
            return
        count = iter(range(len(rows[0])))
        whole = changed(first, lambda piece: _with_slot(piece, count, by_index))
        whole.sizes = [*first.sizes, *(slot for _, slot in sizes)]
        every = (origin for _, over in members for origin in over.origins)
        whole.origins = list(dict.fromkeys(every))
        self.kept.append(whole)
        for number, ((old, _), row) in enumerate(zip(members, rows, strict=True)):
            given = [
                replace(row[groups[column][0]], value=column[number], hint=slot.hint)
                for column, slot in sizes
            ]
            self.made[id(old)] = _Made(whole, given)

    def _keep(
        self, olds: Sequence[Definition], over: Definition, sizes: Sequence[SizeNumber]
    ) -> None:
        self.kept.append(over)
        self.made.update((id(old), _Made(over, sizes)) for old in olds)


def _with_slot(piece: Piece, count: Iterator[int], slots: Mapping[int, Slot]) -> Iterable[Piece]:
    if isinstance(piece, SizeNumber):
        return (slots.get(next(count), piece),)
    return (piece,)


def _bound(definition: Definition, slots: Mapping[int, Slot]) -> set[Slot]:
    """The sizes that the shapes of arguments say, and that no part and no weight needs."""
    inputs = sum(_numbers(type.shape.pieces) for _, type in definition.inputs)
    held = sum(_numbers(kind_pieces(kind)) for kind in definition.parts.values())
    held += sum(_numbers(type.shape.pieces) for type in definition.weights.values())
    shown = {slot for index, slot in slots.items() if index < inputs}
    return shown - {slot for index, slot in slots.items() if inputs <= index < inputs + held}


def _numbers(pieces: Iterable[Piece]) -> int:
    values = (each.value if isinstance(each, Keyword) else each for each in pieces)
    return sum(isinstance(each, SizeNumber) for each in values)


def _hint(row: Sequence[SizeNumber], indexes: Sequence[int]) -> str:
    """What a size is called: as what it is given to, if that says something."""
    hints = [row[index].hint for index in indexes]
    return next((each for each in hints if each != "size"), "size")


def _skeleton(definition: Definition) -> object:
    """What definitions share that differ in numbers alone."""
    row = canonical(definition)
    return tuple(("number", each.role) if isinstance(each, SizeNumber) else each for each in row)


def inner(definition: Definition) -> Iterator[Definition]:
    """The definitions that one reads."""
    return (piece.to for piece in definition.pieces() if isinstance(piece, DefinitionName))


def first_number(value: CallValue) -> float | bool | None:
    """The number that a state begins with; None if that is no single one."""
    assert value.weight is not None
    array = value.weight.load()
    if not array.size or (array != array.flat[0]).any():
        return None
    found: float | bool = array.flat[0].item()
    return found

"""Folding: definitions that differ in numbers alone become one that is made with sizes."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tripybuild.importer.spec_writer.definition import (
    Definition,
    canonical,
    changed,
    kind_pieces,
)
from tripybuild.importer.spec_writer.texts import (
    Keyword,
    Number,
    Piece,
    Reference,
    Slot,
    Text,
    listed,
)

MOST = 8  # sizes that a definition is made with


@dataclass(frozen=True)
class _Made:
    """How a definition is made by another one: with these sizes."""

    definition: Definition
    sizes: Sequence[Number] = ()

    def pieces(self) -> tuple[Piece, ...]:
        """The text of a part that is made so."""
        if not self.sizes:
            return (Reference(self.definition),)
        sizes = listed((Text((each,)) for each in self.sizes), "(", ")")
        return Text.of(Reference(self.definition), sizes).pieces


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
        if isinstance(piece, Reference) and id(piece.to) in self.made:
            return self.made[id(piece.to)].pieces()
        return (piece,)

    def _fold_group(self, members: Sequence[tuple[Definition, Definition]]) -> None:
        rows = [[p for p in over.pieces() if isinstance(p, Number)] for _, over in members]
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
        self.kept.append(whole)
        for number, ((old, _), row) in enumerate(zip(members, rows, strict=True)):
            given = [
                replace(row[groups[column][0]], value=column[number], hint=slot.hint)
                for column, slot in sizes
            ]
            self.made[id(old)] = _Made(whole, given)

    def _keep(self, olds: Sequence[Definition], over: Definition, sizes: Sequence[Number]) -> None:
        self.kept.append(over)
        self.made.update((id(old), _Made(over, sizes)) for old in olds)


def _with_slot(piece: Piece, count: Iterator[int], slots: Mapping[int, Slot]) -> Iterable[Piece]:
    if isinstance(piece, Number):
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
    return sum(isinstance(each, Number) for each in values)


def _hint(row: Sequence[Number], indexes: Sequence[int]) -> str:
    """What a size is called: as what it is given to, if that says something."""
    hints = [row[index].hint for index in indexes]
    return next((each for each in hints if each != "size"), "size")


def _skeleton(definition: Definition) -> object:
    """What definitions share that differ in numbers alone."""
    row = canonical(definition)
    return tuple(("number", each.role) if isinstance(each, Number) else each for each in row)


def inner(definition: Definition) -> Iterator[Definition]:
    """The definitions that one reads."""
    return (piece.to for piece in definition.pieces() if isinstance(piece, Reference))

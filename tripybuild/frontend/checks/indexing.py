"""Indexing: integers, slices, `...` and None as starts, sizes and steps of dimensions.

The rules are Python's: bounds beyond the ends are clamped, negative ones count from the end.
"""

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import dimension_of
from tripybuild.trace.values import Size
from tripybuild.types.shapes import SHAPE_FUNCTIONS, ceildiv

_maximum, _minimum = SHAPE_FUNCTIONS["max"], SHAPE_FUNCTIONS["min"]
_select = SHAPE_FUNCTIONS["select"]


# Whether a list is the same as a tuple, as nvtripy has it: `x[[0, 1]]` is one element there, and
# two rows in PyTorch and NumPy.
_list_is_tuple = [False]


def accept_lists(accepted: bool) -> None:
    """Let `x[[0, 1]]` of a program mean `x[0, 1]`; otherwise it is refused."""
    _list_is_tuple[0] = accepted


def refuse_list(index: object) -> None:
    """Refuse a program's list as an index.

    Raises:
        IndexFormError: It is one, and nothing says which of its meanings is meant.
    """
    if isinstance(index, list) and not _list_is_tuple[0]:
        raise IndexFormError("a tuple or a tensor: a list has two meanings", "list")


class IndexFormError(ValueError):
    """What an index should have been, and the key of a hint."""

    def __init__(self, wanted: str, hint: str | None = None) -> None:
        super().__init__(wanted)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Index:
    """A resolved index.

    `start`, `size` and `step` have an entry for each dimension of the tensor; `result` is the shape
    after integers have taken dimensions away and None has put some in.
    """

    start: tuple[Size, ...]
    size: tuple[Size, ...]
    step: tuple[int, ...]
    result: tuple[Size, ...]


def resolve(index: object, shape: Sequence[Size]) -> Index:
    """Resolve an index into a tensor of the given shape.

    Raises:
        IndexFormError: For an index of another kind, too many entries, or an integer out of bounds.
    """
    entries = list(index) if isinstance(index, (tuple, list)) else [index]
    used = sum(entry is not None and entry is not ... for entry in entries)
    if used > len(shape):
        raise IndexFormError(f"at most {len(shape)} indices")
    # Entries are compared by identity: `==` may mean something else to them.
    places = [place for place, entry in enumerate(entries) if entry is ...]
    if len(places) > 1:
        raise IndexFormError("an index with one `...`")
    at = places[0] if places else len(entries)
    entries[at : at + 1] = [slice(None)] * (len(shape) - used)
    sizes = iter(shape)
    taken: list[tuple[Size, Size, int]] = []
    result: list[Size] = []
    for entry in entries:
        if entry is None:
            result.append(1)
            continue
        size = next(sizes)
        start, length, step = _resolve_entry(entry, size)
        taken.append((start, length, step))
        if isinstance(entry, slice):
            result.append(length)
    starts, lengths, steps = zip(*taken, strict=True) if taken else ((), (), ())
    return Index(tuple(starts), tuple(lengths), tuple(steps), tuple(result))


def _resolve_entry(entry: object, size: Size) -> tuple[Size, Size, int]:
    if isinstance(entry, slice):
        return _slice(entry, size)
    position = _size(entry)
    if position is None:
        several = hasattr(entry, "__array__") or isinstance(entry, list)
        raise IndexFormError("integers, slices, `...` or None", "array" if several else None)
    if isinstance(position, int) and isinstance(size, int) and not -size <= position < size:
        raise IndexFormError(f"between {-size} and {size - 1} for a dimension of size {size}")
    return _from_start(position, size), 1, 1


def _slice(entry: slice, size: Size) -> tuple[Size, Size, int]:
    step = 1 if entry.step is None else _size(entry.step)
    if not isinstance(step, int) or step == 0:
        raise IndexFormError("a slice whose step is an integer other than 0")
    if step > 0:
        start = _slice_limit(entry.start, size, 0, 0, size)
        stop = _slice_limit(entry.stop, size, size, 0, size)
        return start, _maximum(0, ceildiv(stop - start, step)), step
    start = _slice_limit(entry.start, size, size - 1, -1, size - 1)
    stop = _slice_limit(entry.stop, size, -1, -1, size - 1)
    return start, _maximum(0, ceildiv(start - stop, -step)), step


def _slice_limit(value: object, size: Size, missing: Size, low: Size, high: Size) -> Size:
    """One bound of a slice, counted from the start and clamped."""
    if value is None:
        return missing
    bound = _size(value)
    if bound is None:
        raise IndexFormError("a slice of integers")
    return _minimum(_maximum(_from_start(bound, size), low), high)  # type: ignore[no-any-return]


def _from_start(place: Size, size: Size) -> Size:
    """A place from the start; whether one counts from the end may depend on sizes."""
    return _select(place < 0, place + size, place)  # type: ignore[no-any-return]


def _size(value: object) -> Size | None:
    """The size that an entry means: other kinds of integers, such as NumPy's, become Python's."""
    value = dimension_of(value)
    if isinstance(value, Dim):
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array has `__index__` whatever it holds
        return None

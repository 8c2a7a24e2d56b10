"""The inputs of a spec's test, drawn as its `test:` section says."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tripybuild.schema.comparison_files import DrawEntry, EntryTestEntry, TestEntry
from tripybuild.symbolic.dims import substitute
from tripybuild.trace.values import Value

MASKED = 0.6  # the share of ones in a mask


def entry_section(section: TestEntry, name: str) -> EntryTestEntry:
    """What is said of an entry, in its own section or for all."""
    own = section.entries.get(name)
    said = {} if own is None else {key: getattr(own, key) for key in own.model_fields_set}
    keys = EntryTestEntry.model_fields
    return EntryTestEntry.model_construct(**{k: getattr(section, k) for k in keys} | said)


def draw_entry(
    section: EntryTestEntry,
    inputs: Mapping[str, Value],
    sizes: Mapping[str, int],
    seed: list[int],
    bound: Callable[[int | str], int],
) -> dict[str, np.ndarray]:
    """Inputs in float32, and what is no float in its own dtype.

    Args:
        section: What is said of the entry.
        inputs: What it takes.
        sizes: Its dynamic sizes.
        seed: Where random numbers begin.
        bound: The number that a `below:` stands for.

    Raises:
        ValueError: The section does not say how an input of integers is drawn.
    """
    random = np.random.default_rng(seed)
    return {
        name: _draw(name, section.inputs.get(name, DrawEntry()), each, sizes, random, bound)
        for name, each in inputs.items()
    }


def named_bound(below: int | str, sizes: Mapping[str, Any], config: Mapping[str, Any]) -> int:
    """The number that `below:` stands for: itself, a size of the model, or a key of its config."""
    if isinstance(below, int):
        return below
    first, *rest = below.split(".")
    found: Any = config if first == "config" else sizes.get(first)
    for key in rest:
        found = found[key] if isinstance(found, Mapping) else getattr(found, key)
    return int(found)


def shape_of(value: Value, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of an input or a state for these sizes."""
    return tuple(int(str(substitute(each, sizes))) for each in value.shape)


def _draw(
    name: str,
    said: DrawEntry,
    like: Value,
    sizes: Mapping[str, int],
    random: np.random.Generator,
    bound: Callable[[int | str], int],
) -> np.ndarray:
    shape = shape_of(like, sizes)
    is_float = "float" in str(like.dtype)
    own = np.dtype("float32" if is_float else str(like.dtype))
    if said.values is not None:
        return np.broadcast_to(np.asarray(said.values, own), shape).copy()
    if said.below is not None:
        return random.integers(0, bound(said.below), shape).astype(own)
    if said.draw in ("padding", "mask"):
        return _mask(shape, random, sorted_=said.draw == "padding").astype(own)
    if said.draw == "start":
        return np.zeros(shape, own)
    if not is_float:
        message = f"`{name}` is {like.dtype}, and is drawn by `below`, `draw` or `values`"
        raise ValueError(message)
    drawn = random.random(shape) if said.draw == "uniform" else random.normal(size=shape)
    return drawn.astype(own)


def _mask(shape: tuple[int, ...], random: np.random.Generator, *, sorted_: bool) -> np.ndarray:
    """Ones and zeros with a one in each row; sorted, the zeros are behind."""
    drawn = random.random(shape) < MASKED
    at = np.zeros(shape[:-1], int) if sorted_ else random.integers(0, shape[-1], shape[:-1])
    np.put_along_axis(drawn, at[..., None], True, -1)
    return -np.sort(-drawn.astype(int), -1) if sorted_ else drawn

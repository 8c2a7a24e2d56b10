"""Member traversal of modules: tensors and modules in attributes, lists and dicts.

A name is the path of an attribute: `layers.0.weight`. Modules need no state of their own for this,
so that a class which forgets `super().__init__()` is a module all the same.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

DEEPEST = 64


@dataclass(frozen=True, slots=True)
class ModuleMember:
    """Something that a module holds, and where: `holder[key]` is its `value`."""

    name: str
    value: Any
    holder: Any
    key: Any


def members(attributes: dict[str, Any], kinds: tuple[type, ...]) -> Iterator[ModuleMember]:
    """What is of some kinds among attributes, in their order."""
    for key, value in attributes.items():
        if isinstance(value, kinds):
            yield ModuleMember(key, value, attributes, key)
        elif isinstance(value, (list, dict)):
            yield from _inside(ModuleMember(key, value, attributes, key), kinds, 0)


def _inside(member: ModuleMember, kinds: tuple[type, ...], depth: int) -> Iterator[ModuleMember]:
    value, name = member.value, member.name
    if isinstance(value, kinds):
        yield member
    elif depth < DEEPEST and isinstance(value, list) and not _is_data(value):
        for index, item in enumerate(value):
            yield from _inside(
                ModuleMember(f"{name}.{index}", item, value, index), kinds, depth + 1
            )
    elif depth < DEEPEST and isinstance(value, dict):
        for key, item in value.items():
            if isinstance(key, str):
                yield from _inside(
                    ModuleMember(f"{name}.{key}", item, value, key), kinds, depth + 1
                )


def _is_data(items: list[Any]) -> bool:
    """Whether a list begins as one of numbers or texts does, and may be long."""
    return bool(items) and isinstance(items[0], (int, float, str))


def walk_modules(
    module: Any, children: Callable[[Any], Iterator[tuple[str, Any]]], path: str = ""
) -> Iterator[tuple[str, Any]]:
    """A module and all that are below it, each with its path; one within itself is left out."""
    pending = [(path, module, frozenset[int]())]
    while pending:
        path, module, above = pending.pop()
        yield path, module
        known = above | {id(module)}
        inner = [
            (f"{path}{name}.", child, known)
            for name, child in children(module)
            if id(child) not in known
        ]
        pending += reversed(inner)

"""Names in a spec: of definitions, by classes of the source, and those that are free."""

import itertools
import re
from collections.abc import Iterable, Sequence, Set as AbstractSet

from tripybuild.importer.spec_writer.definition import Definition
from tripybuild.importer.spec_writer.texts import Slot, is_name
from tripybuild.schema.snippets.vocabularies import DTYPES, SHAPE

_BETWEEN = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])|\W+", re.ASCII)
FLOATS = "F"  # the name of the dtype that floats have by default
LANGUAGE = frozenset({FLOATS, *DTYPES, *SHAPE})  # what names of a spec mean everywhere
_LETTERS = {"x": "xyzuvw", "H": "HWDLMN"}  # names of inputs, and of sizes that they say


def words(name: str) -> list[str]:
    """The words of a name: `LlamaRMSNorm` -> `llama rms norm`."""
    return [word.lower() for word in _BETWEEN.sub("_", name).split("_") if word]


def without_prefix(name: str, model: str) -> str:
    """The name of a class without that of the model, with which all of them may begin."""
    letters = model.replace("_", "").lower()
    ends = [at for at in range(2, len(name)) if name[at].isupper()]
    return name[max((at for at in ends if letters.startswith(name[:at].lower())), default=0) :]


def common_words(names: Sequence[Sequence[str]]) -> int:
    """How many words all names begin with."""
    count = 0
    for column in zip(*names, strict=False):
        if len(set(column)) > 1 or len(names) < 2:
            break
        count += 1
    return count


def model_name(text: str) -> str:
    """A name for the model."""
    name = re.sub(r"\W+", "_", text.lower(), flags=re.ASCII).strip("_")
    return name if name and not name[0].isdigit() else f"model_{name}".rstrip("_")


class TakenNames(set[str]):
    """Names that are taken; none is given back, so that a number is tried once for each base."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        super().__init__(names)
        self.numbers: dict[str, int] = {}

    def numbered(self, base: str) -> str:
        """The name with the lowest number that is free."""
        numbers = itertools.count(self.numbers.get(base, 2))
        number = next(each for each in numbers if f"{base}_{each}" not in self)
        self.numbers[base] = number
        return f"{base}_{number}"


def free_name(options: Sequence[str], taken: TakenNames, without: str = "") -> str:
    """The first name that is free, or the last one with a number; `without` is none of them."""
    for name in options:
        if name not in taken and name != without and is_name(name):
            return name
    return taken.numbered(options[-1])


def rename_inputs(model: Definition, taken: Iterable[str]) -> dict[str, str]:
    """Call inputs otherwise that are called as what the model calls; give those names, by the old.

    Args:
        model: The model's own definition.
        taken: Names that mean something in the spec, those of the inputs among them.
    """
    used = TakenNames({*taken, *(slot.hint for slot, _ in model.outputs), *LANGUAGE})
    found = {}
    for slot, _ in model.inputs:
        if slot.hint in model.operators or slot.hint in LANGUAGE:
            found[slot.hint] = name = free_name([f"{slot.hint}_input"], used)
            used.add(name)
            slot.hint = name
    return found


def rename_dims(dims: Iterable[str], taken: AbstractSet[str]) -> dict[str, str]:
    """Other names for dynamic dimensions that are called as something else in the spec."""
    own = [*dims]
    used = TakenNames({*own, *taken, *LANGUAGE})
    found = {}
    for name in own:
        if name in taken or name in LANGUAGE:
            found[name] = free_name([f"{name}_size"], used)
            used.add(found[name])
    return found


def local_name(slot: Slot, taken: TakenNames, reserved: AbstractSet[str]) -> str:
    """A name that is free; one that means something else says that it is a value."""
    hint = slot.hint
    if hint == "_":
        return "_"
    if hint in _LETTERS:
        return free_name([*_LETTERS[hint], hint], taken)
    first = re.sub(r"[\W_]+", "_", hint, flags=re.ASCII).strip("_") or "x"
    first = f"x_{first}" if first[0].isdigit() else first
    base = re.sub(r"_\d+$", "", first)
    if first in reserved:
        return free_name([f"{base}_value"], taken)
    if slot.other and base in taken:
        return free_name([slot.other], taken)
    return free_name([first, base], taken, without="" if first == base else base)

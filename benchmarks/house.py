"""The house in figures: how large the product is, how its modules hang together, how names read.

Figures have goals. `tests/test_house.py` holds those that are reached.
"""

import ast
import re
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import takewhile
from pathlib import Path

from table import Table, arguments, machine, report

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ROOT / "tripybuild"
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Words behind which a name only qualifies its head: the head of `list_of_names` is `list`.
PREPOSITIONS = re.compile(
    r"(of|by|to|for|in|with|from|at|as|on|beside|behind|into|over|under|without|than|against"
    r"|between|among|after|before|all)"
)
REGULAR = re.compile(r"\w+[^e]ed|\w{2,}ing")
IRREGULAR = re.compile(
    r"(given|told|spelt|written|taken|made|kept|found|bound|built|drawn|held|left|seen|sent|shown"
    r"|known|done|gone|meant|thought|bought|taught|lost|met|paid|begun|broken|chosen|fallen|hidden"
    r"|forgotten|worn|torn|understood|said)"
)
# Nouns, adjectives and prepositions that end as participles do.
OTHERS = re.compile(
    r"(embed|shed|hundred|(un)?signed|quantized|shared|during|wing|being|.*thing|.*[^aeiou]ring"
    r"|sibling|ceiling|binding|rounding|padding|encoding|heading|reading|timing|typing|building"
    r"|warning|setting|mapping|embedding|scaling|indexing|broadcasting)"
)


@dataclass(frozen=True)
class Import:
    """That one module of the product imports another."""

    source: str
    target: str
    hidden: bool  # whether it stands within a function


@dataclass(frozen=True)
class Measure:
    """A figure and what it may be at most."""

    name: str
    value: float
    goal: float | None = None


class House:
    """The measures of a folder of modules."""

    def __init__(self, folder: Path = PRODUCT) -> None:
        files = sorted(folder.rglob("*.py"))
        self.texts = {module_name(path, folder.parent): path.read_text("utf-8") for path in files}

    @cached_property
    def trees(self) -> Mapping[str, ast.Module]:
        """The modules by dotted name; a package stands for its `__init__`."""
        return {name: ast.parse(text) for name, text in self.texts.items()}

    @cached_property
    def imports(self) -> Sequence[Import]:
        """What modules import of each other when they run: nothing that only type checkers see."""
        return [
            Import(name, target, hidden)
            for name, tree in self.trees.items()
            for node, hidden in statements(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for target in self._targets(node)
            if target != name
        ]

    def _targets(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        for alias in node.names:
            prefix = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            candidates = prefix + alias.name, prefix.rstrip(".")
            yield from [each for each in candidates if each in self.trees][:1]

    @cached_property
    def lengths(self) -> list[int]:
        """The lines of each module."""
        return [len(text.splitlines()) for text in self.texts.values()]

    @cached_property
    def cycles(self) -> list[tuple[str, ...]]:
        """Imports that lead back to where they start, hidden ones included: one for each knot."""
        targets: dict[str, set[str]] = {name: set() for name in self.trees}
        for each in self.imports:
            targets[each.source].add(each.target)
        found = []
        while True:
            try:
                TopologicalSorter(targets).prepare()
            except CycleError as error:
                cycle = tuple(reversed(error.args[1]))
                found.append(cycle)
                targets[cycle[0]].discard(cycle[1])
            else:
                return found

    @cached_property
    def hidden_imports(self) -> list[Import]:
        """Imports within functions; the command line loads what a command needs, and no more."""
        return [
            each
            for each in self.imports
            if each.hidden and not each.source.startswith("tripybuild.cli")
        ]

    @cached_property
    def functions(self) -> list[tuple[str, str]]:
        """Each function and method, with its module."""
        return [
            (name, node.name)
            for name, tree in self.trees.items()
            for node, _ in statements(tree)
            if isinstance(node, Function)
        ]

    @cached_property
    def participles(self) -> list[tuple[str, str]]:
        """Functions whose name has a participle as its head."""
        return [each for each in self.functions if is_participle(head(each[1]))]

    @cached_property
    def ambiguous_classes(self) -> dict[str, list[str]]:
        """Class names that mean something in several modules, with the modules."""
        homes: dict[str, list[str]] = defaultdict(list)
        for name, tree in self.trees.items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef):
                    homes[node.name].append(name)
        return {name: modules for name, modules in homes.items() if len(modules) > 1}

    @cached_property
    def single_importers(self) -> dict[str, str]:
        """Modules that exactly one other imports, with the other; packages' faces are left out."""
        sources: dict[str, set[str]] = defaultdict(set)
        for each in self.imports:
            sources[each.target].add(each.source)
        packages = {name.rpartition(".")[0] for name in self.trees}
        return {
            name: next(iter(found))
            for name, found in sources.items()
            if len(found) == 1 and name not in packages
        }

    def measures(self) -> list[Measure]:
        """All figures."""
        own = [each for each in self.imports if not each.source.startswith("tripybuild.cli")]
        shared = percent(self.single_importers, self.texts)
        return [
            Measure("product lines", sum(self.lengths), 50_000),
            Measure("modules", len(self.lengths)),
            Measure("median lines of a module", statistics.median(self.lengths)),
            Measure("most lines of a module", max(self.lengths), 400),
            Measure("import cycles", len(self.cycles), 0),
            Measure("hidden own imports %", percent(self.hidden_imports, own), 2),
            Measure("participles as functions %", percent(self.participles, self.functions), 3),
            Measure("class names with several meanings", len(self.ambiguous_classes), 8),
            Measure("modules with one importer %", shared, 20),
        ]


def module_name(path: Path, root: Path) -> str:
    """The dotted name of a file below a folder."""
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def statements(node: ast.AST, hidden: bool = False) -> Iterator[tuple[ast.AST, bool]]:
    """The statements below a node that run, and whether each stands within a function."""
    hidden = hidden or isinstance(node, Function)
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, field, ()):
            if not is_type_checking(child):
                yield child, hidden
                yield from statements(child, hidden)


def is_type_checking(node: ast.AST) -> bool:
    """Whether a statement is an `if TYPE_CHECKING:`."""
    return isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"


def head(name: str) -> str:
    """The word that says what a function is: the last one before a preposition."""
    first, *rest = [word for word in name.split("_") if word] or [""]
    return [first, *takewhile(lambda word: not PREPOSITIONS.fullmatch(word), rest)][-1]


def is_participle(word: str) -> bool:
    """Whether a word reads as a participle. A heuristic: its ending, and two lists."""
    if IRREGULAR.fullmatch(word):
        return True
    return bool(REGULAR.fullmatch(word)) and not OTHERS.fullmatch(word)


def percent(part: Sized, whole: Sized) -> float:
    """How much of the whole a part is."""
    return round(100 * len(part) / len(whole), 1)


def details(house: House) -> Iterator[str]:
    """The findings behind the figures."""
    yield from (f"cycle: {' -> '.join(each)}" for each in house.cycles)
    yield from (f"hidden: {each.source} imports {each.target}" for each in house.hidden_imports)
    yield from (f"participle: {module}.{name}" for module, name in house.participles)
    for name, modules in house.ambiguous_classes.items():
        yield f"class: {name} in {', '.join(modules)}"
    for name, source in sorted(house.single_importers.items()):
        yield f"one importer: {name} by {source} ({len(house.texts[name].splitlines())} lines)"


def main() -> None:
    """Print the figures beside their goals."""
    parser = arguments(__doc__)
    parser.add_argument("--details", action="store_true", help="print what each figure counts")
    parser.add_argument("--folder", type=Path, default=PRODUCT, help="the package to measure")
    options = parser.parse_args()
    house = House(options.folder.resolve())
    rows = [
        {
            "measure": each.name,
            "value": each.value,
            "goal": each.goal,
            "met": None if each.goal is None else "yes" if each.value <= each.goal else "no",
        }
        for each in house.measures()
    ]
    report([Table("The house", ("measure", "value", "goal", "met"), rows)], machine(), options.json)
    if options.details:
        print("\n".join(details(house)))


if __name__ == "__main__":
    main()

"""Rows of modules in a list, each of which reads what the one before it gives.

A row is called as one chain: its first argument goes through all, others are shared or dealt.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tripybuild.importer.call_program import Call, CallValue
from tripybuild.importer.spec_writer.module_runs import ModuleRun, ModuleRuns


@dataclass(eq=False, slots=True)
class ModuleChain:
    """Modules of one list that are called in a row.

    Attributes:
        path: That of the list.
        runs: The calls of the modules, in order.
        first: The number of the first one.
        last: The number of the last one.
        is_whole: Whether it is all that the list has.
        dealt: For each further input that differs, one value for each module.
    """

    path: str
    runs: list[ModuleRun]
    first: int
    last: int
    is_whole: bool = True
    dealt: list[list[CallValue]] = field(default_factory=list)
    shared: list[CallValue] = field(default_factory=list)

    def arguments(self) -> list[CallValue]:
        """What the call takes, without what is dealt."""
        return [self.runs[0].arguments[0], *self.shared]

    @property
    def results(self) -> list[CallValue]:
        """What the call gives."""
        return self.runs[-1].results

    @property
    def calls(self) -> list[Call]:
        """All calls in it."""
        return [call for run in self.runs for call in run.calls]

    def slice_text(self) -> str:
        """The part of the list that it is, as an index."""
        return "" if self.is_whole else f"[{self.first or ''}:{self.last + 1}]"


def item_arguments(item: ModuleRun | ModuleChain) -> Iterable[CallValue]:
    """The tensors that an item of a run reads."""
    if isinstance(item, ModuleRun):
        return item.arguments
    return [*item.arguments(), *(value for dealt in item.dealt for value in dealt)]


def _place(path: str) -> tuple[str, int]:
    """The list that a module stands in, and its number there; -1 for one that is in no list."""
    stem, _, last = path.rpartition(".")
    return stem, int(last) if last.isdigit() else -1


def find_chains(runs: ModuleRuns, run: ModuleRun) -> "list[Call | ModuleRun | ModuleChain]":
    """The items of a run, with chains in the place of the modules that they are made of."""
    called: dict[str, list[ModuleRun]] = {}
    for item in run.items:
        if isinstance(item, ModuleRun) and _place(item.path)[1] >= 0:
            called.setdefault(_place(item.path)[0], []).append(item)
    replaced: dict[int, ModuleChain | None] = {}
    for path, members in called.items():
        node = runs.root.find(path)
        if not path or not node.is_list:  # the model itself is no part that can be called
            continue
        for row in _rows(runs, run, members):
            chain = _chain(path, row)
            if chain is None:
                continue
            numbers = set()
            for each in row:
                number = _place(each.path)[1]
                numbers.add(number)
                if runs.is_small(each):
                    node.operators[number] = each.calls[0].operator
            chain.is_whole = {*map(int, node.children)} <= numbers
            replaced.update((id(each), None) for each in row)
            replaced[id(row[-1])] = chain
    kept = [replaced.get(id(item), item) for item in run.items]
    return [item for item in kept if item is not None]


def _rows(runs: ModuleRuns, run: ModuleRun, members: Sequence[ModuleRun]) -> list[list[ModuleRun]]:
    """Members of a list that follow each other, each one the only reader of the one before."""
    rows: list[list[ModuleRun]] = []
    for member in members:
        before = rows[-1][-1] if rows else None
        if before is not None and _follows(runs, run, before, member):
            rows[-1].append(member)
        else:
            rows.append([member])
    paths = [each.path for each in members]
    return [row for row in rows if len(row) > 1 and all(paths.count(r.path) == 1 for r in row)]


def _follows(runs: ModuleRuns, run: ModuleRun, one: ModuleRun, other: ModuleRun) -> bool:
    left, right = _place(one.path), _place(other.path)
    between = {str(n) for n in range(left[1] + 1, right[1])}
    if right[1] <= left[1] or between & runs.root.find(left[0]).children.keys():
        return False
    if len(one.results) != 1 or len(other.results) != 1:
        return False
    if not (_is_member(runs, one) and _is_member(runs, other)):
        return False
    (value,) = one.results
    uses = sum(each is value for each in other.arguments)
    inside = runs.count(value, run.calls)
    return (
        uses == 1
        and runs.count(value, other.calls) == inside
        and not any(each is value for each in run.results)
    )


def _is_member(runs: ModuleRuns, run: ModuleRun) -> bool:
    """Whether a run is a part of a list: one with weights, or one operator of one tensor."""
    if not runs.is_small(run):
        return True
    (call, *others) = run.calls
    return not others and [*call.arguments.values()] == run.arguments and not call.is_list


def _chain(path: str, row: Sequence[ModuleRun]) -> ModuleChain | None:
    """The chain of a row, if its further arguments can be given all at once."""
    places = {
        next(i for i, each in enumerate(later.arguments) if each is before.results[0])
        for before, later in pairwise(row)
    }
    if len(places) != 1 or len({len(each.arguments) for each in row}) != 1:
        return None
    (place,) = places
    columns = list(zip(*(each.arguments for each in row), strict=True))
    others = [column for index, column in enumerate(columns) if index != place]
    shared = [column[0] for column in others if all(each is column[0] for each in column)]
    if len(shared) != len(others):
        return None
    for each in row:
        each.arguments.insert(0, each.arguments.pop(place))
    first, last = _place(row[0].path)[1], _place(row[-1].path)[1]
    return ModuleChain(path, list(row), first, last, shared=shared)

"""Prepared weights: read as those of files are, and computed from them by the references.

Invariant: a prepared weight is computed when it is read, and nothing of what leads to it stays in
memory. So it costs its own bytes, those of the weights that it is made of and those in between.
All of them have one budget, so that a file cannot ask for more work by cutting it into recipes.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripybuild.errors.budget import Budget
from tripybuild.errors.diagnostics import Span
from tripybuild.errors.limits import within_budget
from tripybuild.process.memory import memory_error
from tripybuild.reference.execute import execute
from tripybuild.trace.graph import Graph
from tripybuild.trace.structural_key import subgraph_key
from tripybuild.weights.safetensors import FileEntry
from tripybuild.weights.source import WeightSource


@dataclass(frozen=True, slots=True)
class PreparedWeights:
    """The weights of files, and those that are computed from weights.

    Args:
        stored: Where the weights are that nothing computes.
        recipes: How each of the others is computed; those that others read come first.
        budget: What computing them may take, however often they are read.
    """

    stored: WeightSource
    recipes: Mapping[str, Graph]
    budget: Budget = field(default_factory=Budget, compare=False)

    @property
    def place(self) -> str:
        """What messages call the files."""
        return self.stored.place

    @property
    def noun(self) -> str:
        """What one of them is called."""
        return self.stored.noun

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that those of them are in that are stored."""
        return self.stored.paths

    @property
    def span(self) -> Span:
        """Where the user says which weights they are."""
        return self.stored.span

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Read the weights at these paths, and compute those that have to be."""
        wanted = list(wanted)
        found = self.stored(name for name in wanted if name not in self.recipes)
        found |= dict(self.compute(wanted))
        return {name: found[name] for name in wanted}

    def file_entries(self, wanted: Iterable[str]) -> Mapping[Path, Mapping[str, FileEntry]]:
        """Where those of them lie that are in files; none that is computed does."""
        return self.stored.file_entries(name for name in wanted if name not in self.recipes)

    def same_data(self, wanted: Iterable[str]) -> dict[str, str]:
        """Each of these weights that has the data of one before it, with that one."""
        wanted = list(wanted)
        computed = needed_recipes(self.recipes, wanted)
        read = (name for each in computed.values() for name in each.weights)
        known = [n for n in dict.fromkeys((*wanted, *read)) if n not in self.recipes]
        same = dict(self.stored.same_data(known))
        seen: dict[object, str] = {}
        for name, recipe in computed.items():
            begins = list(recipe.weights.values())
            how = subgraph_key(begins, recipe.operations, list(recipe.outputs.values()))
            key = (how, *(same.get(each, each) for each in recipe.weights))
            if (first := seen.setdefault(key, name)) != name:
                same[name] = first
        return _among(wanted, same)

    def verify(self) -> None:
        """Refuse a file that was written to since it was compared with the model."""
        self.stored.verify()

    def compute(self, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Compute weights in the order of the recipes; what none reads any more is let go."""
        wanted = set(wanted)
        recipes = needed_recipes(self.recipes, wanted)
        last = last_readers(recipes)
        held: dict[str, Any] = {}
        for name, recipe in recipes.items():
            array = self._run_recipe(name, recipe, held)
            if name in last:
                held[name] = array
            for each in recipe.weights:
                if last[each] == name:
                    held.pop(each, None)
            if name in wanted:
                yield name, array

    def _run_recipe(self, name: str, recipe: Graph, held: Mapping[str, Any]) -> Any:
        """Compute a weight from those that are held and those of the files."""
        place = recipe_span(recipe)
        try:
            given = self.stored(each for each in recipe.weights if each not in self.recipes)
            given |= {each: held[each] for each in recipe.weights if each in self.recipes}
            with within_budget(place, self.budget):
                return execute(recipe, given)[name]
        except MemoryError as error:
            message = f"the prepared weight `{name}` needs more memory than available"
            raise memory_error(message, (), error, place) from error


def last_readers(recipes: Mapping[str, Graph]) -> dict[str, str]:
    """The last recipe that reads each weight; it is held until then."""
    return {read: name for name, each in recipes.items() for read in each.weights}


def recipe_span(recipe: Graph) -> Span | None:
    """The expression that a recipe is recorded from."""
    made = (value.producer for value in recipe.outputs.values())
    return next((each.location.span() for each in made if each is not None), None)


def needed_recipes(recipes: Mapping[str, Graph], wanted: Iterable[str]) -> dict[str, Graph]:
    """The recipes that some weights need, with those of what they read, in their order."""
    needed: set[str] = set()
    stack = [name for name in wanted if name in recipes]
    while stack:
        name = stack.pop()
        if name not in needed:
            needed.add(name)
            stack += [each for each in recipes[name].weights if each in recipes]
    return {name: each for name, each in recipes.items() if name in needed}


def _among(wanted: Iterable[str], same: Mapping[str, str]) -> dict[str, str]:
    """What is the same as something before it, of some weights alone."""
    first: dict[str, str] = {}
    return dict(_later(wanted, same, first))


def _later(
    wanted: Iterable[str], same: Mapping[str, str], first: dict[str, str]
) -> Iterator[tuple[str, str]]:
    for name in wanted:
        found = first.setdefault(same.get(name, name), name)
        if found != name:
            yield name, found

"""The registry as a whole: its size, how short declarations are, how little of it is Python."""

import ast
from pathlib import Path
from statistics import median

from tripybuild.documents.document import read
from tripybuild.process import paths
from tripybuild.schema.formatting import is_formatted
from tripybuild.schema.snippets.vocabularies import REFERENCE
from tripybuild.testing.registry import registry

OPERATORS = registry(paths.registry()).operators.values()
LEAST_OPERATORS = 180
LONGEST_MEDIAN = 40  # lines
LEAST_WITHOUT_HELPER = 0.95  # of the operators


def test_there_are_many_operators():
    """All of nvtripy's, and what TensorRT has beside them."""
    assert len(OPERATORS) >= LEAST_OPERATORS


def test_declarations_are_short():
    """Half of them at most so many lines, with documentation and examples."""
    lines = [len(Path(each.path).read_text(encoding="utf-8").splitlines()) for each in OPERATORS]
    assert median(lines) <= LONGEST_MEDIAN


def test_declarations_have_one_form():
    """That of `tripybuild fmt`: keys in reading order. Models have it, too."""
    folders = [paths.registry(), paths.CHECKOUT / "specs"]
    documents = [read(path)[0] for folder in folders for path in folder.rglob("*.yaml")]
    wrong = [each.path for each in documents if not is_formatted(each)]
    assert wrong == [], "run `tripybuild fmt`"


def test_few_operators_need_python():
    """A helper that one operator alone uses is that operator's Python."""
    users: dict[str, list[str]] = {}
    for each in OPERATORS:
        for name in called(each.reference.program) if each.reference else ():
            users.setdefault(name, []).append(each.name)
    own = {names[0] for helper, names in users.items() if helper in REFERENCE and len(names) == 1}
    assert len(own) <= (1 - LEAST_WITHOUT_HELPER) * len(OPERATORS), sorted(own)


def test_each_helper_is_used():
    """What no declaration calls is of no use."""
    called_ones = {
        n for each in OPERATORS if each.reference for n in called(each.reference.program)
    }
    assert called_ones >= REFERENCE


def called(program) -> set[str]:
    """The names of functions that a snippet calls, or hands on."""
    values = [*(each.value for each in program.assignments), program.result]
    return {n.id for value in values for n in ast.walk(value) if isinstance(n, ast.Name)}

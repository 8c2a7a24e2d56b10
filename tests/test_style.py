"""Sizes that keep code readable: modules of 400 lines, functions of 40; docstrings; Markdown."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULE, FUNCTION, COLUMNS = 400, 40, 120
MODULES = sorted((ROOT / "tripybuild").rglob("*.py"))
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# The spelling is American, and a text names what it means.
WORDS = re.compile(
    r"\w*(alis|imis|eris|oris|otis|enis)(e|es|ed|ing|ation)\b|behaviour|neighbour|colour|centre\b|towards"
    r"|\b(some|no)body\b|\bwho(m|ever)\b|\bin words\b|\ba text\b",
    re.IGNORECASE,
)
SPELLED = frozenset({"otherwise", "promise", "compromise", "premise"})
BANNED = frozenset({"utils", "helpers", "common", "manager", "misc"})

# What is still too long, with its size: a number here may shrink and never grow.
LONG_MODULES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def place(path: Path) -> str:
    """A file as the lists above name it."""
    return path.relative_to(ROOT).as_posix()


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Each function below a node, with its dotted name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function):
            yield prefix + node.name, node
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")


def length(node: Function) -> int:
    """The lines of a function's body, without its docstring."""
    first = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (node.end_lineno or 0) - first[0].lineno + 1 if first else 0


def module_faults(path: Path) -> Iterator[str]:
    """A module has at most 400 lines, a docstring, and a name that says something."""
    text = path.read_text(encoding="utf-8")
    lines = len(text.splitlines())
    if lines > max(MODULE, LONG_MODULES.get(place(path), 0)):
        yield f"{lines} lines"
    if text.strip() and not ast.get_docstring(ast.parse(text)):
        yield "no docstring"
    if path.stem in BANNED:
        yield "its name says nothing"


def function_faults(path: Path) -> Iterator[str]:
    """A function has at most 40 lines; public ones have docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for name, node in functions(tree):
        if length(node) > max(FUNCTION, LONG_FUNCTIONS.get(f"{place(path)}::{name}", 0)):
            yield f"`{name}` has {length(node)} lines"
    for node in tree.body:
        public = isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"
        if public and not ast.get_docstring(node):
            yield f"`{node.name}` has no docstring"


@pytest.mark.parametrize("faults", [module_faults, function_faults])
def test_product_is_short_and_documented(faults):
    wrong = [f"{place(path)}: {fault}" for path in MODULES for fault in faults(path)]
    assert not wrong, "\n".join(wrong)


def test_lines_of_pages_are_short():
    """Prose has at most 120 columns; rows of tables and blocks of code are as they must be."""
    long = []
    for page in PAGES:
        is_code = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            is_code ^= line.lstrip().startswith("```")
            if len(line) > COLUMNS and not is_code and not line.startswith("|"):
                long.append(f"{place(page)}:{number}")
    assert len(PAGES) > 10
    assert not long


def test_texts_are_in_the_words_of_the_field():
    """Pages and the registry; names in code may be spelled as their authors did."""
    texts = [*PAGES, *sorted((ROOT / "ops_registry").rglob("*.yaml"))]
    found = []
    for path in texts:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words = (each[0] for each in WORDS.finditer(re.sub(r"`[^`]*`", "", line)))
            found += [f"{place(path)}:{number}: {w}" for w in words if w.lower() not in SPELLED]
    assert not found


def test_exceptions_are_needed():
    """A module or function that became short leaves the list."""
    for name, size in LONG_MODULES.items():
        assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) == size, name
    for entry, size in LONG_FUNCTIONS.items():
        path, _, name = entry.partition("::")
        found = dict(functions(ast.parse((ROOT / path).read_text(encoding="utf-8"))))
        assert length(found[name]) == size, entry


def test_sources_name_the_caller_the_process_or_the_file():
    """Docstrings and comments of the product say what acts; `who` and its like hide it."""
    hidden = re.compile(r"\b((some|no|any)body|who(m|ever)?)\b|\bone's own\b", re.IGNORECASE)
    found = [
        f"{place(path)}:{number}"
        for path in MODULES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if hidden.search(line)
    ]
    assert not found

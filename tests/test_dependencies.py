"""What is imported is declared, and what is declared is imported."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from syntax import statements

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Where the module's name is not the distribution's.
DISTRIBUTIONS = {
    "OpenSSL": "pyopenssl",
    "cuda": "cuda_bindings",
    "google": "protobuf",
    "sklearn": "scikit_learn",
    "yaml": "pyyaml",
}
# What runs beside the tests, or is a plugin, or what a process that is started needs.
COMMANDS = {
    "distributed",
    "aiohttp",
    "fastapi",
    "flask",
    "flask_cors",
    "ipython",
    "moto",
    "mypy",
    "pygls",
    "pytest_xdist",
    "ruff",
    "types_pyyaml",
    "uvicorn",
}
# Ours, and what a test writes before it imports it.
BENCHMARKS = frozenset(path.stem for path in (ROOT / "benchmarks").glob("*.py"))
OWN = frozenset({"tripybuild", "tripyapi", "users_own"}) | BENCHMARKS


def normalized(name):
    """A distribution's name as a module could have it."""
    return name.lower().replace("-", "_")


def declared(requirements):
    """The distributions of a list of requirements."""
    return {normalized(re.match(r"[\w-]+", each)[0]) for each in requirements}


def imported(*folders, but=None):
    """The distributions that modules below folders import, each with one of the modules.

    `but` is a folder below them that is left out.
    """
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
    own = OWN.union(*[{path.stem, path.parent.name} for path in files])
    found = {}
    for path in files:
        if but is None or ROOT / but not in path.parents:
            for name in modules(ast.parse(path.read_text(encoding="utf-8"))):
                found.setdefault(name.partition(".")[0], path.relative_to(ROOT).as_posix())
    others = found.keys() - own - sys.stdlib_module_names
    return {normalized(DISTRIBUTIONS.get(name, name)): found[name] for name in others}


def modules(tree):
    """The dotted names of the modules that a module imports."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def oracles():
    """What the Makefile installs beside, for tests and benchmarks that pass without."""
    line = re.search(
        r"^ORACLES \?= (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE
    )
    return declared(line[1].split())


PRODUCT = declared(PROJECT["dependencies"])
TEXTS = declared(EXTRAS["tokenizers"])  # which the commands that need it ask for
IMPORTERS = declared([*EXTRAS["onnx"], *EXTRAS["torch"]])  # which read models of others
EDITOR = declared(EXTRAS["editor"])  # which `tripybuild lsp` asks for
CLUSTER = declared(EXTRAS["cluster"])  # which `tripybuild build --on` asks for
REMOTE = declared(EXTRAS["remote"])  # which a shared cache asks for
PICTURES = declared(EXTRAS["plot"])  # which `tripybuild bench --plot` asks for
SIGNING = declared(EXTRAS["signing"])  # which `tripybuild sign` asks for
TESTING = PRODUCT | declared(EXTRAS["testing"])


def missing(found, known):
    """What is imported and not declared, with a module that imports it."""
    return {name: path for name, path in found.items() if name not in known}


def test_the_product_imports_what_it_declares():
    found = imported("tripybuild", "generated/tripyapi", but="tripybuild/testing")
    assert not missing(
        found, PRODUCT | TEXTS | IMPORTERS | EDITOR | PICTURES | REMOTE | SIGNING | CLUSTER
    )
    assert not (PRODUCT | TEXTS | EDITOR | PICTURES | REMOTE | SIGNING | CLUSTER) - found.keys(), (
        "declared and not imported"
    )


def test_suites_import_what_their_extra_declares():
    found = imported("tripybuild/testing", "generated/suites")
    assert not missing(found, TESTING)
    assert not TESTING - PRODUCT - found.keys(), "declared and not imported"


def test_tests_import_what_they_declare():
    found = imported("tests")
    assert not missing(found, TESTING.union(oracles(), *map(declared, EXTRAS.values())))
    assert not declared(EXTRAS["dev"]) - found.keys() - COMMANDS, "declared and not imported"


def test_the_lock_pins_what_is_declared():
    """`make lock` writes it: a version, the hashes of its files, and no server."""
    text = (ROOT / "requirements/locked.txt").read_text(encoding="utf-8")
    entries = [each for each in re.split(r"\n(?=\S)", text) if each.strip()]
    pinned = declared(entries)
    needed = PRODUCT.union(*(declared(EXTRAS[name]) for name in ("dev", "examples", "signing")))
    assert not needed - pinned, "`make lock`"
    loose = [e for e in entries if not re.match(r"[\w.-]+==[^\n]+\\\n +--hash=sha256:", e)]
    assert not loose
    assert "://" not in text


@pytest.mark.parametrize("name", ["jaxlib", "xdsl"])
def test_what_is_used_inside_is_bounded(name):
    """Private methods are called or overridden, which a minor version may change."""
    (requirement,) = [e for e in PROJECT["dependencies"] if declared([e]) == {name}]
    assert re.fullmatch(rf"{name}>=[\d.]+,<[\d.]+", requirement)

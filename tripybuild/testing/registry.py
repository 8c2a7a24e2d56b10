"""Registry of a suite, on top of the built-in one.

Invariant: a file that is wrong fails the suites that need it, with what is wrong with it, and no
others.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.names import called_names
from tripybuild.process import paths
from tripybuild.schema.load import Registry, load
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.registry_folders import TARGETS, sources

_LIKE = re.compile(rb"^(?:like|extends): *[\"']?(\w+)", re.MULTILINE)
_WORD = re.compile(rb"\w+", re.ASCII)
Problems = Mapping[str, Sequence[Diagnostic]]  # by the path of a declaration, as it is shown


@cache
def _load(*roots: Path) -> tuple[Registry, tuple[Diagnostic, ...]]:
    """The declarations below some folders, and what is wrong with them: read once, also if so."""
    found, problems = load(roots)
    return found, tuple(problems)


def registry(*roots: Path) -> Registry:
    """The declarations below some folders.

    Raises:
        DiagnosticError: Where anything is wrong with them.
    """
    found, problems = _load(*roots)
    if problems:
        raise DiagnosticError(*problems)
    return found


def valid_registry(*roots: Path) -> Registry:
    """The declarations below some folders with which nothing is wrong.

    To ask for an operator that is not sound raises what is wrong with it.
    """
    return _valid_declarations(*roots)[0]


def suite_registry(source: str, suite: str) -> Registry:
    """The registry of the file `source`, searched for in the folders above the suite's own file.

    Raises:
        DiagnosticError: Where anything is wrong with that file, or with one that it needs. What
            else is wrong is not in the registry.
    """
    places = roots(source, suite)
    found, problems = _valid_declarations(*places)
    declared = {each.path for each in found.operators.values()}
    declared |= {each.path for each in found.modules.values()}
    if problems and source not in declared:
        raise DiagnosticError(*problems.get(source, _load(*places)[1]))
    return found


class _Operators(dict[str, Operator]):
    """Operators by name; access to an invalid one fails with the reason."""

    def __init__(self, sound: Mapping[str, Operator], problems: Problems) -> None:
        super().__init__(sound)
        self.problems = problems

    def get(self, name: str, default: Any = None) -> Any:
        """The operator, or the default if it is not declared."""
        if name not in self and not any(Path(path).stem == name for path in self.problems):
            return default
        return self[name]

    def __missing__(self, name: str) -> NoReturn:
        for path, found in self.problems.items():
            if Path(path).stem == name:
                raise DiagnosticError(*found)
        raise KeyError(name)


@cache
def _valid_declarations(*roots: Path) -> tuple[Registry, Problems]:
    found, everything = _load(*roots)
    if not everything:
        return found, {}
    problems = _by_declaration(roots, everything, found.operators)
    operators = {name: o for name, o in found.operators.items() if o.path not in problems}
    modules = {name: m for name, m in found.modules.items() if m.path not in problems}
    return replace(found, operators=_Operators(operators, problems), modules=modules), problems


def _by_declaration(
    roots: Sequence[Path], everything: Sequence[Diagnostic], operators: Mapping[str, Operator]
) -> Problems:
    """What is wrong with each declaration: in its file, in what it needs, or in all facts."""
    calls = {
        name: called_names(each.decompose.program)
        for name, each in operators.items()
        if each.decompose is not None
    }
    composed = {operators[name].path: _reached(name, calls) for name in calls}
    files = {shown: path for root in roots for shown, path in sources(root).items()}
    direct: dict[str, list[Diagnostic]] = {}
    for each in everything:
        direct.setdefault(each.span.path if each.span else "", []).append(each)
    wrong = {s: direct[p.as_posix()] for s, p in files.items() if p.as_posix() in direct}
    known = {path.as_posix() for path in files.values() if path.name != TARGETS}
    shared = [each for path, found in direct.items() if path not in known for each in found]
    bases = {path.stem: _dependencies(path, ()) for path in files.values()}
    result = {}
    for shown, path in files.items():
        own = wrong.get(shown, [])
        direct_needs = _dependencies(path, own) | composed.get(shown, frozenset())
        needed = direct_needs.union(*(_reached(name, bases) for name in direct_needs))
        others = (other for other in wrong if other != shown and Path(other).stem in needed)
        found = [*shared, *(each for other in others for each in wrong[other]), *own]
        if found:
            result[shown] = list(dict.fromkeys(found))
    return result


def _dependencies(path: Path, problems: Sequence[Diagnostic]) -> frozenset[str]:
    """The names without which a file cannot be read: its family's, and what it finds unbound."""
    text = paths.read_or_none(str(path)) or b""
    unbound = any(each.code == "unbound-name" for each in problems)
    found = _WORD.findall(text) if unbound else _LIKE.findall(text)
    return frozenset(name for each in found for name in (each.decode(), each.decode().lower()))


def _reached(name: str, calls: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """What a decomposition calls, and what those of that call; so, too, what is extended."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        new = set(calls.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return frozenset(found)


def roots(source: str, suite: str) -> tuple[Path, ...]:
    """The folders of the built-in registry and, where it is another one, of the file's own."""
    name = source.partition("/")[0]
    own = next((p / name for p in Path(suite).resolve().parents if (p / source).is_file()), None)
    if own is None:
        message = f"{source}: not found in any folder above {suite}"
        raise FileNotFoundError(message)
    built_in = paths.registry()
    return (own,) if own == built_in else (built_in, own)

"""Package catalog: the generated packages in this process beside the built-in one.

A package enters itself when it is imported. Invariant: what an executable names is looked up here,
and is never a reason to import anything, but for a package of which an installed distribution says,
in the group `tripybuild.packages` of its entry points, that it is one. What lies in the folder of
the program, or in the one where it runs, is not installed.
"""

import site
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

GROUP = "tripybuild.packages"


@dataclass(frozen=True, slots=True, eq=False)
class Package:
    """A generated package.

    `module` is what Python calls it, and `name` what people do: a registry that a process made a
    package of has the name of its folder. `digest` is that of its operators' declarations, and
    `places` has the module of each public name.
    """

    module: str
    name: str
    digest: str
    places: Mapping[str, str]


_packages: dict[str, Package] = {}


def register(module: str, digest: str, places: Mapping[str, str]) -> None:
    """Enter a package; its own code calls this when it is imported."""
    _packages[module] = Package(module, module, digest, places)


def rename(module: str, name: str) -> None:
    """Say what people call a package that is entered."""
    _packages[module] = replace(_packages[module], name=name)


def package_of(module: str) -> Package | None:
    """The package that a module is in; None for the built-in one, and for what is none."""
    return _packages.get(module.partition(".")[0])


def find_packages(name: str, digest: str) -> list[Package]:
    """The packages with operators of this digest, or else those of this name."""
    found = _registered_matches(name, digest)
    if not found and name in _entry_points() and _is_library(name):
        import_module(name)
        found = _registered_matches(name, digest)
    return found


def _registered_matches(name: str, digest: str) -> list[Package]:
    known = list(_packages.values())
    same = [each for each in known if each.digest == digest]
    return same or [each for each in known if each.name == name]


def _libraries() -> set[str]:
    """The folders into which distributions are installed."""
    places = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    return places | ({site.getusersitepackages()} if site.ENABLE_USER_SITE else set())


@cache
def _entry_points() -> frozenset[str]:
    """The packages that the metadata of installed distributions give as such."""
    from importlib.metadata import distributions  # noqa: PLC0415 - slow, and no load needs it

    found = distributions(path=sorted(_libraries()))
    entries = (entry for each in found for entry in each.entry_points.select(group=GROUP))
    return frozenset(e.name for e in entries if e.name == e.value and e.name.isidentifier())


def _is_library(name: str) -> bool:
    """Whether Python would import it from where it is installed, and not from beside a program."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return False
    here = {"", sys.path[0]} if sys.path else {""}
    return _is_below(spec.origin, _libraries()) or not _is_below(spec.origin, here)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    real = Path(path).resolve()
    return any(real.is_relative_to(Path(folder).resolve()) for folder in folders)

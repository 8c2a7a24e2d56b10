"""Package references in graphs of other registries, and the error if one is missing.

Invariant: a package is told apart by the digest of its declarations. Operators that were declared
anew may compute something else, so their operations are not read again.
"""

from collections.abc import Mapping
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import package_catalog
from tripybuild.process.package_catalog import Package

_LONGEST = 200
_DIGITS = frozenset("0123456789abcdef")


def package_data(package: Package) -> dict[str, str]:
    """A package as JSON data."""
    return {"name": package.name, "digest": package.digest}


def read_package(data: Mapping[str, Any]) -> Package:
    """The package that `package_data` wrote, if this process knows it.

    Raises:
        DiagnosticError: It does not, or knows one with other declarations.
    """
    name, digest = data["name"], data["digest"]
    if not (isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST):
        raise ValueError("a package has a name")
    if not (isinstance(digest, str) and len(digest) == 64 and _DIGITS.issuperset(digest)):
        raise ValueError("a package has a digest")
    found = package_catalog.find_packages(name, digest)
    if not found:
        raise DiagnosticError(_missing_package(name))
    if found[0].digest != digest:
        raise DiagnosticError(_changed_package(name))
    return found[0]


def _missing_package(name: str) -> Diagnostic:
    return Diagnostic(
        "missing-package",
        f"this needs the operators of `{name}`, which this process does not know",
        notes=("an executable compiles sizes that it was not compiled for from its operators",),
        hint=f"`import {name}` first if it is a package; if it is a registry, name its folder: "
        f"`tripybuild run --registry {name}`, or `tripybuild.load(..., registry=...)`",
    )


def _changed_package(name: str) -> Diagnostic:
    return Diagnostic(
        "package-changed",
        f"`{name}` declares its operators otherwise than when this was compiled",
        notes=("an executable compiles sizes that it was not compiled for from its operators",),
        hint="compile the model again, or bring back the declarations that it was compiled with",
    )

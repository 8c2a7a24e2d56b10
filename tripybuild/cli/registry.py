"""Registry selection: the built-in registry, and those added behind it."""

from pathlib import Path
from typing import Annotated

import typer

from tripybuild.process import paths

Registries = Annotated[
    list[Path] | None,
    typer.Option("--registry", metavar="DIR", help="A registry of yours; may be repeated."),
]


def in_installed_package() -> bool:
    """Whether the built-in registry is part of an installed package, not of a source tree."""
    return paths.registry().is_relative_to(paths.PACKAGE)

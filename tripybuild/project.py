"""Where the registry and the schemas are: beside the package, or in a wheel inside of it."""

from pathlib import Path

PACKAGE = Path(__file__).parent
CHECKOUT = PACKAGE.parent


def registry() -> Path:
    """The built-in registry."""
    beside = CHECKOUT / "ops_registry"
    return beside if beside.is_dir() else PACKAGE / "data" / "ops_registry"


def schemas() -> Path:
    """The JSON schemas for editors."""
    beside = CHECKOUT / "generated" / "schemas"
    return beside if beside.is_dir() else PACKAGE / "data" / "schemas"

"""The declarations and models of this repository, and what is read of them."""

from pathlib import Path

from tripybuild.schema.kinds import KINDS, kind_of
from tripybuild.schema.validate import validate

ROOT = Path(__file__).parents[2]
REGISTRY = ROOT / "ops_registry"
FOLDERS = [REGISTRY, ROOT / "specs", ROOT / "tests/fixtures/my_registry"]
FILES = [path for folder in FOLDERS for path in sorted(folder.rglob("*.yaml"))]
HINT = "run `tripybuild fmt`"


def meaning(document):
    """What is read of a file: entries in the order of their fields, names in that of the file."""
    model, problems = validate(document, KINDS[kind_of(document.data)])
    assert problems == []
    return repr(model)

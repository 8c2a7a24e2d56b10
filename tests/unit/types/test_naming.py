"""Names that a generated package has already."""

from pathlib import Path

import pytest

import tripyapi
from tripybuild.cli.commands import new
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.types.naming import LAYERS


def test_the_parts_of_a_package_are_known():
    """No operator and no module can be called as one of them."""
    found = {p.stem for p in Path(tripyapi.__file__).parent.iterdir() if not p.name.startswith("_")}
    assert found - {"py"} == LAYERS


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_no_operator_begins_with_such_a_name(tmp_path, name):
    with pytest.raises(DiagnosticError, match=f"`{name}` cannot be the name of an operator"):
        new.new_operator.__wrapped__(name, registry=[tmp_path])
    assert not list(tmp_path.iterdir())

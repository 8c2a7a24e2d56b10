"""The README's table of models: its lines and parameters are those of the specs."""

import model_table
import pytest
from model_table import BOUNDS, HEAD, README


@pytest.fixture
def update(request):
    """Whether to write the table anew, with the differences that it has."""
    return request.config.getoption("--update")


def test_the_table_is_that_of_the_specs(update):
    """Each spec with a `test:` has a row; `tests/test_specs.py` holds it to its difference."""
    found = model_table.rows()
    bounds = {name: model_table.promised(name) for name in found}
    wanted = model_table.wanted(dict.fromkeys(model_table.tested(), BOUNDS[-1]) | bounds)
    if update:
        text = README.read_text(encoding="utf-8")
        before, _, rest = text.partition(HEAD)
        after = rest[rest.index("\n\n") :]
        README.write_text(before + HEAD + "\n".join(wanted.values()) + after, encoding="utf-8")
    else:
        assert list(found.values()) == list(wanted.values())
    assert set(bounds.values()) <= set(BOUNDS)

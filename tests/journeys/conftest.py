"""Where the journeys begin."""

import pytest
from newcomer import fresh, present


@pytest.fixture(params=["present", pytest.param("fresh", marks=pytest.mark.full)])
def newcomer(request, tmp_path, shared_cache):
    """A person in an empty folder outside of the repository."""
    folder = tmp_path / "work"
    folder.mkdir()
    return (present if request.param == "present" else fresh)(folder)

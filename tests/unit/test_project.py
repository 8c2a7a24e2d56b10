"""Tests of the list of a folder's files."""

from tripybuild.project import below


def test_files_below_a_folder(tmp_path):
    """In order, at any depth, by their paths in it; nothing of what Python compiled."""
    for path in ("b.py", "a/c.py", "a/d.txt", "__pycache__/b.pyc", "a/__pycache__/c.py"):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
    (tmp_path / "folder.py").mkdir()
    assert below(tmp_path) == ["a/c.py", "a/d.txt", "b.py"]
    assert below(tmp_path, ".py") == ["a/c.py", "b.py"]
    assert below(tmp_path / "nothing") == []

"""Tests of the list of a folder's files, and of what they hold."""

from tripybuild.process.paths import list_files, read_or_none


def test_files_below_a_folder(tmp_path):
    """In order, at any depth, by their paths in it; nothing of what Python compiled."""
    for path in ("b.py", "a/c.py", "a/d.txt", "__pycache__/b.pyc", "a/__pycache__/c.py"):
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
    (tmp_path / "folder.py").mkdir()
    assert list_files(tmp_path) == ["a/c.py", "a/d.txt", "b.py"]
    assert list_files(tmp_path, ".py") == ["a/c.py", "b.py"]
    assert list_files(tmp_path / "nothing") == []


def test_the_content_of_a_file(tmp_path):
    """All of it, byte by byte; a folder, and what is not there, hold nothing."""
    place = tmp_path / "data"
    place.write_bytes(b"\r\n\xff" * 100_000)
    assert read_or_none(str(place)) == b"\r\n\xff" * 100_000
    assert read_or_none(str(tmp_path)) is None
    assert read_or_none(f"{tmp_path}/nothing") is None
    assert read_or_none(f"{place}/below") is None

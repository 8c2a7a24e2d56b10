"""Parts of files that the system copies: whole, or not at all, or with a word about why not."""

import errno
import os

import pytest

from tripybuild.artifact import members
from tripybuild.artifact.members import FilePart, OpenFile, copy_range, measure
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.hashing import LARGE

pytestmark = pytest.mark.skipif(
    not hasattr(os, "copy_file_range"), reason="this system has no copy_file_range"
)
CONTENT = bytes(range(256)) * 40


def part(folder, offset, size):
    (folder / "source").write_bytes(CONTENT)
    return FilePart(OpenFile(folder / "source"), offset, size)


@pytest.mark.parametrize("stretch", [1, 7, 4096, 1 << 24])
def test_a_part_is_copied_behind_what_is_there(tmp_path, monkeypatch, stretch):
    """In stretches of whatever size, from the middle of one file into the middle of another."""
    monkeypatch.setattr(members, "STRETCH", stretch)
    with (tmp_path / "target").open("wb") as stream:
        stream.write(b"before")
        assert copy_range(part(tmp_path, 40, 300), stream)
        stream.write(b"behind")
    assert (tmp_path / "target").read_bytes() == b"before" + CONTENT[40:340] + b"behind"


def test_where_the_system_cannot_nothing_was_copied(tmp_path, monkeypatch):
    """Another file system, for example."""

    def refused(*_, **__):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    monkeypatch.setattr(os, "copy_file_range", refused)
    with (tmp_path / "target").open("wb") as stream:
        assert not copy_range(part(tmp_path, 0, 300), stream)
        assert stream.tell() == 0


def test_a_file_that_became_shorter_is_no_copy(tmp_path):
    """The copy would end with nothing."""
    with (tmp_path / "target").open("wb") as stream, pytest.raises(DiagnosticError, match="chang"):
        copy_range(part(tmp_path, 0, len(CONTENT) + 1), stream)


@pytest.mark.parametrize("size", [0, 5, LARGE - 1, LARGE, LARGE + 5])
def test_memory_is_measured_as_a_file_is(tmp_path, size):
    """Though its digests are computed at the same time."""
    content = os.urandom(size)
    (tmp_path / "file").write_bytes(content)
    assert measure(content) == measure(FilePart(OpenFile(tmp_path / "file"), 0, size))

"""Tests of how engines are written: in pieces, measured on the way, in any kind of file."""

import errno
import fcntl
import hashlib
import itertools
import os
import zlib

import blake3
import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.hashing import LARGE
from tripybuild.tensorrt.runtime import plan_file
from tripybuild.tensorrt.runtime.plan_file import PAGE, STRETCH, PlanFile


def pieces(size, piece):
    """Return a content in pieces, the first of which is short."""
    content = os.urandom(size)
    cuts = [0, min(size, 1000), *range(1000 + piece, size, piece), size]
    return content, [content[a:b] for a, b in itertools.pairwise(cuts)]


@pytest.mark.parametrize("start", [0, 100, PAGE])
@pytest.mark.parametrize("size", [0, 5, STRETCH - 1, STRETCH, LARGE + 4097, 5 * STRETCH])
def test_all_pieces_arrive(tmp_path, size, start):
    """In order, behind what is there; whether they go straight to the disk or not."""
    content, parts = pieces(size, 7_000_001)
    path = tmp_path / "plan"
    path.write_bytes(b"x" * start)
    with PlanFile(path, start) as file:
        assert all(file.take(each) for each in parts)
        measured = file.finish()
    assert path.read_bytes() == b"x" * start + content
    digest = blake3.blake3 if size >= LARGE else hashlib.sha256
    assert measured == (size, digest(content).hexdigest(), zlib.crc32(content))


@pytest.mark.parametrize("fails", ["fcntl", "pwrite"])
def test_a_system_that_cannot_go_past_its_memory(tmp_path, monkeypatch, fails):
    """Is written to as ever."""
    direct = []

    def flagged(descriptor, command, flag, change=fcntl.fcntl):
        if flag and fails == "fcntl":
            raise OSError(errno.EINVAL, "Invalid argument")
        direct.append(flag)
        return 0 if fails == "pwrite" else change(descriptor, command, flag)

    def pwrite(descriptor, data, position, write=os.pwrite):
        if fails == "pwrite" and direct[-1]:
            raise OSError(errno.EINVAL, "Invalid argument")
        return write(descriptor, data, position)

    monkeypatch.setattr(fcntl, "fcntl", flagged)
    monkeypatch.setattr(plan_file.os, "pwrite", pwrite)
    content, parts = pieces(STRETCH * 2 + 5, STRETCH)
    with PlanFile(tmp_path / "plan", 0) as file:
        assert all(file.take(each) for each in parts)
        file.finish()
    assert (tmp_path / "plan").read_bytes() == content


def test_a_write_that_ends_early_goes_on(tmp_path, monkeypatch):
    """A system may write less than it was given."""

    def pwrite(descriptor, data, position, write=os.pwrite):
        return write(descriptor, data[: max(1, len(data) // 2)], position)

    monkeypatch.setattr(plan_file.os, "pwrite", pwrite)
    content, parts = pieces(STRETCH * 2 + 5, STRETCH)
    with PlanFile(tmp_path / "plan", 0) as file:
        assert all(file.take(each) for each in parts)
        file.finish()
    assert (tmp_path / "plan").read_bytes() == content


def test_a_full_disk_ends_the_building(tmp_path, monkeypatch):
    """No further piece is asked for, and the reason is the disk's."""

    def pwrite(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(plan_file.os, "pwrite", pwrite)
    with PlanFile(tmp_path / "plan", 0) as file:
        taken = [file.take(bytes(STRETCH)) for _ in range(8)]
        assert taken[0]
        assert not taken[-1]
        with pytest.raises(DiagnosticError, match="No space left on device"):
            file.check()
        with pytest.raises(DiagnosticError, match="No space left on device"):
            file.finish()


def test_a_file_that_cannot_be_opened(tmp_path):
    """Says so when there is something to write."""
    with (
        PlanFile(tmp_path / "no" / "plan", 0) as file,
        pytest.raises(DiagnosticError, match="No such file"),
    ):
        file.finish()

"""Drafts: what is written ahead becomes the executable, or leaves no trace."""

import os
from pathlib import Path

import pytest

from tripybuild.artifact import container
from tripybuild.artifact.draft import Draft
from tripybuild.artifact.members import FilePart
from tripybuild.process.hashing import LARGE

CONTENT = {"kind": "test"}
LARGE_MEMBER = memoryview(bytes(range(256)) * ((LARGE >> 8) + 3))
MEMBERS = {"small": memoryview(b"text"), "weights": LARGE_MEMBER}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("plain") / "model.tpb"
    container.write(path, CONTENT, MEMBERS)
    return path.read_bytes()


def test_draft_becomes_executable(tmp_path: Path, expected: bytes) -> None:
    path = tmp_path / "model.tpb"
    with Draft(path) as started:
        started.begin(LARGE_MEMBER)
        members = started.members(MEMBERS)
        part = members["weights"]
        assert isinstance(part, FilePart)
        written = os.fstat(part.file.fileno())
        container.write(path, CONTENT, members)
    assert os.path.samestat(path.stat(), written)  # no byte of it was written twice
    assert path.read_bytes() == expected
    assert list(tmp_path.iterdir()) == [path]


def test_unused_draft_is_removed(tmp_path: Path, expected: bytes) -> None:
    path = tmp_path / "model.tpb"
    with Draft(path) as started:
        started.begin(LARGE_MEMBER)  # and then the compiler refuses the model
    assert list(tmp_path.iterdir()) == []
    with Draft(path) as started:
        started.begin(memoryview(bytes(LARGE)))  # what another engine read before
        assert started.members(MEMBERS) == MEMBERS
        assert list(tmp_path.iterdir()) == []  # there may be room for one file only
        started.begin(LARGE_MEMBER)
        container.write(path, CONTENT, started.members(MEMBERS))
    assert path.read_bytes() == expected
    assert list(tmp_path.iterdir()) == [path]


def test_system_without_links(
    tmp_path: Path, expected: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "model.tpb"
    with Draft(path) as started:
        started.begin(LARGE_MEMBER)
        members = started.members(MEMBERS)
        assert members == MEMBERS
        container.write(path, CONTENT, members)
    assert path.read_bytes() == expected
    assert list(tmp_path.iterdir()) == [path]


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with Draft(tmp_path / "absent" / "model.tpb") as started:
        started.begin(LARGE_MEMBER)
        assert started.members(MEMBERS) == MEMBERS
    assert list(tmp_path.iterdir()) == []


def test_small_content_is_not_written_ahead(tmp_path: Path) -> None:
    with Draft(tmp_path / "model.tpb") as started:
        started.begin(memoryview(b"text"))
        assert started.members(MEMBERS) == MEMBERS
        assert list(tmp_path.iterdir()) == []

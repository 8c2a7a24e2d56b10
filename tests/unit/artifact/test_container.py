"""Tests of the executable file: it opens unchanged, or it does not open at all."""

import errno
import io
import os
import tempfile
import zipfile
from hashlib import sha256
from pathlib import Path

import blake3
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tripybuild.artifact import container, manifest, zip_layout
from tripybuild.artifact.members import FilePart, OpenFile
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import hashing

CONTENT = {"model": "digits", "sizes": {"B": 8}, "note": "naïve"}
MEMBERS = {"weights.safetensors": b"w" * 24, "cpu/B=1,S=128.pjrt": b"\x00\xff", "empty": b""}
CODES = {f"executable-{what}" for what in ("truncated", "altered", "not-recognized", "too-new")}
OWN_SETTINGS = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def path(tmp_path):
    """Return the path of a small executable."""
    path = tmp_path / "model.tbx"
    container.write(path, CONTENT, MEMBERS)
    return path


def everything(path):
    """Return all that a file says, or the codes that refuse it."""
    try:
        with container.open(path) as opened:
            contents = {name: bytes(opened.read(name)) for name in opened.manifest.members}
            return opened.manifest.content, contents
    except DiagnosticError as error:
        return {diagnostic.code for diagnostic in error.diagnostics}


def test_what_was_written_is_read(path):
    """The manifest and every member come back."""
    assert everything(path) == (CONTENT, MEMBERS)
    with container.open(path) as opened:
        opened.verify()
        with pytest.raises(KeyError):
            opened.read("absent")


def test_any_zip_tool_reads_it(path):
    """The file is an ordinary zip, with the manifest first."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        assert names[:2] == ["manifest.json", "manifest.sha256"]
        assert names[2:] == sorted(MEMBERS)
        assert {name: archive.read(name) for name in names[2:]} == MEMBERS
        text = archive.read("manifest.json")
        assert archive.read("manifest.sha256").decode().strip() == sha256(text).hexdigest()


def test_equal_inputs_give_equal_bytes(path, tmp_path):
    """Neither time nor the order of arguments is in the file, nor where a content was."""
    given = dict(reversed(MEMBERS.items()))
    content = given["weights.safetensors"]
    (tmp_path / "w").write_bytes(b"before" + content)
    given["weights.safetensors"] = FilePart(OpenFile(tmp_path / "w"), 6, len(content))
    container.write(tmp_path / "other", dict(reversed(CONTENT.items())), given)
    assert (tmp_path / "other").read_bytes() == path.read_bytes()


def test_members_are_aligned(path):
    """A member's address in memory suits the runtime, so weights need no copy."""
    with container.open(path) as opened:
        array = np.frombuffer(opened.read("weights.safetensors"), np.uint8)
    assert array.ctypes.data % 64 == 0


def test_each_flipped_bit_is_noticed(path):
    """No bit of the file is without meaning."""
    good = path.read_bytes()
    for position in range(len(good)):
        bad = bytearray(good)
        bad[position] ^= 1 << position % 8
        path.write_bytes(bad)
        codes = everything(path)
        assert isinstance(codes, set), position
        assert codes <= CODES


def test_each_truncation_is_noticed(path):
    """No part of the file is enough."""
    good = path.read_bytes()
    for size in {*range(0, len(good), 9), *range(len(good) - 40, len(good))}:
        path.write_bytes(good[:size])
        assert everything(path) <= {"executable-truncated", "executable-not-recognized"}


with tempfile.TemporaryDirectory() as folder:
    container.write(Path(folder) / "model.tbx", CONTENT, MEMBERS)
    GOOD = (Path(folder) / "model.tbx").read_bytes()


@OWN_SETTINGS
@given(data=st.data())
def test_no_edit_goes_unnoticed(path, data):
    """Bytes replaced, put in, taken out or moved end in a diagnostic."""
    good = GOOD
    begin = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(begin, len(good)))
    put = data.draw(st.one_of(st.binary(max_size=64), st.just(good[:end]), st.just(good[begin:])))
    bad = good[:begin] + put + good[end:]
    path.write_bytes(bad)
    found = everything(path)
    assert found == (CONTENT, MEMBERS) if bad == good else found <= CODES


@OWN_SETTINGS
@given(content=st.binary(max_size=200))
def test_no_bytes_crash_the_reader(tmp_path, content):
    """Whatever a file holds, it ends in a diagnostic."""
    path = tmp_path / "x"
    path.write_bytes(content)
    assert everything(path) <= CODES


def forged(text):
    """Return a file with this text as its manifest, and everything else in order."""
    digest = sha256(text).hexdigest().encode() + b"\n"
    placed = manifest.container_layout(text, digest, {})
    return placed.headers[0] + text + placed.headers[1] + digest + placed.tail


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{\n "format": 3,\n "members": {}\n}\n', "executable-too-new"),
        ('{\n "format": 1,\n "members": {}\n}\n', "executable-version"),
        ('{\n "anything": 1,\n "format": 7\n}\n', "executable-too-new"),
        ('{\n "format": 0,\n "members": {}\n}\n', "executable-altered"),
        ('{\n "format": true,\n "members": {}\n}\n', "executable-altered"),
        ('{\n "format": 2,\n "members": []\n}\n', "executable-altered"),
        ('{\n "format": 2,\n "members": {\n  "a": 1\n }\n}\n', "executable-altered"),
        ('{"format": 2, "members": {}}', "executable-altered"),
        ('{\n "a": 1,\n "a": 1,\n "format": 2,\n "members": {}\n}\n', "executable-altered"),
        ("[" * 100_000, "executable-altered"),
        ("9" * 10_000, "executable-altered"),
        ("NaN\n", "executable-altered"),
        ("", "executable-altered"),
    ],
)
def test_a_forged_manifest_is_refused(tmp_path, text, code):
    """A manifest with a right digest is still read strictly."""
    path = tmp_path / "x"
    path.write_bytes(forged(text.encode()))
    assert everything(path) == {code}


def test_the_forger_can_write_a_good_file(tmp_path):
    """The forgeries above fail for what they say and not for how they are made."""
    path = tmp_path / "x"
    path.write_bytes(forged(b'{\n "format": 2,\n "members": {}\n}\n'))
    assert everything(path) == ({}, {})


@pytest.mark.parametrize("name", ["../up", "/root", "a//b", "a/./b", "", ".x", "ä", "a\\b", "a b"])
def test_unsafe_names_are_refused_both_ways(tmp_path, name):
    """A name that could leave a folder is neither written nor read."""
    with pytest.raises(ValueError, match="named"):
        container.write(tmp_path / "x", {}, {name: b""})
    member = manifest.MemberRecord(0, sha256(b"").hexdigest(), 0)
    path = tmp_path / "y"
    path.write_bytes(forged(manifest.encode(manifest.Manifest({name: member}, {}))))
    assert everything(path) == {"executable-altered"}


def test_names_that_differ_in_case_only_are_refused(tmp_path):
    """Two members would be one file on some systems."""
    with pytest.raises(ValueError, match="same name"):
        container.write(tmp_path / "x", {}, {"a": b"", "A": b""})
    with pytest.raises(ValueError, match="same name"):
        container.write(tmp_path / "x", {}, {"manifest.json": b""})


def test_the_manifest_keeps_its_own_keys(tmp_path):
    """Others cannot set the format, nor write what JSON cannot say."""
    with pytest.raises(ValueError, match="format"):
        container.write(tmp_path / "x", {"format": 2}, {})
    with pytest.raises(ValueError, match="JSON"):
        container.write(tmp_path / "x", {"a": float("nan")}, {})
    assert list(tmp_path.iterdir()) == []


def test_missing_files_and_folders_have_diagnostics(tmp_path):
    """Neither a missing file nor a folder is an executable."""
    assert everything(tmp_path / "none") == {"file-not-found"}
    assert everything(tmp_path) == {"file-unreadable"}
    assert everything(Path("/dev/zero")) == {"executable-not-recognized"}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("call", ["write", "fsync"])
def test_a_failed_write_leaves_what_was_there(path, monkeypatch, number, call):
    """A full disk is named, the old file stays, and nothing else is left."""
    good = path.read_bytes()

    def fail(*_):
        raise OSError(number, os.strerror(number))

    if call == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(container, "_copy", fail)
    with pytest.raises(DiagnosticError) as caught:
        container.write(path, CONTENT, {"a": b"new"})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "output-unwritable"
    assert os.strerror(number) in diagnostic.message
    assert path.read_bytes() == good
    assert list(path.parent.iterdir()) == [path]


def test_unwritable_places_have_diagnostics(tmp_path):
    """A missing folder and a device are refused."""
    for place in (tmp_path / "no" / "x", Path("/dev/null"), tmp_path, Path("/")):
        with pytest.raises(DiagnosticError) as caught:
            container.write(place, {}, {})
        assert caught.value.diagnostics[0].code == "output-unwritable"
    assert Path("/dev/null").is_char_device()


def test_leftovers_of_killed_processes_are_swept(path):
    """An old partial file goes away with the next write; a new one may still be in use."""
    old, new = (path.with_name(f".m.{digit * 16}.part") for digit in "01")
    for each in (old, new):
        each.write_bytes(b"")
    os.utime(old, (0, 0))
    container.write(path, CONTENT, MEMBERS)
    assert not old.exists()
    assert new.exists()


def test_a_member_that_changes_while_it_is_written_is_noticed(tmp_path, monkeypatch):
    """The bytes that were measured are the bytes in the file, or there is no file."""
    source = tmp_path / "w"
    source.write_bytes(b"before")
    measure = container.measure

    def change_after(content):
        measured = measure(content)
        source.write_bytes(b"after!")
        return measured

    monkeypatch.setattr(container, "measure", change_after)
    monkeypatch.setattr(container, "copy_range", lambda *_: False)
    with pytest.raises(DiagnosticError, match="changed"):
        container.write(tmp_path / "x", {}, {"w": FilePart(OpenFile(source), 0, 6)})
    assert not (tmp_path / "x").exists()


def test_a_file_that_shrinks_while_open_is_noticed(path):
    """The content is read, not mapped, so this is no crash."""
    with container.open(path) as opened:
        os.truncate(path, 100)
        with pytest.raises(DiagnosticError, match="shorter"):
            opened.verify()


def test_sizes_beyond_four_gigabytes_are_laid_out_as_other_tools_expect(tmp_path):
    """Large members and late offsets use the 64-bit records, checked by another reader."""
    entries = [
        zip_layout.Entry("a", 5 << 30, 1),
        zip_layout.Entry("b", 3, 2),
        zip_layout.Entry("c", 6 << 30, 3),
    ]
    placed = zip_layout.lay_out(entries)
    with (tmp_path / "large").open("wb") as file:
        for header, offset in zip(placed.headers, placed.offsets, strict=True):
            file.seek(offset - len(header))
            file.write(header)
        file.seek(placed.tail_offset)
        file.write(placed.tail)
    with zipfile.ZipFile(tmp_path / "large") as archive:
        found = [(each.filename, each.file_size, each.CRC) for each in archive.infolist()]
        assert found == [(entry.name, entry.size, entry.crc32) for entry in entries]
        with archive.open("b") as member:
            assert member._fileobj._file.tell() == placed.offsets[1]
    assert (tmp_path / "large").stat().st_size == placed.size


def test_pieces_cover_the_content():
    """A content longer than a piece is measured whole."""
    content = os.urandom(container.PIECE * 2 + 7)
    assert container.measure(content).digest == sha256(content).hexdigest()
    stream = io.BytesIO()
    container._copy(stream, content, container.measure(content))
    assert stream.getvalue() == content


@pytest.mark.parametrize("size", [hashing.LARGE - 1, hashing.LARGE])
def test_large_members_have_the_faster_digest(tmp_path, size):
    """And are checked with it: a changed bit is found."""
    content = bytes(size)
    container.write(tmp_path / "x", {}, {"a": content})
    with container.open(tmp_path / "x") as opened:
        found = opened.manifest.members["a"]
        assert (
            found.digest
            == (blake3.blake3 if size >= hashing.LARGE else sha256)(content).hexdigest()
        )
        assert opened.read("a") == content
    with (tmp_path / "x").open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\1")
    with container.open(tmp_path / "x") as opened, pytest.raises(DiagnosticError, match="content"):
        opened.read("a")

"""`tripybuild fmt`: what it reads and writes, beside what `tests/cases/fmt.md` shows."""

import io
import json

import pytest

from tripybuild.cli.main import main

TEXT = "op: x\ntripybuild: 1\n"
FORMATTED = "tripybuild: 1\nop: x\n"


@pytest.fixture
def fmt(monkeypatch, capfdbinary):
    """Run the command; give its exit code, stdout and stderr."""

    def run(*words, stdin=b""):
        monkeypatch.setattr("sys.argv", ["tripybuild", "fmt", *map(str, words)])
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfdbinary.readouterr()
        return ended.value.code or 0, out.decode(), err.decode()

    return run


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_stdin(fmt, ending):
    """Comes out again, and nothing else does."""
    text, wanted = (each.replace("\n", ending) for each in (TEXT, FORMATTED))
    assert fmt("-", stdin=text.encode()) == (0, wanted, "")
    assert fmt("-", stdin=wanted.encode()) == (0, wanted, "")
    assert fmt("--check", "-", stdin=text.encode())[0] == 1
    assert fmt("--check", "-", stdin=wanted.encode()) == (0, "", "1 file already formatted\n")
    code, out, _ = fmt("-", "--json", stdin=text.encode())
    assert (code, json.loads(out)["text"]) == (0, wanted)


def test_stdin_that_cannot_be_read(fmt):
    """Its lines are shown as those of a file."""
    code, out, err = fmt("-", stdin=b"tripybuild: 1\nop: [\n")
    assert (code, out) == (2, "")
    assert " 2 | op: [\n" in err
    code, out, err = fmt("-", stdin=b"op: \xff\n")
    assert (code, out) == (2, "")
    assert err.startswith("error[not-utf8]: ")


def test_a_file_keeps_what_it_is(fmt, tmp_path):
    """Its mode, its mark of UTF-8, and the link that leads to it."""
    file, link = tmp_path / "x.yaml", tmp_path / "link.yaml"
    file.write_text("\ufeff" + TEXT, encoding="utf-8")
    file.chmod(0o640)
    link.symlink_to(file)
    assert fmt(link) == (0, "", "1 file reformatted\n")
    assert (link.is_symlink(), file.stat().st_mode & 0o777) == (True, 0o640)
    assert file.read_text(encoding="utf-8") == "\ufeff" + FORMATTED
    assert fmt(link) == (0, "", "1 file left unchanged\n")


def test_one_broken_file_stops_no_other(fmt, tmp_path):
    """Those that can be read are written."""
    good, bad = tmp_path / "a.yaml", tmp_path / "b.yaml"
    good.write_text(TEXT)
    bad.write_text("tripybuild: 1\nop: x\nop: y\n")
    code, _, err = fmt(tmp_path)
    assert (code, good.read_text()) == (2, FORMATTED)
    assert "error[duplicate-key]" in err
    assert err.endswith("1 file reformatted\n")


def test_other_files_are_left(fmt, tmp_path):
    """Those of other programs, and what is below hidden folders."""
    (tmp_path / "ci.yaml").write_text("jobs: {b: 1, a: &x 2}\n")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/x.yaml").write_text(TEXT)
    assert fmt(tmp_path) == (0, "", "")
    (tmp_path / "empty").mkdir()
    code, _, err = fmt(tmp_path / "empty")
    assert (code, err[:23]) == (2, "error[file-not-found]: ")


def test_a_diff_shows_what_ends_without_a_line_break(fmt, tmp_path):
    """As `diff` does, so that it can be applied."""
    (tmp_path / "x.yaml").write_text(FORMATTED.rstrip())
    code, out, err = fmt("--diff", tmp_path)
    lines = ["-op: x", "\\ No newline at end of file", "+op: x"]
    assert (code, out.splitlines()[-3:], err) == (1, lines, "1 file would be reformatted\n")

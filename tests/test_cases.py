"""The cases of `diagnostics/` and `cases/`: files and commands in Markdown, and what is printed."""

import ast
import linecache
import re
import shlex
import sys
from pathlib import Path

import pytest
import sections

from tripybuild.cli import usage_errors
from tripybuild.cli.main import main
from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths

HERE = Path(__file__).parent
PACKAGE = HERE.parent / "tripybuild"
SECTIONS = [
    section
    for folder in ("diagnostics", "cases")
    for path in sorted((HERE / folder).glob("*.md"))
    for section in sections.sections(path)
]
CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
SECONDS = re.compile(r"\d+\.\d\ds\b")
SIZE = re.compile(r"(\(|has |have )[\d.]+( k?B\)| bytes|$)", re.MULTILINE)
EXIT = re.compile(r"exit=(\d+)")


@pytest.fixture
def folder(tmp_path, shared_cache, monkeypatch):
    """An empty folder to work in, with a cache of its own, whose `ops_registry` is built in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    real = paths.registry()

    def built_in():
        own = tmp_path / "ops_registry"
        return own if own.is_dir() else real

    monkeypatch.setattr(paths, "registry", built_in)
    return tmp_path


@pytest.mark.parametrize("section", SECTIONS, ids=str)
def test_case(section, folder, update, monkeypatch, capfd):
    """Each command prints what its case says, and ends with the exit code that it says."""
    for block in section.blocks:
        if block.name is not None:
            _write(folder / block.name, block.text)
        elif block.language == "python":
            exec(compile(block.text, str(section.path), "exec"), {})
        elif block.language == "console":
            wanted = EXIT.search(block.options)
            expected = int(wanted[1]) if wanted else 1
            found = [_run(command, expected, monkeypatch, capfd) for command in _commands(block)]
            shown = "".join(found)
            if update and shown != block.text:
                sections.rewrite(section, block, shown)
            else:
                assert shown == block.text


def _commands(block):
    return [command for command, _ in sections.commands(block)]


def _run(command, expected, monkeypatch, capfd):
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    if sys.argv[0] == "python":
        return _run_python(command, expected, capfd)
    assert sys.argv[0] == "tripybuild"
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capfd.readouterr()
    if expected == 1 and any(f"error[{code}]" in err for code in usage_errors.CODES):
        expected = usage_errors.USAGE
    assert (ended.value.code or 0) == expected, out + err
    text = SECONDS.sub("0.00s", SIZE.sub(r"\g<1>0\2", out + err))
    if not Path("ops_registry").is_dir():  # the lines of the real registry are not the case's
        text = re.sub(r"(ops_registry/\S+\.yaml):\d+", r"\1:0", text)
    return f"$ {command}\n{text}"


def _run_python(command, expected, capfd):
    """Run a user's program; of an error, what the last lines of a traceback say."""
    path = Path(sys.argv[1])
    linecache.checkcache()
    code, said = 0, ""
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"__name__": "__main__"})
    except DiagnosticError as error:
        code, said = 1, f"{error}\n"
    out, err = capfd.readouterr()
    assert code == expected, out + err + said
    text = re.sub(r"(ops_registry/\S+\.yaml):\d+", r"\1:0", out + err + said)
    return f"$ {command}\n{text}"


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _called_codes():
    """The codes that our own code gives to a `Diagnostic`."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Diagnostic":
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and CODE.fullmatch(str(first.value)):
                    yield str(first.value), f"{path.name}:{node.lineno}"


def test_every_code_is_explained():
    """What `Diagnostic` is given as a code is in `CODES`, for `tripybuild explain`."""
    assert [(code, place) for code, place in _called_codes() if code not in CODES] == []


def test_every_code_has_a_case():
    """Each code is in a case, or named by a unit test."""
    texts = [path.read_text(encoding="utf-8") for path in HERE.rglob("*.md")]
    texts += [path.read_text(encoding="utf-8") for path in HERE.rglob("test_*.py")]
    named = set(re.findall(r"[a-z0-9-]+", "\n".join(texts)))

    assert sorted(set(CODES) - named) == []

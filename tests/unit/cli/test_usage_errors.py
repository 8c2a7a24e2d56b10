"""Wrong command lines: diagnostics with a place, in the form that is asked for."""

import json
import re
import shlex
import sys

import pytest
import typer

from tripybuild.cli import main as entry
from tripybuild.cli.command_line import CommandLine
from tripybuild.cli.usage_errors import CODES
from tripybuild.errors.diagnostics import text_of

# The words of libraries that a user does not know.
FOREIGN = re.compile(r"Usage:|Try '|Error:|Invalid value|Input should|Value error|No such|Got un")
WRONG = """\
compil | unknown-command | compil | did you mean `compile`?
digits.yaml | unknown-command | digits.yaml | `tripybuild compile digits.yaml` compiles it
frobnicate | unknown-command | frobnicate | there are `
new opp | unknown-command | opp | did you mean `op`?
new zzz | unknown-command | zzz | there are `op`, `model`
--verson | unknown-option | --verson | did you mean `--version`?
--json compile x | unknown-option | --json | write it behind `tripybuild compile`
--set a=1 compile x | unknown-option | --set | write it behind `tripybuild compile`
compile --traget x | unknown-option | --traget | did you mean `--target`?
compile m.yaml --traget=cpu | unknown-option | --traget | did you mean `--target`?
compile m.yaml --temperature 0 | unknown-option | --temperature | `tripybuild generate` has it
compile m.yaml -z | unknown-option | -z | `tripybuild compile --help`
compile m.yaml -zo out | unknown-option | -z | `tripybuild compile --help`
run m.tpb --inptu x=x.npy | unknown-option | --inptu | did you mean `--input`?
inspect m.tpb --layer | unknown-option | --layer | did you mean `--layers`?
fmt --chek | unknown-option | --chek | did you mean `--check`?
doctor --jsno --verbos | unknown-option | --jsno | did you mean `--json`?
compile | missing-argument | compile | `tripybuild compile --help`
run | missing-argument | run |
trace | missing-argument | trace |
generate --max-tokens 4 | missing-argument | generate |
new op | missing-argument | op |
compile m.yaml -o | missing-argument | -o | write `--output FILE`
compile m.yaml --set | missing-argument | --set | write `--set NAME=VALUE`
check m.yaml --on | missing-argument | --on | write `--on DEVICE`
new op --json | missing-argument | op |
compile a.yaml b.yaml | extra-argument | b.yaml |
trace a.py:f b.py:g | extra-argument | b.py:g |
doctor me | extra-argument | me |
gen now -- then | extra-argument | now |
compile m.yaml --json=3 | argument-value | --json=3 | write `--json`
compile m.yaml --rebuild=1 --watch | unknown-option | --rebuild |
compile m.yaml --set Q | argument-value | Q |
compile m.yaml --set=Q | argument-value | Q |
compile m.yaml --set a=1 --set Q | argument-value | Q |
compile m.yaml --set 'a b' | argument-value | 'a b' |
compile m.yaml --shapes B=1,S=x | argument-value | x |
compile m.yaml --shapes B=1,B=2 | argument-value | B=1,B=2 |
compile m.yaml --buckets S=few | argument-value | few |
compile m.yaml --timeout -3 | argument-value | -3 |
compile m.yaml --timeout soon | argument-value | soon |
compile m.yaml --emit onx | argument-value | onx | did you mean `onnx`?
compile m.yaml --input x | argument-value | x |
compile m.yaml --input 'x=float32[2:1:3]' | argument-value | 'x=float32[2:1:3]' |
compile m.yaml --format fancy | argument-value | fancy | there are `full`, `concise`
compile m.yaml --format ful | argument-value | ful | did you mean `full`?
run m.tpb --input q | argument-value | q |
run m.tpb --input a=b --input q | argument-value | q |
run m.tpb --seed -1 | argument-value | -1 | write a number that is at least 0
bench m.tpb --rounds 1 | argument-value | 1 | write a number that is at least 3
bench m.tpb --seconds nan | argument-value | nan |
check '' | argument-value | '' | a shell writes nothing
compile m.yaml --target= | argument-value |  | a shell writes nothing
bench m.tpb --seed= | argument-value |  |
check m.yaml --depth x | argument-value | x | write a number
check m.yaml --depth 1.5 | argument-value | 1.5 | write a number
generate m.tpb --top-p much | argument-value | much | write a number
generate m.tpb --stop x | argument-value | x |
export m.yaml --opset new | argument-value | new |
import m.onnx --dynamic q | argument-value | q |
trace m.yaml | argument-value | m.yaml | write `model.py:forward`
check m.yaml --json --watch | conflicting-options | --watch | leave out one of them
compile m.yaml --entry a | conflicting-options | --entry |
compile m.yaml --emit trace --weights w | conflicting-options | --weights | leave out `--weights`
compile m.yaml --input x=float32[2] | conflicting-options | --input |
compile m.py:f --set a=1 | conflicting-options | --set |
export m.py:f --weights w | conflicting-options | --weights |
"""
CALLS = [tuple(each.strip() for each in line.split("|")) for line in WRONG.splitlines()]


@pytest.fixture
def cli(tmp_path, monkeypatch, capfd):
    """Runs a command in this process, and gives its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", *words])
        with pytest.raises(SystemExit) as ended:
            entry.main()
        return ended.value.code, *capfd.readouterr()

    return run


@pytest.mark.parametrize(("words", "code", "place", "hint"), CALLS, ids=[c[0] for c in CALLS])
def test_wrong_words_are_diagnostics(cli, words, code, place, hint):
    """With a code, the words as the source, what is wrong under carets, and exit code 2."""
    given = shlex.split(words)
    status, out, err = cli(*given)
    if "--json" not in given:
        assert (status, out) == (2, "")
        assert f"error[{code}]: " in err
        assert hint in err
        assert not FOREIGN.search(err)
        given.insert(2 if given[0] == "new" else 1, "--json")
        status, out, err = cli(*given)
    assert (status, err) == (2, "")
    found = next(each for each in json.loads(out)["diagnostics"] if each["code"] == code)
    assert hint in (found["hint"] or "")
    line, span = text_of(found["span"]["path"]), found["span"]
    assert line[span["column"] - 1 : span["end_column"] - 1] == place


def test_all_wrong_words_are_said_at_once(cli):
    """And in the short form, where that is asked for."""
    words = ("compile", "a.yaml", "b.yaml", "--traget", "cpu", "--oput", "x")
    assert cli(*words)[2].endswith("\n\n3 problems\n")
    _, _, err = cli(*words, "--format", "concise")
    lines = err.splitlines()
    assert [line.split()[2] for line in lines] == [
        "extra-argument",
        "unknown-option",
        "unknown-option",
    ]
    assert lines[1].startswith("<command line>:1:34: ")


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("check --shape B=2 m.yaml", 1),
        ("check m.yaml --shape B=2", 1),
        ("check --shape=B=2 m.yaml n.yaml", 2),
        ("check --wach m.yaml", 1),
        ("compare --tolerance 3 --tolerant 4 a b", 2),
        ("compare --tolerance 3 a b c", 2),
        ("bench --round 3 a.tpb b.tpb", 1),
    ],
)
def test_what_follows_an_unknown_option_is_its_value(cli, words, count):
    """Where there are more words than arguments, before these and behind them."""
    _, out, _ = cli(*shlex.split(words), "--json")
    codes = [each["code"] for each in json.loads(out)["diagnostics"]]
    assert codes[0] == "unknown-option"
    assert len(codes) == count


def test_words_are_read_as_click_reads_them():
    """Values in words of their own, behind `=`, behind a letter, and words behind `--`."""
    root = typer.main.get_command(entry.app)
    line = CommandLine(["compile", "-ofile", "--set=a=b", "--set", "-x", "--", "--json"])
    read = line.parse(root)
    values = {name: [line.value(v) for _, v in each] for name, each in read.values.items()}
    assert values == {"output": ["file"], "sizes": ["a=b", "-x"], "spec": ["--json"]}
    assert [read.unknown, read.extra, read.bare, line.has("--json")] == [[], [], [], False]
    read = CommandLine(["compile", "x", "-o"]).parse(root)
    assert [option.name for option, _ in read.bare] == ["output"]


def test_codes_of_usage_errors_have_a_case():
    """No code is left without one."""
    assert {code for _, code, _, _ in CALLS} == set(CODES)


def test_help_alone_is_typers(cli):
    """A program without words prints its help, with the exit code of a usage error."""
    assert cli("compile", "--help")[:1] == (0,)
    status, out, err = cli()
    assert (status, out) == (2, "")
    assert err.startswith("Usage: tripybuild [OPTIONS] COMMAND [ARGS]...")


@pytest.mark.parametrize("columns", [80, 120, 200])
def test_no_line_of_a_help_is_cut(cli, columns, monkeypatch):
    """Of the program, and of each command, whose examples hold, and which the program lists."""
    monkeypatch.setenv("COLUMNS", str(columns))
    root = typer.main.get_command(entry.app)
    for words in ([], *(words.split() for words in entry.COMMANDS), ["new"], ["cache"]):
        status, out, _ = cli(*words, "--help")
        assert status == 0
        cut = [line for line in out.splitlines() if re.search(r"[^\])}]\.\.\.$", line)]
        assert not [line for line in cut if not line.startswith("Usage:")], words
        assert columns > 80 or max(map(len, out.splitlines())) <= 80, words
        shown = [line for line in out.splitlines() if line.strip().startswith("tripybuild ")]
        assert shown, words
        for line in shown:
            read = CommandLine(shlex.split(line)[1:]).parse(root)
            assert [read.unknown, read.extra, read.bare] == [[], [], []], line
            called = [command.name for command, word in read.path if word is not None]
            assert called[: len(words)] == words, line
    whole = cli("--help")[1]
    assert "TRIPYBUILD_CACHE_DIR" in whole
    for words in entry.COMMANDS:
        assert re.search(rf"^  {words.split()[0]} .*\.$", whole, re.MULTILINE), words

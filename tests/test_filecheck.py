"""Passes and messages of `tripybuild opt`, as MLIR files with CHECK lines.

A file begins with lines `// RUN: COMMAND`, as LLVM's lit has them. `%s` is the file; commands run
in this process, and `2>&1` and `| filecheck %s` are understood. There are three:

    tripybuild opt %s ...         as on the command line; `not` before it wants it to fail
    same-values %s -p ...         what functions compute is the same after the passes as before
    settled %s -p ...             the passes change nothing in what they made

The last two look at each part between lines `// -----`. Arguments are random numbers; sizes that a
part leaves open are 3, or those of its line `// DYNAMIC: 0=2,5 1=4` (of arguments by their index).
A line `// VALUES: 1=5,6` has the numbers of an argument, and `// UNEVALUATED` leaves a part out, of
which the oracle does not know an operation, or which only comes near the same numbers.
"""

import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser
from oracles.tensorrt_numpy import compare, functions, parsed, random_inputs

from tripybuild.cli.commands import opt_run
from tripybuild.cli.main import main
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.writing import printer

HERE = Path(__file__).resolve().parent / "filecheck"
RUN = re.compile(r"^// RUN: (.*)$", re.MULTILINE)
DYNAMIC, VALUES = (
    re.compile(rf"^// {word}: (.*)$", re.MULTILINE) for word in ("DYNAMIC", "VALUES")
)
RUNS = [
    pytest.param(path, command, id=f"{path.relative_to(HERE)}:{index}")
    for path in sorted(HERE.rglob("*.mlir"))
    for index, command in enumerate(RUN.findall(path.read_text(encoding="utf-8")), 1)
]


@pytest.fixture
def outputs(monkeypatch, capsys):
    """What runs the command line: its exit code, stdout and stderr."""

    def run(arguments):
        monkeypatch.setattr("sys.argv", arguments)
        monkeypatch.setattr("sys.stdin", io.StringIO())
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capsys.readouterr()

    return run


@pytest.mark.parametrize(("path", "command"), RUNS)
def test_run_line(path, command, outputs, monkeypatch, capsys):
    """Each command of each file does what it says, and prints what the file expects."""
    monkeypatch.chdir(path.parent)
    first, *checks = (shlex.split(each.replace("%s", path.name)) for each in command.split(" | "))
    if first[0] in TOOLS:
        assert not checks
        TOOLS[first[0]](path, first[1:])
        return
    fails = first[0] == "not"
    merged = "2>&1" in first
    code, text, said = outputs([each for each in first[fails:] if each != "2>&1"])
    assert (code != 0) == fails, text + said
    text = text + said if merged else text
    assert merged or fails or not said, said
    if not checks:
        assert text == ""
    for check in checks:
        assert check[0] == "filecheck"
        options = parse_argv_options(check)
        matcher = Matcher(options, FInput("-", text), Parser.from_opts(options))
        assert matcher.run() == 0, f"{text}\n{capsys.readouterr()}"


def parts(path, arguments):
    """The parts of a file, and the passes with their options."""
    assert arguments[:2] == [path.name, "-p"]
    steps = opt_run.steps(arguments[2:], None)
    assert steps
    text = path.read_text(encoding="utf-8")
    return (
        opt_run.parts(text),
        [step.entry.name for step in steps],
        {step.entry.name: dict(step.options) for step in steps},
    )


def same_values(path, arguments):
    """Compare what each function computes."""
    texts, names, options = parts(path, arguments)
    evaluated = [text for text in texts if "// UNEVALUATED\n" not in text]
    assert evaluated
    for text in evaluated:
        dynamic, values, inputs = numbers(DYNAMIC, text), numbers(VALUES, text), None
        if values:
            (function,) = functions(parsed(text)).values()
            inputs = random_inputs(function, dynamic)
            for index, found in values.items():
                inputs[index] = np.array(found, inputs[index].dtype)
        with np.errstate(invalid="ignore", divide="ignore"):  # NaNs are compared, too
            compare(text, *names, options=options, dynamic=dynamic, inputs=inputs)


def numbers(pattern, text):
    """What lines of a part say of arguments: numbers, by the argument's index."""
    words = dict(word.split("=") for word in " ".join(pattern.findall(text)).split())
    return {int(index): [int(each) for each in row.split(",")] for index, row in words.items()}


def settled(path, arguments):
    """Run the passes again on what they made."""
    texts, _, _ = parts(path, arguments)
    steps = opt_run.steps(arguments[2:], None)
    for text in texts:
        module, found = parser.parse(text), []
        for _ in range(2):
            for step in steps:
                step.entry.run(module, **step.entry.keywords(step.options))
            found.append(printer.text(module))
        assert found[0] == found[1]


TOOLS = {"same-values": same_values, "settled": settled}


def test_files_are_asked():
    """A file without a RUN line would ask nothing, and a name that nobody checks neither."""
    for path in HERE.rglob("*.mlir"):
        text = path.read_text(encoding="utf-8")
        commands = RUN.findall(text)
        assert commands, path
        prefixes = {"CHECK", *re.findall(r"--check-prefix[= ](\w+)", " ".join(commands))}
        used = set(re.findall(r"^\s*// ([A-Z]+)(?:-[A-Z]+)?:", text, re.MULTILINE))
        assert used <= prefixes | {"RUN", "DYNAMIC", "VALUES"}, path

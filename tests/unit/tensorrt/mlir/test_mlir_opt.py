"""Pipelines as text, expectations as comments, and what `opt` does with them."""

import io
import json

import pytest

from tripybuild.cli.commands import opt_run
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.tensorrt.mlir.reading.expectations import expectations, mismatches
from tripybuild.tensorrt.passes.pipeline_text import steps

GOOD = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"
BAD = GOOD.replace("-> tensor<2xf32>", "-> tensor<3xf32>")


def names(text):
    """The passes of a pipeline, with their options."""
    return [(step.entry.name, dict(step.options)) for step in steps(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cse", [("cse", {})]),
        ("cse,canonicalize", [("cse", {}), ("canonicalize", {})]),
        (
            " builtin.module( func.func( cse ) , canonicalize ) ",
            [("cse", {}), ("canonicalize", {})],
        ),
        ("builtin.module()", []),
        ("any(tensorrt.module(func.func(cse)))", [("cse", {})]),
        ("cse{}", [("cse", {})]),
        (
            "tensorrt-apply-wars{tensorrt-version=9.0 tensorrt-strongly-typed}",
            [("tensorrt-apply-wars", {"tensorrt-version": "9.0", "tensorrt-strongly-typed": True})],
        ),
        (
            "inline{max-iterations=2 default-pipeline={} op-pipelines=func.func(cse)}",
            [
                (
                    "inline",
                    {
                        "max-iterations": 2,
                        "default-pipeline": "",
                        "op-pipelines": "func.func(cse)",
                    },
                )
            ],
        ),
        (
            "tensorrt-apply-wars{ tensorrt-version='9.0' tensorrt-strongly-typed=false }",
            [
                (
                    "tensorrt-apply-wars",
                    {"tensorrt-version": "9.0", "tensorrt-strongly-typed": False},
                )
            ],
        ),
    ],
)
def test_pipeline_is_read(text, expected):
    """mlir-opt's grammar: nesting, options, flags, quotes."""
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", "pipeline-syntax", "at the end: expected the name of a pass"),
        ("cse,", "pipeline-syntax", "at the end: expected the name of a pass"),
        ("cse)", "pipeline-syntax", "before `)`: expected `,` or the end"),
        ("cse canonicalize", "pipeline-syntax", "before `canonicalize`"),
        ("func.func(cse", "pipeline-syntax", "expected `,` or `)`"),
        ("scf.for(cse)", "pipeline-syntax", "passes are not nested in `scf.for`"),
        ("csee", "unknown-pass", "no pass is called `csee`"),
        ("cse{x=1}", "unknown-pass", "`cse` has no option `x`"),
        ("tensorrt-apply-wars{tensorrt-version}", "pipeline-syntax", "needs a value"),
        ("inline{max-iterations=few}", "pipeline-syntax", "is a number, not `few`"),
        ("tensorrt-apply-wars{=}", "pipeline-syntax", "expected an option"),
        ("tensorrt-apply-wars{tensorrt-version=1", "pipeline-syntax", "expected an option"),
    ],
)
def test_pipeline_is_refused(text, code, message):
    """What is wrong, and where."""
    with pytest.raises(DiagnosticError) as raised:
        steps(text)
    (found,) = raised.value.diagnostics
    assert (found.code, message in found.message) == (code, True), found.message


def given(line, message, notes=()):
    """A diagnostic in a line."""
    span = Span("f", line, 1, line, 2) if line else None
    return Diagnostic("mlir-invalid", message, span, notes=notes)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("op // expected-error {{wrong}}", 1),
        ("// expected-error @+1 {{wrong}}\nop", 2),
        ("op\n// expected-error @-1 {{wrong}}", 1),
        ("// expected-error @below {{wrong}}\n// expected-note @below {{x}}\nop", 3),
        ("op\n// expected-error @above {{wrong}}", 1),
        ("op\n// expected-note @above {{x}}\n// expected-error @above {{wrong}}", 1),
        ("// expected-error @unknown {{wrong}}", 0),
        ("op // expected-error-re {{w{{[a-z]+}}g}}", 1),
        ("op // expected-note {{x}} expected-error {{wrong}}", 1),
    ],
)
def test_expectation_is_met(text, line):
    """At its line, by a part of the message."""
    diagnostic = given(line, "this is wrong", ("an x",))

    assert mismatches(expectations(text, "f"), [diagnostic]) == []


@pytest.mark.parametrize(
    ("text", "found", "messages"),
    [
        ("op // expected-error {{wrong}}", [], ['expected error "wrong" was not produced']),
        ("op", [given(1, "wrong")], ["unexpected error: wrong"]),
        (
            "op // expected-error {{right}}",
            [given(1, "wrong")],
            ["unexpected error: wrong", 'expected error "right" was not produced'],
        ),
        (
            "op // expected-remark {{wrong}}",
            [given(1, "wrong")],
            [
                "'error' diagnostic emitted when expecting a 'remark'",
                'expected remark "wrong" was not produced',
            ],
        ),
        ("op // expected-error {{w.*g}}", [given(1, "wrong")], None),
        ("\nop // expected-error {{wrong}}", [given(1, "wrong")], None),
    ],
)
def test_expectation_is_not_met(text, found, messages):
    """What is missing and what is too much are both said."""
    said = [each.message for each in mismatches(expectations(text, "f"), found)]

    assert said == messages if messages else len(said) == 2


def test_two_problems_need_two_expectations():
    """The same words at the same line are expected as often as they are given."""
    text = "op // expected-error {{wrong}} expected-error {{wrong}}"

    assert mismatches(expectations(text, "f"), [given(1, "wrong"), given(1, "wrong")]) == []
    assert len(mismatches(expectations(text, "f"), [given(1, "wrong")])) == 1


def test_parts_are_taken_apart():
    """Each is a module of its own; places are those of the whole text."""
    outcome = opt_run.run(
        f"{GOOD}// -----\n{BAD}// -----\n{GOOD}", "f", opt_run.OptOptions(split=True)
    )

    assert outcome.text.count("func.func @f") == 2
    assert outcome.text.split("\n").count("// -----") == 2
    assert [each.span.line for each in outcome.diagnostics] == [6]


def test_unsplit_text_is_one():
    """Without the option the marker is a comment."""
    outcome = opt_run.run(f"{GOOD}// -----\n{GOOD.replace('@f', '@g')}", "f", opt_run.OptOptions())

    assert outcome.diagnostics == []
    assert outcome.text.count("module") == 1


def test_pass_that_breaks_a_module_is_named(monkeypatch):
    """The text is not to blame."""
    (step,) = steps("cse")

    def broken(module):
        block = module.body.block.first_op.body.block
        block.erase_op(block.last_op)

    monkeypatch.setitem(step.entry.__dict__, "run", broken)
    outcome = opt_run.run(GOOD, "f", opt_run.OptOptions(steps=[step]))

    (found,) = outcome.diagnostics
    assert "empty block" in found.message
    assert found.notes == ("after the pass `cse`, a bug of the pass, not of the input",)
    assert opt_run.run(GOOD, "f", opt_run.OptOptions(steps=[step], verify=False)).diagnostics == []


def run(monkeypatch, capsys, *arguments, stdin=""):
    """Run the command; give exit code, stdout and stderr."""
    monkeypatch.setattr("sys.argv", ["tripybuild", "opt", *arguments])
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_stdin_is_read(monkeypatch, capsys, arguments):
    """What is typed is shown in problems, as a file is."""
    code, out, _ = run(monkeypatch, capsys, *arguments, stdin=GOOD)
    assert (code, out.startswith("module {")) == (0, True)

    code, out, err = run(monkeypatch, capsys, *arguments, stdin=BAD)
    assert (code, out) == (1, "")
    assert " 2 |   return %x : tensor<2xf32>" in err


def test_passes_are_listed(monkeypatch, capsys):
    """With their options, and as JSON."""
    code, out, _ = run(monkeypatch, capsys, "--list-passes")
    assert code == 0
    assert "tensorrt-expand-ops" in out
    assert "tensorrt-strongly-typed" in run(monkeypatch, capsys, "--list-passes", "--json")[1]


TAGGED = GOOD.replace("return %x", 'return {tag = "end"} %x')
REPORT = "func f:\n arg #0: device\ntest_tag: end:\n operand #0: device\n"


def test_reports_are_beside_the_text(monkeypatch, capsys, tmp_path):
    """On stderr, and in JSON; a pass that analyzes changes nothing."""
    arguments = ("-p", "test-tensor-kind-analysis")
    code, out, err = run(monkeypatch, capsys, *arguments, stdin=TAGGED)
    assert (code, err) == (0, REPORT)
    assert out == run(monkeypatch, capsys, stdin=TAGGED)[1]

    _, out, _ = run(monkeypatch, capsys, *arguments, "--json", stdin=TAGGED)
    assert json.loads(out)["reports"] == [REPORT.rstrip("\n")]

    path = tmp_path / "out.mlir"
    assert run(monkeypatch, capsys, *arguments, "-o", str(path), stdin=TAGGED) == (0, "", REPORT)


def test_file_of_plugins_is_run(monkeypatch, capsys, tmp_path):
    """What it prints is beside the text; what it raises is told at its line."""
    path = tmp_path / "mine.py"
    path.write_text("print('registered')\n")
    code, out, err = run(monkeypatch, capsys, "--plugins", str(path), stdin=GOOD)
    assert (code, out.startswith("module {"), err) == (0, True, "registered\n")

    path.write_text("raise ValueError('no library')\n")
    code, _, err = run(monkeypatch, capsys, "--plugins", str(path), stdin=GOOD)
    assert (code, "ValueError: no library" in err, "mine.py:1" in err) == (1, True, True)
    missing = run(monkeypatch, capsys, "--plugins", str(tmp_path / "no.py"), stdin=GOOD)
    assert "file-not-found" in missing[2]


def test_resources_may_be_left_out(monkeypatch, capsys):
    """Their names stay."""
    text = (
        '"a.b"() {v = dense_resource<w> : tensor<1xi8>} : () -> ()\n'
        '{-#\n  dialect_resources: {\n    builtin: {\n      w: "0x0100000007"\n    }\n  }\n#-}\n'
    )
    whole = run(monkeypatch, capsys, "--allow-unregistered-dialect", stdin=text)[1]
    short = run(
        monkeypatch, capsys, "--allow-unregistered-dialect", "--elide-resources", stdin=text
    )[1]

    assert '"0x0100000007"' in whole
    assert "dense_resource<w>" in short
    assert "0x0100000007" not in short


def test_file_of_other_bytes_is_refused(monkeypatch, capsys, tmp_path):
    """A problem, not a traceback."""
    path = tmp_path / "f.mlir"
    path.write_bytes(b"\xff\xfe")
    assert "not-utf8" in run(monkeypatch, capsys, str(path))[2]
    assert "file-unreadable" in run(monkeypatch, capsys, str(tmp_path))[2]

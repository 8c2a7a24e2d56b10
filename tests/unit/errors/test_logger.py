"""Tests of `tp.logger` and `tp.config`: what is shown where, and what is refused."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.errors.logger import LEVELS, Logger, from_environment

ROOT = Path(__file__).parent.parent.parent.parent


def said(capsys):
    """What went to stderr; nothing goes to stdout."""
    out, err = capsys.readouterr()
    assert out == ""
    return err


@pytest.mark.parametrize("wanted", LEVELS)
def test_each_level_shows_itself_and_what_it_brings(wanted, capsys):
    """`verbose` brings `info`, that `warning`, that `error`; `ir` brings both forms."""
    chain = ["verbose", "info", "warning", "error"]
    brings = {"ir": {"ir", "trace", "mlir"}}
    brings |= {name: set(chain[at:]) for at, name in enumerate(chain)}
    log = Logger(wanted)
    for level in LEVELS:
        getattr(log, level)(f"this is {level}")
        shown = f"{LEVELS[level].prefix}this is {level}\n"
        assert said(capsys) == (shown if level in brings.get(wanted, {wanted}) else "")


def test_levels_by_path(capsys):
    """The longest path that fits decides; others have what stands below no path."""
    log = Logger({"tests": "error", __name__.replace(".", "/"): {"timing", "error"}})
    log.info("no")
    log.timing("yes")
    assert said(capsys) == "==== Timing ====\nyes\n"
    log.verbosity = {"other": "verbose", "": "warning"}
    log.info("no")
    log.warning("yes")
    assert said(capsys) == "[W] yes\n"
    assert log.verbosity["other"] == {"verbose", "info", "warning", "error"}


def test_texts_are_made_when_they_are_shown(capsys):
    """And lines are shifted together; a text said once is not said again."""
    log = Logger()
    log.trace(lambda: pytest.fail("nobody asked"))
    with log.use_verbosity("verbose"), log.indent(2):
        log.verbose(lambda: "a\nb")
        log.log("c", "info", mode="once")
        log.info("c", mode="once")
    log.verbose("no")
    assert said(capsys) == "[V]   a\n  b\n[I]   c\n"


def test_messages_go_where_a_program_wants_them(capsys):
    """To stderr unless it says otherwise; to the stream of that name when something is said."""
    log, text = Logger(), io.StringIO()
    log.info("a")
    log.output = "stdout"
    log.info("b")
    log.output = text
    log.info("c")
    assert capsys.readouterr() == ("[I] b\n", "[I] a\n")
    assert text.getvalue() == "[I] c\n"
    for wrong in ("stdoutt", 3, None):
        with pytest.raises(DiagnosticError, match="is not an output of the logger"):
            log.output = wrong


def test_nothing_reaches_the_terminal_as_a_control_sequence(capsys):
    """A tensor may have any name; large data is left out."""
    Logger("error").error("a\x1b[2Jb")
    Logger("mlir").mlir(f"%0 = stablehlo.constant dense<{'1, ' * 100}> : tensor<100xi32>")
    assert said(capsys) == (
        "[E] a\ufffd[2Jb\n==== MLIR ====\n%0 = stablehlo.constant dense<...> : tensor<100xi32>\n"
    )


@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        (lambda: Logger("tracing"), "did you mean `trace`"),
        (lambda: Logger({"eager": {"mlri"}}), "did you mean `mlir`"),
        (lambda: Logger(["trace", 3]), "`3` is not a level"),
        (lambda: Logger(3), "`3` is not a level"),
        (lambda: Logger({"eager": None}), "`None` is not a level"),
        (lambda: Logger([["trace"]]), "is not a level"),
        (lambda: Logger().log("text", "loud"), "`loud` is not a level"),
        (lambda: Logger().info("text", "onec"), "did you mean `once`"),
    ],
)
def test_what_is_no_level(wanted, says):
    """It is refused in words."""
    with pytest.raises(DiagnosticError, match=says):
        wanted()


def test_what_the_environment_says():
    """Levels for all, or by path."""
    assert from_environment(" trace, mlir,") == {"": {"trace", "mlir"}}
    assert from_environment("eager=trace,build=mlir,info") == {
        "eager": {"trace"},
        "build": {"mlir"},
        "": {"info"},
    }
    assert Logger(from_environment("")).verbosity == {"": {"info", "warning", "error"}}


def test_the_environment_is_read():
    """By a program; a wrong word is said before anything runs, which it does all the same."""
    program = "import tripyapi as tp; print((tp.Tensor([1.0], name='x') + 2.0).tolist())"
    for asked, output, says in (
        ("trace", "", "x = constant"),
        (
            "trase",
            "",
            "[W] `TRIPYBUILD_LOG` is passed over\nerror[wrong-value]: `trase` is not a level",
        ),
        (
            "trace",
            "stdin",
            "[W] `TRIPYBUILD_LOG_OUTPUT` is passed over\nerror[wrong-value]: `stdin`",
        ),
        ("trace", "stdout", "x = constant"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", program],
            check=False,
            capture_output=True,
            text=True,
            env={
                **os.environ,
                "TRIPYBUILD_LOG": asked,
                "TRIPYBUILD_LOG_OUTPUT": output,
                "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'generated'}",
            },
        )
        assert done.returncode == 0, done.stderr
        on_stdout = output == "stdout"
        assert says in (done.stdout if on_stdout else done.stderr)
        assert (done.stderr == "") == on_stdout
        assert done.stdout.endswith("[3.0]\n") if on_stdout else done.stdout == "[3.0]\n"


def test_what_is_computed_is_shown(capsys):
    """With the names that the program gave; large graphs have MLIR."""
    x = tp.Tensor(np.ones((300, 300), np.float32), name="x")
    first, second = x + 1.0, x * 2.0
    first.name = second.name = "y"
    total = first + second
    total.name = "total"
    with tp.logger.use_verbosity({"ir", "timing"}):
        total.eval()
    text = said(capsys)
    assert "    y = add(x : tensor<300x300xf32>, %" in text
    assert "    y_1 = mul(x" in text
    assert "    total = add(y : tensor<300x300xf32>, y_1 :" in text
    assert "stablehlo.add" in text
    assert "compute total: 0." in text
    with tp.logger.use_verbosity("ir"):
        total.eval()
    assert said(capsys) == ""


@pytest.mark.parametrize(
    ("target", "operation"),
    [("cpu:xla", "stablehlo.tanh"), ("tensorrt-rtx", "tensorrt.activation")],
)
def test_what_is_compiled_is_shown(target, operation, capsys):
    """Its trace, and the module that the target's compiler is given."""
    if target != "cpu:xla":
        pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")

    def curve(a):
        inner = a + 1.0
        inner.name = "a plus one"
        return tp.tanh(inner)

    with tp.logger.use_verbosity({"ir", "timing"}):
        tp.compile(curve, args=[tp.InputInfo([(1, 2, 3)], tp.float32)], target=target)
    text = said(capsys)
    assert "def curve(\n    a : tensor<a_0xf32>,\n" in text
    assert "    output = tanh('a plus one' : tensor<a_0xf32>)" in text
    assert operation in text
    assert "record curve: " in text
    with tp.logger.use_verbosity({"eager": "ir"}):  # what is compiled is of `build`
        tp.compile(curve, args=[tp.InputInfo([(1, 2, 3)], tp.float32)], target=target)
    assert said(capsys) == ""


def test_settings():
    """Those that there are; each has a value of its kind only."""
    assert set(dir(tp.config)) == {
        "nvtripy_devices",
        "enable_input_validation",
        "extra_error_information",
    }
    tp.config.enable_input_validation = True
    assert tp.config.enable_input_validation
    for name, value, says in (
        ("nvtripy_device", True, "did you mean `nvtripy_devices`"),
        ("timing_cache_file_path", "file", "TRIPYBUILD_CACHE_DIR"),
        ("nvtripy_devices", 1, "is true or false, and not 1"),
        ("enable_input_validation", False, "cannot be false"),
        ("extra_error_information", ["alle"], "did you mean `all`"),
        ("extra_error_information", 3, "there is no information `3`"),
    ):
        with pytest.raises(DiagnosticError, match=says) as caught:
            setattr(tp.config, name, value)
        assert caught.value.diagnostics[0].span.path == __file__
    with pytest.raises(AttributeError, match="did you mean `nvtripy_devices`"):
        _ = tp.config.nvtripy_device


def test_both_say_what_they_hold():
    """To who looks at them."""
    held = "nvtripy_devices=False, enable_input_validation=True, extra_error_information=[]"
    assert repr(tp.config) == f"Config({held})"
    assert repr(Logger({"": "trace", "eager": {"ir"}})) == (
        "Logger({'': ['trace'], 'eager': ['ir', 'mlir', 'trace']})"
    )


def test_errors_can_say_more():
    """What their code means."""
    meaning = "note: The value has the right type but is not allowed by the schema."

    def message():
        with pytest.raises(DiagnosticError) as caught:
            tp.device("tpu")
        return str(caught.value)

    assert meaning not in message()
    tp.config.extra_error_information = ["all"]
    try:
        assert tp.config.extra_error_information == ["all"]
        assert meaning in message()
    finally:
        tp.config.extra_error_information = []
    assert tp.config.extra_error_information == []
    assert meaning not in message()


def test_a_server_listens_by_logging(caplog, capsys):
    """Messages are records of Python's `logging`, and nothing is written beside."""
    log = Logger(["timing", "info"])
    log.output = "logging"
    with caplog.at_level("DEBUG", logger="tripybuild"):
        log.warning("a problem")
        log.timing("a step: 1 s")
        log.verbose("not shown")
    found = [(each.name, each.levelname, each.verbosity, each.message) for each in caplog.records]
    assert found == [
        ("tripybuild", "WARNING", "warning", "a problem"),
        ("tripybuild", "DEBUG", "timing", "a step: 1 s"),
    ]
    assert capsys.readouterr() == ("", "")

"""Shell completion: what a real bash makes of it, and what the other shells are told."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

SPEC = """\
tripybuild: 1
model: tiny
sizes: {depth: 2, width: 8}
types: {F: float32}
ranges: {B: {min: 1, opt: 4, max: 16}}
entries:
  encode: {doc: A vector., inputs: {tokens: "int32[B]"}, outputs: {y: tokens}}
  decode: {inputs: {vector: "F[B]"}, outputs: {y: vector}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a spec, and a program of the name that shells call."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.yaml").write_text(SPEC)
    Path("broken.yaml").write_text("a: [")
    Path("bin").mkdir()
    program = Path("bin/tripybuild")
    program.write_text(
        f"#!{sys.executable}\nfrom tripybuild.cli.main import main\nmain()\n", encoding="utf-8"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    return tmp_path


def answers(shell, line, **variables):
    """What a shell is told for a line whose last word is being typed."""
    asked = {"_TRIPYBUILD_COMPLETE": f"complete_{shell}", **variables}
    if shell == "bash":
        words = line.split(" ")
        asked |= {"COMP_WORDS": "\n".join(words), "COMP_CWORD": str(len(words) - 1)}
    else:
        asked["_TYPER_COMPLETE_ARGS"] = line
    done = subprocess.run(
        ["tripybuild"], capture_output=True, text=True, check=False, env=os.environ | asked
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("tripybuild expl", {"explain"}),
        ("tripybuild compile tiny.yaml --targ", {"--target"}),
        ("tripybuild compile tiny.yaml --target cpu : onnxr", {"onnxruntime"}),
        ("tripybuild compile tiny.yaml --target cpu : onnxruntime,", {"onnxruntime,threads="}),
        ("tripybuild compile tiny.yaml --set ", {"F=", "depth=", "width="}),
        ("tripybuild compile tiny.yaml --set F = bfl", {"bfloat16"}),
        ("tripybuild compile tiny.yaml --set depth =", {"2"}),
        ("tripybuild check tiny.yaml --shapes B", {"B=", "B=4", "B=1", "B=16"}),
        ("tripybuild bench tiny.yaml --entry ", {"encode", "decode"}),
        ("tripybuild run tiny.yaml --input ", {"tokens=", "vector="}),
        ("tripybuild explain file-no", {"file-not-found"}),
        ("tripybuild explain softmax/d", {"softmax/dim"}),
        ("tripybuild compile broken.yaml --set ", set()),
        ("tripybuild compile none.yaml --set ", set()),
        ("tripybuild compile tiny.yaml --target nothing,", set()),
        ("tripybuild explain nothing/", set()),
    ],
)
def test_bash_is_told_what_fits(folder, line, wanted):
    """It breaks words at `=` and `:`, and replaces what stands behind."""
    assert set(answers("bash", line)) == wanted


def test_zsh_and_fish_are_told_whole_words(folder):
    """They do not break words."""
    fish = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    assert answers("fish", "tripybuild compile tiny.yaml --set F=bf", **fish) == ["F=bfloat16"]
    assert '"depth="' in "".join(answers("zsh", "tripybuild compile tiny.yaml --set d"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_shown(folder, shell):
    """By typer's option, which detects the shell unless it is told."""
    variables = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        ["tripybuild", "--show-completion", shell],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | variables,
    )
    assert "_TRIPYBUILD_COMPLETE" in done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="this system has no bash")
def test_a_real_bash_completes(folder):
    """A word with a break, and an operator, typed into a terminal."""
    script = subprocess.run(
        ["tripybuild", "--show-completion", "bash"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    ).stdout
    Path("rc").write_text(f"PS1='> '\nbind 'set enable-bracketed-paste off'\n{script}")
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "--noprofile", "--rcfile", "rc", "-i"])

    def typed(text, wanted):
        os.write(terminal, text.encode())
        seen, end = "", time.monotonic() + 15
        while wanted not in seen and time.monotonic() < end:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 4096).decode(errors="replace")
        assert wanted in seen

    typed("echo rea''dy\n", "ready")
    typed("tripybuild compile tiny.yaml --set F=bf\t", "F=bfloat16 ")
    typed("--target cpu:onn\t", "cpu:onnxruntime")
    os.write(terminal, b"\x15exit\n")
    os.waitpid(pid, 0)
    os.close(terminal)


def test_completion_loads_nothing_heavy(folder):
    """A shell waits for it: neither NumPy, pydantic nor an engine is loaded."""
    code = (
        "import os, sys; os.environ |= {'_TRIPYBUILD_COMPLETE': 'complete_bash', 'COMP_CWORD': '4',"
        "'COMP_WORDS': 'tripybuild\\ncompile\\ntiny.yaml\\n--set\\n'}\n"
        "from tripybuild.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'jaxlib', 'onnxruntime', 'pydantic'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "depth=" in done.stdout

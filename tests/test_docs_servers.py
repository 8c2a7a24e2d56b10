"""`docs/serving.md` is served under load; `docs/ci.md` and `docs/cache.md` print what they say."""

import json
import re
import runpy
import shlex
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
import sections
import yaml
from safetensors.numpy import load_file

from tripybuild.cli.main import main

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, in which a page's commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def follow(page, monkeypatch, capfd):
    """Write the files of a page and run its commands, in order."""
    for section in sections.sections(DOCS / page):
        for block in section.blocks:
            if block.name is not None:
                Path(block.name).parent.mkdir(parents=True, exist_ok=True)
                Path(block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                for command, expected in sections.commands(block):
                    code, printed = run(command, monkeypatch, capfd)
                    assert code == int(block.options.removeprefix("exit=")), printed
                    assert sections.is_printed(expected, printed), f"$ {command}\n{printed}"


def run(command, monkeypatch, capfd):
    """The exit code of a command, and what it prints."""
    monkeypatch.setattr(sys, "argv", shlex.split(command))
    capfd.readouterr()
    if sys.argv[0] == "python":
        runpy.run_path(sys.argv[1], run_name="__main__")
        return 0, "".join(capfd.readouterr())
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, "".join(capfd.readouterr())


@pytest.fixture
def port():
    """A port that is free."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def ask(port, rows):
    """What the server answers to rows."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/predict",
        json.dumps({"rows": rows}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return np.array(json.load(answer))


def test_a_server_answers_eight_clients(folder, port, monkeypatch, capfd):
    """As the page runs it; each answer is that of NumPy, and wrong sizes are refused."""
    pytest.importorskip("fastapi", reason="fastapi is not installed")
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    follow("serving.md", monkeypatch, capfd)
    command = [sys.executable, "-m", "uvicorn", "server:app", "--port", str(port)]
    server = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        wait_for(server, port)
        monkeypatch.setattr(sys, "argv", ["clients.py", str(port)])
        runpy.run_path("clients.py", run_name="__main__")
        printed = capfd.readouterr().out
        assert re.match(r"200 answers in [\d.]+ s: \d+ per second\np50 [\d.]+ ms, p99", printed)
        rows = np.random.default_rng(1).normal(size=(5, 64)).astype(np.float32)
        np.testing.assert_allclose(ask(port, rows.tolist()), predicted(rows), atol=1e-6)
        for wrong in ([[1.0, 2.0]], [[0.0] * 64] * 33, [[1.0], [2.0, 3.0]]):
            with pytest.raises(urllib.error.HTTPError) as refused:
                ask(port, wrong)
            assert refused.value.code == 422
            refused.value.close()
    finally:
        server.terminate()
        server.communicate(timeout=10)


def wait_for(server, port):
    """Wait until the server answers."""
    for _ in range(300):
        assert server.poll() is None, server.stderr.read().decode()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError


def predicted(rows):
    """What the page's model gives, by NumPy."""
    weights = load_file("service.safetensors")
    hidden = np.maximum(rows @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
    scores = np.exp(hidden @ weights["head.weight"].T + weights["head.bias"])
    return scores / scores.sum(1, keepdims=True)


def test_the_cache_is_as_its_page_says(folder, monkeypatch, capfd):
    """Each command, in order, and the program."""
    follow("cache.md", monkeypatch, capfd)


def test_pipelines_are_yaml_with_commands_that_exist(folder, monkeypatch, capfd):
    """The commands of the page do what it says, and those of the pipelines have no other words."""
    follow("ci.md", monkeypatch, capfd)
    actions = yaml.safe_load((folder / ".github/workflows/models.yml").read_text(encoding="utf-8"))
    steps = actions["jobs"]["models"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    gitlab = yaml.safe_load((folder / ".gitlab-ci.yml").read_text(encoding="utf-8"))["models"]
    scripts = [step["run"] for step in steps if "run" in step], gitlab["script"]
    for script in scripts:
        assert script == scripts[0]
    (folder / "models").mkdir()
    model = (folder / "shapes.yaml").read_text(encoding="utf-8").replace("[B, 2]", "[2, 2 * B]")
    (folder / "models/classifier.yaml").write_text(model, encoding="utf-8")
    commands = [each for each in scripts[0] if each.startswith("tripybuild ")]
    assert [run(each, monkeypatch, capfd)[0] for each in commands] == [0, 0]
    assert (folder / gitlab["artifacts"]["paths"][0]).is_file()

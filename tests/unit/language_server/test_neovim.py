"""The language server in a real Neovim, without a screen."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_language_server import SPEC

SCRIPT = Path(__file__).with_name("neovim.lua")
OLDEST = (0, 7)  # what Debian 12 has; its client speaks of versions and of refused requests


def version():
    """The version of the Neovim that is installed, or none."""
    if shutil.which("nvim") is None:
        return ()
    told = subprocess.run(["nvim", "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(map(int, re.match(r"NVIM v(\d+)\.(\d+)", told).groups()))


@pytest.mark.skipif(version() < OLDEST, reason=f"Neovim {OLDEST} is not installed: {version()}")
def test_neovim_shows_problems_and_types_and_renames(tmp_path):
    file, out = tmp_path / "tiny.yaml", tmp_path / "found.json"
    file.write_text(SPEC, encoding="utf-8")
    command = [sys.executable, "-m", "tripybuild", "lsp"]
    environment = {**os.environ, "LSP_COMMAND": "\n".join(command), "LSP_OUT": str(out)}
    run = ["nvim", "--headless", "--clean", "-n", str(file), "-c", f"luafile {SCRIPT}"]
    told = subprocess.run(
        run, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert out.exists(), told.stderr
    found = json.loads(out.read_text(encoding="utf-8"))
    lines = SPEC.split("\n")
    row = next(at for at, line in enumerate(lines) if "relu(mixed)" in line)
    code, *place, message = found["problem"]
    assert (code, place) == ("unbound-name", [row, lines[row].index("mixed")])
    assert "did you mean `mixed`?" in message
    hints = {lines[int(at)].split(":")[0].strip(): hint for at, hint in found["hints"].items()}
    assert hints["scores"] == ": F[B, 2, S, S]"
    assert found["text"] == SPEC.rstrip("\n").replace("mixed", "joined")
    assert found["refused"].startswith("`x` is an input already, in line")

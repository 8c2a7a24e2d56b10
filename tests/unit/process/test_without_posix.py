"""What Windows lacks is not needed: a model is checked, compiled, saved, loaded and run without."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tripybuild
from tripybuild.process import file_access

PACKAGE = Path(tripybuild.__file__).parent
ABSENT = ("fcntl", "grp", "pwd", "resource", "termios")
SCRIPT = """
import os, signal, sys

for module in {absent!r}:
    sys.modules[module] = None
for name in ("pread", "preadv", "pwrite", "pwritev", "copy_file_range", "posix_fadvise", "sysconf",
             "sched_getaffinity", "O_CLOEXEC", "O_NONBLOCK", "O_DIRECT", "getuid", "geteuid"):
    delattr(os, name)
for name in ("SIGKILL", "SIGBUS", "SIGALRM", "setitimer", "ITIMER_REAL"):
    delattr(signal, name)

import numpy as np
import tripybuild
from tripybuild.cli.main import main

sys.argv = ["tripybuild", "check", "tiny.yaml"]
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
for target in ("cpu:onnxruntime", "cpu:xla"):
    tripybuild.compile("tiny.yaml", target=target, output="tiny.tpb")
    made = tripybuild.load("tiny.tpb")
    assert made(x=np.float32([[1, -2]]))["y"].tolist() == [[1, 0]]
print("done")
"""


def test_a_model_runs_without(tmp_path):
    """With `cpu:xla`, whose compiler is a process of its own, too."""
    text = "tripybuild: 1\nmodel: tiny\ninputs: {x: 'float32[B, 2]'}\noutputs: {y: relu(x)}\n"
    (tmp_path / "tiny.yaml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(absent=ABSENT)],
        cwd=tmp_path,
        env={**os.environ, "TRIPYBUILD_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.endswith("done\n"), done.stdout + done.stderr


def test_no_module_begins_with_what_unix_alone_has():
    """Such modules are imported where they are used, behind a question."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for each in ast.parse(path.read_text(encoding="utf-8")).body:
            names = [a.name for a in each.names] if isinstance(each, ast.Import) else []
            names += [each.module] if isinstance(each, ast.ImportFrom) else []
            found += [f"{path}: {name}" for name in names if name in ABSENT]
    assert not found


@pytest.mark.parametrize("absent", [(), ("pread", "preadv", "pwrite")], ids=["posix", "windows"])
def test_files_are_read_and_written_at_positions(tmp_path, monkeypatch, absent):
    for name in absent:
        monkeypatch.delattr(os, name)
    place = tmp_path / "file"
    descriptor = os.open(place, file_access.WRITE_FLAGS, 0o666)
    assert file_access.write_at(descriptor, memoryview(b"cde"), 2) == 3
    assert file_access.write_at(descriptor, b"ab", 0) == 2
    os.close(descriptor)
    descriptor = os.open(place, file_access.READ_FLAGS)
    space = memoryview(bytearray(4))
    assert file_access.read_into(descriptor, space, 3) == 2
    assert file_access.read_at(descriptor, 9, 1) == b"bcde"
    assert file_access.read_at(descriptor, 9, 5) == b""
    assert bytes(space[:2]) == b"de"
    os.close(descriptor)

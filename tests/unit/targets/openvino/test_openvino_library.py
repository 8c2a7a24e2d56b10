"""OpenVINO's library: a process that uses it sends nothing, starts nothing and writes nothing."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from openvino_models import require_openvino

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.cpu.openvino import Openvino
from tripybuild.targets.openvino import library

# What Python does is told by its audit hooks; what native code does is seen in the home folder, and
# in the threads and processes that are there at the end.
WATCH = """
import json, os, sys
seen = []
def watch(event, arguments):
    first = event.partition(".")[0]
    if first in ("socket", "subprocess", "urllib", "http", "smtplib", "webbrowser"):
        seen.append(event)
    if event in ("os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "os.mkdir"):
        seen.append(event)
    if event == "_thread.start_new_thread":
        seen.append(event)
    if event == "open" and arguments[1] and set(str(arguments[1])) & set("wax+"):
        seen.append(f"{event} {arguments[0]}")
sys.addaudithook(watch)
import numpy as np
from openvino_models import node, model, value, run
from tripybuild.types.dtypes import float32
x = value("x", float32, "N")
(found,) = run(model([node("Exp", "x", "y")], [x], [value("y", float32, "N")]), np.zeros(3, "f4"))
assert found.tolist() == [1, 1, 1]
telemetry = sorted(name for name in sys.modules if "telemetry" in name or name.endswith(".ovc"))
children = open("/proc/self/task/%d/children" % os.getpid()).read().split()
print(json.dumps({"seen": seen, "modules": telemetry, "children": children}))
"""


def test_a_process_that_uses_it_is_silent(tmp_path):
    """No socket, no process, no file; without what says that it is a test, and CI's own switch."""
    require_openvino()
    paths = os.pathsep.join([*map(str, sys.path), str(Path(__file__).parents[3] / "helpers")])
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LD_LIBRARY_PATH")}
    environment = {**kept, "HOME": str(tmp_path), "PYTHONPATH": paths}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", WATCH],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"seen": [], "modules": [], "children": []}
    assert done.stderr == ""
    assert list(tmp_path.rglob("*")) == []


@pytest.fixture
def fresh(monkeypatch):
    """Import the library as if nothing had."""
    for name in [each for each in sys.modules if each.partition(".")[0] == "openvino"]:
        monkeypatch.delitem(sys.modules, name)
    library.library.cache_clear()
    yield
    library.library.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_where_it_is_not_installed(monkeypatch):
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "openvino", None)
    with pytest.raises(DiagnosticError) as caught:
        library.library()
    (found,) = caught.value.diagnostics
    assert found.code == "target-unavailable"
    assert found.hint == "install it: `pip install 'tripybuild[openvino]'`"
    assert library.TELEMETRY not in sys.modules


def test_its_version_is_that_of_the_extra():
    """What the facts were seen in."""
    require_openvino()
    assert Openvino("cpu:openvino").is_installed == (find_spec("openvino") is not None)
    assert library.version().startswith("2026.")

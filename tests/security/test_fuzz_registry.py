"""A stranger's registry runs no code: what was found, what is made up, and who watches.

`python tests/security/fuzz_registry.py --cases 20000` is the whole question.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CASES = 120


@pytest.fixture(scope="module")
def found():
    """All verdicts, from a process of its own."""
    paths = [HERE, HERE.parents[1], HERE.parents[1] / "generated"]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", HERE / "known_attacks.py", str(CASES)],
        env={"PYTHONPATH": ":".join(map(str, paths))},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_what_was_found_does_nothing(found):
    """The reader refuses it with words; a text that is a text may stand, and does nothing."""
    kinds = {name: verdict["kind"] for name, verdict in found["attacks"].items()}
    texts = {"a text in a type": "ran", "a registry's folder": "ran"}
    assert kinds == dict.fromkeys(kinds, "refused") | texts


def test_the_watch_sees_what_happens(found):
    """Where generated code does it, it is noted and does not happen."""
    assert found["plants"] == dict.fromkeys(found["plants"], True)


def test_nothing_happens(found):
    """Some registries with hostile texts and snippets; what runs, runs without an event."""
    kinds = {verdict["kind"] for verdict in found["fuzzed"]}
    assert {"refused", "ran"} <= kinds
    bad = [each for each in found["fuzzed"] if each["kind"] in {"event", "broken", "internal"}]
    assert not bad

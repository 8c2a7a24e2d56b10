"""Why an entry was missing: what changed, in the words of the model's author."""

import json
import sys

import pytest
import written

import tripybuild
from tripybuild.cache.explanation import explain_lookups, known_records
from tripybuild.cache.keys import key
from tripybuild.cache.lookups import listen
from tripybuild.cache.records import entry_origin
from tripybuild.cache.store import Cache
from tripybuild.cli.main import main

BASE = {
    "what": "engine",
    "target": "tensorrt-rtx",
    "module": b"module",
    "weights": b"weights",
    "request": json.dumps({"optimization_level": 3, "form": "text"}),
    "library": "1.7",
}
FACTS = {
    "spec": "minilm.yaml",
    "the text of `minilm.yaml`": "a" * 64,
    "the registry `ops_registry`": "b" * 64,
    "weights of `model.safetensors`": "c" * 64,
}


@pytest.mark.parametrize(
    ("parts", "facts", "words"),
    [
        ({}, {}, None),
        ({"library": "1.8"}, {}, "`library`: `1.7` then, `1.8` now"),
        (
            {"target": "tensorrt-rtx:sm89"},
            {},
            "the target: `tensorrt-rtx` then, `tensorrt-rtx:sm89`",
        ),
        (
            {"request": json.dumps({"optimization_level": 5, "form": "text"})},
            {},
            "the option `optimization_level`: `3` then, `5` now",
        ),
        (
            {"module": b"other"},
            {"the text of `minilm.yaml`": "d" * 64},
            "the text of `minilm.yaml` has changed",
        ),
        (
            {"module": b"other"},
            {"the registry `ops_registry`": "d" * 64, "`--set`": '{"depth": 2}'},
            'the registry `ops_registry` has changed; `--set`: none then, `{"depth": 2}` now',
        ),
        ({"module": b"other"}, {}, "the module, though nothing of its source that is recorded,"),
        (
            {"weights": b"other"},
            {"weights of `model.safetensors`": "d" * 64},
            "weights of `model.safetensors` has changed",
        ),
        ({"weights": b"other"}, {}, "what is read of the weights has changed"),
        (
            {"module": b"other"},
            {"spec": "bert.yaml"},
            "nothing is known here that was made for `bert.yaml`",
        ),
        ({"what": "program"}, {}, "nothing of this kind is known here"),
    ],
)
def test_the_part_that_differs_is_said(tmp_path, parts, facts, words):
    """Alone: what is the same is not mentioned."""
    cache = Cache(tmp_path)
    with entry_origin({"spec": "other.yaml"}):
        cache.put(key({**BASE, "module": b"of another"}), b"")
    with entry_origin(FACTS):
        cache.put(key(BASE), b"engine")
    known = known_records(cache)
    with listen() as lookups, entry_origin({**FACTS, **facts}):
        cache.get_or_make(key({**BASE, **parts}), lambda: b"made")
    (found,) = explain_lookups(lookups, known)
    if words is None:
        assert str(found).startswith("hit: engine of `minilm.yaml`: entry")
        return
    assert found.lookup.outcome == "miss"
    assert found.reason.endswith(words) or f", {words}" in found.reason, found.reason
    assert words.count(";") == found.reason.count(";")


def test_what_was_removed_is_said_to_be(tmp_path):
    cache = Cache(tmp_path)
    cache.put(key(BASE), b"engine")
    cache.entry_path(key(BASE)).unlink()
    with listen() as lookups:
        cache.get(key(BASE))
    (found,) = explain_lookups(lookups, known_records(cache))
    assert found.reason == "it was here, and was removed or damaged since"


def test_nothing_is_noted_where_nothing_listens(tmp_path):
    with listen() as lookups:
        Cache(tmp_path).get("0" * 64)  # a key without parts
    Cache(tmp_path).get(key(BASE))
    assert lookups == []


TEXT = """
inputs:
  x: float32[2]
outputs:
  y: x + x
"""


def run(capfd, monkeypatch, *words):
    """What a command prints, which succeeds."""
    monkeypatch.setattr(sys, "argv", ["tripybuild", *map(str, words)])
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capfd.readouterr()
    assert not ended.value.code, printed.err
    return printed


def test_a_command_says_what_the_cache_had(tmp_path, monkeypatch, capfd):
    """From the spec to the entry, and back to the spec that it was made for."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    path, output = written.write(tmp_path, TEXT), tmp_path / "a.tpb"
    compile_it = ["compile", path, "--target", "cpu:xla", "-o", output, "--explain-cache"]
    assert "nothing of this kind is known here" in run(capfd, monkeypatch, *compile_it).err
    assert "Cache: 1 hit" in run(capfd, monkeypatch, *compile_it).err
    path.write_text(path.read_text().replace("x + x", "x * x"))
    found = json.loads(run(capfd, monkeypatch, *compile_it, "--json").out)
    (lookup,) = found["cache"]
    assert [each["what"] for each in lookup["differences"]] == [f"the text of `{path.name}`"]
    listed = run(capfd, monkeypatch, "cache", "list", "--spec", path)
    assert len(listed.out.splitlines()) == 3
    assert lookup["key"][:12] in listed.out
    shown = run(capfd, monkeypatch, "cache", "show", lookup["key"][:8]).out
    assert "XLA program" in shown.splitlines()[0]
    assert "jaxlib" in shown
    assert "Removed 2 entries" in run(capfd, monkeypatch, "cache", "clear").err
    assert run(capfd, monkeypatch, "cache", "list").out.strip() == ""
    assert tripybuild.load(output).manifest["model"]

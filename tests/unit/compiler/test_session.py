"""Compiling, saving, loading: what holds from the specification to the second process."""

from pathlib import Path

import numpy as np
import pytest

import tripybuild
from tripybuild.cache.store import CacheResult
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.cpu import compile_module

SPEC = """\
tripybuild: 1
model: order
doc: Two inputs and two outputs whose names do not stand in the order of the alphabet.
inputs:
  z: int32[B]
  a: int32[B]
ranges:
  B: {min: 1, opt: 2, max: 4}
outputs:
  y: z - a
  b: z + a
"""


def test_inputs_and_outputs_keep_their_order_in_the_file(tmp_path: Path) -> None:
    """Arguments of one dtype and shape are not exchanged by sorting a manifest's keys."""
    spec, file = tmp_path / "order.yaml", tmp_path / "order.tpb"
    spec.write_text(SPEC)
    made = tripybuild.compile(spec, output=file)
    loaded = tripybuild.load(file)
    z, a = np.array([5, 7], np.int32), np.array([1, 2], np.int32)

    for executable in (made, loaded):
        assert list(executable.inputs) == ["z", "a"]
        results = executable(z=z, a=a)
        assert list(results) == ["y", "b"]
        np.testing.assert_array_equal(results["y"], [4, 5])
        np.testing.assert_array_equal(results["b"], [6, 9])


def test_laws_are_decided_for_the_sizes_that_are_compiled_for(tmp_path: Path) -> None:
    """What `opt` breaks is said when the model is compiled, not at the first call."""
    spec = tmp_path / "laws.yaml"
    spec.write_text(
        "tripybuild: 1\nmodel: laws\ninputs:\n  x: float32[S]\n"
        "ranges:\n  S: {min: 1, opt: 33, max: 64}\noutputs:\n  y: reshape(x, [S // 16, 16])\n"
    )

    with pytest.raises(DiagnosticError) as caught:
        tripybuild.compile(spec)

    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "reshape/same-volume"
    assert diagnostic.span is not None
    assert diagnostic.span.line == 6


PICK = """\
tripybuild: 1
model: pick
inputs:
  x: float32[S, 4]
ranges:
  S: {min: 1, opt: 8, max: 64}
outputs:
  y: x[3]
"""


def test_a_waiting_law_may_compare_with_the_words_of_an_attribute(tmp_path: Path) -> None:
    """`mode != strict or ...` is decided at the call, for sizes that hold and that do not."""
    spec, file = tmp_path / "pick.yaml", tmp_path / "pick.tpb"
    spec.write_text(PICK)
    tripybuild.compile(spec, output=file)
    loaded = tripybuild.load(file)

    np.testing.assert_array_equal(loaded(x=np.ones((5, 4), np.float32))["y"], np.ones(4))
    with pytest.raises(DiagnosticError) as caught:
        loaded(x=np.ones((2, 4), np.float32))
    assert [each.code for each in caught.value.diagnostics] == ["slice/inside"]
    assert "problem" not in str(caught.value.diagnostics[0].notes)


def test_other_compiler_flags_are_another_entry_of_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What XLA was told when a payload was made decides who may have it."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path))
    keys = []
    monkeypatch.setattr(compile_module, "key", lambda parts: keys.append(dict(parts)) or "0" * 64)
    monkeypatch.setattr(
        compile_module.Cache, "get_or_make", lambda *_: CacheResult(content=b"", hit=True)
    )

    for flags in ("", "--xla_cpu_enable_fast_math=true"):
        monkeypatch.setenv("XLA_FLAGS", flags)
        compile_module.compile_module(b"module")

    assert keys[0] != keys[1]


def test_what_is_wrong_with_the_cache_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though each of the sizes is compiled for, and all are."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "file"))
    (tmp_path / "order.yaml").write_text(SPEC)
    made = tripybuild.compile(tmp_path / "order.yaml", target="cpu:xla", shapes=[{"B": 3}])
    assert [each.code for each in made.warnings] == ["cache-unwritable"]
    ones = np.ones(3, np.int32)
    np.testing.assert_array_equal(made(z=ones, a=ones)["y"], [0, 0, 0])

"""NaN and infinite weights: a warning that names them, whoever compiles and for whatever."""

import ml_dtypes
import numpy as np
import pytest
import written
from safetensors.numpy import save_file
from typer.testing import CliRunner

import tripyapi as tp
import tripybuild
from tripybuild.cli.main import app
from tripybuild.types.nonfinite import PIECE, nonfinite

TEXT = """
types:
  F: float32
inputs:
  x: F[2, 4]
parts:
  h: Linear(4, 4) * 8
outputs:
  y: h(x)
weights: {file: w.safetensors, convert: true}
"""
RTX = "tensorrt-rtx:sm89"
FLOATS = [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("value", ["nan", "-nan", "inf", "-inf"])
@pytest.mark.parametrize("at", [0, 1, PIECE - 1, PIECE, PIECE + 7])
def test_each_kind_is_found_where_it_is(dtype, value, at):
    """NumPy's own functions say the same, and finite numbers are none, the largest included."""
    limits = ml_dtypes.finfo(dtype)
    array = np.full(PIECE + 8, limits.max, dtype)
    array[::2] = limits.min
    assert nonfinite(array) is None
    array[at] = array[-1] = -float("nan") if value == "-nan" else float(value)
    found = nonfinite(array)
    for told, function in ((found.nan, np.isnan), (found.infinite, np.isinf)):
        where = np.flatnonzero(function(array))
        assert (told is None) == (not len(where))
        assert told is None or (told.count, told.first) == (len(where), where[0])


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, ml_dtypes.int4, ml_dtypes.float4_e2m1fn])
def test_what_has_finite_numbers_only_holds_them(dtype):
    """All bits are set, as far as a value has them."""
    assert nonfinite(np.full(9, -1).astype(dtype)) is None
    assert nonfinite(np.empty((0, 3), dtype)) is None
    assert nonfinite(np.empty((0, 3), np.float32)) is None


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model whose weights hold both."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    arrays = {f"h.{i}.weight": np.ones((4, 4), np.float32) for i in range(8)}
    arrays |= {f"h.{i}.bias": np.zeros(4, np.float32) for i in range(8)}
    for index in range(8):
        arrays[f"h.{index}.weight"][2, 3] = np.nan
    arrays["h.0.weight"][2, 0] = np.nan
    arrays["h.1.bias"][1:] = -np.inf
    save_file(arrays, tmp_path / "w.safetensors")
    return written.write(tmp_path, TEXT)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("target", ["cpu", "reference", RTX])
def test_weights_of_specs_are_looked_through(model, tmp_path, target, dtype):
    """One warning for each kind; what is in the cache, and what is converted, is no exception."""
    if target == RTX:
        pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    for _ in range(2):
        nan, infinite = tripybuild.compile(model, target=target, sizes={"F": dtype}).warnings
        file = tmp_path / "w.safetensors"
        assert (nan.code, nan.span.path, nan.span.line) == ("weight-nan", str(model), 11)
        assert nan.message.startswith(
            f"8 weights in `{file}` hold NaN: "
            "`h.0.weight` in 2 of 16 elements, first at [2, 0]; "
            "`h.1.weight` in 1 of 16 elements, first at [2, 3]; "
        )
        assert nan.message.endswith("`h.4.weight` in 1 of 16 elements, first at [2, 3]; and 3 more")
        assert infinite.code == "weight-infinite"
        assert infinite.message == (
            f"a weight in `{file}` holds infinity: `h.1.bias` in 3 of 4 elements, first at [1]"
        )


def test_the_command_line_shows_it(model, tmp_path, monkeypatch):
    """With the line that names the file, and the executable is written."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["compile", "tiny.yaml"])
    assert done.exit_code == 0
    assert "warning[weight-nan]: 8 weights in `w.safetensors` hold NaN" in done.output
    assert "--> tiny.yaml:11:10" in done.output
    assert (tmp_path / "tiny.tpb").is_file()


def test_finite_weights_are_compiled_without_a_word(tmp_path, monkeypatch):
    """The largest numbers are numbers."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    largest = np.finfo(np.float32).max
    arrays = {f"h.{i}.weight": np.full((4, 4), largest, np.float32) for i in range(8)}
    arrays |= {f"h.{i}.bias": np.full(4, -largest, np.float32) for i in range(8)}
    save_file(arrays, tmp_path / "w.safetensors")
    assert tripybuild.compile(written.write(tmp_path, TEXT)).warnings == []


def test_parameters_of_modules_are_looked_through(capfd):
    """`tp.compile` says it at its line, of the same look."""
    layer = tp.Linear(2, 3)
    layer.initialize_dummy_parameters()
    bias = np.zeros(3, np.float32)
    bias[1] = np.inf
    layer.bias = tp.Tensor(bias)
    tp.compile(layer, args=[tp.InputInfo([1, 2], tp.float32)])
    said = capfd.readouterr().err
    assert "warning[weight-infinite]: a parameter holds infinity: `bias` in 1 of 3" in said
    assert "tp.compile(layer" in said

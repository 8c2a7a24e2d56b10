"""Files of state of `tripybuild run --state`: what is read of them, and when."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import written

import tripybuild
from tripybuild.cli.commands.run_state import check_other_file, session_of_file
from tripybuild.cli.options import source
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.weights import array_files

HALF = """
    inputs:
      x: "bfloat16[N, 2]"
    state:
      sum: {type: "bfloat16[N, 2]", first: 0.0}
      count: {type: "int32[()]", first: 0}
    next:
      sum: sum + x
      count: count + 1
    outputs:
      y: next.sum
    """


def running(folder):
    """A model with state, one of whose dtypes NumPy's files do not have."""
    return tripybuild.compile(written.write(folder, HALF), target="reference")


def write(path, arrays):
    """A file of state, as any program writes it."""
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        safetensors.numpy.save_file(arrays, path)


def begin(path, model):
    return session_of_file(path, model, model.entry(), {})


@pytest.mark.parametrize("kind", [".npz", ".safetensors"])
def test_the_state_that_was_written(tmp_path, kind):
    """Types of the header are those of the arrays, raw bytes and byte orders included."""
    model, path = running(tmp_path), tmp_path / f"state{kind}"
    session = model.start(N=3)
    session(x=session.state["sum"] + 1)
    array_files.write(path, session.state)

    again = begin(path, model).state
    assert (again["sum"].tobytes(), again["count"]) == (session.state["sum"].tobytes(), 1)
    if kind == ".npz":
        raw = session.state["sum"].view("V2")
        np.savez(path, sum=raw, count=np.array(1, ">i4"))
        assert begin(path, model).state["count"] == 1


@pytest.mark.parametrize("kind", [".npz", ".safetensors"])
@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        ({"sum": np.zeros((3, 2), np.float16), "count": np.int32([0])[0]}, "input-dtype"),
        ({"sum": np.zeros((3, 2), np.float16), "count": np.zeros(1, np.int32)}, "input-shape"),
        ({"sum": np.zeros((3, 2), np.float16), "count": np.int32(0), "z": np.zeros(2)}, "unknown"),
        ({"sum": np.zeros((3, 2), np.float16)}, "array-missing"),
    ],
)
def test_a_file_that_does_not_fit_is_not_read(tmp_path, monkeypatch, kind, arrays, code):
    """A small file can hold zeros without end."""
    model, path = running(tmp_path), tmp_path / f"state{kind}"
    write(path, {name: np.asarray(each) for name, each in arrays.items()})
    monkeypatch.setattr(array_files, "read", None)
    with pytest.raises(DiagnosticError, match=code):
        begin(path, model)


@pytest.mark.parametrize("shape", ["(-1, 2)", "(1 << 70, 2)", f"({10**30}, 2)", "(2,) * 99"])
def test_a_header_that_cannot_be(tmp_path, shape):
    """What NumPy refuses is refused in words."""
    model, path = running(tmp_path), tmp_path / "state.npz"
    text = f"{{'descr': '|V2', 'fortran_order': False, 'shape': {shape}}}".encode()
    header = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("sum", "count"):
            archive.writestr(f"{name}.npy", header)
    with pytest.raises(DiagnosticError, match="array-malformed"):
        begin(path, model)


def test_a_name_that_is_too_long(tmp_path):
    with pytest.raises(DiagnosticError, match="file-unreadable"):
        begin(tmp_path / f"{'s' * 300}.npz", running(tmp_path))


def test_the_outputs_and_the_state_are_two_files(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    state = tmp_path / "s.npz"
    for output in (state, tmp_path / "." / "s.npz", tmp_path / "link" / "s.npz"):
        with pytest.raises(DiagnosticError, match="output-unwritable"):
            check_other_file(state, output)
    check_other_file(state, tmp_path / "t.npz")
    check_other_file(state, None)


def test_inputs_that_are_states_of_blocks():
    """`run` calls them as a call of the executable does."""
    assert source("layers.0.keys=k.npy") == ("layers.0.keys", Path("k.npy"))

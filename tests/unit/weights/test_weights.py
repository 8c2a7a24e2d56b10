"""Tests of tensor files: what is read equals what was written, or there is a diagnostic."""

import io
import json
import os
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from safetensors.numpy import load as load_with_library, save as save_with_library

from tripybuild.artifact import array_bytes, container
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.weights import array_files, safetensors

NAMES = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float4_e2m1fn"]
NAMES += ["int4", "int8", "uint8", "int32", "int64", "bool"]
PLAIN = ["float64", "float32", "float16", "int8", "uint8", "int32", "int64", "bool"]
OWN_SETTINGS = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def sample(name, shape=(2, 3)):
    """Return an array of a dtype."""
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    values = np.arange(int(np.prod(shape))) % (2 if name == "bool" else 5)
    return values.astype(dtype).reshape(shape)


def refused(call, *arguments):
    """Return the one diagnostic that a call ends in."""
    with pytest.raises(DiagnosticError) as caught:
        call(*arguments)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def same(found, expected):
    """Tell whether two arrays agree in dtype, shape and bits."""
    return (found.dtype, found.shape, found.tobytes()) == (
        expected.dtype,
        expected.shape,
        expected.tobytes(),
    )


@pytest.fixture
def path(tmp_path):
    """Return the path of a file with a tensor of each dtype."""
    path = tmp_path / "w.safetensors"
    path.write_bytes(safetensors.encode({name: sample(name) for name in NAMES}))
    return path


def test_every_dtype_is_written_and_read(path):
    """Index, file and memory agree with what was written."""
    for found in (safetensors.read(path), safetensors.decode(memoryview(path.read_bytes()), "w")):
        assert set(found) == set(NAMES)
        assert all(same(found[name], sample(name)) for name in NAMES)
    index = safetensors.read_index(path)
    assert index == {name: (sample(name).dtype, (2, 3)) for name in NAMES}
    assert list(safetensors.read(path, ["bool", "int4"])) == ["bool", "int4"]
    assert safetensors.read(path, []) == {}


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (2, 0)])
def test_odd_shapes_pass(shape):
    """Scalars and tensors without elements are tensors."""
    content = memoryview(safetensors.encode({"a": sample("bfloat16", shape)}))
    assert same(safetensors.decode(content, "w")["a"], sample("bfloat16", shape))


def test_the_library_reads_what_is_written_and_writes_what_is_read(tmp_path):
    """Both ways, the format is the public one."""
    tensors = {name: sample(name, (3, 2)) for name in PLAIN}
    read_there = load_with_library(bytes(safetensors.encode(tensors)))
    assert all(same(read_there[name], tensors[name]) for name in PLAIN)
    path = tmp_path / "w"
    path.write_bytes(save_with_library(tensors, metadata={"format": "np"}))
    read_here = safetensors.read(path)
    assert all(same(read_here[name], tensors[name]) for name in PLAIN)


def test_tensors_are_where_the_runtime_wants_them(tmp_path):
    """Read from a file always, and in memory for sizes of multiples of 64 bytes."""
    tensors = {
        "a": sample("int8", (3,)),
        "b": sample("float32", (16, 2)),
        "c": sample("bool", (64,)),
    }
    path = tmp_path / "w"
    path.write_bytes(safetensors.encode(tensors))
    assert all(array.ctypes.data % 64 == 0 for array in safetensors.read(path).values())
    memory = array_bytes.aligned_buffer(path.stat().st_size)
    memory[:] = np.frombuffer(path.read_bytes(), np.uint8)
    found = safetensors.decode(memory.data, "w")
    assert all(found[name].ctypes.data % 64 == 0 for name in "bc")
    assert all(same(found[name], tensors[name]) for name in tensors)


def test_equal_tensors_give_equal_bytes():
    """The order in which tensors are given does not matter, nor their strides."""
    tensors = {name: sample(name) for name in NAMES}
    turned = {name: np.asfortranarray(tensors[name]) for name in reversed(NAMES)}
    assert safetensors.encode(tensors) == safetensors.encode(turned)


def test_two_values_of_four_bits_share_a_byte():
    """The first value is in the low half, as other tools have it."""
    content = safetensors.encode({"a": np.array([1, 6], ml_dtypes.float4_e2m1fn)})
    assert content[-1] == 0b0111_0010
    with pytest.raises(ValueError, match="odd"):
        safetensors.encode({"a": sample("float4_e2m1fn", (3,))})
    with pytest.raises(ValueError, match="complex128"):
        safetensors.encode({"a": np.zeros(2, np.complex128)})


def file_of(header, data=b"", length=None):
    """Return a file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def one(dtype="F32", shape=(1,), offsets=(0, 4), **more):
    """Return the header of one tensor."""
    return {"a": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}}


TWICE = b'{"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[],'
MALFORMED = {
    "empty": b"",
    "short": b"\x01\0\0",
    "no header": file_of({}, length=9),
    "huge header": file_of({}, length=1 << 63),
    "not json": file_of(b"{"),
    "not text": file_of(b"\xff\xfe"),
    "deep": file_of(b"[" * 100_000),
    "list": file_of([]),
    "twice": file_of(TWICE + b'"data_offsets":[0,1]}}', b"x"),
    "entry": file_of({"a": 1}),
    "more keys": file_of(one(other=1), bytes(4)),
    "dtype": file_of(one("F33"), bytes(4)),
    "negative": file_of(one(shape=(-1,)), bytes(4)),
    "boolean size": file_of(one(shape=(True,)), bytes(4)),
    "float size": file_of(one(shape=(1.0,)), bytes(4)),
    "too few bytes": file_of(one(offsets=(0, 3)), bytes(3)),
    "beyond the end": file_of(one(), bytes(3)),
    "after the end": file_of(one(), bytes(5)),
    "gap": file_of(one(offsets=(1, 5)), bytes(5)),
    "overlap": file_of({**one(), "b": one()["a"]}, bytes(4)),
    "backwards": file_of(one(offsets=(4, 0)), bytes(4)),
    "huge shape": file_of(one(shape=(1 << 62, 1 << 62)), bytes(4)),
    "huge empty shape": file_of(one(shape=(0, 1 << 62), offsets=(0, 0))),
    "many sizes": file_of(one(shape=(1,) * 100), bytes(4)),
    "half a byte": file_of(one("F4", (3,), (0, 2)), bytes(2)),
    "truth": file_of(one("BOOL", offsets=(0, 1)), b"\x07"),
    "six bits": file_of(one("F6_E2M3", (4,), (0, 3)), bytes(3)),
    "metadata": file_of({"__metadata__": 1}),
    "int4 list": file_of({"__metadata__": {"int4": "["}}),
    "int4 kind": file_of({"__metadata__": {"int4": 3}}),
    "int4 value": file_of({"__metadata__": {"int4": '["a"]'}, **one("I8", (1,), (0, 1))}, b"\x08"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_files_have_diagnostics(tmp_path, case):
    """Whatever is wrong with a file, its path and the reason are named."""
    path = tmp_path / "w"
    path.write_bytes(MALFORMED[case])
    for diagnostic in (
        refused(safetensors.read, path),
        refused(safetensors.decode, memoryview(MALFORMED[case]), str(path)),
    ):
        assert diagnostic.code == "weights-malformed"
        assert str(path) in diagnostic.message


@OWN_SETTINGS
@given(data=st.data())
def test_no_bytes_crash_the_reader(data):
    """An edited file is read as some tensors or refused, and never ends in anything else."""
    good = bytes(
        safetensors.encode({"a": sample("int4"), "b": sample("float32"), "c": sample("bool")})
    )
    begin = data.draw(st.integers(0, len(good)))
    end = data.draw(st.integers(begin, min(len(good), begin + 9)))
    bad = good[:begin] + data.draw(st.binary(max_size=9)) + good[end:]
    codes = {"weights-malformed"}
    try:
        safetensors.decode(memoryview(bad), "w")
    except DiagnosticError as error:
        codes = {diagnostic.code for diagnostic in error.diagnostics}
    assert codes == {"weights-malformed"}


def test_missing_files_and_tensors_have_diagnostics(path, tmp_path):
    """A misspelt tensor is named with its nearest neighbour."""
    assert refused(safetensors.read, tmp_path / "none").code == "weights-not-found"
    assert refused(safetensors.read_index, tmp_path).code == "file-unreadable"
    diagnostic = refused(safetensors.read, path, ["bfloat61"])
    assert (diagnostic.code, diagnostic.hint) == ("weights-missing", "did you mean `bfloat16`?")


@pytest.mark.parametrize("place", ["folder", "all.npz", "all.safetensors"])
def test_the_tensors_of_a_run_come_back(tmp_path, place):
    """Every way of writing outputs is a way of reading inputs."""
    given = {name: sample(name) for name in NAMES} | {"file": sample("int8", ())}
    path = tmp_path / place
    raw = array_files.write(path, given)
    assert set(raw) == (set() if "safe" in place else set(NAMES) - set(PLAIN))
    for name, expected in given.items():
        file = path / f"{name}.npy" if place == "folder" else path
        assert same(array_files.read(file, name, expected.dtype), expected)
        if name in raw:
            assert refused(array_files.read, file, name).code == "array-raw"


def test_a_single_tensor_needs_no_name(tmp_path):
    """A file with one tensor gives that one; with more, the name must be there."""
    for suffix in ("npz", "safetensors"):
        path = tmp_path / f"x.{suffix}"
        array_files.write(path, {"other": sample("int8")})
        assert same(array_files.read(path, "input"), sample("int8"))
        array_files.write(path, {"inputs": sample("int8"), "more": sample("int8")})
        diagnostic = refused(array_files.read, path, "input")
        assert (diagnostic.code, diagnostic.hint) == ("array-missing", "did you mean `inputs`?")


@pytest.mark.parametrize(
    "array", [np.arange(6, dtype=">f4").reshape(2, 3), np.asfortranarray(sample("int32"))]
)
def test_foreign_byte_orders_and_strides_are_put_right(tmp_path, array):
    """What comes from another machine or from Fortran is made native."""
    path = tmp_path / "x.npy"
    np.save(path, array)
    found = array_files.read(path, "x")
    assert found.tolist() == array.tolist()
    assert found.dtype.isnative
    assert found.flags.c_contiguous


def npy(array, **options):
    """Return the bytes of a `.npy` file."""
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


HUGE = npy(np.zeros(3)).replace(b"(3,), }            ", b"(9999999999999999,), }")[
    : len(npy(np.zeros(3)))
]


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".npy", b""),
        (".npy", b"garbage"),
        (".npy", npy(np.array([object()]), allow_pickle=True)),
        (".npy", npy(np.array(["text"]))),
        (".npy", npy(np.zeros(2, [("a", "f4")]))),
        (".npy", npy(np.zeros(3))[:-1]),
        (".npy", HUGE),
        (".npy", npy(np.zeros(3)).replace(b"(3,)", b"(-3)")),
        (".npy", npy(np.zeros(3)).replace(b"'<f8'", b"'<f1'")),
        (".npz", b""),
        (".npz", b"PK\x03\x04garbage"),
        (".npz", npy(np.zeros(3))),
    ],
)
def test_malformed_inputs_have_diagnostics(tmp_path, suffix, content):
    """Nothing is unpickled, and nothing ends in a traceback."""
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    assert refused(array_files.read, path, "x").code == "array-malformed"


def test_raw_bytes_must_have_the_width_of_the_dtype(tmp_path):
    """Two bytes are a bfloat16 and no float8."""
    path = tmp_path / "x.npy"
    path.write_bytes(npy(sample("bfloat16")))
    assert same(array_files.read(path, "x", sample("bfloat16").dtype), sample("bfloat16"))
    wrong = refused(array_files.read, path, "x", sample("float8_e4m3fn").dtype)
    assert wrong.code == "array-malformed"


def test_other_problems_of_inputs_have_diagnostics(tmp_path):
    """Missing files, folders and unknown kinds are told apart."""
    (tmp_path / "x.npy").mkdir()
    assert refused(array_files.read, tmp_path / "none.npy", "x").code == "file-not-found"
    assert refused(array_files.read, tmp_path / "none.npz", "x").code == "file-not-found"
    assert refused(array_files.read, tmp_path / "x.npy", "x").code == "file-unreadable"
    assert refused(array_files.read, tmp_path / "x.csv", "x").code == "array-unknown-kind"


@pytest.mark.parametrize("name", ["../x", "a/b", "/root", "", ".hidden"])
def test_an_output_cannot_leave_its_folder(tmp_path, name):
    """The names of outputs come from an executable, which may be somebody else's."""
    folder = tmp_path / "out"
    assert refused(array_files.write, folder, {name: sample("int8")}).code == "output-unwritable"
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_cannot_be_written_have_diagnostics(tmp_path):
    """A file where a folder should be, or a tensor that a format cannot hold, is named."""
    (tmp_path / "file").write_bytes(b"")
    given = {"a": sample("int8")}
    assert refused(array_files.write, tmp_path / "file", given).code == "output-unwritable"
    odd = {"a": sample("float4_e2m1fn", (3,))}
    assert refused(array_files.write, tmp_path / "x.safetensors", odd).code == "output-unwritable"
    assert Path(tmp_path / "file").read_bytes() == b""


def test_a_header_that_numpy_tries_to_mend_is_refused(tmp_path):
    """What it raises for parentheses without end is an error of Python's tokenizer."""
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': ((2L,}"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    (tmp_path / "x.npy").write_bytes(content)
    assert refused(array_files.read, tmp_path / "x.npy", "x").code == "array-malformed"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes of Unix")
@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors"])
def test_a_pipe_is_not_waited_for(tmp_path, suffix):
    """Nobody may ever write into it."""
    path = tmp_path / f"x{suffix}"
    os.mkfifo(path)
    assert refused(array_files.read, path, "x").code == "file-unreadable"
    assert refused(container.open, path).code == "file-unreadable"

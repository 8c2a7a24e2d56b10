"""Data of models of ONNX: mapped where they lie, and refused where they cannot be there."""

import struct
import time

import ml_dtypes
import numpy as np
import pytest
from onnx import helper
from onnx_files import CODES, external, model, node, save, typed, weight

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.onnx_model.program import load_file, load_model

LARGE = np.arange(4096, dtype=np.float32)
X = typed("x", shape=(4096,))
Y = typed("y", shape=(4096,))


def with_weight(tensor):
    return model([node("Add", f"x {tensor.name}", "y")], [X], [Y], [tensor])


def loaded(path):
    (held,) = load_file(path).weights.values()
    return held.load()


def test_large_data_in_the_file_are_mapped(tmp_path):
    """Protocol Buffers never sees them, and no copy is made."""
    path = save(with_weight(weight("w", LARGE)), tmp_path / "m.onnx")
    found = loaded(path)

    np.testing.assert_array_equal(found, LARGE)
    assert not found.flags.owndata
    assert not found.flags.writeable


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025])
def test_data_of_all_lengths(count, tmp_path):
    """Around the length from which on they are mapped."""
    path = save(with_weight(weight("w", LARGE[:count])), tmp_path / "m.onnx")
    np.testing.assert_array_equal(loaded(path), LARGE[:count])


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int4", "float4_e2m1fn", "bool"])
@pytest.mark.parametrize("count", [5, 20001])
def test_dtypes(dtype, count, tmp_path):
    values = (np.arange(count) % 5 - 2).astype(getattr(ml_dtypes, dtype, dtype))
    found = loaded(save(with_weight(weight("w", values)), tmp_path / "m.onnx"))

    assert found.dtype == values.dtype
    np.testing.assert_array_equal(found.astype(np.float32), values.astype(np.float32))


def test_numbers_that_are_no_bytes():
    held = helper.make_tensor("w", CODES["float32"], (2,), [0.5, 2.0])
    (found,) = load_model(with_weight(held)).weights.values()
    assert found.load().tolist() == [0.5, 2.0]


def test_data_in_another_file(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "w.bin").write_bytes(b"head" + LARGE.tobytes() + b"tail")
    held = external(weight("w", LARGE), "data/w.bin", 4, LARGE.nbytes)

    np.testing.assert_array_equal(loaded(save(with_weight(held), tmp_path / "m.onnx")), LARGE)


@pytest.mark.parametrize(
    ("place", "code", "says"),
    [
        (("../w.bin",), "outside-folder", "leads out of"),
        (("/etc/hostname",), "outside-folder", "leads out of"),
        (("link.bin",), "outside-folder", "is a link that leads out of"),
        (("",), "outside-folder", "no name"),
        (("none.bin",), "weights-not-found", "which is not there"),
        (("w\0.bin",), "weights-not-found", "which is not there"),
        (("w.bin", 4), "weights-malformed", "are there"),
        (("w.bin", 0, 4), "weights-malformed", "and 4 are there"),
        (("w.bin", 0, 1 << 60), "weights-malformed", "which has"),
        (("w.bin", -4), "weights-malformed", "which has"),
        (("w.bin", 1 << 70), "weights-malformed", "which has"),
        (("w.bin", "four"), "onnx-malformed", "lies at `offset` = `four`"),
    ],
)
def test_data_that_are_not_there(place, code, says, tmp_path):
    """A path stays in the folder of the model, also where it is a link."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "w.bin").write_bytes(LARGE.tobytes())
    (home / "w.bin").write_bytes(LARGE.tobytes())
    (home / "link.bin").symlink_to(tmp_path / "w.bin")
    path = save(with_weight(external(weight("w", LARGE), *place)), home / "m.onnx")

    with pytest.raises(DiagnosticError) as error:
        load_file(path)
    (found,) = error.value.diagnostics
    assert found.code == code
    assert says in found.message


def test_data_in_a_file_of_a_model_that_is_in_none():
    with pytest.raises(DiagnosticError, match="weights-not-found"):
        load_model(with_weight(external(weight("w", LARGE), "w.bin")))


@pytest.mark.parametrize("shape", [(4097,), (4095,), (-1,), (1 << 62, 4)])
def test_data_of_another_size(shape, tmp_path):
    held = weight("w", LARGE)
    del held.dims[:]
    held.dims.extend(shape)
    with pytest.raises(DiagnosticError, match=r"weights-malformed|onnx-malformed"):
        load_file(save(with_weight(held), tmp_path / "m.onnx"))


def test_damaged_files(tmp_path):
    """Each prefix, and each byte that is another one, is refused in words or read."""
    whole = with_weight(weight("w", LARGE[:4])).SerializeToString()
    path = tmp_path / "m.onnx"
    refused = 0
    for end in range(0, len(whole), 3):
        path.write_bytes(whole[:end])
        refused += _is_refused(path)
    for place in range(0, len(whole), 2):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        refused += _is_refused(path)
    assert refused > len(whole) / 3


def _is_refused(path):
    try:
        load_file(path)
    except DiagnosticError:
        return 1
    return 0


@pytest.mark.parametrize("content", [b"", b"\0", b"tripybuild: 1\n", struct.pack("<Q", 1 << 60)])
def test_files_of_something_else(content, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(DiagnosticError, match="onnx-malformed"):
        load_file(path)


def test_no_file(tmp_path):
    with pytest.raises(DiagnosticError, match="file-not-found"):
        load_file(tmp_path / "m.onnx")


def test_a_file_of_2000_nodes_is_read_at_once(tmp_path):
    nodes = [node("Relu", "x", "h0")]
    nodes += [node("Add", f"h{i} w{i % 500}", f"h{i + 1}") for i in range(2000)]
    held = [weight(f"w{i}", LARGE + i) for i in range(500)]
    made = model(nodes, [X], [typed("h2000", shape=(4096,))], held)
    path = save(made, tmp_path / "m.onnx")

    began = time.process_time()
    found = load_file(path)
    spent = time.process_time() - began
    assert len(found.graph.nodes) == 2001
    assert spent < 1.5

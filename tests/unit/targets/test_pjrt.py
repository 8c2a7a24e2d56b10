"""Tests of the CPU client, on programs written by hand."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tripybuild.artifact.array_bytes import aligned_buffer
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.xla import pjrt

SPELLINGS = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float4_e2m1fn": "f4E2M1FN",
    "int4": "i4",
    "int8": "i8",
    "uint8": "ui8",
    "int32": "i32",
    "int64": "i64",
    "bool": "i1",
}


def program(tensor, body="return %a : {t}", result=None):
    """Return a module with one parameter `%a` of a type and one result."""
    body = body.format(t=tensor)
    return f"module {{ func.func public @main(%a: {tensor}) -> {result or tensor} {{ {body}\n }} }}"


def spelled(name, shape):
    """Return a tensor type as MLIR spells it."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{SPELLINGS[name]}>"


DOUBLE = program("tensor<4xf32>", "%0 = stablehlo.add %a, %a : {t}\n return %0 : {t}")


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 3)])
def test_every_dtype_passes_through_unchanged(name, shape):
    """Every dtype, of any rank and without elements too, goes in and comes out bit by bit."""
    dtype = pjrt.DTYPES[name]
    size = int(np.prod(shape))
    given = (np.arange(size) % 2 if name == "bool" else np.arange(size) - 1).astype(dtype)
    given = given.reshape(shape)
    (got,) = pjrt.load(pjrt.compile(program(spelled(name, shape))))(given)
    assert got.dtype == dtype
    assert got.shape == shape
    assert got.tobytes() == given.tobytes()


def test_constants_are_bound_to_the_first_arguments():
    """Arrays given at load time need not be passed again."""
    text = (
        "module { func.func public @main(%w: tensor<2xf32>, %a: tensor<2xf32>) -> tensor<2xf32> {"
        " %0 = stablehlo.subtract %a, %w : tensor<2xf32>\n return %0 : tensor<2xf32> } }"
    )
    executable = pjrt.load(pjrt.compile(text), [np.array([1, 2], np.float32)])
    assert [list(each.shape) for each in executable.parameters] == [[2]]
    for base in (10, 20):
        (got,) = executable(np.array([base, base], np.float32))
        assert got.tolist() == [base - 1, base - 2]


def test_aligned_constants_are_not_copied():
    """Weights at an address that suits the runtime are used where they are."""
    weight = aligned_buffer(64).view(np.float32)
    weight[:] = 1
    text = program("tensor<16xf32>", "%0 = stablehlo.add %a, %a : {t}\n return %0 : {t}")
    executable = pjrt.load(pjrt.compile(text), [weight])
    assert executable._constants[0].unsafe_buffer_pointer() == weight.ctypes.data
    assert executable()[0].tolist() == [2.0] * 16


def test_two_results_do_not_share_memory():
    """Writing to one result changes neither another nor the argument."""
    text = (
        "module { func.func public @main(%a: tensor<16xf32>)"
        " -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {"
        " %0 = stablehlo.add %a, %a : tensor<16xf32>\n"
        " return %0, %0, %a : tensor<16xf32>, tensor<16xf32>, tensor<16xf32> } }"
    )
    given = np.ones(16, np.float32)
    first, second, third = pjrt.load(pjrt.compile(text))(given)
    first[:] = third[:] = 7
    assert second.tolist() == [2.0] * 16
    assert given.tolist() == [1.0] * 16


def test_results_outlive_the_executable():
    """A result keeps its memory when everything else is gone."""
    kept = []
    for start in (0, 25):
        executable = pjrt.load(pjrt.compile(DOUBLE))
        kept += [executable(np.full(4, start + i, np.float32))[0] for i in range(25)]
    del executable
    assert [array[0] for array in kept] == [2.0 * base for base in range(50)]


@pytest.mark.parametrize("view", ["transposed", "reversed", "strided", "broadcast", "offset"])
def test_views_are_read_in_their_own_order(view):
    """An argument may have any strides and any address."""
    base = np.arange(48, dtype=np.float32)
    given = {
        "transposed": base[:12].reshape(4, 3).T,
        "reversed": base[:12].reshape(3, 4)[::-1, ::-1],
        "strided": base[:24:2].reshape(3, 4)[:, :],
        "broadcast": np.broadcast_to(base[:4], (3, 4)),
        "offset": np.frombuffer(b"x" + base[:12].tobytes(), np.float32, offset=1).reshape(3, 4),
    }[view]
    (got,) = pjrt.load(pjrt.compile(program("tensor<3x4xf32>")))(given)
    assert got.tolist() == given.tolist()


def test_a_transposed_result_is_row_by_row():
    """The compiler may not choose another layout for a result."""
    body = "%0 = stablehlo.transpose %a, dims = [1, 0] : ({t}) -> tensor<4x3xf32>\n"
    text = program("tensor<3x4xf32>", body + " return %0 : tensor<4x3xf32>", "tensor<4x3xf32>")
    given = np.arange(12, dtype=np.float32).reshape(3, 4)
    (got,) = pjrt.load(pjrt.compile(text))(given)
    assert got.tolist() == given.T.tolist()


def test_a_program_may_give_nothing():
    """No result is a list without elements."""
    text = "module { func.func public @main(%a: tensor<f32>) { return } }"
    assert pjrt.load(pjrt.compile(text))(np.float32(1)[...]) == []


def test_bytes_are_compiled_as_text_is():
    """A module may come as bytes."""
    (got,) = pjrt.load(pjrt.compile(DOUBLE.encode()))(np.ones(4, np.float32))
    assert got.tolist() == [2.0] * 4


@pytest.mark.parametrize(
    "given", [np.ones(3, np.float32), np.ones(4, np.float64), np.ones((4, 1), np.float32)]
)
def test_wrong_arguments_never_reach_native_code(given):
    """An array of another dtype or shape is refused before the call."""
    with pytest.raises(ValueError, match=r"expected float32\[4\]"):
        pjrt.load(pjrt.compile(DOUBLE))(given)


@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("garbage", "unknown"),
        (program("tensor<4xf32>", result="tensor<5xf32>"), "doesn't match"),
        (program("tensor<?xf32>", "%0 = stablehlo.add %a, %a : {t}\n return %0 : {t}"), "dynamism"),
        (b"ML\xefR\x00", "attempting to parse"),
        (program("tensor<2xcomplex<f32>>"), "complex64"),
    ],
)
def test_a_module_that_cannot_be_compiled_says_why(module, says):
    """The compiler's own words are kept."""
    with pytest.raises(pjrt.CompileError, match=says):
        pjrt.compile(module)


def test_an_unknown_option_is_refused():
    """A misspelt option is not ignored."""
    with pytest.raises(pjrt.CompileError, match="xla_no_such_option"):
        pjrt.compile(DOUBLE, {"xla_no_such_option": True})
    assert pjrt.compile(DOUBLE, {"xla_allow_excess_precision": False})


@pytest.mark.parametrize("payload", [b"", b"short", b"x" * 100, pjrt.MAGIC + b"\xff" * 40])
def test_what_is_no_payload_is_refused(payload):
    """Bytes of another kind end in a diagnostic."""
    with pytest.raises(DiagnosticError) as caught:
        pjrt.load(payload)
    assert caught.value.diagnostics[0].code == "executable-not-recognized"


def test_a_payload_of_another_machine_is_refused():
    """The processor and the version are compared before native code sees a byte."""
    payload = pjrt.compile(DOUBLE)
    here = json.dumps(pjrt.identity()["jaxlib"]).encode()
    other = payload.replace(here, here.replace(b".", b"9"), 1)
    with pytest.raises(DiagnosticError) as caught:
        pjrt.load(other)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "executable-incompatible"
    assert "jaxlib" in diagnostic.notes[0]


def test_nothing_is_logged_and_jax_is_not_imported():
    """A whole round in a new process leaves stderr empty and `jax` alone."""
    code = (
        "import sys, numpy, jaxlib.mlir.ir\n"
        "from tripybuild.targets.xla import pjrt\n"
        f"run = pjrt.load(pjrt.compile({DOUBLE!r}))\n"
        "print(run(numpy.ones(4, numpy.float32))[0].sum(), 'jax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["8.0", "False"]
    assert done.stderr == ""

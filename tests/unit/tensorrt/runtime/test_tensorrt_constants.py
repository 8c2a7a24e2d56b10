"""Tests of constants: the bytes that TensorRT is pointed to, of every element type."""

import ctypes

import ml_dtypes
import numpy as np
import pytest
from tensorrt_programs import function
from xdsl.dialects.builtin import DenseResourceAttr

from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.runtime import engine
from tripybuild.tensorrt.translation.constants import ConstantDataError, NetworkConstants

VALUES = {
    "f32": ("[0.5, -2.0, 0x7F800000]", np.array([0.5, -2, np.inf], np.float32).tobytes()),
    "f16": ("[0.5, -2.0, 1.0]", np.array([0.5, -2, 1], np.float16).tobytes()),
    "bf16": ("[0.5, -2.0, 1.0]", bytes.fromhex("003f00c0803f")),
    "f8E4M3FN": ("[0.5, -2.0, 448.0]", bytes.fromhex("30c07e")),
    "f4E2M1FN": ("[0.5, -2.0, 6.0]", bytes.fromhex("c107")),
    "i64": ("[1, -1, 3]", np.array([1, -1, 3], np.int64).tobytes()),
    "i32": ("[1, -1, 3]", np.array([1, -1, 3], np.int32).tobytes()),
    "i8": ("[1, -1, 127]", bytes.fromhex("01ff7f")),
    "ui8": ("[1, 255, 127]", bytes.fromhex("01ff7f")),
    "i4": ("[1, -1, 7]", bytes.fromhex("f107")),
    "i1": ("[true, false, true]", b"\1\0\1"),
}


def attribute(text):
    """A constant attribute, as a text has it."""
    module = parser.parse(f"%0 = arith.constant {text}")
    return next(iter(module.body.ops)).value


def bytes_of(constants, given, element, size):
    """What is at the address that TensorRT gets."""
    _, address, count = constants.weights(given, element)
    return ctypes.string_at(address, size), count


def made(named=None, stored=lambda _: None):
    """Constants that give back what TensorRT would be given."""
    return NetworkConstants(lambda *given: given, named or {}, stored)


@pytest.mark.parametrize("element", VALUES)
def test_elements_lie_in_memory_as_tensorrt_reads_them(element):
    """Elements of four bits are two to the byte, the first in the low half."""
    text, expected = VALUES[element]
    given = attribute(f"dense<{text}> : tensor<3x{element}>")
    assert bytes_of(made(), given, element, len(expected)) == (expected, 3)


@pytest.mark.parametrize("element", VALUES)
def test_a_splat_is_written_in_full(element):
    """TensorRT has no splats."""
    word = "true" if element == "i1" else "1" if "i" in element else "1.0"
    given = attribute(f"dense<{word}> : tensor<5x{element}>")
    one = {"f32": "0000803f", "f16": "003c", "bf16": "803f", "f8E4M3FN": "38", "f4E2M1FN": "22"}
    if element in {"i4", "f4E2M1FN"}:
        byte = "11" if element == "i4" else one[element]
        expected = bytes.fromhex(byte * 2 + "0" + byte[0])
    else:
        width = {"i64": 8, "i32": 4}.get(element, 1)
        expected = bytes.fromhex(one.get(element, "01" + "00" * (width - 1)) * 5)
    assert bytes_of(made(), given, element, len(expected)) == (expected, 5)


def test_an_array_is_not_copied():
    """The address is the array's own."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    constants = made({"w": array})
    given = attribute("dense_resource<w> : tensor<2x3xf32>")
    _, address, count = constants.weights(given, "f32")
    assert (address, count) == (array.ctypes.data, 6)
    assert constants.kept[0] is array


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.float32).reshape(3, 4)[:, ::2],
        np.frombuffer(b"\0" + np.arange(6, dtype=np.float32).tobytes(), np.uint8)[1:].view(
            np.float32
        ),
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2)),
    ],
    ids=["strided", "unaligned", "of columns"],
)
def test_what_does_not_lie_so_is_copied(array):
    """Views with gaps, at odd addresses, or in Fortran's order."""
    given = attribute("dense_resource<w> : tensor<3x2xf32>")
    expected = np.array(array, order="C").tobytes()
    assert bytes_of(made({"w": array}), given, "f32", 24) == (expected, 6)


@pytest.mark.parametrize(
    ("element", "array"),
    [
        ("bf16", np.frombuffer(VALUES["bf16"][1], np.uint8)),
        ("i4", np.frombuffer(VALUES["i4"][1], np.uint8)),
        ("i4", np.array([1, -1, 7], ml_dtypes.int4)),
        ("f4E2M1FN", np.array([0.5, -2, 6], ml_dtypes.float4_e2m1fn)),
        ("f8E4M3FN", np.array([0.5, -2, 448], ml_dtypes.float8_e4m3fn)),
        ("ui8", np.array([1, 255, 127], np.uint8)),
        ("i1", np.array([1, 0, 1], bool)),
    ],
)
def test_arrays_of_elements_and_of_raw_bytes(element, array):
    """A weights file has bytes; `ml_dtypes` has elements of four bits in a byte each."""
    given = attribute(f"dense_resource<w> : tensor<3x{element}>")
    expected = VALUES[element][1]
    assert bytes_of(made({"w": array}), given, element, len(expected)) == (expected, 3)


def test_data_in_the_module_is_second_to_what_is_given_beside_it():
    """And is asked for the very constant."""
    given = attribute("dense_resource<w> : tensor<2xf32>")
    assert isinstance(given, DenseResourceAttr)
    inner, outer = np.zeros(2, np.float32), np.ones(2, np.float32)
    stored = {given: inner}.get
    assert bytes_of(made({}, stored), given, "f32", 8) == (inner.tobytes(), 2)
    assert bytes_of(made({"w": outer}, stored), given, "f32", 8) == (outer.tobytes(), 2)


def test_data_in_the_module_of_another_size_is_said_so():
    """What reads it raises, and the user is told."""

    def stored(_):
        raise ValueError("resource `w` has 3 bytes, not a `tensor<2xf32>`")

    with pytest.raises(ConstantDataError) as caught:
        made({}, stored).weights(attribute("dense_resource<w> : tensor<2xf32>"), "f32")
    assert caught.value.diagnostic.code == "weight-shape"


@pytest.mark.parametrize("element", ["f32", "f16", "bf16", "i64", "i32", "i1"])
@pytest.mark.parametrize("shape", ["", "3x", "0x3x"])
def test_constants_build_scalars_and_empty_ones_too(element, shape):
    """An empty constant has no address."""
    word = "true" if element == "i1" else "1" if "i" in element else "1.0"
    kind = f"tensor<{shape}{element}>"
    value = "dense<>" if shape == "0x3x" else f"dense<{word}>"
    text = function({}, [kind], f"%0 = tensorrt.constant {value} : {kind}\n%0")
    assert engine.build(parser.parse(text)).plan


def test_values_reach_tensorrt():
    """It folds constants of sizes: a reshape by one has the sizes that were written."""
    text = """
    func.func @main(%a: tensor<6xf32>) -> tensor<?x?xf32> {
      %s = tensorrt.constant dense_resource<sizes> : tensor<2xi32>
      %0 = tensorrt.shuffle {first_transpose = array<i64: 0>, second_transpose = array<i64: 0, 1>} ins(%a, %s : tensor<6xf32>, tensor<2xi32>) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }
    """  # noqa: E501
    sizes = {"sizes": np.array([3, 2], np.int32)}
    assert engine.build(parser.parse(text), {}, sizes).record["outputs"][0]["shape"] == [3, 2]

"""Constants: every bit of every dtype survives text and arrays."""

from functools import cache

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from oracles import mlir
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType, TensorType, f32, i1

from tests.helpers.tensorrt_text import attribute_text
from tripybuild.tensorrt.mlir import elements, floats
from tripybuild.tensorrt.mlir.context import new_context
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.reading.dense_reader import LiteralError, literal

NAMES = sorted(set(elements.DTYPES) - {"si8", "si16", "si32", "si64", "ui4", "f8E8M0FNU"})
BITS = {"i1": 1, "i4": 4, "f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6}
FLOATS = [name for name in NAMES if "f" in name]
SHAPES = st.lists(st.integers(0, 5), max_size=3).map(tuple)


def width(name):
    """The bits of a dtype."""
    return BITS.get(name, elements.DTYPES[name].itemsize * 8)


def element(name):
    """The element type of a name."""
    return parser.parse(
        f'"a.b"() {{v = {name}}} : () -> ()', context=lenient()
    ).body.block.first_op.attributes["v"]


@cache
def lenient():
    """A context that takes anything."""
    return new_context(allow_unregistered=True)


def of_bits(bits, name, shape):
    """An array of patterns of bits."""
    if name == "i1":
        return np.array(bits, bool).reshape(shape)
    dtype = elements.DTYPES[name]
    carrier = np.dtype(f"u{dtype.itemsize}")
    return np.array(bits, carrier).reshape(shape).view(dtype)


def through_text(attribute):
    """The constant after it was printed and read."""
    text = f'"a.b"() {{v = {attribute_text(attribute)}}} : () -> ()'
    return parser.parse(text, context=lenient()).body.block.first_op.attributes["v"]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_every_bit_survives_text_and_arrays(name, data):
    """Infinities, kinds of NaN, zeros with a sign and subnormals are the same afterwards."""
    shape = data.draw(SHAPES)
    count = int(np.prod(shape))
    bits = st.integers(0, 2 ** width(name) - 1)
    array = of_bits(data.draw(st.lists(bits, min_size=count, max_size=count)), name, shape)
    if name == "i4":
        array = array.view(np.uint8).astype(ml_dtypes.int4)
    constant = elements.from_numpy(array, element(name))
    again = through_text(constant)

    assert again == constant
    found = elements.to_numpy(again)
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_long_constants_survive_as_hexadecimal_data(name):
    """More than a hundred elements are written as data, truth values as a list."""
    bits = [(7 * n + 3) % 2 ** min(width(name), 16) for n in range(150)]
    array = of_bits(bits, name, (10, 15))
    if name == "i4":
        array = array.view(np.uint8).astype(ml_dtypes.int4)
    constant = elements.from_numpy(array, element(name))

    assert ('"0x' in attribute_text(constant)) is (name != "i1")
    assert through_text(constant) == constant


@pytest.mark.parametrize("name", FLOATS)
def test_numbers_are_written_as_mlir_writes_them(name):
    """Digits are cut before they are rounded; what has no exact digits is written in bits."""
    size = width(name)
    generator = np.random.default_rng(0)
    patterns = range(2**size) if size <= 8 else generator.integers(0, 2 ** (size - 1), 500)
    numbers = [0.7, 0.01, 1e-5, 0.1, 123456789.0, 1e30, 3.0, 16777217.0]
    with np.errstate(over="ignore"):
        known = np.array(numbers).astype(elements.DTYPES[name])
    patterns = [*map(int, patterns), *map(int, known.view(f"u{known.itemsize}"))]
    values = of_bits(patterns, name, (len(patterns),))
    type = element(name)
    ours = [floats.text(float(value), type) for value in values if not np.isnan(float(value))]
    kept = [
        bits for bits, value in zip(patterns, values, strict=True) if not np.isnan(float(value))
    ]
    text = "\n".join(f'"a.b"() {{v = 0x{bits:X} : {name}}} : () -> ()' for bits in kept)
    theirs = [line.split("= ")[1].split(" :")[0] for line in mlir.printed(text).splitlines()[1:-1]]

    assert ours == theirs


def test_arrays_and_constants_of_xdsl_are_the_same():
    """What xDSL makes of values is what we make of an array of them."""
    truth = DenseIntOrFPElementsAttr.from_list(TensorType(i1, [2]), [1, 0])
    small = DenseIntOrFPElementsAttr.from_list(TensorType(IntegerType(4), [3]), [-1, 7, 9])

    assert elements.from_numpy(np.array([True, False])) == truth
    assert elements.from_numpy(np.array([-1, 7, -7], ml_dtypes.int4)) == small
    assert elements.to_numpy(truth).tolist() == [True, False]
    assert elements.to_numpy(small).tolist() == [-1, 7, -7]


def test_type_of_an_array_is_found():
    """Each dtype has one element type; index and signed integers are asked for."""
    for name in set(NAMES) - {"index"}:
        assert str(elements.element_type(elements.DTYPES[name])) == name
    with pytest.raises(TypeError, match="no element type stands for complex64"):
        elements.element_type(np.dtype(np.complex64))


def test_array_must_be_of_its_type():
    """Nothing is converted."""
    with pytest.raises(TypeError, match=r"an array of float64\[2\] does not fit `tensor<2xf32>`"):
        elements.from_numpy(np.zeros(2), TensorType(f32, [2]))
    with pytest.raises(TypeError, match="no array holds elements of `i3`"):
        elements.dtype_of(IntegerType(3))


def test_arrays_of_constants_cannot_be_written_to():
    """A constant is shared."""
    for array in (np.zeros(2, np.float32), np.zeros(2, bool)):
        with pytest.raises(ValueError, match="read-only"):
            elements.to_numpy(elements.from_numpy(array))[0] = 1


@pytest.mark.parametrize(
    ("data", "count", "expected"),
    [
        (b"\xff", 3, b"\xff\xff\xff"),
        (b"\0", 2, b"\0\0"),
        (b"\x05", 3, b"\xff\0\xff"),
        (b"\1\0\1", 3, b"\xff\0\xff"),
        (b"\1", 1, b"\xff"),
        (b"\1\2\1", 3, None),
    ],
)
def test_truth_values_may_be_packed(data, count, expected):
    """Older releases of MLIR write eight to the byte, newer ones a byte each."""
    assert elements.from_mlir_bytes(data, i1, count) == expected
    if expected is not None:
        assert elements.from_mlir_bytes(elements.to_mlir_bytes(expected, i1), i1, count) == expected


def test_integers_fill_their_byte_with_their_sign():
    """MLIR writes an i4 with nothing above it; xDSL compares bytes."""
    four = IntegerType(4)

    assert elements.from_mlir_bytes(b"\x0f\x07", four, 2) == b"\xff\x07"
    assert elements.to_mlir_bytes(b"\xff\x07", four) == b"\x0f\x07"
    assert elements.from_mlir_bytes(b"\x0f\x07", four, 3) is None


@pytest.mark.parametrize(
    ("text", "words", "shape"),
    [
        ("1.5>", ["1.5"], ()),
        ("[[1, -2], [3, 4]]", ["1", "-2", "3", "4"], (2, 2)),
        ("[ true ,\n false ]", ["true", "false"], (2,)),
        ("[]", [], (0,)),
        ("[[], []]", [], (2, 0)),
        ("[0x1F, 1.e5] ", ["0x1F", "1.e5"], (2,)),
    ],
)
def test_literal_has_words_and_a_shape(text, words, shape):
    """Lists in lists; one element has no shape."""
    found = literal(text, 0)

    assert (list(found.words), found.shape) == (words, shape)


@pytest.mark.parametrize(
    "text", ["[1, [2]]", "[[1], 2]", "[1", "[1,,2]", "]", ",", "[[1,2],[3]]", "x"]
)
def test_lists_must_agree(text):
    """What is no list of equal lists is refused, with a place."""
    with pytest.raises(LiteralError) as raised:
        literal(text, 0)
    assert raised.value.position is not None

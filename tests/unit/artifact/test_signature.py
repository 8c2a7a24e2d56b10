"""What an executable says about the arrays that it is given, before native code sees a byte."""

import re

import ml_dtypes
import numpy as np
import pytest

from tripybuild.artifact.call_signature import CallSignature
from tripybuild.errors.diagnostics import DiagnosticError


def signature(inputs, ranges=None, laws=()):
    bounds = {"min": 1, "opt": 1, "max": None, "multiple_of": 1}
    return CallSignature(
        "tiny",
        {
            "inputs": [
                {"name": name, "dtype": dtype, "shape": shape}
                for name, (dtype, shape) in inputs.items()
            ],
            "ranges": {name: {**bounds, **each} for name, each in (ranges or {}).items()},
            "laws": list(laws),
        },
    )


ONE = signature({"x": ("float32", ["B", 4]), "k": ("int32", [])}, {"B": {"max": 8}})


def bound(one, **arrays):
    return one.bind(one.arrays(arrays))


def refusals(one, **arrays):
    with pytest.raises(DiagnosticError) as raised:
        bound(one, **arrays)
    return [(d.code, d.message) for d in raised.value.diagnostics]


def floats(*shape):
    return np.zeros(shape, np.float32)


def test_sizes_are_bound_by_shapes():
    """Each symbol takes the size that it finds."""
    assert bound(ONE, x=floats(3, 4), k=np.int32(1)) == {"B": 3}
    assert bound(ONE, k=0, x=floats(8, 4)) == {"B": 8}


@pytest.mark.parametrize(
    ("arrays", "wanted"),
    [
        ({"k": 1}, [("missing-input", "`tiny` needs the input `x`")]),
        (
            {"X": floats(1, 4), "z": 1},
            [
                ("unknown-input", "`tiny` has no input `X`"),
                ("unknown-input", "`tiny` has no input `z`"),
                ("missing-input", "`tiny` needs the input `x`"),
                ("missing-input", "`tiny` needs the input `k`"),
            ],
        ),
        (
            {"x": [[1.0, 2.0, 3.0, 4.0]], "k": 1},
            [("wrong-type", "the input `x` must be an array, but this is a list")],
        ),
        (
            {"x": floats(1, 4), "k": None},
            [("wrong-type", "the input `k` must be an array, but this is a NoneType")],
        ),
        (
            {"x": np.zeros((1, 4)), "k": np.int64(1)},
            [
                ("input-dtype", "the input `x` must be float32, but this is float64"),
                ("input-dtype", "the input `k` must be int32, but this is int64"),
            ],
        ),
        (
            {"x": np.zeros((1, 4), ">f4"), "k": 1},
            [
                (
                    "input-dtype",
                    "the input `x` must be float32, but this is float32 in other byte order",
                )
            ],
        ),
        (
            {"x": floats(1, 4), "k": 1.5},
            [("input-dtype", "the input `k` must be int32, but this is 1.5")],
        ),
        (
            {"x": floats(1, 4), "k": True},
            [("input-dtype", "the input `k` must be int32, but this is True")],
        ),
        (
            {"x": floats(1, 4), "k": 2**31},
            [("input-dtype", "the input `k` must be int32, but this is 2147483648")],
        ),
        (
            {"x": floats(4), "k": floats(1).astype(np.int32)},
            [
                ("input-shape", "the input `x` must have shape [B, 4], but this is [4]"),
                ("input-shape", "the input `k` must have shape [], but this is [1]"),
            ],
        ),
        (
            {"x": floats(9, 5), "k": 1},
            [
                ("input-shape", "dimension 1 of the input `x` must be 4, but is 5"),
                ("size-out-of-range", "`B` must be between 1 and 8, but is 9"),
            ],
        ),
        (
            {"x": floats(0, 4), "k": 1},
            [("size-out-of-range", "`B` must be between 1 and 8, but is 0")],
        ),
    ],
)
def test_what_does_not_fit_is_said(arrays, wanted):
    """All of it at once: names first, then dtypes, shapes and ranges."""
    assert refusals(ONE, **arrays) == wanted


def test_hints_say_what_to_give():
    """The signature of a missing input, the near name, and the cast."""

    def hint(**arrays):
        with pytest.raises(DiagnosticError) as raised:
            bound(ONE, **arrays)
        return [d.hint for d in raised.value.diagnostics]

    assert hint(x=floats(1, 4)) == ["give it as int32[()]"]
    assert hint(k=1) == ["give it as float32[B, 4]"]
    assert hint(x=floats(1, 4), k=1, K=1) == ["did you mean `k`?"]
    assert hint(x=floats(1, 4).astype(np.int8), k=1) == ["convert it: `x.astype(np.float32)`"]


def test_one_symbol_has_one_size():
    """Both inputs are named, with both sizes."""
    one = signature({"x": ("float32", ["B"]), "y": ("float32", ["B"])}, {"B": {}})

    assert refusals(one, x=floats(2), y=floats(3)) == [
        ("input-shape", "`B` is 3 in the input `y`, but 2 in `x`")
    ]


def test_multiples_and_expressions():
    """`2*S` is compared when `S` is known."""
    one = signature(
        {"y": ("float32", ["2*S + 1"]), "x": ("float32", ["S"])},
        {"S": {"min": 16, "multiple_of": 16}},
    )

    assert bound(one, x=floats(32), y=floats(65)) == {"S": 32}
    assert refusals(one, x=floats(33), y=floats(67)) == [
        ("size-out-of-range", "`S` must be a multiple of 16, but is 33")
    ]
    assert refusals(one, x=floats(8), y=floats(17)) == [
        ("size-out-of-range", "`S` must be at least 16, but is 8")
    ]
    assert refusals(one, x=floats(16), y=floats(34)) == [
        ("input-shape", "dimension 0 of the input `y` must be 2*S + 1 = 33, but is 34")
    ]


def test_laws_are_decided_for_the_sizes_of_a_call():
    """A broken one says the sizes, the names and where it was declared."""
    law = {
        "code": "split/even",
        "that": "n % parts == 0",
        "source": "ops/split.yaml",
        "line": 7,
        "message": "{n} cannot be split into {parts}",
        "words": [],
        "names": {"n": {"size": "S + 1"}, "parts": 2},
    }
    one = signature({"x": ("float32", ["S"])}, {"S": {}}, [law])

    assert bound(one, x=floats(3)) == {"S": 3}
    with pytest.raises(DiagnosticError) as raised:
        bound(one, x=floats(4))
    (found,) = raised.value.diagnostics
    assert (found.code, found.message) == ("split/even", "5 cannot be split into 2")
    assert found.notes == (
        "this call has S = 4, so n = 5, parts = 2",
        "required by ops/split.yaml:7",
    )


def test_a_law_that_cannot_be_evaluated_does_not_hold():
    """An executable of somebody else may say anything."""
    law = {"code": "a/b", "that": "1 // (S - 4) == 0", "source": "x.yaml", "line": 0}
    law |= {"message": None, "words": [], "names": {"S": {"size": "S"}}}
    one = signature({"x": ("float32", ["S"])}, {"S": {}}, [law])

    assert bound(one, x=floats(6)) == {"S": 6}
    assert refusals(one, x=floats(4)) == [("a/b", "`a` requires `1 // (S - 4) == 0`")]


@pytest.mark.parametrize(
    ("dtype", "number", "fits"),
    [
        ("float32", 3, True),
        ("float32", 1.5, True),
        ("float32", False, False),
        ("bool", True, True),
        ("bool", 1, False),
        ("int8", 127, True),
        ("int8", -129, False),
        ("uint8", -1, False),
        ("int4", 7, True),
        ("int4", 8, False),
        ("int64", 2**40, True),
        ("int32", 2.0, False),
        ("bfloat16", 0.5, True),
    ],
)
def test_numbers_are_taken_where_the_dtype_has_them(dtype, number, fits):
    """Nothing is cut off or wrapped."""
    one = signature({"x": (dtype, [])})

    if not fits:
        assert refusals(one, x=number)[0][0] == "input-dtype"
        return
    (array,) = one.arrays({"x": number})
    assert array.dtype == one.inputs["x"].dtype.numpy
    assert float(array) == float(number)
    assert bound(one, x=number) == {}


def test_dtypes_of_ml_dtypes_are_named():
    """The hint says where they come from."""
    one = signature({"x": ("bfloat16", ["B"])}, {"B": {}})

    assert bound(one, x=np.zeros(2, ml_dtypes.bfloat16)) == {"B": 2}
    with pytest.raises(DiagnosticError) as raised:
        bound(one, x=floats(2))
    assert raised.value.diagnostics[0].hint == "convert it: `x.astype(ml_dtypes.bfloat16)`"


def test_arrays_of_torch_come_through_dlpack():
    """Without a copy; what cannot come says why."""
    torch = pytest.importorskip("torch")
    value = torch.arange(8, dtype=torch.float32).reshape(2, 4)

    (array, _) = ONE.arrays({"x": value, "k": torch.tensor(1, dtype=torch.int32)})

    assert array.ctypes.data == value.data_ptr()
    for bad in (value.requires_grad_(), value.detach().to(torch.bfloat16), value.to("meta")):
        ((code, message),) = refusals(ONE, x=bad, k=1)
        assert code == "wrong-type"
        assert re.match("the input `x` cannot be taken from torch: .+", message)

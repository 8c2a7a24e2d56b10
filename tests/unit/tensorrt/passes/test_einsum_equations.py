"""Equations of einsums as data: what they compute is what NumPy's einsum computes."""

import itertools

import numpy as np
import pytest

from tripybuild.tensorrt.passes.elimination.layouts import inverse, permute
from tripybuild.tensorrt.passes.transpose_reshape_elimination.equations import (
    Equation,
    Product,
    as_product,
    common_sum_labels,
    input_like_result,
    of_product,
    result_like_inputs,
    units_for_product,
)

KINDS = ("kNONE", "kTRANSPOSE", "kVECTOR")
SIZES = {letter: size for size, letter in enumerate("abcdefg", start=2)}


def parsed(text):
    return Equation.parse(text)


def tensors(equation):
    """Random inputs of an equation; each letter has its own size."""
    generator = np.random.default_rng(1)
    return [generator.standard_normal([SIZES[c] for c in part]) for part in equation.inputs]


def multiplied(left, right, op0, op1):
    """What `matrix_multiply` computes."""
    left = left[..., None, :] if op0 == "kVECTOR" else left
    left = np.swapaxes(left, -1, -2) if op0 == "kTRANSPOSE" else left
    right = right[..., None] if op1 == "kVECTOR" else right
    right = np.swapaxes(right, -1, -2) if op1 == "kTRANSPOSE" else right
    found = left @ right
    found = found[..., 0] if op1 == "kVECTOR" else found
    if op0 == "kVECTOR":
        return found[..., 0] if op1 == "kVECTOR" else found[..., 0, :]
    return found


@pytest.mark.parametrize("batch", [0, 1, 2])
@pytest.mark.parametrize(("op0", "op1"), [(one, other) for one in KINDS for other in KINDS])
def test_products_are_equations_and_back(batch, op0, op1):
    """The equation computes the product, and is recognised as it."""
    equation = of_product(batch, op0, op1)
    left, right = tensors(equation)
    wanted = multiplied(left, right, op0, op1)
    assert np.allclose(np.einsum(str(equation), left, right), wanted)
    product = as_product(equation)
    if product.order == (1, 0):
        left, right = right, left
    assert np.allclose(multiplied(left, right, *product.operations), wanted)


@pytest.mark.parametrize(
    ("text", "product"),
    [
        ("ab,bc->ac", Product((0, 1), ("kNONE", "kNONE"))),
        ("ab,cb->ca", Product((1, 0), ("kNONE", "kTRANSPOSE"))),
        ("ba,bc->ac", Product((0, 1), ("kTRANSPOSE", "kNONE"))),
        ("ab,b->a", Product((0, 1), ("kNONE", "kVECTOR"))),
        ("a,ab->b", Product((0, 1), ("kVECTOR", "kNONE"))),
        ("ab,abc->ac", Product((0, 1), ("kVECTOR", "kNONE"))),
        ("dab,dcb->dac", Product((0, 1), ("kNONE", "kTRANSPOSE"))),
    ],
)
def test_products(text, product):
    """Which product an equation is."""
    assert as_product(parsed(text)) == product


@pytest.mark.parametrize(
    "text",
    [
        "ab->ba",
        "ab,ab->ab",
        "ab,cd->abcd",
        "abc,bcd->ad",
        "dab,bdc->dac",
        "dab,dbc->adc",
        "abc,cd->abd",
        "ab,bc,cd->ad",
        "ab,c->a",
    ],
)
def test_no_products(text):
    """Other sums, other orders, other numbers of dimensions."""
    assert as_product(parsed(text)) is None


@pytest.mark.parametrize("text", ["abc,cd->abd", "ab,bc->ca", "ba,cb->ac"])
def test_transposes_are_taken_in(text):
    """The equation for what was transposed, and for what is transposed then, compute the same."""
    equation = parsed(text)
    inputs = tensors(equation)
    wanted = np.einsum(text, *inputs)
    for permutation in itertools.permutations(range(inputs[0].ndim)):
        before = equation.before_transpose(0, permutation)
        source = np.transpose(inputs[0], inverse(permutation))
        assert np.allclose(np.einsum(str(before), source, *inputs[1:]), wanted)
    for permutation in itertools.permutations(range(wanted.ndim)):
        after = equation.after_transpose(permutation)
        assert np.allclose(np.einsum(str(after), *inputs), np.transpose(wanted, permutation))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("ab,bc->ca", "ac"),
        ("dab,dbc->adc", "dac"),
        ("ab,bc->ac", "ac"),
        ("ab,cd->cdab", "abcd"),
    ],
)
def test_result_like_inputs(text, result):
    """The result's letters in the order of the inputs'."""
    equation = parsed(text)
    assert "".join(permute(result_like_inputs(equation), equation.result)) == result


@pytest.mark.parametrize(
    ("text", "index", "letters"),
    [
        ("bad,dbc->bac", 0, "bad"),
        ("adb,bdc->dac", 0, "dab"),
        ("adb,bdc->dac", 1, "dbc"),
        ("ba,bc->ac", 0, "ba"),
        ("ab,cb->ac", 1, "cb"),
        ("cab,cb->abc", 0, "abc"),
    ],
)
def test_input_like_result(text, index, letters):
    """An input's letters as a product reads them."""
    equation = parsed(text)
    assert "".join(permute(input_like_result(equation, index), equation.inputs[index])) == letters


@pytest.mark.parametrize(
    ("text", "with_units"),
    [
        ("abc,cd->abd", "abc,acd->abd"),
        ("ab,cbd->cad", "cab,cbd->cad"),
        ("abc,dce->adbe", "adbc,adce->adbe"),
        ("abcd,de->abce", "abcd,abde->abce"),
        ("abc,c->ab", "abc,bc->ab"),
        ("abc,ac->ab", "abc,abc->ab"),
        ("ab,bc->ac", None),
        ("ab,cb->ca", "acb,acb->ca"),
        ("bhqd,bhkd->bqkh", "bhqkd,bhqkd->bqkh"),
        ("bhqk,bhkd->bqhd", "bhqk,bhqkd->bqhd"),
        ("ab,cb->acb", "acb,acb->acb"),
        ("ab->ba", None),
        ("abc,dcb->ad", None),
        ("ab,cd->", None),
        ("ab,b->a", "ab,ab->a"),
    ],
)
def test_units_for_products(text, with_units):
    """Dimensions of one input that a product takes for batch dimensions are 1 in the other."""
    equation = parsed(text)
    assert given_units(equation) == parsed(with_units or text)
    assert bool(units_for_product(equation)) == bool(with_units)


def given_units(equation):
    """The equation with the letters that its inputs lack."""
    parts = [list(part) for part in equation.inputs]
    for unit in units_for_product(equation):
        parts[unit.index].insert(unit.place, unit.letter)
    return Equation(tuple(map("".join, parts)), equation.result)


@pytest.mark.parametrize(
    "text", ["abc,cd->abd", "ab,cbd->cad", "abc,dce->adbe", "abcd,de->abce", "abc,ac->ab"]
)
def test_units_make_products(text):
    """What is put in makes the equation a product that computes the same."""
    equation = parsed(text)
    inputs = tensors(equation)
    for unit in units_for_product(equation):
        inputs[unit.index] = np.expand_dims(inputs[unit.index], unit.place)
    product = as_product(given_units(equation))
    left, right = (inputs[index] for index in product.order)
    found = multiplied(left, right, *product.operations)
    assert np.allclose(found, np.einsum(text, *tensors(equation)))


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("acd,bcd->ab", "cd"),
        ("acd,bdc->ab", None),
        ("acd,cbd->ab", None),
        ("ac,bc->ab", None),
        ("abc->a", "bc"),
    ],
)
def test_summed_together(text, letters):
    """Letters that are summed, side by side in all inputs."""
    assert common_sum_labels(parsed(text)) == letters


def test_letters_run_out():
    """There are as many as the alphabet has."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert list(Equation((letters,), letters).fresh()) == []
    assert next(parsed("ab,bc->ac").fresh()) == "d"

"""Modules in specifications: the dtype that they are made with, and what steps may call."""

import pytest
import written

from tripybuild.trace import printer
from tripybuild.types.dtypes import float16, float32

SPEC = """
types:
  F: {maker}
inputs:
  x: {takes}[2, 4]
parts:
  layer: {made}
outputs:
  y: layer(x)
"""


def graph(folder, made, takes="float16", maker="float32"):
    return written.graph(folder, SPEC.format(made=made, takes=takes, maker=maker))


def problem(folder, made, takes="float32"):
    text = SPEC.format(made=made, takes=takes, maker="float32")
    ((_, code, message),) = written.problems(folder, text)
    return code, message


def test_a_module_has_the_dtype_of_who_makes_it(tmp_path):
    made = graph(tmp_path, "Linear(4, 3)", maker="float16")
    assert {each.dtype for each in made.weights.values()} == {float16}


@pytest.mark.parametrize(
    "call", ["Linear(4, 3, True, float16)", "Linear(4, 3, dtype=float16)", "LayerNorm(4, float16)"]
)
def test_a_module_has_the_dtype_that_it_is_made_with(tmp_path, call):
    made = graph(tmp_path, call)
    assert {each.dtype for each in made.weights.values()} == {float16}


@pytest.mark.parametrize("dtype", ["int4", "int8", "int32", "int64", "bool"])
def test_an_embedding_may_look_up_other_values_than_floats(tmp_path, dtype):
    made = graph(tmp_path, "Embedding(5, 4)", takes="int32", maker=dtype)
    assert {str(each.dtype) for each in made.weights.values()} == {dtype}


def test_a_part_of_a_module_has_its_dtype(tmp_path):
    text = """
        inputs:
          x: float16[2, 3, 4]
        parts:
          attention: MultiHeadAttention(4, 2, dtype=float16)
        outputs:
          y: attention(x, x, x)
        """
    made = written.graph(tmp_path, text)
    assert {each.dtype for each in made.weights.values()} == {float16}
    assert float32 not in {each.dtype for each in made.weights.values()}


def test_what_stands_at_the_place_of_the_dtype_is_one(tmp_path):
    """nvtripy's order is dtype, eps; a number at the dtype's place is most likely an `eps`."""
    code, message = problem(tmp_path, "LayerNorm(4, 0.1)")
    assert code == "LayerNorm/dtype"
    assert message == "`dtype` of `LayerNorm` must be one of float32, float16, bfloat16"


def test_a_module_refuses_a_dtype_that_its_declaration_excludes(tmp_path):
    code, message = problem(tmp_path, "ConvTranspose(4, 4, [1], dtype=bfloat16)")
    assert code == "ConvTranspose/dtype"
    assert message == "`dtype` of `ConvTranspose` must be one of float32, float16"


@pytest.mark.parametrize("call", ["Parameter([2, 4])", "Sequential(x)", "Tensor(2)", "Module()"])
def test_steps_call_operators_and_nothing_else_of_the_package(tmp_path, call):
    """A specification is data: what Python programs use is not within its reach."""
    text = f"inputs:\n  x: F[2]\noutputs:\n  y: {call}\n"
    ((_, code, _),) = written.problems(tmp_path, text)
    assert code == "unbound-name"


@pytest.mark.parametrize(("kind", "code"), [("F[2]", "type-syntax"), ("int[", "snippet-syntax")])
def test_a_size_is_a_value(tmp_path, kind, code):
    text = f"""
        inputs:
          x: F[2]
        outputs:
          y: x
        define:
          part:
            sizes:
              size:
                type: {kind!r}
                doc: What it is.
            inputs:
              x: F[2]
            outputs:
              y: x
        """
    ((_, found, _),) = written.problems(tmp_path, text)
    assert found == code


SIZED = """
    inputs:
      x: F[2]
    parts:
      part: scaled({given})
    outputs:
      y: part(x)
    define:
      scaled:
        sizes:
          by:
            type: int
            optional: true
            {default}
            doc: How often it is added.
        inputs:
          x: F[2]
        outputs:
          y: x * by
    """


def test_none_stands_for_the_default_of_a_size(tmp_path):
    """What is left out and what is None make one part."""
    texts = [
        SIZED.format(given=each, default="default: 3") for each in ("", "None", "by=None", "3")
    ]
    graphs = [printer.canonical(written.graph(tmp_path, text)) for text in texts]
    assert len(set(graphs)) == 1
    assert "3" in graphs[0]


def test_what_none_stands_for_is_said(tmp_path):
    text = SIZED.format(given="2", default="")
    ((_, code, message),) = written.problems(tmp_path, text)
    assert (code, message) == ("missing-key", "`by` is `optional`, but has no `default`")

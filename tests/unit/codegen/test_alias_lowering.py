"""Lowerings that aliases for ONNX say: their conditions, their order, and the results they take."""

import pytest
from unary_operator import SUM_BUT_ONNX, unary_operator

from tripybuild.codegen.package.plan import plan
from tripybuild.schema.load import load

PLAIN = "reference: input + input\n" + SUM_BUT_ONNX


@pytest.fixture
def lowering(tmp_path):
    """The body of the generated lowering to ONNX of an operator with some aliases."""

    def lines(aliases, rest=PLAIN):
        file = tmp_path / "math" / "double.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(unary_operator("double", f"{rest}aliases:\n  onnx:\n{aliases}"))
        registry, problems = load([tmp_path])
        assert not problems, problems
        text = plan(registry, "tripyapi").get("tripyapi/lowering/onnx/math/double.py")
        return None if text is None else text.partition('dialect."""\n')[2].splitlines()

    return lines


def test_aliases_are_used_in_their_order(lowering):
    """The first one without a condition is the last one that counts."""
    aliases = """\
    - call: Relu(input)
      when: T == float32
    - call: Abs(input)
    - call: Neg(input)
"""
    assert lowering(aliases) == [
        "    T = op.input.dtype",
        "    if T == dtypes.float32:",
        "        return onnx.Relu(input)",
        "    return onnx.Abs(input)",
    ]


def test_what_no_alias_says_is_unavailable(lowering):
    """The driver decomposes it. A truth about sizes must hold for all of them."""
    aliases = "    call: Softmax(input, axis=0)\n    when: len(S) == 2 and S[0] > 0\n"
    assert lowering(aliases) == [
        "    S = op.input.shape",
        "    if onnx.holds(len(S) == 2 and S[0] > 0):",
        "        return onnx.Softmax(input, axis=0)",
        '    return onnx.unavailable("double")',
    ]


def test_an_alias_is_not_used_where_it_differs(lowering):
    """Nor in an opset in which its name means something else."""
    aliases = """\
    call: Relu(input)
    opset: 21
    differs:
      wide: {when: len(S) > 3, why: It is wide.}
"""
    assert lowering(aliases)[1:] == [
        "    if onnx.opset() >= 21 and not len(S) > 3:",
        "        return onnx.Relu(input)",
        '    return onnx.unavailable("double")',
    ]


def test_one_result_of_several_is_taken(lowering):
    assert lowering("    call: LayerNormalization(input, input)[0]\n") == [
        "    output, *_ = onnx.LayerNormalization(input, input)",
        "    return output",
    ]


def test_a_result_that_onnx_gives_in_its_own_dtype_is_cast(lowering):
    """Indices are int64 there."""
    assert lowering("    call: ArgMax(input, keepdims=1)\n") == [
        "    return onnx.cast(onnx.ArgMax(input, keepdims=1), op.outputs[0].dtype)"
    ]


def test_an_input_behind_one_that_is_left_out_has_its_name(lowering):
    assert lowering("    call: Clip(input, max=6.0)\n") == ["    return onnx.Clip(input, max=6.0)"]


def test_an_own_lowering_counts_before_aliases(lowering):
    rest = PLAIN + "  onnx: onnx.Add(input, input)\n"
    assert lowering("    call: Abs(input)\n", rest) == ["    return onnx.Add(input, input)"]

"""What a decomposition calls: operators where the argument is a tensor, and only as they can be."""

from dataclasses import replace

import built_in
import pytest
from written import graph

from tripybuild.codegen.operators.lowering import decomposition_file
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.snippets.composition_check import check_compositions
from tripybuild.schema.load import load
from tripybuild.schema.registry_files import FileSubset

OPERATOR = """\
tripybuild: 1
op: composed
doc: Compose operators.
types:
  T: [float32]
  U: [bool, float32]
inputs:
  input:
    type: T[*S]
    doc: The values.
  several:
    type: list[T[*R]]
    doc: Some more.
  perhaps:
    type: T[*P]
    doc: What may be left out.
    optional: true
  place:
    type: int32[()] | int
    doc: A place, or a tensor of it.
attributes:
  dim:
    type: int
    default: 0
    doc: A dimension.
outputs:
  output:
    type: U[*S]
    doc: The result.
decompose: |
  SNIPPET
sample: {S: [2, 3], R: [[2], [2]], P: [2], place: 1, U: float32}
"""


BUILT_IN = built_in.declared()


def declared(folder, snippet, text=OPERATOR):
    """A registry with one operator beside the built-in ones."""
    root = folder / "ops"
    (root / "math").mkdir(parents=True)
    lines = "\n  ".join(snippet.strip().splitlines())
    (root / "math" / "composed.yaml").write_text(text.replace("SNIPPET", lines))
    others = frozenset(BUILT_IN.operators)
    own, found = load([root], FileSubset(["ops/math/composed.yaml"], others))
    assert not found
    return replace(own, operators={**BUILT_IN.operators, **own.operators})


def generated(folder, snippet):
    """The last line of a decomposition, as it is generated."""
    operators = declared(folder, snippet).operators
    calls = CallResolver(operators, {"composed"}, "mine")
    return decomposition_file(operators["composed"], calls).rstrip().splitlines()[-1]


def problems(folder, snippet, text=OPERATOR):
    """What is wrong: the code, what is underlined, and the message."""
    registry = declared(folder, snippet, text)
    lines = registry.operators["composed"].document.text.splitlines()
    return [
        (d.code, lines[d.span.line - 1][d.span.column - 1 : d.span.end_column - 1], d.message)
        for d in check_compositions(registry, registry.operators)
    ]


@pytest.mark.parametrize(
    ("snippet", "call"),
    [
        ("any(input > 0.0, 0)", "tp.any(input > 0.0, 0)"),
        ("any(input == input, 1)", "tp.any(input == input, 1)"),
        ("all(~(input > 0.0))", "tp.all(~(input > 0.0))"),
        ("max(cast(input > 0.0, T), 1)", "tp.max(tp.cast(input > 0.0, T), 1)"),
        ("min(input if dim == 0 else -input, 1)", "tp.min(input if op.dim == 0 else -input, 1)"),
        ("sum(several[0], 0)", "tp.sum(several[0], 0)"),
        ("abs(split(input, 2)[1])", "tp.abs(tp.split(input, 2)[1])"),
        ("round(exp(input))", "tp.round(tp.exp(input))"),
        ("sum(input=input, dim=1)", "tp.sum(input=input, dim=1)"),
        ("prod(tensor(2.0, T) * 3, 0)", "tp.prod(tensor(2.0, T) * 3, 0)"),
        ("max({0: input, 1: perhaps}[dim], 0)", "tp.max({0: input, 1: perhaps}[op.dim], 0)"),
        (
            "concatenate([max(t, s[0]) for t, s in zip(several, R)], 0)",
            "tp.concatenate([tp.max(t, s[0]) for t, s in zip(several, R)], 0)",
        ),
        ("floor([input, dim][0])", "tp.floor([input, op.dim][0])"),
        ("expand(input, [max(S[0], 2)])", "tp.expand(input, [shapes.largest(S[0], 2)])"),
        ("input * abs([input, -1][1])", "input * abs([input, -1][1])"),
        ("input if any(s == 1 for s in S) else -input", "shapes.some(s == 1 for s in S)"),
        (
            "input if all(len(t.shape) == 1 for t in several) else -input",
            "shapes.every(len(t.shape)",
        ),
        ("sum(several)", "sum(several)"),
        ("input * sum(t.shape[0] for t in several)", "sum(t.shape[0] for t in several)"),
    ],
)
def test_a_shared_name_is_the_operator_where_its_argument_is_a_tensor(tmp_path, snippet, call):
    """Comparisons, methods, items of lists and results of operators are tensors; sizes are not."""
    assert problems(tmp_path, snippet) == []
    assert call in generated(tmp_path / "generated", snippet)


def test_names_that_are_assigned_are_what_they_were_given(tmp_path):
    """`any(same, 1)` after `same = a == b`, and the rest of an unpacked list."""
    same = "same = input == input\nfirst, *rest = [input > t for t in several]\n"
    snippet = f"{same}return logical_or(any(same, 1), any(rest[0], 0))"

    assert problems(tmp_path, snippet) == []
    assert "tp.logical_or(tp.any(same, 1), tp.any(rest[0], 0))" in generated(
        tmp_path / "generated", snippet
    )


@pytest.mark.parametrize(
    ("snippet", "code", "part"),
    [
        ("input + max(place, 0)", "ambiguous-call", "place"),
        ("max(input if dim == 0 else 3, 0)", "ambiguous-call", "input if dim == 0 else 3"),
        ("input if input > 0.0 else -input", "ambiguous-truth", "input > 0.0"),
        ("where(0.0 < input < 1.0, input, 0.0)", "ambiguous-truth", "0.0 < input < 1.0"),
        ("where(input > 0.0 and input < 1.0, input, 0.0)", "ambiguous-truth", "input > 0.0"),
        ("where(not input, input, 0.0)", "ambiguous-truth", "input"),
        ("concatenate([t for t in several if t > 0.0], 0)", "ambiguous-truth", "t > 0.0"),
        ("input * any(t > 0.0 for t in several)", "ambiguous-truth", None),
        ("max(several)", "ambiguous-truth", "max(several)"),
    ],
)
def test_what_is_not_known_while_recording_is_refused(tmp_path, snippet, code, part):
    """What can be a size or a tensor, and whether a tensor is true."""
    (found, underlined, _), *_ = problems(tmp_path, snippet)

    assert found == code
    assert part is None or underlined == part


@pytest.mark.parametrize(
    ("snippet", "part", "message"),
    [
        ("one_hot(place, 3)", "one_hot(place, 3)", "`one_hot` needs `values`"),
        ("exp(input, 1)", "1", "`exp` takes at most 1 positional argument, and 2 are given"),
        (
            "softmax(input, dmi=1)",
            "1",
            "`softmax` has no argument `dmi`; did you mean `dim`?",
        ),
        ("softmax(input, 1, dim=1)", "1", "`dim` of `softmax` is passed twice"),
        ("softmax(dim=1)", "softmax(dim=1)", "`softmax` needs `input`"),
        (
            "softmax(input, input)",
            "input",
            "`dim` of `softmax` is not a tensor, and this is a tensor",
        ),
        ("exp(several)", "several", "`input` of `exp` is a tensor, and this is a list of tensors"),
        ("exp(dim)", "dim", "`input` of `exp` is a tensor, and this is not a tensor"),
        (
            "concatenate(input, 0)",
            "input",
            "`tensors` of `concatenate` is a list of tensors, and this is a tensor",
        ),
    ],
)
def test_a_call_that_its_declaration_does_not_allow_is_refused(tmp_path, snippet, part, message):
    """Numbers, names and kinds of arguments are compared, at the part of the snippet."""
    assert problems(tmp_path, snippet) == [("operator-arguments", part, message)]


@pytest.mark.parametrize(
    "snippet",
    [
        "reshape(input, S)",
        "softmax(dim=1, input=input)",
        "sum(input, *[dim], keepdim=True)",
        "where(input > 0, input, 1.0)",
        "pow(input, 2.0) + 1",
        "reshape(concatenate([input, *several], 0), S)",
        "arange(0.0, 3.0) + arange(3)",
        "split(input, 2)[0]",
        "layernorm(input, input, perhaps, 0.1)",
    ],
)
def test_what_a_declaration_allows_is_let_be(tmp_path, snippet):
    """Defaults, stars, several ways to call, numbers for tensors."""
    assert problems(tmp_path, snippet) == []


def test_a_shortcut_records_nothing(tmp_path):
    """It is generated into what runs before an operation is there."""
    text = OPERATOR.replace("decompose:", "shortcut: exp(input)\ndecompose:")

    ((code, part, _),) = problems(tmp_path, "exp(input)", text)

    assert (code, part) == ("operator-arguments", "exp(input)")


def test_examples_are_calls_too(tmp_path):
    """A name that nothing has, and a call that nobody can make."""
    text = OPERATOR + "examples:\n  - call: composed(ons([2]), [], place=1)\n    fails: dim\n"
    text += "  - call: composed(ones([2], float32, 3), [], place=1, dmi=0)\n    fails: dim\n"

    assert problems(tmp_path, "exp(input)", text) == [
        ("unbound-name", "ons", "an example uses `ons`"),
        (
            "operator-arguments",
            "0",
            "`composed` has no argument `dmi`; did you mean `dim`?",
        ),
        (
            "operator-arguments",
            "3",
            "`ones` takes at most 2 positional arguments, and 3 are given",
        ),
    ]


def test_the_built_in_registry_is_proved():
    """Each of its calls is one that the declarations allow."""
    assert check_compositions(BUILT_IN, BUILT_IN.operators) == []


def test_steps_of_specifications_follow_the_same_rule(tmp_path):
    """A comparison is a tensor, sizes are none, and arguments by name are an operator's."""
    text = """
        inputs:
          x: float32[2, 6]
        steps:
          any: any(x > 0.0, 1)
          most: max(input=x, dim=1)
          both: sum([x, x])
          wide: reshape(x, [max(3, 2), 4])
        outputs: {any: any, most: most, both: both, wide: wide}
    """

    found = {name: str(value.type) for name, value in graph(tmp_path, text).outputs.items()}

    assert found == {
        "any": "tensor<2xi1>",
        "most": "tensor<2xf32>",
        "both": "tensor<2x6xf32>",
        "wide": "tensor<3x4xf32>",
    }

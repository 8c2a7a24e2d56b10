"""Modules of registries in specifications: instances of their classes, and no more of these."""

import sys

import numpy as np
import pytest
import written

from tripybuild.errors.budget import Budget, use_budget
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks.messages import law_message
from tripybuild.model.graph_builder import build
from tripybuild.packages.libraries import model_libraries
from tripybuild.reference.execute import reference_run

STACK = """\
tripybuild: 1
module: Stack
doc: Two layers and a scale.
sizes:
  width: {doc: The size of the vectors.}
  dtype: {type: "dtype[F]", default: F, doc: The dtype of the weights.}
inputs:
  x: F[N, width]
parts:
  layers: "[Linear(width, width, False, dtype) for _ in range(2)]"
weights:
  scale: F[width]
outputs:
  out: layers(x) * scale
sample: {N: 2, width: 3}
"""
DOUBLE = """\
tripybuild: 1
module: Double
doc: Twice the values.
inputs:
  x: any[...]
outputs:
  out: x + x
sample: {x: "uniform(0.0, 1.0)"}
"""
SELF = """\
tripybuild: 1
module: Own
doc: Itself, within itself.
sizes: [width]
inputs:
  x: F[N, width]
parts:
  inner: Own(width)
outputs:
  out: inner(x)
sample: {N: 2, width: 3}
"""
FOO = """\
tripybuild: 1
module: Foo
doc: A module.
sizes:
  n: {doc: A size.}
  k: {doc: A size., default: 1}
  dtype: {type: "dtype[F]", default: F, doc: The dtype of the weights.}
inputs:
  x: F[*A, n]
outputs:
  out: x + x
sample: {A: [2], n: 3}
"""
SPEC = """
registry: own
types:
  F: float16
inputs:
  x: F[2, 3]
parts:
  layer: {made}
outputs:
  out: {result}
"""


def graph(folder, made, result="layer(x)", **files):
    root = folder / "own"
    root.mkdir(exist_ok=True)
    for name, text in {"double": DOUBLE, **files}.items():
        (root / f"{name}.yaml").write_text(text)
    path = written.write(folder, SPEC.format(made=made, result=result))
    return build(path, homes=model_libraries(None, path)).graph


def refusal(folder, *arguments, **files):
    with pytest.raises(DiagnosticError) as raised:
        graph(folder, *arguments, **files)
    return [(each.code, each.span.line) for each in raised.value.diagnostics]


def test_parts_in_lists_have_weights_of_their_own(tmp_path):
    """The dtype is the specification's, also where the class has no argument for it."""
    made = graph(tmp_path, "Stack(3) * 2", stack=STACK)
    names = ("scale", "layers.0.weight", "layers.1.weight")
    assert set(made.weights) == {f"layer.{i}.{name}" for i in (0, 1) for name in names}
    assert {str(each.dtype) for each in made.weights.values()} == {"float16"}
    random = np.random.default_rng(0)
    data = {n: random.random(v.shape).astype("f2") for n, v in made.weights.items()}
    x = wanted = random.random((2, 3)).astype("f2")
    for i in (0, 1):
        for name in names[1:]:
            wanted = wanted @ data[f"layer.{i}.{name}"].T
        wanted = wanted * data[f"layer.{i}.scale"]
    (got,) = reference_run(made, data)([x])
    np.testing.assert_allclose(got, wanted, rtol=2e-2)


def test_operations_are_placed_by_the_path_of_their_module(tmp_path):
    made = graph(tmp_path, "Stack(3)", stack=STACK)
    labels = {each.location.label for each in made.operations}
    assert labels == {"layer", "layer.layers.0", "layer.layers.1"}


def test_a_module_without_weights_is_a_function_of_steps(tmp_path):
    made = graph(tmp_path, "None", "Double(x)")
    assert [each.operator for each in made.operations] == ["add"]
    assert refusal(tmp_path, "None", "Linear(x)") == [("part-arguments", 11)]


def test_a_module_within_itself_is_refused(tmp_path):
    """At its own line; by way of another one, where it is made."""
    assert refusal(tmp_path, "Own(3)", own=SELF) == [("cyclic-parts", 8)]
    ring = SELF.replace("inner: Own(width)", 'inner: "[Ring(width)]"')
    back = SELF.replace("module: Own", "module: Ring").replace("Own(width)", '"[Own(width)]"')
    assert refusal(tmp_path, "Own(3)", own=ring, ring=back) == [("cyclic-parts", 9)]


@pytest.mark.parametrize("name", ["forward", "load_weights", "state_dict", "_path", "__class__"])
def test_a_specification_reads_what_a_module_declares_alone(tmp_path, name):
    ((code, line),) = refusal(tmp_path, "Linear(3, 3)", f"layer.{name}")
    assert code in ("snippet-evaluation", "snippet-grammar")
    assert line == 11


def test_sizes_and_absent_weights_can_be_read(tmp_path):
    made = graph(tmp_path, "Linear(3, 3, False)", "layer(x) if layer.bias is None else x")
    assert [each.operator for each in made.operations] == ["linear"]
    made = graph(tmp_path, "Linear(3, 5)", "x * layer.out_features")
    assert [each.operator for each in made.operations][-1] == "mul"


def test_a_law_of_a_module_holds_where_no_output_depends_on_it(tmp_path):
    text = """
        inputs:
          q: F[B, Q, 4]
          k: F[B, L, 4]
          v: F[B, M, 4]
        parts:
          attend: MultiHeadAttention(4, 2)
        steps:
          unused: attend(q, k, v)
        outputs:
          out: q + q
        """
    (law,) = written.graph(tmp_path, text).laws
    assert law.code == "MultiHeadAttention/value"
    assert {str(each) for each in law.names.values()} == {"L", "M"}


def problem(folder, *arguments, **files):
    with pytest.raises(DiagnosticError) as raised:
        graph(folder, *arguments, **files)
    return raised.value.diagnostics[0]


def test_sizes_that_depend_on_data_do_not_fit_a_module(tmp_path):
    """No call tells whether they do, so nothing would check it."""
    call = "layer(reshape(cast(nonzero(x), F), [1, -1]))"
    found = problem(tmp_path, "Foo(6)", call, foo=FOO)
    assert (found.code, found.span.line) == ("undecided-size", 11)
    wanted = "`x` of `Foo` must have shape [*A, n], whose `n` is 6"
    assert found.message == f"{wanted}, and whether it is so depends on data"


@pytest.mark.parametrize(
    ("more", "code", "text"),
    [
        ("weights: {w: 'F[n // (k - 1)]'}", "snippet-evaluation", "division"),
        ("parts: {w: 'Linear(n, [n][k])'}", "snippet-evaluation", "out of range"),
        ("parts: {w: '[Linear(n, i) for i in [n, k][2:][0]]'}", "snippet-evaluation", "index"),
        ("weights: {w: 'F[n - 10]'}", "wrong-value", "`-7` in the shape of a `Parameter`"),
    ],
)
def test_what_a_constructor_cannot_compute_is_refused_in_words(tmp_path, more, code, text):
    found = problem(tmp_path, "Foo(3)", foo=FOO.replace("sample", f"{more}\nsample"))
    assert (found.code, found.span.line) == (code, 9)
    assert text in found.message


@pytest.mark.parametrize("parts", ["{} * (k + 1)", "[{}] * 2", "[{} * i for i in [k, k]]"])
def test_parts_that_are_repeated_in_a_module_have_weights_of_their_own(tmp_path, parts):
    layer = "Linear(n, n, True, dtype)"
    text = FOO.replace("sample", f"parts: {{layers: '{parts.format(layer)}'}}\nsample")
    made = graph(tmp_path, "Foo(3)", foo=text.replace("x + x", "layers(x)"))
    assert len({name.rpartition(".")[0] for name in made.weights}) == 2
    assert [each.operator for each in made.operations] == ["linear", "linear"]
    homes = model_libraries(None, tmp_path / "tiny.yaml")([tmp_path / "own"])
    kind = next(filter(None, (home.module("Foo") for home in homes)))
    assert len(set(map(id, kind(3).state_dict().values()))) == 4  # weight and bias


def test_modules_spend_the_budget_of_the_file(tmp_path, monkeypatch):
    """Each of ten has two of the next: 3,070 attributes."""
    monkeypatch.setenv("TRIPYBUILD_BUDGET", "0.01")
    files = {"m0": FOO.replace("Foo", "M0")}
    for i in range(1, 11):
        parts = f"parts: {{layers: '[M{i - 1}(n), M{i - 1}(n)]'}}\nsample"
        files[f"m{i}"] = FOO.replace("Foo", f"M{i}").replace("sample", parts)
    with use_budget(Budget()):
        assert problem(tmp_path, "M10(3)", **files).code == "over-budget"


def test_a_size_that_does_not_fit_is_told_by_its_name(tmp_path):
    text = """
        inputs:
          x: F[B, N]
        parts:
          p: Linear(8, 4)
        outputs:
          y: p(x)
        """
    law = written.graph(tmp_path, text).laws[0]
    message, _ = law_message("Linear", law.law, {"found": 16, "wanted": 8})
    pattern = "must have shape [*A, in_features], whose `in_features` is 8"
    assert message == f"`x` of `Linear` {pattern}, but got 16"


def test_sizes_of_modules_are_numbers(tmp_path):
    """Not sizes of calls, and not modules."""
    text = "inputs: {x: 'F[B, 3]'}\nparts: {p: 'Linear(B, 4)'}\noutputs: {y: p(x)}\n"
    with pytest.raises(DiagnosticError) as raised:
        written.graph(tmp_path, text)
    hint = "`B` is known only when the model runs; `in_features` is fixed before"
    assert raised.value.diagnostics[0].hint == hint
    assert problem(tmp_path, "Linear(Linear, 4)").label == "found the module `Linear`"


@pytest.mark.parametrize("call", ["layer(x, x)", "layer(y=x)", "layer(self=x)"])
def test_arguments_of_a_part_are_refused_in_its_name(tmp_path, call):
    found = problem(tmp_path, "Linear(3, 4)", call)
    assert found.code == "Linear/signature"
    assert found.notes == ("can be called as Linear(x)",)


def test_names_for_suggestions_import_no_module(tmp_path):
    root = tmp_path / "own"
    root.mkdir()
    (root / "double.yaml").write_text(DOUBLE)
    library = model_libraries(root, root)([])[0]

    assert list(library.names()) == ["Double"]

    assert f"{library.package}.modules.double" not in sys.modules
    assert library.module("Double").__module__ in sys.modules


def test_a_module_that_is_no_result_is_named(tmp_path):
    for name in ("Linear", "Double"):
        message = problem(tmp_path, "None", name).message
        assert message == f"the output `out` must be a tensor, but this is the function `{name}`"

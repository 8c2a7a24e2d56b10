"""Modules of registries in specifications: instances of their classes, and no more of these."""

import numpy as np
import pytest
import written

from tripybuild.errors.diagnostics import DiagnosticError
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

"""Models to graphs: parts and their paths, sizes and ranges, chains, state, scope."""

import numpy as np
import pytest
import written
from hypothesis import given, settings, strategies as st

import tripybuild
from tripybuild.model.graph_builder import build
from tripybuild.trace import printer
from tripybuild.types.size_range import SizeRange

BLOCK = """
define:
  block:
    inputs:
      x: F[B, width]
    parts:
      up: Linear(width, 2 * width)
      down: Linear(2 * width, width, bias=False)
    outputs:
      out: x + down(relu(up(x)))
"""


def operations(graph):
    return [operation.operator for operation in graph.operations]


def labels(graph):
    return [operation.location.label for operation in graph.operations]


# --- parts and weights ---


@given(depth=st.integers(0, 4), width=st.integers(1, 6))
@settings(max_examples=12, deadline=None)
def test_each_part_of_a_chain_has_weights_of_its_own(tmp_path_factory, depth, width):
    """A weight's name is its path, and its shape follows the sizes that it was made with."""
    text = "sizes:\n  width: 2\n  depth: 1\ninputs:\n  x: F[B, width]\nparts:\n  h: block * depth\n"
    text += "outputs:\n  out: h(x)\n" + BLOCK.lstrip("\n")
    folder = tmp_path_factory.mktemp("chain")

    made = written.graph(folder, text, depth=depth, width=width)

    shapes = {name: tuple(value.shape) for name, value in made.weights.items()}
    wanted = {}
    for i in range(depth):
        wanted[f"h.{i}.up.weight"] = (2 * width, width)
        wanted[f"h.{i}.up.bias"] = (2 * width,)
        wanted[f"h.{i}.down.weight"] = (width, 2 * width)
    assert shapes == wanted
    assert operations(made).count("linear") == 2 * depth


def test_a_weight_can_depend_on_a_condition(tmp_path):
    """Without `when` there is no weight, and its name is None in the steps."""
    text = """
        inputs:
          x: F[4]
        parts:
          with_bias: scale(True)
          without: scale(False)
        outputs:
          out: without(with_bias(x))
        define:
          scale:
            sizes:
              shifted: {type: bool, doc: Whether to add what the weight holds.}
            inputs:
              x: F[4]
            weights:
              factor: F[4]
              shift:
                type: F[4]
                when: shifted
            outputs:
              out: x * factor if shift is None else x * factor + shift
        """
    made = written.graph(tmp_path, text)

    assert list(made.weights) == ["with_bias.factor", "with_bias.shift", "without.factor"]
    assert operations(made) == ["mul", "add", "mul"]


def test_an_empty_list_of_parts_is_the_identity_and_none_is_absent(tmp_path):
    """`[]` gives back what came in; a part that is None can be asked about."""
    text = """
        inputs:
          x: F[4]
        parts:
          nothing: "[]"
          absent: None if 1 > 0 else Linear(4, 4)
        outputs:
          out: nothing(x) if absent is None else absent(x)
        """
    made = written.graph(tmp_path, text)

    assert made.outputs["out"] is made.inputs["x"]


def test_a_scan_threads_collects_shares_and_deals(tmp_path):
    """The first output goes on, the others are collected, `each` deals and the rest is shared."""
    text = """
        inputs:
          x: F[4]
          y: F[4]
          shared: F[4]
        parts:
          walk: step * 2
        steps:
          last, seen: walk(x, each([x, y]), shared)
          named, _: walk(x, own=each([x, y]), shared=shared)
        outputs:
          last: last
          first: seen[0]
          second: seen[1]
          named: named
        define:
          step:
            inputs:
              x: F[4]
              own: F[4]
              shared: F[4]
            outputs:
              out: x + own * shared
              seen: own - x
        """.replace("named, _:", "named, unused:")
    path = written.write(tmp_path, text)
    x, y, shared = np.arange(12, dtype=np.float32).reshape(3, 4)

    got = tripybuild.compile(path, target="reference")(x=x, y=y, shared=shared)

    middle = x + x * shared
    np.testing.assert_allclose(got["last"], middle + y * shared)
    np.testing.assert_allclose(got["first"], x - x)
    np.testing.assert_allclose(got["second"], y - middle)
    np.testing.assert_array_equal(got["named"], got["last"])


def test_chunks_group_items_and_parts_can_be_called_one_by_one(tmp_path):
    """The last group may be smaller; a slice of a chain is a chain."""
    text = """
        inputs:
          x: F[4]
        parts:
          h: layer * 3
        steps:
          groups: chunks([x, -x, x + x], 2)
        outputs:
          out: h[1:](h[0](groups[1][0]))
          same: groups[0][1]
        define:
          layer:
            inputs:
              x: F[4]
            weights:
              shift: F[4]
            outputs:
              out: x + shift
        """
    made = written.graph(tmp_path, text)

    assert operations(made) == ["neg", "add", "add", "add", "add"]
    assert labels(made)[-3:] == ["h.0.out", "h.1.out", "h.2.out"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("h(x, each([x]))", "`h` has 2 parts, but `each` has 1 items"),
        ("h(x, each([x, x, x]))", "`h` has 2 parts, but `each` has 3 items"),
        ("mixed(x, x)", "`mixed.1` is None, which is not a part to call"),
        ("uneven(x, x)", "`uneven.1` gives 2 outputs, but `uneven.0` gives 1"),
        ("h(x)", "`b` takes `x`, `y`, but got 1 inputs"),
        ("h(x, x, x)", "`b` takes `x`, `y`, but got 3 inputs"),
        ("h(x, x=x)", "`b` takes `x`, `y`, but got 2 inputs"),
    ],
)
def test_a_scan_that_cannot_be(tmp_path, call, message):
    """What does not fit is said in words, at the step."""
    text = f"""
        inputs:
          x: F[4]
        parts:
          h: b * 2
          mixed: "[b, None]"
          uneven: "[b, c]"
        outputs:
          out: {call}
        define:
          b:
            inputs:
              x: F[4]
              y: F[4]
            outputs:
              out: x + y
          c:
            inputs:
              x: F[4]
              y: F[4]
            outputs:
              out: x
              more: y
        """
    code = "step-count" if "outputs, but" in message else "part-arguments"

    assert written.problems(tmp_path, text) == [(8, code, message)]


# --- replaying what a part recorded ---


@pytest.mark.parametrize(
    ("first", "second"), [("f(x, x)", "f(x, y)"), ("f(x, y)", "f(y, x)"), ("f(x, y)", "f(x, x)")]
)
def test_a_part_that_is_run_again_reads_its_own_inputs(tmp_path, first, second):
    """Also where one run was given one tensor twice."""
    text = f"""
        inputs:
          x: F[4]
          y: F[4]
        outputs:
          a: {first}
          b: {second}
        define:
          f:
            inputs:
              p: F[4]
              q: F[4]
            outputs:
              out: p - q
        """
    made = written.graph(tmp_path, text)

    for name, call in (("a", first), ("b", second)):
        operands = [value.name for value in made.outputs[name].producer.reads()]
        assert operands == call[2:-1].split(", ")


def test_a_part_that_is_given_its_own_weight_is_not_mistaken_for_another(tmp_path):
    """The weight that comes in is not the weight that the next part has."""
    text = """
        inputs:
          x: F[4]
        parts:
          h: shift * 2
        outputs:
          a: h[0](h[0].by)
          b: h[1](x)
        define:
          shift:
            inputs:
              x: F[4]
            weights:
              by: F[4]
            outputs:
              out: x - by
        """
    made = written.graph(tmp_path, text)

    names = [[v.name for v in made.outputs[n].producer.reads()] for n in ("a", "b")]
    assert names == [["h.0.by", "h.0.by"], ["x", "h.1.by"]]


def test_parts_that_are_given_to_parts(tmp_path):
    """Two that differ only in the sizes of a part that they were given are not one."""
    text = """
        inputs:
          x: F[4]
        parts:
          narrow: around(Linear(4, 2))
          wide: around(Linear(4, 3))
        outputs:
          a: narrow(x)
          b: wide(x)
        define:
          around:
            sizes: [inner]
            inputs:
              x: F[4]
            parts:
              inside: inner
            outputs:
              out: inside(x)
        """
    made = written.graph(tmp_path, text)

    assert [made.outputs[n].shape for n in ("a", "b")] == [(2,), (3,)]
    assert made.weights["wide.inside.weight"].shape == (3, 4)


# --- sizes and ranges ---


def test_sizes_follow_those_that_are_put_in_their_place(tmp_path):
    """A size that is computed from an overridden one changes with it."""
    text = """
        sizes:
          width: 8
          heads: 2
          head: width // heads
          table: "[head, 2 * head]"
        inputs:
          x: F[table[1], head]
        outputs:
          out: x
        """

    assert written.graph(tmp_path, text).inputs["x"].shape == (8, 4)
    assert written.graph(tmp_path, text, width=12, heads=4).inputs["x"].shape == (6, 3)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("{}", SizeRange(1, 1, None)),
        ("{max: context}", SizeRange(1, 64, 64)),
        ("{min: 2, opt: context // 4, max: 2 * context}", SizeRange(2, 16, 128)),
        ("{max: 64, multiple_of: 16}", SizeRange(16, 64, 64, 16)),
        ("{min: 0, opt: 3}", SizeRange(0, 3, None)),
        ("{min: 7}", SizeRange(7, 7, None)),
    ],
)
def test_ranges(tmp_path, given, wanted):
    """Bounds are numbers or expressions over fixed sizes; what is left out follows."""
    text = f"""
        sizes:
          context: 64
        inputs:
          x: F[S]
        ranges:
          S: {given}
        outputs:
          out: x
        """
    built = build(written.write(tmp_path, text))

    assert built.ranges == {"S": wanted}
    size = built.graph.inputs["x"].shape[0]
    assert (size.low, size.high) == (wanted.min, wanted.max)


def test_a_range_decides_laws(tmp_path):
    """With `multiple_of`, a division is known to be exact, so nothing is left for the call."""
    text = """
        inputs:
          x: F[S]
        ranges:
          S: {max: 64, multiple_of: MULTIPLE}
        outputs:
          out: reshape(x, [S // 4, 4])
        """
    assert written.graph(tmp_path, text.replace("MULTIPLE", "4")).deferred_laws == ()
    assert len(written.graph(tmp_path, text.replace("MULTIPLE", "2")).deferred_laws) == 1


def test_dimensions_of_inputs_can_be_expressions_in_any_order(tmp_path):
    """`2 * S` is known wherever some input has the dimension `S`."""
    text = """
        inputs:
          pairs: F[2 * S, B]
          x: F[S]
        outputs:
          out: f(pairs, x)
        define:
          f:
            inputs:
              pairs: F[2 * N, *R]
              x: F[N]
            outputs:
              out: pairs
        """
    made = written.graph(tmp_path, text)

    assert [str(size) for size in made.inputs["pairs"].shape] == ["2*S", "B"]


# --- scope ---


def test_a_module_sees_nothing_of_the_model(tmp_path):
    """Names that a module of the registry uses for itself are free for models."""
    text = """
        sizes:
          A: 7
          y: 3
          N: 2
        inputs:
          x: F[D, 3, 8, 8]
        parts:
          conv: Conv(3, A, [3, 3])
          head: Linear(6, N)
        outputs:
          out: head(conv(x))
        """
    made = written.graph(tmp_path, text)

    assert [str(size) for size in made.outputs["out"].shape] == ["D", "7", "6", "2"]


def test_a_part_binds_the_dimensions_of_what_it_is_given(tmp_path):
    """Within a part, `S` is the size of its own input, not that of the model's."""
    text = """
        inputs:
          x: F[B, S]
        outputs:
          out: numbered(x[:, ::2])
        define:
          numbered:
            inputs:
              x: F[B, S]
            outputs:
              out: x + arange(S)
        """
    path = written.write(tmp_path, text)
    x = np.zeros((2, 5), np.float32)

    got = tripybuild.compile(path, target="reference")(x=x)["out"]

    np.testing.assert_array_equal(got, [[0, 1, 2], [0, 1, 2]])


def test_a_definition_sees_its_own_sizes_before_those_of_the_model(tmp_path):
    """A parameter hides a size; a part's name may be that of its definition."""
    text = """
        sizes:
          width: 4
        inputs:
          x: F[width]
        parts:
          scale: scale(2)
        outputs:
          out: scale(x)
        define:
          scale:
            sizes:
              width:
                doc: How often the weight is repeated.
              size: 2 * width
            inputs:
              x: F[*A]
            weights:
              factor: F[width, size]
            outputs:
              out: sum(factor) * x
        """
    made = written.graph(tmp_path, text)

    assert made.weights["scale.factor"].shape == (2, 4)


def test_definitions_are_functions_of_their_own_and_hide_operators(tmp_path):
    """One without parts and weights is called in a step, as operators are."""
    text = """
        inputs:
          x: F[B, 4]
        outputs:
          out: relu(both(x))
          low: both(x=x)
        define:
          relu:
            doc: Not the operator of that name.
            inputs:
              x: F[*A]
            outputs:
              out: x - 1.0
          both:
            inputs:
              x: F[B, 4]
            steps:
              low, high: split(x, 2, 1)
            outputs:
              out: concatenate([high, low], 1)
        """
    made = written.graph(tmp_path, text)

    assert "relu" not in operations(made)
    assert "sub" in operations(made)


@pytest.mark.parametrize(
    "entry",
    ['parts: {l: "Linear(4, 4)"}', "sizes: [n]", 'weights: {w: "F[4]"}', 'state: {s: "F[4]"}'],
)
def test_only_definitions_without_a_path_are_functions(tmp_path, entry):
    """What has weights or state needs a name under `parts:`."""
    text = """
        inputs:
          x: F[4]
        outputs:
          out: f(x)
        define:
          f:
            ENTRY
            inputs:
              x: F[4]
            outputs:
              out: x
        """
    before, after = ("ENTRY", "") if "sizes" in entry else ("", "ENTRY")
    text = text.replace("    ENTRY\n            inputs:", f"    {before}\n            inputs:")
    text = text.replace(
        "outputs:\n              out: x\n", f"{after}\n            outputs:\n              out: x\n"
    )

    found = written.problems(tmp_path, text.replace("ENTRY", entry))

    message = "`f` has parts, weights, state or sizes of its own: name it under `parts:` first"
    assert found == [(4, "part-arguments", message)]


def test_types_are_the_models_and_a_parts_own(tmp_path):
    """`F` is the model's; a part can have types of its own."""
    text = """
        types:
          F: float16
        inputs:
          x: F[4]
        parts:
          l: Linear(4, 4)
          m: mixed
        outputs:
          out: l(x)
          wide: m(cast(x, float32))
        define:
          mixed:
            types:
              G: float32
            inputs:
              x: G[4]
            weights:
              w: G[4]
              v: F[4]
            outputs:
              out: x * w * cast(v, G)
        """
    made = written.graph(tmp_path, text)

    dtypes = {name: str(value.dtype) for name, value in made.weights.items()}
    assert dtypes == {
        "l.weight": "float16",
        "l.bias": "float16",
        "m.w": "float32",
        "m.v": "float16",
    }


# --- state ---

COUNTER = """
inputs:
  x: F[4]
parts:
  sums: accumulate * 2
outputs:
  out: sums(x)
define:
  accumulate:
    inputs:
      x: F[4]
    state:
      total: F[4]
    steps:
      before: total
    next:
      total: total + x
    outputs:
      out: next.total - before
"""


def test_state_is_an_input_and_what_it_will_be_is_an_output(tmp_path):
    """Each part has its own, and outputs may read what comes next."""
    path = written.write(tmp_path, COUNTER)
    run = tripybuild.compile(path, target="reference")
    x, one, two = np.arange(12, dtype=np.float32).reshape(3, 4)

    got = run(x=x, **{"sums.0.total": one, "sums.1.total": two})

    assert build(path).entry().states == ("sums.0.total", "sums.1.total")
    np.testing.assert_array_equal(got["out"], x)
    np.testing.assert_array_equal(got["sums.0.total.next"], one + x)
    np.testing.assert_array_equal(got["sums.1.total.next"], two + x)


def test_a_model_can_have_state_itself(tmp_path):
    """The outermost part is a part like others."""
    text = """
        inputs:
          x: F[4]
        state:
          total: F[4]
        next:
          total: total + x
        outputs:
          out: next.total
        """
    made = written.graph(tmp_path, text)

    assert list(made.inputs) == ["x", "total"]
    assert list(made.outputs) == ["out", "total.next"]


def test_constants_are_computed_before_the_steps(tmp_path):
    """Steps and outputs read them."""
    text = """
        inputs:
          x: F[4]
        constants:
          places: arange(4)
        outputs:
          out: x + places
        """
    path = written.write(tmp_path, text)

    got = tripybuild.compile(path, target="reference")(x=np.ones(4, np.float32))["out"]

    np.testing.assert_array_equal(got, [1, 2, 3, 4])


def test_a_definition_can_have_dtypes_of_its_own(tmp_path):
    """The modules that it makes have them, too; those of other parts do not."""
    text = """
        inputs:
          x: F[B, 4]
        parts:
          h: half
          l: Linear(4, 4, bias=False)
        outputs:
          out: l(cast(h(cast(x, float16)), F))
        define:
          half:
            types:
              F: float16
            inputs:
              x: F[B, 4]
            parts:
              l: Linear(4, 4, bias=False)
            outputs:
              out: l(x)
        """
    weights = written.graph(tmp_path, text).weights

    assert {n: str(v.dtype) for n, v in weights.items()} == {
        "h.l.weight": "float16",
        "l.weight": "float32",
    }


# --- places ---


def test_an_operation_points_at_the_users_step(tmp_path):
    """Also inside of a module of the registry, whose own lines are not the user's."""
    text = """
        inputs:
          x: F[B, 4]
        parts:
          h: block * 2
        steps:
          doubled: x + x
        outputs:
          out: h(doubled)
        define:
          block:
            inputs:
              x: F[B, 4]
            parts:
              l: Linear(4, 4)
            outputs:
              out: relu(l(x))
        """
    made = written.graph(tmp_path, text)

    places = {(o.operator, o.location.label, o.location.span().line - 2) for o in made.operations}
    assert ("add", "doubled", 6) in places
    assert ("relu", "h.1.out", 16) in places
    assert ("linear", "h.0.l", 16) in places
    assert {line for *_, line in places} == {6, 16}
    assert all(o.location.span().path.endswith("tiny.yaml") for o in made.operations)


def test_equal_models_print_equally(tmp_path):
    """Names of inputs and steps do not count; what is computed does."""
    text = """
        inputs:
          x: F[4]
        steps:
          y: relu(x)
        outputs:
          out: y + y
        """
    one = printer.canonical(written.graph(tmp_path, text))

    assert one == printer.canonical(
        written.graph(tmp_path, text.replace("y", "z").replace("x:", "x:"))
    )
    assert one != printer.canonical(written.graph(tmp_path, text.replace("relu", "tanh")))


def test_a_part_can_be_made_with_a_dtype(tmp_path):
    """Dtypes are values of part expressions as they are of steps."""
    text = """
        inputs:
          x: F[4]
        parts:
          h: rounded(float16)
        outputs:
          y: h(x)
        define:
          rounded:
            sizes: [to]
            inputs:
              x: F[4]
            outputs:
              out: cast(cast(x, to), F)
        """
    operations = written.graph(tmp_path, text).operations

    assert [str(operation.outputs[0].dtype) for operation in operations] == ["float16", "float32"]


def test_an_input_can_be_left_out(tmp_path):
    """The steps read None then, also where None is given."""
    text = """
        inputs:
          x: F[4]
          y: F[4]
        parts:
          h: shifted
        outputs:
          bare: h(x)
          none: h(x, None)
          both: h(y, by=x)
          again: h(x, by=y)
        define:
          shifted:
            inputs:
              x: F[4]
              by:
                type: F[*N]
                optional: true
                doc: How far.
            parts:
              scale: Linear(4, 4, bias=False)
            outputs:
              out: scale(x) if by is None else scale(x) + by
        """
    graph = written.graph(tmp_path, text)
    sums = [operation for operation in graph.operations if operation.operator == "add"]
    assert [operation.rhs.name for operation in sums] == ["x", "y"]
    assert operations(graph).count("linear") == 4


@pytest.mark.parametrize("call", ["h()", "h(by=x)", "h(x, x, x)", "h(x, x=x)", "h(x, far=x)"])
def test_only_optional_inputs_can_be_left_out(tmp_path, call):
    text = f"""
        inputs:
          x: F[4]
        parts:
          h: shifted
        outputs:
          y: {call}
        define:
          shifted:
            inputs:
              x: F[4]
              by:
                type: F[4]
                optional: true
            parts:
              scale: Linear(4, 4)
            outputs:
              out: scale(x)
        """
    ((_, code, message),) = written.problems(tmp_path, text)
    assert code == "part-arguments"
    assert message.startswith("`shifted` takes `x`, `by`, but got ")

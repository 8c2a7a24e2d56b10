"""Buckets of `cpu:xla`: what is padded is computed as it is alone, whatever the padding holds."""

import re

import numpy as np
import pytest
import spec_tests
from onnx_runs import draw_weights
from spec_tests import Comparison

import tripyapi as tp
import tripybuild
from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.symbolic.dims import Dim, evaluate
from tripybuild.targets.cpu import xla
from tripybuild.targets.xla.arrays import ArrayType
from tripybuild.testing.registry import registry
from tripybuild.testing.suite import can_interpret
from tripybuild.testing.symbolic import symbolic_samples
from tripybuild.types.size_range import SizeRange
from tripybuild.worker.stablehlo_interpreter import interpret

# Each line reads other elements than those of its own place, or computes with sizes.
MIXED = """
tripybuild: 1
model: mixed
inputs:
  x: float32[B, S]
  at: int32[B]
ranges:
  B: {min: 1, opt: 3, max: 4}
  S: {min: 1, opt: 5, max: 16}
outputs:
  mean: mean(x, 1)
  weights: softmax(x, 1)
  extremes: stack([max(x, 1), min(x, 1), prod(x, 1)])
  best: argmax(x, 1)
  ordered: sort(x, 1, descending=True)[0]
  top: topk(x, 1, dim=1)[1]
  sums: cumsum(x, 1) + cumsum(x, 1, reverse=True)
  rows: x @ transpose(x, 0, 1)
  columns: transpose(x, 0, 1) @ x
  last: x[:, -1]
  second: x[:, S // 2:]
  back: flip(x, 1)[:, ::2]
  joined: concatenate([x, x[:, :1], x], 1)
  padded: pad(x, [[0, 0], [1, 2]], value=3.0)
  flat: reshape(x, [B * S])
  turned: reshape(transpose(x, 0, 1), [B * S])
  taken: gather(x, 1, at)
  put: scatter_elements(x, 1, unsqueeze(at, 1), unsqueeze(x[:, -1], 1))
  smooth: maxpool(reshape(x, [1, 1, B, S]), [1, 3], [1, 2], [[0, 0], [1, 1]])
  drawn: random_uniform([B, S], seed=3)
  scaled: x / number(S, float32)
  below: tril(x)
"""

CACHED = """
tripybuild: 1
model: cached
inputs:
  x: float32[1, 1, S, 2]
  at: int32[1]
ranges:
  S: {min: 1, opt: 2, max: 6}
state:
  rows: {type: "float32[1, 1, 7, 2]", first: 0.0}
next:
  rows: kv_cache_update(rows, x, at)
outputs:
  y: sum(next.rows, [2, 3]) + sum(x, [2, 3])
"""


@pytest.fixture(autouse=True)
def _poison(shared_cache, monkeypatch):
    """What arguments are padded with changes all that reads it."""

    def pad(array, type):
        if array.shape == type.shape:
            return array
        kind = type.dtype.kind
        fill = np.iinfo(type.dtype).max if kind in "iu" else True if kind == "b" else np.nan
        whole = np.full(type.shape, fill, type.dtype)
        whole[tuple(map(slice, array.shape))] = array
        return whole

    monkeypatch.setattr(xla, "pad_array", pad)


def compiled(folder, text, **buckets):
    """A spec with a program for each size, and with buckets."""
    path = folder / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    return (tripybuild.compile(path, target="cpu:xla", buckets=each) for each in ({}, buckets))


def one_size(output):
    """A spec with a dynamic size of up to 8, and an output that depends on it."""
    return f"""
tripybuild: 1
model: one
inputs: {{x: "float32[B]", rest: "float32[1]"}}
ranges: {{B: {{min: 1, opt: 6, max: 8}}}}
outputs:
  y: {output}
"""


def test_padding_reaches_no_result(tmp_path):
    """Between the buckets and at the largest, with indices that are outside as well."""
    alone, padded = compiled(tmp_path, MIXED, B=[4], S="powers")
    for rows, columns in ((3, 5), (2, 16), (4, 9)):
        x = np.random.default_rng(rows).normal(size=(rows, columns)).astype(np.float32)
        at = np.array([columns - 1, columns, -1, 0], np.int32)[:rows]
        wanted, found = alone(x=x, at=at), padded(x=x, at=at)
        for name, array in wanted.items():
            assert found[name].shape == array.shape, name
            assert np.allclose(found[name], array, rtol=1e-6, atol=1e-6), name
    assert padded.entry().manifest["buckets"] == {"B": [4], "S": [1, 2, 4, 8, 16]}


def test_a_state_is_updated_below_the_true_size(tmp_path):
    """What is written beyond would be what an earlier call left, or what stands at the end."""
    alone, padded = compiled(tmp_path, CACHED, S=[3, 6])
    sessions = [each.start() for each in (alone, padded)]
    for size, at in ((5, 0), (2, 5), (4, 1), (3, 6), (1, 3)):
        x = np.arange(1, 2 * size + 1, dtype=np.float32).reshape(1, 1, size, 2)
        first, second = (each(x=x, at=np.array([at], np.int32)) for each in sessions)
        assert np.array_equal(first["y"], second["y"]), (size, at)
        rows = [each.state["rows"] for each in sessions]
        assert np.array_equal(*rows), (size, at)


def test_a_size_is_true_unless_it_is_zero(tmp_path):
    alone, padded = compiled(tmp_path, one_size("number(B - 2, bool)"), B=[8])
    for size in (1, 2, 3, 8):
        x = np.ones(size, np.float32)
        found = (each(x=x, rest=np.ones(1, np.float32))["y"] for each in (alone, padded))
        assert next(found) == next(found) == (size != 2)


def test_a_refusal_comes_when_the_model_is_compiled(tmp_path):
    """Of the buckets that calls ask for later, too; `opt` has the last one."""
    with pytest.raises(DiagnosticError, match=r"bucket-changes-result.*slice") as refused:
        tuple(compiled(tmp_path, one_size("x[4:]"), B=[5, 8]))
    assert refused.value.diagnostics[0].span.line == 7
    _, padded = compiled(tmp_path, one_size("x[4:]"), B=[4, 8])
    x = np.arange(7, dtype=np.float32)
    rest = np.ones(1, np.float32)
    assert [padded(x=x[:n], rest=rest)["y"].tolist() for n in (7, 3)] == [[4, 5, 6], []]


def test_a_bucket_that_no_call_may_have_is_not_refused(tmp_path):
    """By the law of `number`, no call has more than 127, where int8 would hold no size."""
    text = one_size("number(B, int8)").replace("max: 8", "max: 300")
    _, padded = compiled(tmp_path, text, B=[127, 300])
    rest = np.ones(1, np.float32)
    assert padded(x=np.ones(100, np.float32), rest=rest)["y"] == 100
    with pytest.raises(DiagnosticError, match="number/in-range"):
        padded(x=np.ones(128, np.float32), rest=rest)


def test_memory_that_padding_needs_is_said_to_be_for_it(tmp_path):
    text = one_size("x + 1").replace("float32[B]", "float32[B, 1048576]").replace("8}", "4194304}")
    _, padded = compiled(tmp_path, text, B=[6, 4194304])
    rest = np.ones(1, np.float32)
    with pytest.raises(DiagnosticError, match="out-of-memory") as refused:
        padded(x=np.ones((7, 1048576), np.float32), rest=rest)
    assert "B=7 is padded to the bucket B=4194304" in refused.value.diagnostics[0].notes


def test_memory_that_ends_in_a_call_is_said_to_be_for_padding(tmp_path, monkeypatch):
    _, padded = compiled(tmp_path, one_size("x + 1"), B=[8])

    def exhaust(array, type):
        raise MemoryError("no room")

    monkeypatch.setattr(xla, "pad_array", exhaust)
    with pytest.raises(DiagnosticError, match="out-of-memory") as refused:
        padded(x=np.ones(7, np.float32), rest=np.ones(1, np.float32))
    assert "B=7 is padded to the bucket B=8" in refused.value.diagnostics[0].notes


def test_very_many_combinations_are_looked_at_as_one(tmp_path, monkeypatch):
    looked, check = [], xla.padded_module

    def count(*arguments, **named):
        looked.append(arguments[1])
        return check(*arguments, **named)

    monkeypatch.setattr(xla, "padded_module", count)
    sizes = "ABCD"
    text = f"""
tripybuild: 1
model: many
inputs: {{x: "float32[{", ".join(sizes)}]"}}
ranges: {{{", ".join(f"{each}: {{min: 2, opt: 4, max: 4096}}" for each in sizes)}}}
outputs:
  y: x + 1
"""
    tuple(compiled(tmp_path, text, **dict.fromkeys(sizes, "powers")))
    assert [each["A"] for each in looked] == [SizeRange(2, 4096, 4096)]


@pytest.mark.parametrize(
    ("buckets", "said"),
    [
        ({"B": 8}, "the buckets of `B` are a list of sizes or `powers`, and not 8"),
        ({"B": None}, "the buckets of `B` are a list of sizes or `powers`, and not None"),
        ({"B": "pow"}, "the buckets of `B` are a list of sizes or `powers`, and not 'pow'"),
        ({"B": [None]}, "`B` must be between 1 and 8, but is None"),
        ({8: [8]}, "`one` has no dynamic size `8`"),
        (["B"], r"buckets are sizes by the names of dynamic sizes, and not ['B']"),
    ],
)
def test_what_is_no_bucket_is_refused(tmp_path, buckets, said):
    (tmp_path / "spec.yaml").write_text(one_size("x"), encoding="utf-8")
    with pytest.raises(DiagnosticError, match=re.escape(said)):
        tripybuild.compile(tmp_path / "spec.yaml", target="cpu:xla", buckets=buckets)


@pytest.mark.parametrize("name", ["lstm", "llama"])
def test_specs_compute_the_same_in_buckets(name, tmp_path):
    """Loops, masks and caches: as near as sums in another order."""
    comparison = Comparison(spec_tests.SPECS / f"{name}.yaml", tmp_path)
    weights = draw_weights(comparison, tmp_path / "weights.safetensors")
    (call,) = comparison.calls
    sizes = call.section.shapes[-1]
    free = {n: r for n, r in comparison.built.ranges.items() if name != "llama" or n != "B"}
    buckets = {n: [sizes[n] + r.multiple_of, r.max] for n, r in free.items()}
    made = [
        tripybuild.compile(
            comparison.path,
            target="cpu:xla",
            sizes=comparison.section.sizes,
            weights=weights,
            config=comparison.own_config,
            buckets=each,
        )
        for each in ({}, buckets)
    ]
    arrays = call.draw(sizes, 0)
    wanted, found = (call.run(each, arrays, sizes) for each in made)
    for output, array in wanted.items():
        most = np.abs(array).max()
        assert np.allclose(found[output], array, rtol=0, atol=1e-6 * most), output


@pytest.mark.full
def test_operators_compute_the_same_in_buckets():
    """Each operator with all of its sizes in buckets, by the interpreter of StableHLO."""
    found = []
    for operator in registry(paths.registry()).operators.values():
        function = getattr(tp, operator.name, None)
        if function is None or operator.random:
            continue
        *_, sample = [None, *symbolic_samples(operator, function, legal_tuples(operator)[0])]
        if sample is None or not can_interpret(sample.graph):
            continue
        for call in list(sample.calls)[:2]:
            found += computed_in_buckets(sample.graph, list(call.data.values()), operator.name)
    assert len(found) > 100
    assert not [name for name, same in found if not same]


def computed_in_buckets(graph, arrays, name):
    """Whether an operator gives the same below the true sizes; nothing where it is refused."""
    pairs = zip(graph.inputs.values(), arrays, strict=True)
    sizes = {
        size.name: number
        for value, array in pairs
        for size, number in zip(value.shape, array.shape, strict=True)
        if isinstance(size, Dim) and size.name
    }
    if not sizes or min(sizes.values()) < 2:
        return
    largest = {each: 2 * number + 1 for each, number in sizes.items()}
    symbols = {each: SizeRange(2, 2, most).symbol(each) for each, most in largest.items()}
    try:
        bounded = lower_stablehlo(graph.substitute(symbols), bounds=largest).text()
    except (DiagnosticError, ValueError):
        return
    types = [
        ArrayType(tuple(evaluate(size, largest) for size in value.shape), array.dtype)
        for value, array in zip(graph.inputs.values(), arrays, strict=True)
    ]
    padded = [xla.pad_array(*pair) for pair in zip(arrays, types, strict=True)]
    padded += [np.asarray(sizes[each], np.int64) for each in sorted(sizes)]
    alone = lower_stablehlo(graph.substitute(sizes)).text()
    results, wanted = interpret([(bounded, padded), (alone, arrays)])
    if isinstance(wanted, str):  # the interpreter lacks an operation
        return
    assert not isinstance(results, str), f"{name}: {results}"
    yield (
        name,
        all(
            np.allclose(a[tuple(map(slice, b.shape))], b, 1e-4, 1e-5, equal_nan=True)
            for a, b in zip(results, wanted, strict=True)
        ),
    )

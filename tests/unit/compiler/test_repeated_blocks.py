"""Repeated blocks: one program for all of them gives what one program for the whole gives."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

import numpy as np
import pytest

import tripyapi as tp
import tripybuild
from tripybuild.compiler.lowering import segments
from tripybuild.compiler.lowering.segments import cut_graph
from tripybuild.compiler.lowering.specialize import specialize_graph
from tripybuild.model.graph_builder import build
from tripybuild.targets.cpu import compile_module
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.types.dtypes import BY_NAME
from tripybuild.weights import safetensors

HEAD = "tripybuild: 1\nmodel: deep\n"
BLOCKS = {
    "plain": """\
types: {F: float32}
sizes: {width: 8, depth: 5}
inputs: {x: "F[B, width]", shared: "F[width]"}
ranges: {B: {min: 1, opt: 2, max: 8}}
parts: {h: block * depth}
outputs: {y: "h(x, shared)"}
define:
  block:
    inputs: {x: "F[B, width]", shared: "F[width]"}
    parts: {up: "Linear(width, 16)", down: "Linear(16, width)"}
    outputs: {out: "x + down(tanh(up(x * shared) * 0.5 + 0.25)) * 0.5"}
""",
    "state": """\
types: {F: float32}
sizes: {width: 8, depth: 5}
inputs: {x: "F[B, width]"}
ranges: {B: {min: 1, opt: 2, max: 8}}
parts: {h: block * depth}
outputs: {y: h(x), same: x, again: x}
define:
  block:
    inputs: {x: "F[B, width]"}
    parts: {up: "Linear(width, width)"}
    state: {total: "F[B, width]"}
    next: {total: total * 0.5 + x}
    outputs: {out: "x + tanh(up(next.total))"}
""",
    "collected": """\
types: {F: float32}
sizes: {width: 8, depth: 5}
inputs: {x: "F[B, width]", rows: "F[depth, width]"}
ranges: {B: {min: 1, opt: 2, max: 8}}
parts: {h: block * depth}
steps:
  y, seen: "h(x, each([rows[i] for i in range(depth)]))"
outputs: {y: y, all: "stack(seen, 0)", first: "seen[0]"}
define:
  block:
    inputs: {x: "F[B, width]", row: "F[width]"}
    parts: {up: "Linear(width, width)"}
    steps: {mixed: tanh(up(x + row))}
    outputs: {out: x + mixed, seen: "sum(mixed, -1)"}
""",
    "int8": """\
types: {F: float32}
sizes: {width: 8, depth: 5}
inputs: {x: "F[B, width]"}
ranges: {B: {min: 1, opt: 2, max: 8}}
parts: {h: block * depth}
outputs: {y: h(x)}
define:
  block:
    inputs: {x: "F[B, width]"}
    weights: {kernel: "int8[width, width]", scale: "F[()]"}
    steps: {wide: "tanh(x @ dequantize(kernel, scale, F))"}
    outputs: {out: x + wide * 0.5}
""",
    "dtypes": """\
types: {F: float16}
sizes: {width: 8, depth: 5}
inputs: {x: "F[B, width]"}
ranges: {B: {min: 1, opt: 2, max: 8}}
parts: {low: narrow * depth, high: wide * depth}
outputs: {y: "high(cast(low(x), float32))"}
define:
  narrow:
    inputs: {x: "F[B, width]"}
    parts: {up: "Linear(width, width)"}
    outputs: {out: x + tanh(up(x)) * 0.5}
  wide:
    inputs: {x: "float32[B, width]"}
    parts: {up: "Linear(width, width, dtype=float32)"}
    outputs: {out: x + tanh(up(x)) * 0.5}
""",
}


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut blocks of any size."""
    monkeypatch.setattr(segments, "LEAST_BYTES", 0)
    monkeypatch.setattr(segments, "LEAST_OPERATIONS", 1)
    monkeypatch.setattr(segments, "LEAST_SAVED", 2)


def written(folder: Path, text: str, depth: int) -> tuple[Path, Path]:
    """The files of a spec and its weights."""
    spec, weights = folder / f"deep{depth}.yaml", folder / f"deep{depth}.safetensors"
    spec.write_text(HEAD + text.replace("depth: 5", f"depth: {depth}"))
    random = np.random.default_rng(7)
    arrays = {
        name: (
            random.standard_normal(value.shape) * (40 if value.dtype.kind == "integer" else 0.5)
        ).astype(value.dtype.numpy)
        for name, value in build(spec).entry().graph.weights.items()
    }
    weights.write_bytes(bytes(safetensors.encode(arrays)))
    return spec, weights


def results(made: Callable[..., Mapping[str, np.ndarray]], batch: int) -> dict[str, np.ndarray]:
    """What an executable gives for one batch."""
    random = np.random.default_rng(batch)
    arrays = {}
    for name, each in made.inputs.items():
        shape = [batch if size == "B" else size for size in each["shape"]]
        arrays[name] = random.standard_normal(shape).astype(BY_NAME[each["dtype"]].numpy)
    return {name: array.copy() for name, array in made(**arrays).items()}


def assert_close(found: Mapping[str, np.ndarray], wanted: Mapping[str, np.ndarray]) -> None:
    """Compare all outputs within a rounding."""
    assert found.keys() == wanted.keys()
    for name, array in found.items():
        assert array.dtype == wanted[name].dtype
        rounding = 1e-6 if array.dtype == np.float32 else 1e-3
        np.testing.assert_allclose(
            array.astype(np.float64), wanted[name].astype(np.float64), rtol=0, atol=rounding
        )


@pytest.mark.parametrize(
    ("kind", "depth"), [*((kind, 5) for kind in BLOCKS), ("state", 1), ("state", 2)]
)
def test_outputs_are_those_of_the_whole(
    kind: str, depth: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However blocks are wired, and for sizes that were compiled ahead and others."""
    spec, weights = written(tmp_path, BLOCKS[kind], depth)
    whole = tripybuild.compile(spec, weights=weights)
    assert "call @" not in tripybuild.emit(spec, "stablehlo")
    wanted = [results(whole, batch) for batch in (2, 3)]
    monkeypatch.setattr(segments, "LEAST_BYTES", 0)
    monkeypatch.setattr(segments, "LEAST_OPERATIONS", 1)
    monkeypatch.setattr(segments, "LEAST_SAVED", 2)
    text = tripybuild.emit(spec, "stablehlo")
    assert ("call @" in text) is (depth > 1)
    made = tripybuild.compile(spec, weights=weights)
    for batch, each in zip((2, 3), wanted, strict=True):
        assert_close(results(made, batch), each)


@pytest.mark.usefixtures("small_blocks")
def test_files_keep_programs_and_rebuild_them(tmp_path: Path) -> None:
    """A file has the module with its functions, of which the same programs are compiled again."""
    spec, weights = written(tmp_path, BLOCKS["state"], 5)
    wanted = results(tripybuild.compile(spec, weights=weights, output=tmp_path / "deep.tpb"), 2)
    loaded = tripybuild.load(tmp_path / "deep.tpb")
    rebuilt = tripybuild.load(tmp_path / "deep.tpb", rebuild=True)
    assert_close(results(loaded, 2), wanted)
    assert_close(results(rebuilt, 2), wanted)


@pytest.mark.usefixtures("small_blocks")
def test_results_that_are_inputs_have_memory_of_their_own(tmp_path: Path) -> None:
    """What is written to one changes no other, and not the caller's array."""
    spec, weights = written(tmp_path, BLOCKS["state"], 5)
    made = tripybuild.compile(spec, weights=weights)
    arrays = {name: np.ones((2, 8), np.float32) for name in made.inputs}
    found = made(**arrays)
    found["same"][:] = 9
    assert (found["again"] == 1).all()
    assert (arrays["x"] == 1).all()


@pytest.mark.usefixtures("small_blocks")
def test_deeper_models_compile_nothing_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block has its own place in the cache, which models of any depth share."""
    keys: list[list[str]] = []
    kept = compile_module.cache_key
    monkeypatch.setattr(
        compile_module, "cache_key", lambda module: keys[-1].append(kept(module)) or keys[-1][-1]
    )
    for depth in (3, 7):
        keys.append([])
        spec, weights = written(tmp_path, BLOCKS["plain"], depth)
        tripybuild.compile(spec, weights=weights)
    assert keys[0] == keys[1]
    assert len(keys[0]) < 3


@pytest.mark.usefixtures("small_blocks")
def test_blocks_that_are_wired_in_another_way_are_not_joined(tmp_path: Path) -> None:
    """The kinds of operations repeat, but each block reads other operands: all stays whole."""
    wired = "\n".join(
        f"  a{at}: tanh(a{at - 1} * {first})\n  b{at}: exp(a{at} + {second})"
        for at, (first, second) in enumerate((("x", "x"), ("a0", "x"), ("a1", "a0")), 1)
    )
    spec = tmp_path / "wired.yaml"
    spec.write_text(
        f"{HEAD}inputs:\n  x: float32[4]\nsteps:\n  a0: x * 2.0\n{wired}\noutputs:\n"
        "  y: b1 + b2 + b3\n"
    )
    found = cut_graph(specialize_graph(build(spec).entry().graph, {}))
    assert len({each.key for each in found}) == len(found) == 0


@pytest.mark.usefixtures("small_blocks")
def test_an_output_that_is_a_constant_leaves_the_graph_whole(tmp_path: Path) -> None:
    """No program gives a constant."""
    text = BLOCKS["plain"].replace('{y: "h(', '{one: one, y: "h(')
    spec, _ = written(
        tmp_path, text.replace("outputs:", 'constants: {one: "arange(2)"}\noutputs:', 1), 5
    )
    graph = specialize_graph(build(spec).entry().graph, {"B": 2})
    assert isinstance(graph.outputs["one"].producer, Constant)
    assert cut_graph(graph) == ()


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("seed", range(40))
def test_segments_of_any_graph_are_the_graph(seed: int, tmp_path: Path) -> None:
    """All operations in their order, each of which reads what is there by then."""
    random = Random(seed)
    names, steps = ["x"], []
    block = [
        random.choice(["tanh({})", "exp({})", "{} + {}"]) for _ in range(random.randint(2, 20))
    ]
    for at in range(random.randint(8, 40)):
        form = block[at % len(block)] if random.random() < 0.9 else "sin({})"
        read = [names[max(-random.randint(1, 6), -len(names))] for _ in range(form.count("{}"))]
        names.append(f"v{at}")
        steps.append(f"  v{at}: {form.format(*read)}\n")
    spec = tmp_path / "any.yaml"
    head = f"{HEAD}inputs:\n  x: float32[4]\nsteps:\n{''.join(steps)}outputs:\n"
    spec.write_text(f"{head}  y: {names[-1]} + {' + '.join(names[1::5])}\n")
    graph = specialize_graph(build(spec).entry().graph, {})

    found = cut_graph(graph)

    known = set(graph.inputs.values())
    for each in found:
        assert known.issuperset(each.takes)
        known.update(each.gives)
    if found:
        assert known.issuperset(graph.outputs.values())
        joined = [operation for each in found for operation in each.operations]
        assert joined == [o for o in graph.operations if not isinstance(o, Constant)]
        assert len({each.key for each in found}) < len(found)


@pytest.mark.usefixtures("small_blocks")
def test_a_block_that_begins_again_and_does_not_end_is_no_repetition(tmp_path: Path) -> None:
    """Though the least data crosses where the second would begin."""
    spec = tmp_path / "begun.yaml"
    spec.write_text(
        f"{HEAD}inputs:\n  x: float32[4]\nsteps:\n  a: sin(x)\n  b: cos(x)\n  c: abs(x)\n"
        "  d: sqrt(x)\n  t: tanh(x)\n  u: t + a\n  e: exp(u)\n  v: e + b\n  s: sigmoid(v)\n"
        "  w: s + c\n  r: tanh(w)\noutputs:\n  y: r + d\n"
    )
    assert cut_graph(specialize_graph(build(spec).entry().graph, {})) == ()


def test_small_blocks_stay_in_one_program(tmp_path: Path) -> None:
    """Each program costs a call some microseconds: a block must be worth them."""
    spec, _ = written(tmp_path, BLOCKS["plain"], 40)
    assert cut_graph(specialize_graph(build(spec).entry().graph, {"B": 2})) == ()


def test_blocks_are_joined_until_they_are_worth_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of twelve blocks, each program has as many as move enough memory."""
    spec, _ = written(tmp_path, BLOCKS["plain"], 12)
    graph = specialize_graph(build(spec).entry().graph, {"B": 2})
    monkeypatch.setattr(segments, "LEAST_SAVED", 2)
    lengths = []
    for least in (1, 6000):
        monkeypatch.setattr(segments, "LEAST_BYTES", least)
        found = cut_graph(graph)
        assert len({each.key for each in found}) < len(found)
        lengths.append(len(found))
    assert lengths[0] > lengths[1] > 1


def chain(folder: Path, depth: int, width: str, body: str) -> Graph:
    """The graph of a block of expressions on its input and a matrix, so many times."""
    spec = folder / "chain.yaml"
    types = f'x: "float32[{width}]", w: "float32[2048, 2048]"'
    spec.write_text(
        f"{HEAD}sizes: {{depth: {depth}}}\ninputs: {{{types}}}\nparts: {{h: block * depth}}\n"
        f'outputs: {{y: "h(x, w)", z: w}}\ndefine:\n  block:\n    inputs: {{{types}}}\n'
        f'    outputs: {{out: "{body}"}}\n'
    )
    return specialize_graph(build(spec).entry().graph, {})


@pytest.mark.parametrize(
    ("body", "width"),
    [("relu(x * 1.01) - 0.001", "2000000"), ("relu(x)", "8000000"), ("relu(-x)", "64, 9000")],
)
def test_elementwise_blocks_stay_whole_whatever_they_move(
    tmp_path: Path, body: str, width: str
) -> None:
    """XLA fuses them across blocks: a program for each would read and write all of it again."""
    assert cut_graph(chain(tmp_path, 300, width, body)) == ()


def test_blocks_of_few_operations_are_joined(tmp_path: Path) -> None:
    """A block of one large product is less than what a program has."""
    found = cut_graph(chain(tmp_path, 300, "8192, 2048", "x @ w"))
    assert len(found) == 300 // segments.LEAST_OPERATIONS + 1
    assert len({each.key for each in found}) == 2


def test_blocks_with_products_between_elementwise_operations_are_cut(tmp_path: Path) -> None:
    """Products are what a block is worth a program for."""
    found = cut_graph(chain(tmp_path, 100, "8192, 2048", "relu(x @ w * 1.01) - 0.001"))
    assert len(found) > len({each.key for each in found}) > 0


def test_the_search_compares_few_distances() -> None:
    """Those that recur most for each length: their number grows with the logarithm."""
    random = np.random.default_rng(5)
    block = random.integers(0, 50, 37)
    for count in (8, 300):
        kinds = np.concatenate([random.integers(0, 90, 200), np.tile(block, count)])
        found = segments._periods(kinds)
        assert 37 in found
        assert len(found) <= segments.MOST_DISTANCES * len(kinds).bit_length()
    assert segments._periods(np.arange(5000)) == []


@pytest.mark.usefixtures("small_blocks")
def test_programs_in_python_profit_too() -> None:
    """Blocks are found in the graph, whatever recorded it."""
    layers = [tp.Linear(8, 8) for _ in range(6)]
    random = np.random.default_rng(3)
    for each in layers:
        each.weight = tp.Tensor(random.standard_normal((8, 8)).astype(np.float32))
        each.bias = tp.Tensor(random.standard_normal(8).astype(np.float32))

    def deep(x: tp.Tensor) -> tp.Tensor:
        for each in layers:
            x = x + tp.tanh(each(x))
        return x

    made = tp.compile(deep, args=[tp.InputInfo([2, 8], tp.float32)])
    given = random.standard_normal((2, 8)).astype(np.float32)
    wanted = np.from_dlpack(deep(tp.Tensor(given)).eval())
    np.testing.assert_allclose(np.from_dlpack(made(tp.Tensor(given))), wanted, atol=1e-5)

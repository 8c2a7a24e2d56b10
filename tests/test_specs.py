"""Specs beside code that nobody here wrote: each that has a `test:`, with the same weights."""

import pytest
import spec_tests
from model_table import promised
from spec_tests import Comparison, difference

import tripybuild
from tripybuild.model.graph_builder import build
from tripybuild.testing import sample_tuples
from tripybuild.weights.names import is_unused_name, name_in_file

pytest.importorskip("torch", reason="torch is not installed")

SPECS = spec_tests.tested()
FORMS = ("dynamic", "static")
ENGINES = sample_tuples(
    [f"{n}-{f}-{d}" for n in SPECS for f in FORMS for d in ("float32", "float16")]
)


@pytest.fixture(scope="session")
def comparisons(tmp_path_factory):
    """Each spec with its peer, which is drawn when it is asked for."""
    folder = tmp_path_factory.mktemp("peers")
    return {name: Comparison(spec_tests.SPECS / f"{name}.yaml", folder / name) for name in SPECS}


@pytest.fixture(autouse=True)
def _cache(shared_cache):
    """Nothing is found that another session compiled."""


def check(comparison, executable, limit, shapes):
    """The outputs of each entry are the peer's, for this part of its shapes."""
    for call in comparison.calls:
        for seed, sizes in enumerate(call.section.shapes[shapes]):
            arrays = call.draw(sizes, seed)
            apart = difference(call.run(executable, arrays, sizes), call.expected(arrays))
            assert apart <= limit, f"{call.name} of {sizes}: {apart:.1e}"


@pytest.mark.parametrize("name", SPECS)
def test_outputs_are_the_peers(name, comparisons):
    """In float32, for two sizes of everything that is dynamic, as near as the README says."""
    comparison = comparisons[name]
    assert all(len(call.section.shapes) >= 2 for call in comparison.calls)
    limit = min(comparison.tolerance("float32"), promised(name))
    check(comparison, comparison.compile(), limit, slice(None))


@pytest.mark.parametrize("name", SPECS)
def test_outputs_of_onnx_runtime_are_the_peers(name, comparisons):
    """In float32, for the same sizes, with one program for all of them."""
    comparison = comparisons[name]
    executable = comparison.compile(target="cpu:onnxruntime,threads=1")
    limit = min(comparison.tolerance("float32"), promised(name))
    check(comparison, executable, limit, slice(None))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", SPECS)
def test_outputs_of_fixed_sizes_are_the_peers(name, dtype, comparisons):
    """Each size set by `--set`, in each dtype."""
    comparison = comparisons[name]
    executable = comparison.compile(dtype=dtype, static=True)
    assert not any(each.manifest["ranges"] for each in executable.entries.values())
    check(comparison, executable, comparison.tolerance(dtype), slice(1))


@pytest.mark.parametrize("name", SPECS)
def test_a_slip_would_be_noticed(name, comparisons):
    """A weight that is left out and another epsilon change what the peer gives."""
    comparison = comparisons[name]
    least = comparison.tolerance("float32")
    slips = comparison.slips().items()
    wrong = [f"{slip}: {apart:.1e}" for slip, apart in slips if apart <= least]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("case", ENGINES)
def test_engines_are_built(case, comparisons):
    """By TensorRT-RTX, for ranges of sizes and for fixed ones."""
    pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    name, form, dtype = case.split("-")
    engine = comparisons[name].compile(target="tensorrt-rtx", dtype=dtype, static=form == "static")
    plans = [name for name in engine.members if name.endswith("engine.plan")]
    assert len(plans) == len(engine.entries)
    assert all(len(bytes(engine.member(name))) > 10_000 for name in plans)
    ranges = [bool(each.manifest["ranges"]) for each in engine.entries.values()]
    assert ranges == [form == "dynamic"] * len(ranges)


@pytest.mark.parametrize("name", SPECS)
def test_the_full_size_lowers(name, comparisons):
    """The model as it is published is traced, checked and lowered, without its weights."""
    comparison = comparisons[name]
    for entry in comparison.file.entries or [None]:
        assert "stablehlo." in tripybuild.emit(comparison.path, "stablehlo", entry=entry)


@pytest.mark.parametrize("name", [each for each in SPECS if spec_tests.published(each)])
def test_the_full_size_has_the_weights_of_published_checkpoints(name, comparisons):
    """Their names and shapes; what the model does not need is listed as unused."""
    compare_weights(build(comparisons[name].path), comparisons[name].published_weights())


def test_a_size_makes_the_small_mobilenet():
    """The other of the two that torchvision has."""
    from oracles import peers  # noqa: PLC0415 - where torch is installed

    held = peers.published_weights("torchvision.models.mobilenet_v3_small", {}, {})
    compare_weights(build(spec_tests.SPECS / "mobilenet_v3.yaml", {"large": False}), held)


def compare_weights(built, held):
    """What a model needs is what a checkpoint holds."""
    wanted = {name_in_file(n, built.weights): v for n, v in built.stored_weights.items()}
    assert {n: tuple(v.shape) for n, v in wanted.items()} == {n: held.get(n) for n in wanted}
    left = [n for n in held if n not in wanted and not is_unused_name(n, built.weights)]
    assert left == []

"""Executables: what they compute, when they compile, what they are after a trip through a file."""

import json

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.artifact import container
from tripybuild.compiler import executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.xla import pjrt
from tripybuild.worker import compiler_process

TEXT = """
inputs:
  x: F[S, 4]
  k: int32[()]
ranges:
  S: {opt: 2, max: 8}
parts:
  l: Linear(4, 4)
steps:
  y: l(x)
outputs:
  pairs: reshape(softmax(y, 1), [S // 2, 8])
  same: x
  weight: l.weight
  k: k + 1
weights: tiny.safetensors
"""
K = np.int32(3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, its weights, a cache, and the compiled model."""
    found = tmp_path_factory.mktemp("executable")
    random = np.random.default_rng(7)
    arrays = {name: random.normal(size=shape) for name, shape in (("weight", (4, 4)), ("bias", 4))}
    save_file(
        {f"l.{n}": a.astype(np.float32) for n, a in arrays.items()}, found / "tiny.safetensors"
    )
    spec = written.write(found, TEXT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIPYBUILD_CACHE_DIR", str(found / "cache"))
        tripybuild.compile(spec, target="cpu:xla", output=found / "tiny.tpb")
        tripybuild.compile(spec, target="reference", output=found / "reference.tpb")
        yield found


@pytest.fixture
def compilations(monkeypatch):
    """The sizes of the modules that were given to the compiler."""
    seen = []
    session = compiler_process.session()
    real = session.compile

    def compile(target, module, **options):
        seen.append(len(module))
        return real(target, module, **options)

    monkeypatch.setattr(session, "compile", compile)
    return seen


def inputs(size):
    return np.random.default_rng(size).normal(size=(size, 4)).astype(np.float32)


def test_the_reference_and_the_compiler_agree(folder):
    """The same model, by NumPy from the declarations and by XLA."""
    cpu, reference = (tripybuild.load(folder / f"{n}.tpb") for n in ("tiny", "reference"))

    for size in (2, 6):
        got, want = (run(x=inputs(size), k=K) for run in (cpu, reference))
        assert list(got) == list(want) == ["pairs", "same", "weight", "k"]
        for name, value in got.items():
            assert (value.shape, value.dtype) == (want[name].shape, want[name].dtype)
            np.testing.assert_allclose(value, want[name], rtol=1e-5, atol=1e-6)


def test_what_the_file_holds_is_not_compiled_again(folder, compilations, monkeypatch, tmp_path):
    """Not even with an empty cache; other sizes are compiled once, and then remembered."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path))
    run = tripybuild.load(folder / "tiny.tpb")
    run(x=inputs(2), k=K)
    assert compilations == []

    run(x=inputs(4), k=K)
    run(x=inputs(4), k=K)
    assert len(compilations) == 1

    tripybuild.load(folder / "tiny.tpb")(x=inputs(4), k=K)
    assert len(compilations) == 1


def test_sizes_can_be_compiled_ahead(folder, compilations):
    """Each asked-for combination is in the file."""
    made = tripybuild.compile(folder / "tiny.yaml", target="cpu:xla", shapes=[{"S": 6}, {"S": 2}])
    compilations.clear()

    made(x=inputs(6), k=K)

    assert [each["name"] for each in made.entry().manifest["specialisations"]] == ["S=2", "S=6"]
    assert compilations == []


def test_not_all_sizes_stay_in_memory(folder, compilations, monkeypatch):
    """A program that was let go is read again from the cache, and compiled once all the same."""
    monkeypatch.setattr(executable, "MOST_LOADED", 2)
    run = tripybuild.load(folder / "tiny.tpb")
    for size in (2, 4, 6, 8, 2, 4, 4, 8, 6):
        np.testing.assert_array_equal(run(x=inputs(size), k=K)["same"], inputs(size))
        assert len(run.entry()._by_sizes) <= 2
        assert set(run.entry()._prepared.values()) == set(run.entry()._by_sizes.values())
    assert len(compilations) <= 3, "the file has one of them"


@pytest.mark.parametrize("name", ["tiny", "reference"])
def test_outputs_own_their_memory(folder, name):
    """Whoever writes to one changes neither inputs, nor weights, nor later results."""
    run = tripybuild.load(folder / f"{name}.tpb")
    x = inputs(2)
    first = run(x=x, k=K)
    kept = {key: value.copy() for key, value in first.items()}
    for value in first.values():
        value[...] = 77

    again = run(x=inputs(2), k=K)

    np.testing.assert_array_equal(x, inputs(2))
    for key, value in again.items():
        np.testing.assert_array_equal(value, kept[key])
    del run
    np.testing.assert_array_equal(first["same"], np.full((2, 4), 77))


def test_layouts_of_inputs_do_not_matter(folder):
    """Transposed, reversed, broadcast, read-only, foreign: each time, not only the first."""

    class Foreign:
        shape, dtype = (2, 4), np.dtype(np.float32)

        def __dlpack__(self, **options):
            return inputs(2).__dlpack__(**options)

        def __dlpack_device__(self):
            return inputs(2).__dlpack_device__()

    run = tripybuild.load(folder / "tiny.tpb")
    want = run(x=inputs(2), k=K)["pairs"]
    read_only = inputs(2)
    read_only.flags.writeable = False
    reverse = np.ascontiguousarray(inputs(2)[::-1])[::-1]
    for x in (np.asfortranarray(inputs(2)), reverse, read_only, Foreign(), Foreign()):
        for k in (3, K, np.array(3, np.int32)):
            np.testing.assert_array_equal(run(x=x, k=k)["pairs"], want)


def test_an_open_law_is_decided_before_native_code(folder, compilations, monkeypatch):
    """Nothing is lowered, compiled or run for sizes that break it."""
    monkeypatch.setattr(pjrt, "load", lambda *_: pytest.fail("native code"))
    run = tripybuild.load(folder / "tiny.tpb")

    with pytest.raises(DiagnosticError) as raised:
        run(x=inputs(3), k=K)

    (found,) = raised.value.diagnostics
    assert found.code.startswith("reshape/")
    assert any("this call has S = 3" in note for note in found.notes)
    assert compilations == []


def test_a_call_that_does_not_fit_leaves_the_executable_usable(folder):
    """Errors are not remembered as results."""
    run = tripybuild.load(folder / "tiny.tpb")
    for arrays in ({"x": inputs(2)}, {"x": inputs(2), "k": K, "z": K}, {"x": inputs(9), "k": K}):
        with pytest.raises(DiagnosticError):
            run(**arrays)

    assert run(x=inputs(2), k=K)["k"] == 4
    with pytest.raises(DiagnosticError):
        run(x=inputs(2), k=K, z=K)


# --- files ---


def test_saving_gives_the_same_bytes(folder, tmp_path):
    """Loading loses nothing, and nothing depends on the time or the folder."""
    tripybuild.load(folder / "tiny.tpb").save(tmp_path / "again.tpb")
    tripybuild.compile(folder / "tiny.yaml", target="cpu:xla", output=tmp_path / "anew.tpb")

    content = (folder / "tiny.tpb").read_bytes()
    assert (tmp_path / "again.tpb").read_bytes() == content
    assert (tmp_path / "anew.tpb").read_bytes() == content


def test_files_that_were_changed_are_refused(folder, tmp_path):
    """Wherever a byte differs or the end is missing."""
    content = (folder / "tiny.tpb").read_bytes()
    path = tmp_path / "changed.tpb"
    for place in range(0, len(content), len(content) // 40):
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(changed)
        with pytest.raises(DiagnosticError, match="executable-"):
            tripybuild.load(path)
        path.write_bytes(content[:place])
        with pytest.raises(DiagnosticError, match="executable-"):
            tripybuild.load(path)


def entry(content):
    """What a manifest says of its only entry."""
    return content["entries"][0]


def rewritten(folder, path, change):
    """A file with another manifest, and right digests."""
    with container.open(folder / "tiny.tpb") as file:
        members = {name: bytes(file.read(name)) for name in file.manifest.members}
        content = json.loads(json.dumps(dict(file.manifest.content)))
    change(content, members)
    container.write(path, content, members)
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda content, _: content.clear(),
        lambda content, _: entry(content).pop("inputs"),
        lambda content, _: entry(content).update(ranges=3),
        lambda content, _: entry(content).update(
            inputs=[{"name": "x", "dtype": "str", "shape": []}]
        ),
        lambda content, _: entry(content).update(outputs=None),
        lambda content, _: entry(content)["ranges"]["S"].update(min="many"),
        lambda content, _: entry(content)["outputs"].append(entry(content)["outputs"][0]),
        lambda content, _: entry(content)["inputs"][0].update(name=3),
        lambda content, _: entry(content)["laws"][0].update(that="1 +"),
        lambda content, _: entry(content)["laws"][0].pop("names"),
        lambda content, _: content["versions"].clear(),
        lambda content, _: content.update(asked="no"),
        lambda content, _: content["entries"].clear(),
        lambda content, _: content["entries"].append(entry(content)),
        lambda content, _: content.update(entries={"": entry(content)}),
        lambda content, _: entry(content).update(name="../x"),
        lambda content, _: entry(content).update(name="x"),
        lambda content, _: entry(content)["specialisations"].append({}),
        lambda content, _: entry(content).update(buckets=3),
        lambda content, _: entry(content).update(buckets={"S": []}),
        lambda content, _: entry(content).update(buckets={"S": [1, 2]}),
        lambda content, _: entry(content).update(buckets={"S": [8, 2]}),
        lambda content, _: entry(content).update(buckets={"S": [2, True, 8]}),
        lambda content, _: entry(content).update(buckets={"T": [8]}),
        lambda _, members: members.pop("trace.json"),
        lambda _, members: members.pop("cpu/S=2.bin"),
    ],
)
def test_manifests_that_describe_no_model(folder, tmp_path, change):
    """A digest says that nothing was damaged, not that it makes sense."""
    path = rewritten(folder, tmp_path / "made-up.tpb", change)

    with pytest.raises(DiagnosticError, match="executable-"):
        tripybuild.load(path)


@pytest.mark.parametrize("target", ["warp", "CPU", "", "cpu:sm89"])
def test_a_target_that_is_none_is_refused(folder, tmp_path, target):
    """A manifest of somebody else, or of a later version, is not run as another target."""
    path = rewritten(folder, tmp_path / "warp.tpb", lambda c, _: c.update(target=target))

    with pytest.raises(DiagnosticError, match=f"unknown-target.*`{target}`"):
        tripybuild.load(path)


def test_a_graph_that_makes_no_sense(folder, tmp_path):
    """It is read only when it is needed, and then it is a diagnostic, too."""
    path = rewritten(folder, tmp_path / "g.tpb", lambda _, m: m.update({"trace.json": b"[1"}))

    run = tripybuild.load(path)

    assert run(x=inputs(2), k=K)["k"] == 4  # what was compiled ahead needs no graph
    with pytest.raises(DiagnosticError, match="executable-altered"):
        run(x=inputs(4), k=K)


@pytest.mark.parametrize(
    "change",
    [
        lambda content, _: entry(content)["arguments"].pop(),
        lambda content, _: entry(content)["arguments"].reverse(),
        lambda content, _: entry(content)["outputs"].pop(),
        lambda content, _: entry(content)["inputs"][0]["shape"].append(1),
        lambda _, members: members.pop("weights.safetensors"),
    ],
)
def test_a_program_of_another_model(folder, tmp_path, change):
    """What it takes and gives is compared with the manifest before it runs, as the graph's is."""
    run = tripybuild.load(rewritten(folder, tmp_path / "other.tpb", change))

    for size in (2, 4):
        x = inputs(size).reshape(size, 4, *[1] * (run.inputs["x"]["shape"] != ["S", 4]))
        with pytest.raises(DiagnosticError, match="executable-altered"):
            run(x=x, k=K)


def test_another_version_runs_what_is_there_and_compiles_nothing_more(folder, tmp_path):
    """Its operators may lower differently: the message says how to go on."""
    path = rewritten(
        folder, tmp_path / "old.tpb", lambda c, _: c["versions"].update(tripybuild="0.0.1")
    )
    run = tripybuild.load(path)

    assert run(x=inputs(2), k=K)["k"] == 4
    with pytest.raises(DiagnosticError) as raised:
        run(x=inputs(4), k=K)
    (found,) = raised.value.diagnostics
    assert found.code == "executable-version"
    assert "0.0.1" in found.message
    assert found.hint == "compile the model again, with `--shapes S=4`"


def test_another_machine_compiles_the_stored_module(folder, tmp_path, compilations, monkeypatch):
    """The payload is for one processor and runtime; the module beside it is for all."""

    def change(content, _):
        entry(content)["specialisations"][0]["identity"] = {"jaxlib": "0.0"}
        content["versions"]["tripybuild"] = "0.0.1"

    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path))
    run = tripybuild.load(rewritten(folder, tmp_path / "far.tpb", change))

    got = run(x=inputs(2), k=K)["pairs"]

    want = tripybuild.load(folder / "tiny.tpb")(x=inputs(2), k=K)["pairs"]
    np.testing.assert_array_equal(got, want)
    assert len(compilations) == 1


@pytest.mark.parametrize("value", ["[F]", "inf", '"-inf"', "None", '"[1, [2, 3]]"'])
def test_sizes_of_any_kind_are_stored(tmp_path, value):
    """What is no number is written so that it can be read."""
    text = f"sizes:\n  a: {value}\ninputs:\n  x: F[4]\noutputs:\n  out: x\n"
    path = written.write(tmp_path, text.replace("a: [F]", 'a: "[F]"'))

    tripybuild.compile(path, target="reference", output=tmp_path / "a.tpb")

    assert tripybuild.load(tmp_path / "a.tpb")(x=np.ones(4, np.float32))["out"].sum() == 4


def test_requests_that_cannot_be(folder):
    """Unknown targets, sizes and shapes."""
    spec = folder / "tiny.yaml"
    for options, code in (
        ({"target": "gpu"}, "unknown-target"),
        ({"sizes": {"width": 3}}, "unknown-size"),
        ({"shapes": [{"T": 1}]}, "unknown-size"),
        ({"shapes": [{"S": 9}]}, "size-out-of-range"),
    ):
        with pytest.raises(DiagnosticError) as raised:
            tripybuild.compile(spec, **options)
        assert [d.code for d in raised.value.diagnostics] == [code]

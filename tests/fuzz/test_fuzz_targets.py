"""Fuzzers at small size: Hypothesis draws the edits that `make fuzz` draws by the million."""

import random
import shutil
import time

import pytest
from fuzzing.edits import mutate, mutate_json
from fuzzing.engines import Trial, own_loop
from fuzzing.harness import Disagreement, Target, check
from fuzzing.targets import TARGETS
from fuzzing.texts import _mutate_yaml
from hypothesis import given, settings, strategies as st

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

DRAWN = ("operators", "specs", "workspaces", "mlir", "containers", "manifests", "snippets")


@pytest.fixture(scope="module")
def targets(tmp_path_factory):
    """Targets by name, each made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        made = {}

        def get(name):
            if name not in made:
                made[name] = TARGETS[name](tmp_path_factory.mktemp(name))
            return made[name]

        yield get


@pytest.mark.parametrize("name", DRAWN)
def test_only_diagnostics_leave(targets, name):
    """Any edit of a seed, and any two seeds in one, are read or refused."""
    target = targets(name)
    seeds = [data for _, data in sorted(target.seeds().items()) if len(data) < 3000]
    assert seeds

    @settings(max_examples=12, deadline=None, derandomize=True, database=None)
    @given(pick=st.randoms(use_true_random=False))
    def ask(pick):
        data = target.mutate(pick.choice(seeds), pick.choice(seeds), pick)
        verdict = check(target, data)
        assert not verdict.is_finding, verdict

    ask()


@pytest.mark.parametrize("name", ["mlir", "onnx", "pt2", "safetensors", "snippets", "workspaces"])
def test_the_corpus(targets, name):
    """What was found once stays mended, and what stands there is of use."""
    if name == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    target = targets(name)
    kept = [data for each, data in target.seeds().items() if each not in target.made]
    verdicts = [check(target, data) for data in kept or target.made.values()]
    assert not [each for each in verdicts if each.is_finding]
    assert any(each.kind == "accepted" for each in verdicts) or name == "mlir"


def target_of(read):
    """A target that does something with what it is given."""
    return Target(name="none", suffix=".bin", read=read, made={"one": b"abc"})


def raising(error):
    """A reader that raises."""

    def read(_):
        raise error

    return read


def busy(_):
    end = time.process_time() + 9
    while time.process_time() < end:
        pass


def test_the_contract_is_asked():
    """Whatever breaks it is told from what does not."""
    refused = DiagnosticError(Diagnostic("wrong-value", "no"))
    kinds = {
        "accepted": lambda _: "",
        "refused": raising(refused),
        "raised": raising(KeyError("x")),
        "greedy": raising(MemoryError()),
        "hung": busy,
    }
    assert {kind: check(target_of(read), b"", 0.2).kind for kind, read in kinds.items()} == {
        kind: kind for kind in kinds
    }
    assert check(target_of(raising(Disagreement("x"))), b"").is_finding


def test_a_finding_is_a_file(tmp_path):
    """The loop finds what a reader cannot bear, and writes it where it can be read again."""

    def read(data):
        if data.count(b"a") > 3:
            raise IndexError("too many")
        return str(len(data) % 3)

    (tmp_path / "corpus").mkdir()
    trial = Trial(target_of(read), tmp_path)
    own_loop(trial, 0.5, 1)
    (name,) = trial.account.findings.values()
    assert (tmp_path / name).read_bytes().count(b"a") > 3
    assert trial.account.trials == sum(trial.account.kinds.values())
    shutil.rmtree(tmp_path)


def test_edits_follow_from_their_seed():
    """The same randomness gives the same file, and JSON stays JSON."""
    text = b'{"a": [1, 2.5, "x"], "b": {"c": null}}'
    for number in range(50):
        one, other = (mutate(text, random.Random(number)) for _ in range(2))
        assert one == other
        assert mutate_json(text, random.Random(number)) == mutate_json(text, random.Random(number))


def test_edits_of_a_small_file_stay_bytes():
    """An edit may take the place of a whole file, which is no mapping then."""
    for number in range(200):
        assert isinstance(_mutate_yaml(b"a: 1\n", random.Random(number), []), bytes)

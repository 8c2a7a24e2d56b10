"""Files that ask for minutes or gigabytes end soon, and in words; real ones are far from that."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import small_files

from tripybuild.errors import budget
from tripybuild.errors.limits import MOST_PROBLEMS, within_budget
from tripybuild.model.graph_builder import build
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.writing import printer

HERE = Path(__file__).parent
SPECS = HERE.parent.parent / "specs"
# Several times what each file takes, alone and on a quiet machine.
MOST_SECONDS = 8
MOST_MEMORY = 600 << 20

# What is said of each file, and with what part of the budget, where the whole would only be slow.
SAID = {
    "unknown keys": ("29,900 more problems are not shown", ""),
    "unknown names": ("1,900 more problems are not shown", ""),
    "names like others": ("1,900 more problems are not shown", ""),
    "a long part 2,000 times": ("more than 100,000 operations", ""),
    "a long part 10,000 times": ("more than 20,000 operations", "0.2"),
    "calls that double": ("more than 20,000 operations", "0.2"),
    "sizes that count": ("more than 1,500,000 steps", "0.3"),
    "steps that loop": ("more than 20,000 operations", "0.2"),
    "many expressions": ("more than 150,000 characters of expressions", "0.3"),
    "many sizes and parts": ("y = relu", ""),
    "a chain of sizes": ("return y=x", ""),
    "many weights": ("more than 40,000 parts, weights and calls", "0.2"),
    "a list of a size": ("the snippet needs more than 200,000 steps", ""),
    "a splat": ("dense<0.000000e+00> : tensor<2000000000xf32>", ""),
    "a hexadecimal splat": ("dense<0.000000e+00> : tensor<2000000000xf32>", ""),
    "a splat of truth": ("dense<true> : tensor<2000000000xi1>", ""),
    "a splat that is folded": ("dense<-1.000000e+00> : tensor<2000000000xf16>", ""),
    "a splat beyond arrays": ("a constant has at most 281,474,976,710,656 elements", ""),
    "a complex splat": ("a constant has at most 1,048,576 complex elements", ""),
    "aliases that double": ("20,000,000 characters once its aliases are written out", ""),
    "types that double": ("20,000,000 characters once its aliases are written out", ""),
    "locations that double": ("20,000,000 characters once its aliases are written out", ""),
    "a rank of 100,000": ("a type has at most 1,024 dimensions", ""),
    "seven type variables": ("more than 10,000 combinations of the dtypes", ""),
    "laws of an executable": ("more than 1,500,000 steps", "0.3"),
    "a manifest of lists": ("its manifest is too large", ""),
    "a trace of lists": ("more than 5,000,000 values in its JSON", ""),
    "a trace of operations": ("more than 10,000 operations", "0.1"),
    "a header of lists": ("more than 5,000,000 values in its JSON", ""),
    "a million tensors": ("more than 5,000,000 values in its JSON", ""),
    "many tensors left over": ("the model does not use 50,000 tensors of the file", ""),
}
FINE = {"y = relu", "return y=x", "dense<"}


@pytest.fixture(scope="module")
def costs(tmp_path_factory):
    """What is said of each file, and what it costs, measured in a process with limits."""
    wanted = [f"{name}={factor}" for name, (_, factor) in SAID.items()]
    folder = str(tmp_path_factory.mktemp("small"))
    command = [sys.executable, str(HERE / "small_files.py"), folder, *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {each["name"]: each for each in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0, f"after {list(found)[-1:]}: {done.stderr[-2000:]}"
    return found


def test_all_files_are_measured():
    """Each file has something that is said of it."""
    assert SAID.keys() == small_files.FILES.keys()


@pytest.mark.parametrize("name", SAID)
def test_small_file(name, costs):
    """It ends in words, soon, and takes little memory."""
    found, (words, _) = costs[name], SAID[name]
    assert words in found["said"]
    assert "internal" not in found["codes"]
    assert bool(found["codes"]) == (not words.startswith(tuple(FINE)))
    assert ("over-budget" in found["codes"]) == ("allows ten times as much" in found["said"])
    assert found["seconds"] < MOST_SECONDS
    assert found["memory"] < MOST_MEMORY


@pytest.mark.parametrize(
    ("spec", "sizes"),
    [("gpt2", {}), ("gpt2", {"depth": 100}), ("llama", {}), ("minilm", {}), ("resnet50", {})],
)
def test_real_specs_take_a_tenth(spec, sizes):
    """What real models need is far from every limit, also of a model of a hundred layers."""
    with within_budget(budget=budget.Budget()) as spent:
        build(SPECS / f"{spec}.yaml", sizes)
    for unit, amount in spent.usage().items():
        assert 10 * amount <= budget.LIMITS[unit].amount, unit


@pytest.mark.parametrize(
    ("factor", "limit"), [("2", 200_000), ("0.5", 50_000), ("", 100_000), ("x", 100_000)]
)
def test_the_environment_multiplies_limits(factor, limit, monkeypatch):
    """A person who trusts a file allows it more; what is no number changes nothing."""
    monkeypatch.setenv(budget.FACTOR, factor)
    assert budget.Budget().left["operations"] == limit
    for odd in ("nan", "inf", "-1", "0"):
        monkeypatch.setenv(budget.FACTOR, odd)
        assert budget.Budget().left["operations"] == 100_000


def test_programs_have_no_budget():
    """Nothing is counted where no file is open, and a file within a file spends what that has."""
    budget.spend("operations", 10**9)
    assert budget.try_spend("suggestions", 10**9)
    with budget.use_budget() as outer:
        with budget.use_budget() as inner:
            budget.spend("operations", 7)
        assert inner is outer
        assert outer.usage()["operations"] == 7
        with pytest.raises(budget.BudgetError, match="100,000 operations"):
            budget.spend("operations", 10**9)
    assert budget.current() is None


def test_problems_are_counted_to_the_last(tmp_path):
    """As many as are shown need no word about others."""
    from tripybuild.errors.diagnostics import DiagnosticError  # noqa: PLC0415

    path = tmp_path / "m.yaml"
    for count, codes in ((MOST_PROBLEMS, set()), (MOST_PROBLEMS + 1, {"more-problems"})):
        path.write_text(
            f"{small_files.MODEL}{small_files.SAME}{small_files.lines('k{i}: 1', count)}"
        )
        with pytest.raises(DiagnosticError) as failure:
            build(path)
        found = failure.value.diagnostics
        assert {each.code for each in found} - {"unknown-key"} == codes
        assert len(found) == MOST_PROBLEMS + len(codes)
        assert "1 more problem is not shown" in str(failure.value) or not codes


@pytest.mark.parametrize("words", ["2.5", '"0x00002040"'])
def test_large_splats_are_one_element(words):
    """In the module, as an array, and when it is printed and read again."""
    count = elements.LARGEST_SPLAT
    text = small_files.splat(words, f"tensor<{count}xf32>")
    module = parser.parse(text)
    (constant,) = (op.weights for op in module.walk() if op.name == "tensorrt.constant")
    array = elements.to_numpy(constant)
    assert len(constant.data.data) == 4
    assert array.shape == (count,)
    assert (array[0], array[-1]) == (2.5, 2.5)
    assert elements.from_numpy(array, constant.type) == constant
    assert elements.from_numpy(array.copy(), constant.type) == constant
    again = printer.text(module)
    assert "dense<2.500000e+00>" in again
    assert printer.text(parser.parse(again)) == again

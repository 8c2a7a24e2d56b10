"""Which tuples of dtypes the suites ask by default."""

import re
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import pytest

from tripybuild.process import paths
from tripybuild.schema.operator.dtype_combinations import (
    engine_tuples,
    format_tuple,
    illegal_tuples,
    is_pairwise,
    mismatched_tuples,
)
from tripybuild.testing import Suite
from tripybuild.testing.engines import tensorrt_checks
from tripybuild.testing.pairwise import pairwise
from tripybuild.testing.registry import registry

ROOT = Path(__file__).resolve().parents[3]
OPERATORS = registry(paths.registry()).operators.values()


def pairs(tuples):
    """Each pair of dtypes with its slots."""
    return {pair for each in tuples for pair in combinations(enumerate(each.split("-")), 2)}


def test_every_pair_is_asked_of_every_operator():
    sizes = {}
    for operator in filter(is_pairwise, OPERATORS):
        whole = [format_tuple(each) for each in engine_tuples(operator)]
        sample = pairwise(whole)
        assert pairs(sample) == pairs(whole), operator.name
        assert sample == [each for each in whole if each in sample], "the declared order"
        sizes[operator.name] = len(sample), len(whole)
    assert any(few < many / 4 for few, many in sizes.values()), sizes


def test_what_is_not_decomposed_is_asked_as_a_whole():
    for operator in OPERATORS:
        assert operator.decompose is not None or not is_pairwise(operator)


def test_laws_forbid_tuples_and_not_pairs():
    """A sample has legal tuples only, also where laws leave few."""
    legal = ["-".join(t) for t in product("abc", repeat=4) if len(set(t)) == 2]
    assert pairs(pairwise(legal)) == pairs(legal)
    assert len(pairwise(legal)) < len(legal) / 2


def test_one_or_two_slots_are_all():
    assert pairwise(["a", "b"]) == ["a", "b"]
    assert pairwise(["a-b", "b-a"]) == ["a-b", "b-a"]
    assert pairwise(["any"]) == ["any"]
    assert pairwise([]) == []


@pytest.mark.parametrize("name", ["full_like", "logical_and", "where", "one_hot"])
def test_each_dtype_of_a_slot_is_refused_in_each_way_that_it_is(name, monkeypatch):
    """Of what the support table has, TensorRT is asked a sample; of what it has not, everything."""
    monkeypatch.setattr(tensorrt_checks, "is_full", lambda: False)
    operator = registry(paths.registry()).operators[name]
    suite = Suite(operator.path, "tripyapi", str(ROOT / "generated/suites/test.py"))
    illegal = [t for t, _ in (*illegal_tuples(operator), *mismatched_tuples(operator))]

    def verdicts(tuples):
        return {(n, t, suite._table_level(each)) for each in tuples for n, t in each.items()}

    assert verdicts(suite.refused_tuples) == verdicts(illegal)
    assert len(suite.refused_tuples) < len(illegal) / 2
    other = Suite(operator.path, "tripyapi", str(ROOT / "suites/test.py"))
    assert len(other.refused_tuples) == len(illegal) or is_pairwise(operator)


def test_the_option_decides_also_where_suites_run_alone():
    """Without it they ask the sample, as each run of them shows."""
    operator = next(filter(is_pairwise, OPERATORS))
    suite = operator.path.replace("ops_registry", "generated/suites")
    suite = re.sub(r"(\w+)\.yaml$", r"test_\1.py", suite)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "--full", f"{suite}::test_values"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    whole = [format_tuple(each) for each in engine_tuples(operator)]
    asked = re.findall(r"::test_values\[(.+)\]", done.stdout)
    assert asked == whole

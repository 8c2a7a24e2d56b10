"""`generated/docs/support.md` is true: it fits the declarations, and compilers say what it says.

The whole page is proved by `--full`, and written by `--full --update` (`make support`).
"""

import fcntl
from dataclasses import replace
from pathlib import Path

import built_in
import pytest

import tripyapi
from tripybuild.schema.operator.dtype_combinations import format_tuple, legal_tuples
from tripybuild.testing import Suite
from tripybuild.testing.engines import onnx_checks, openvino_checks, support_table
from tripybuild.testing.engines.conformance import Subject
from tripybuild.testing.engines.onnx_support import onnx_support, with_onnx
from tripybuild.testing.engines.support_table import ENGINES, allowed_outcomes, fits
from tripybuild.testing.support_matrix import support_matrix
from tripybuild.types.dtypes import BY_NAME

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "generated" / "docs" / "support.md"
REGISTRY = built_in.declared()
TARGETS = REGISTRY.targets["tensorrt"], REGISTRY.targets["tensorrt-rtx"]


def again(names):
    """How to prove operators again."""
    return f"prove it again: make support ONLY='{names}'"


def subject(name):
    """An operator as TensorRT is asked about it."""
    return Subject.of(REGISTRY.operators[name], getattr(tripyapi, name), REGISTRY.targets)


def table():
    """The rows of each operator."""
    return support_table.parse_page(PAGE.read_text(encoding="utf-8"))


def page(rows):
    """The page with these rows."""
    return support_table.page(REGISTRY.operators, rows, TARGETS[1].gpus)


def test_the_page_has_each_operator_once_and_in_its_own_form():
    found = table()
    missing = REGISTRY.operators.keys() ^ found.keys()
    assert not missing, again(" or ".join(sorted(missing)))
    assert page(found) == PAGE.read_text(encoding="utf-8")


def test_the_page_fits_the_declarations():
    """Each tuple has one row, and its cells are what the declaration allows."""
    wrong = {name: list(misfits(subject(name), rows)) for name, rows in table().items()}
    problems = [f"{name}: {each}" for name, found in wrong.items() for each in found]
    names = " or ".join(name for name, found in wrong.items() if found)
    assert not problems, "\n".join([*problems, again(names)])


@pytest.mark.parametrize(
    ("name", "change", "wrong"),
    [
        ("full_like", {"targets": {}}, "unread"),
        ("all", {"targets": {}}, "numbers"),
        ("softmax", {"types": {"T": (BY_NAME["float32"], BY_NAME["bfloat16"])}}, "float16"),
    ],
)
def test_what_dtypes_alone_do_not_explain_is_declared(name, change, wrong):
    """An engine of a refused tuple is not offered by default; what is otherwise has to be said."""
    of = subject(name)
    assert not list(misfits(of, table()[name]))
    of = replace(of, operator=replace(of.operator, **change))
    problems = list(misfits(of, table()[name]))
    assert any(wrong in each for each in problems)


def misfits(of, rows):
    """What of an operator's rows its declaration does not allow."""
    part, choices = support_table.parse_rows(of.operator, rows), allowed_outcomes(of)
    yield from (f"{'-'.join(key)} has no row" for key in choices.keys() - part.keys())
    yield from (f"{'-'.join(key)} is not a tuple" for key in part.keys() - choices.keys())
    for key in part.keys() & choices.keys():
        if not fits(part[key], choices[key]):
            yield f"{'-'.join(key)} is {part[key]}, and not as declared"


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(REGISTRY.operators))
def test_compilers_say_what_the_page_says(name, update):
    """Every tuple in every shape on every target."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    operator = REGISTRY.operators[name]
    found = support_matrix(subject(name))
    assert not found.problems, "\n".join(found.problems)

    def change(known):
        return with_onnx(found.part, {key: outcome[ENGINES] for key, outcome in known.items()})

    if update:
        record(operator, change)
    assert table().get(name) == support_table.rows(operator, change(written(operator))), again(name)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(REGISTRY.operators))
def test_engines_of_onnx_say_what_the_page_says(name, update):
    """Every legal tuple, in every shape: which opset has a model, and which engines compute it."""
    for distribution in (*onnx_checks.DISTRIBUTIONS, openvino_checks.DISTRIBUTION):
        pytest.importorskip(distribution, reason=f"{distribution} is not installed")
    operator = REGISTRY.operators[name]
    found = onnx_support(Suite(operator.path, "tripyapi", str(PAGE), exhaustive=True))
    if update:
        record(operator, lambda known: with_onnx(known, found.cells, found.reasons))
    assert not found.problems, "\n".join(found.problems)
    known = written(operator)
    wrong = {key for key, cells in found.cells.items() if known[key][ENGINES] != cells}
    assert not wrong, again(name)


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(REGISTRY.operators))
def test_cpu_computes_what_the_reference_computes(name):
    """Every legal tuple in every shape, where the default run asks the first of each kind."""
    operator = REGISTRY.operators[name]
    suite = Suite(operator.path, "tripyapi", str(PAGE), exhaustive=True)
    for types in dict.fromkeys(map(format_tuple, legal_tuples(operator))):
        suite.check_values(types)


def written(operator):
    """The outcomes that the page has of an operator."""
    return support_table.parse_rows(operator, table().get(operator.name, []))


def record(operator, change):
    """Change the outcomes of an operator; those of operators that are no more are left out."""
    with PAGE.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # others prove other operators meanwhile
        known = {n: r for n, r in table().items() if n in REGISTRY.operators}
        rows = support_table.rows(operator, change(written(operator)))
        PAGE.write_text(page({**known, operator.name: rows}), encoding="utf-8")

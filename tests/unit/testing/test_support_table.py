"""The support table: sets of dtypes in words, rows and pages, and what a declaration allows."""

from itertools import product

import pytest

from tripybuild.process import paths
from tripybuild.testing.engines import support_table
from tripybuild.testing.engines.support_table import fits, for_gpu
from tripybuild.testing.registry import registry
from tripybuild.types.dtypes import BY_NAME

OPERATORS = registry(paths.registry()).operators
EVERY = ("yes",) * 8
SOME = ("yes", "yes", "gate", *("yes",) * 5)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["float32"], "float32"),
        (["int8", "float32"], "float32, int8"),
        (list(BY_NAME), "any"),
        ([n for n in BY_NAME if n != "bool"], "any but bool"),
        ([n for n in BY_NAME if n not in {"int4", "float4"}], "any but float4, int4"),
    ],
)
def test_a_set_of_dtypes_is_said_in_few_words_and_read_back(names, words):
    (box,) = support_table.boxes({(name,) for name in names})
    assert support_table.format_box(box, ["T"]) == words
    assert support_table.parse_box(words, ["T"]) == box


def test_pairs_are_boxes_that_hold_each_once():
    pairs = {*product(["float32", "float16"], ["int8", "bool"]), ("int32", "bool")}
    found = support_table.boxes(pairs)
    words = [support_table.format_box(box, ["T", "I"]) for box in found]
    assert words == ["T: float32, float16; I: int8, bool", "T: int32; I: bool"]
    tuples = [each for box in found for each in support_table.tuples_of(box)]
    assert len(tuples) == len(pairs)
    assert set(tuples) == pairs
    assert [support_table.parse_box(text, ["T", "I"]) for text in words] == found


@pytest.mark.parametrize(
    ("text", "slots"),
    [("float33", ["T"]), ("T: bool", ["T", "I"]), ("I: bool; T: bool", ["T", "I"])],
)
def test_what_is_no_set_is_refused(text, slots):
    with pytest.raises(ValueError, match=r"has no dtypes|is not of"):
        support_table.parse_box(text, slots)


def test_a_page_says_what_its_rows_say():
    """Operators with equal rows share them; tuples with equal cells share a row."""
    part = {("float32",): (*EVERY, ""), ("bfloat16",): (*SOME, "x"), ("int8",): (*EVERY, "")}
    part |= {("other", "lhs"): ("-", "shape", *[""] * 7)}
    table = {name: support_table.rows(OPERATORS[name], part) for name in ("add", "sub", "exp")}
    table["exp"] = table["exp"][:-1]
    assert [row[0] for row in table["add"]] == [
        "float32, int8",
        "bfloat16",
        "`lhs` of another dtype",
    ]
    page = support_table.page(OPERATORS, table, ["a", "b", "c", "d", "e", "f"])
    assert "| [add](operators/add.md), [sub](operators/sub.md) | float32, int8 | yes |" in page
    assert support_table.parse_page(page) == table
    assert support_table.parse_rows(OPERATORS["add"], table["add"]) == part


def test_a_tuple_in_two_rows_is_refused():
    rows = [("float32, int8", *EVERY, ""), ("int8", *SOME, "")]
    with pytest.raises(ValueError, match="`exp` has two rows of int8"):
        support_table.parse_rows(OPERATORS["exp"], rows)


def test_an_outcome_fits_where_each_cell_does():
    choice = (frozenset({"yes"}), frozenset({"build", "gate"}))
    assert fits(("yes", "gate"), [choice])
    assert not fits(("yes", "yes"), [choice])
    assert not fits(("yes",), [choice])


@pytest.mark.parametrize(
    ("level", "lacks", "said"),
    [
        ("yes", True, {"gate"}),
        ("yes", False, {"yes"}),
        ("build", True, {"gate", "build"}),
        ("shape", True, {"shape"}),
    ],
)
def test_a_gpu_looks_at_dtypes_when_it_builds(level, lacks, said):
    assert for_gpu(level, lacks=lacks) == said

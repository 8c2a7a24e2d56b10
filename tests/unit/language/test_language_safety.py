"""A snippet from a stranger cannot reach the system, nor take much time or memory."""

import time
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import SnippetError, parse
from tripybuild.language.limits import LimitError, check_value, show, weigh
from tripybuild.language.vocabulary import PYTHON

ESCAPES = [
    "().__class__.__bases__[0].__subclasses__()",
    "(1).real",
    "''.join(['a'])",
    "'{0.x}'.format(len)",
    "'%9999999999d' % 1",
    "len.__self__",
    "[].append(1)",
    "{}.items()",
    "open('/etc/passwd')",
    "eval('1')",
    "exec('1')",
    "getattr(1, 'real')",
    "type(1)",
    "print(1)",
    "str(1)",
    "globals()",
    "vars()",
    "float('inf')",
    "int('1' * 100000)",
]
BOMBS = [
    "9 ** 9 ** 9",
    "2 ** 257",
    "(0 - 3) ** 400",
    "10 ** (10 ** 30)",
    "[0] * 10 ** 9",
    "10 ** 9 * (0,)",
    "'x' * 10 ** 9",
    "[0] * 10 ** 60",
    "range(10 ** 9)",
    "range(0, 10 ** 70, 1)",
    "list(range(100000)) + [1]",
    "round(5, -10 ** 9)",
    "round(5, 10 ** 9)",
    "int(1e308)",
    "floor(1e308)",
    "int(inf)",
    "[1 for a in range(1000) for b in range(1000)]",
    "[[[1 for a in range(100)] for b in range(100)] for c in range(100)]",
    "{(a, b): 1 for a in range(1000) for b in range(1000)}",
    "all(all(b >= 0 for b in range(1000)) for a in range(1000))",
    "xs = [0] * 20000\nreturn [sum(xs) for i in range(9000)]",
    "xs = [0] * 20000\nreturn [-1 in xs for i in range(9000)]",
    "xs = [0] * 20000\nreturn [xs[1:] for i in range(9000)]",
    "xs = [0] * 20000\nreturn [[*xs] for i in range(9000)]",
    "xs = [0] * 20000\nreturn [f(xs) for f in [len, sum] * 4500]",
    "[range(100000) for i in range(60000)]",
    "[[0] * 100000 for i in range(60000)]",
    "['x' * 100000 for i in range(60000)]",
    "a = [0] * 90000\nb = [a] * 90000\nreturn b",
    "a = [0] * 90000\nb = [a] * 90000\nc = [[0] * 90000] * 90000\nreturn b == c",
    "a = (0,) * 9000\nb = (a,) * 9000\nc = (b,) * 9000\nreturn {c: 1}",
    "a = (0,) * 9000\nb = (a,) * 9000\nc = (b,) * 9000\nreturn {1: 1}[c]",
    "a = (0,) * 9000\nb = (a,) * 9000\nc = (b,) * 9000\nreturn c in {1: 1}",
    "a = (0,) * 9000\nb = (a,) * 9000\nc = (b,) * 9000\nreturn c + 1",
    "a = [[0] * 9000]\nb = a * 9000\nreturn sorted(b)",
    "a = [[0] * 9000]\nb = a * 9000\nreturn max(*b)",
    "a = range(1000)\nreturn zip(*[a for i in range(1000)])",
    "a = range(100000)\nreturn zip(a, a)",
    "sum([[0]] * 1000, [])",
    "a = {i: i for i in range(9000)}\nreturn [a | a for i in range(9000)]",
    "(0 - 1) ** 0.5",
    "[len([*a, *a, *a]) for a in [[0] * 50000]]",
]
REASONS = "at most|more than|complex numbers|float infinity|adds numbers|^`.` of "


@pytest.mark.parametrize("text", ESCAPES)
def test_escapes(text):
    """The classic ways out of a sandbox end at the grammar or at a table."""
    with pytest.raises((SnippetError, EvaluationError)):
        evaluate(parse(text), {}, PYTHON)


@pytest.mark.parametrize("text", BOMBS)
def test_bombs(text):
    """What would take much time or memory is refused before it does."""
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(EvaluationError, match=REASONS):
            evaluate(parse(text), {}, PYTHON)
        assert time.process_time() - start < 3
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_words_of_python_have_nothing_to_reach():
    """No method and no attribute of a plain value is open, and no namespace."""
    assert PYTHON.methods == PYTHON.attributes == PYTHON.callables == ()
    assert not PYTHON.namespaces
    for value in (1, 1.0, True, None, ..., "a", [1], (1,), {1: 1}, len, slice(1)):
        for name in dir(value):
            if name.startswith("_"):
                continue
            for text in (f"x.{name}", f"x.{name}()"):
                with pytest.raises(EvaluationError, match="has no"):
                    evaluate(parse(text), {"x": value}, PYTHON)


HOSTILE = [
    10**60,
    -(10**60),
    2**255,
    1e308,
    float("nan"),
    float("inf"),
    "x" * 9_000,
    "9" * 5_000,
    "{0.__class__}%s",
    "/etc/passwd",
    [0] * 9_000,
    [[0] * 50] * 50,
    [2**255] * 100,
    {"a": [1]},
    None,
    ...,
    len,
    slice(None),
    [],
]


@pytest.mark.parametrize("word", PYTHON.functions)
def test_words_of_python_are_harmless(word, tmp_path, monkeypatch):
    """Each word, with one and two hostile arguments, answers or refuses in little time."""
    monkeypatch.chdir(tmp_path)
    start = time.process_time()
    for text, others in ((f"{word}(a)", [0]), (f"{word}(a, b)", HOSTILE), (f"{word}(*a)", [0])):
        program = parse(text)
        for a in HOSTILE:
            for b in others[:8]:
                try:
                    result = evaluate(program, {"a": a, "b": b}, PYTHON)
                except EvaluationError as error:
                    result = error.message
                assert weigh(result, 10**6) <= 300_000
                assert not callable(result) or result in (a, b)
    assert time.process_time() - start < 3
    assert not list(tmp_path.iterdir())


def test_limits():
    """The checks themselves, at their edges."""
    assert check_value(2**256 - 1)
    assert check_value("x" * 100_000)
    for value in (2**256, -(2**256), 1j, "x" * 100_001, [0] * 100_001):
        with pytest.raises(LimitError):
            check_value(value)
    with pytest.raises(LimitError):
        PYTHON.functions["zip"](*[range(1000)] * 1000)
    assert weigh([[1, 2], "abc", {"k": (1,)}], 1000) == 4 + 3 + 4 + 2 + 2 + 2
    assert weigh([[0] * 90] * 90, 100) < 400
    nested = [[[[[1]]]]]
    assert show(nested) == "[[[[...]]]]"
    assert show([1] * 100) == "[1, 1, 1, 1, 1, 1, ...]"
    assert show("x" * 10**5).startswith("'xxx")
    assert len(show(10**70)) == len(show("x" * 10**5)) == 60
    assert show(len) == "a `builtin_function_or_method`"


NAMES = st.sampled_from(["x", "y", "f", "s", "t", "d", "nothing", *PYTHON.functions, "inf"])
LEAVES = st.one_of(
    NAMES,
    st.integers(-(2**70), 2**70).map(str),
    st.integers(-3, 9).map(str),
    st.floats(allow_nan=False, allow_infinity=False, min_value=0).map(repr),
    st.sampled_from(["'a%s'", "''", "None", "True", "...", "[]", "()", "{}"]),
)


def _grow(inner):
    operators = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "==", "!=", "<", ">=", "in"]
    pairs = st.tuples(inner, st.sampled_from([*operators, "not in", "and", "or"]), inner)
    return st.one_of(
        pairs.map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(st.sampled_from(["-", "~", "not "]), inner).map(lambda p: f"({p[0]}{p[1]})"),
        st.lists(inner, max_size=4).map(lambda p: f"[{', '.join(p)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda p: f"({', '.join(p)},)"),
        st.tuples(inner, inner).map(lambda p: f"{{{p[0]}: {p[1]}}}"),
        st.tuples(inner, inner).map(lambda p: f"[*{p[0]}, {p[1]}]"),
        st.tuples(NAMES, st.lists(inner, max_size=3)).map(lambda p: f"{p[0]}({', '.join(p[1])})"),
        st.tuples(NAMES, inner).map(lambda p: f"{p[0]}(*{p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"{p[0]}[{p[1]}]"),
        st.tuples(inner, inner, inner).map(lambda p: f"{p[0]}[{p[1]}:{p[2]}]"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        st.tuples(inner, NAMES, inner, inner).map(
            lambda p: f"[{p[0]} for {p[1]} in {p[2]} if {p[3]}]"
        ),
        st.tuples(NAMES, inner, NAMES, inner).map(lambda p: f"{p[0]}({p[1]} for {p[2]} in {p[3]})"),
        st.tuples(inner, NAMES).map(lambda p: f"{p[0]}.{p[1]}"),
    )


@settings(
    max_examples=250,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.recursive(LEAVES, _grow, max_leaves=12), st.recursive(LEAVES, _grow, max_leaves=12))
def test_any_program_has_a_value_or_fails(first, second):
    """Whatever is parsed is walked to a value, or to an `EvaluationError` that has its place."""
    text = f"x = {first}\ny, *f = {second}\nreturn x, y, f"
    try:
        program = parse(text)
    except SnippetError:
        return
    try:
        evaluate(program, {"s": "text", "t": [3, 1, 2], "d": 7}, PYTHON)
    except EvaluationError as error:
        line = error.line
    else:
        line = 1
    assert 1 <= line <= 3

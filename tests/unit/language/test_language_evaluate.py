"""What snippets mean: Python's own meaning, on plain values and on the host's."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import parse, parse_expression
from tripybuild.language.vocabulary import ANY_NAME, PYTHON, Vocabulary


def value(text, vocabulary=PYTHON, **names):
    """Give the value of a snippet."""
    return evaluate(parse(text), names, vocabulary)


def failure(text, vocabulary=PYTHON, **names):
    """Give the error of a snippet."""
    with pytest.raises(EvaluationError) as caught:
        value(text, vocabulary, **names)
    return caught.value


SAME_AS_PYTHON = [
    "1 + 2 * 3 - 4 // 3 % 2 ** 2",
    "-7 // 2, -7 % 2, 7 / 2, 2 ** -1, ~5, +3, 6 & 3, 6 | 3",
    "1 < 2 < 3, 1 < 2 > 3, 1 == 1 != 2, 3 > 2 >= 2 <= 2",
    "[] or 0 or 'x', 1 and [] and 2, not 1, not []",
    "1 if [] else 2",
    "1 in [1, 2], 3 not in (1, 2), 'a' in 'cat', 1 in {1: 2}",
    "None is None, True is not None",
    "[1, *[2, 3], 4], (*[1], 2), [*'ab'], [*{1: 2}]",
    "{'a': 1, (1, 2): 3}[1, 2]",
    "[x * y for x in [1, 2, 3] if x != 2 for y in range(x) if y]",
    "[[x for x in range(x)] for x in range(3)]",
    "{a: b for a, b in zip('ab', [1, 2])}",
    "[i + a * b for i, (a, b) in enumerate(zip([1, 2], [3, 4]))]",
    "[1, 2, 3, 4][1:], [1, 2, 3, 4][::-1], [1, 2, 3][-1], 'abc'[1], (1, 2, 3)[:2]",
    "sum([1, 2, 3]), sum(x for x in (1, 2)), min(3, 1, 2), max([1, 5]), min([], default=7)",
    "len([1]), abs(-2), round(2.5), round(1.234, 2), int(2.9), float(1), bool([])",
    "sorted([3, 1, 2], reverse=True), list(reversed([1, 2])), list(range(5, 0, -2))",
    "all([]), any([]), all(x > 0 for x in [1, 0]), any(x > 0 for x in [0, 1])",
    "[0] * 3 + [1], 2 * (1,), 'ab' * 2, [1] == [1], [1, 2] < [1, 3], (1,) != [1]",
    "all(1 / a > 1 for a in [2, 0]), any(1 / a < 1 for a in [2, 0])",
    "tuple([1, 2]), list((1, 2)), list(enumerate('ab', 1)), list(zip([1, 2], [3]))",
    "...",
]


@pytest.mark.parametrize("text", SAME_AS_PYTHON)
def test_means_what_python_means(text):
    """A snippet without host values means the same in Python."""
    assert value(text) == eval(text, {})  # the meaning is the one that Python gives


def test_convolution_shape():
    """The hardest shape of the design, as a whole."""
    text = """\
[(d + sum(p) - r * (k - 1) - 1) // s + 1
 for d, k, s, p, r in zip(D, K, stride, padding, dilation)]"""
    names = {"D": [9, 8], "K": [3, 2], "stride": [2, 1], "padding": [[1, 1], [0, 0]]}
    assert value(text, dilation=[1, 2], **names) == [5, 6]


def test_lines_bind_names():
    """Lines assign in order, hide names and words, and stars take the rest."""
    text = "a, *b, c = xs\nb = [*b, a]\nsum = c\nreturn b, sum"
    assert value(text, xs=[1, 2, 3, 4]) == ([2, 3, 1], 4)
    assert value("*a, b = xs\nreturn a, b", xs=(1,)) == ([], 1)


def test_functions_are_called_and_handed_over():
    """They read what is assigned above them, and each call has names of its own."""
    text = """\
base = 10
def add(a, b):
  base_and_a = base + a
  return base_and_a + b
def fold(a, b):
  return add(add(a, b), b)
return fold(1, 2), run(add, 3), [add(a, a) for a in [1, 2]]"""
    program = parse(text, functions=True)
    found = evaluate(program, {"run": lambda function, x: function(x, 0)}, PYTHON)
    assert found == (25, 13, [12, 14])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(a): return a\nreturn f(1, 2)", "this function takes 1 tensors, and is given 2"),
        ("def f(a): return f(a)\nreturn f(1)", "`f` is not defined"),
        (
            "def f(a): return sum(range(a))\nreturn [f(99999) for i in range(9)]",
            "the snippet needs",
        ),
    ],
)
def test_functions_that_fail(text, message):
    """None calls itself, and what they do is counted."""
    with pytest.raises(EvaluationError) as caught:
        evaluate(parse(text, functions=True), {}, PYTHON)
    assert caught.value.message.startswith(message)


def test_words_of_our_own():
    """The words that are not Python's, and the constants."""
    assert value("is_int(1), is_int(True), is_int(1.0), sqrt(4), floor(1.5), ceil(1.5)") == (
        (True, False, False, 2.0, 1, 2)
    )
    assert value("-inf, pi, log(1)") == (-math.inf, math.pi, 0.0)


class Tensor:
    """A host object that records what is done to it."""

    def __init__(self, text):
        self.text = text
        self.shape = (1, 2)
        self.secret = 1

    def __matmul__(self, other):
        return Tensor(f"({self.text} @ {other.text})")

    def __add__(self, other):
        return Tensor(f"({self.text} + {other})")

    def __radd__(self, other):
        return Tensor(f"({other} + {self.text})")

    def __neg__(self):
        return Tensor(f"-{self.text}")

    def __lt__(self, other):
        return Tensor(f"({self.text} < {other})")

    def __getitem__(self, key):
        return Tensor(f"{self.text}{key}")

    def __bool__(self):
        raise TypeError("a tensor is not of type bool")

    def reshape(self, shape):
        """Record a method call."""
        return Tensor(f"{self.text}.reshape({shape})")

    def save(self, path):
        """Must never be reached."""
        raise AssertionError(path)


@dataclass
class Part:
    """A host object that is called, and whose attributes are data."""

    weight: object

    def __call__(self, x, *rest):
        return self.weight, x, rest


HOST = PYTHON | Vocabulary(
    functions={"exp": lambda x: Tensor(f"exp({x.text})")},
    namespaces={"np": {"negative": lambda x: -x, "pi": math.pi}, "sum": {"x": 1}},
    methods=((Tensor, frozenset({"reshape"})),),
    attributes=((Tensor, frozenset({"shape"})), (Part, ANY_NAME)),
    callables=(Part,),
)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("x @ y + 1", "((x @ y) + 1)"),
        ("1 + exp(x)", "(1 + exp(x))"),
        ("-x < 2", "(-x < 2)"),
        ("x[1:, ..., None]", "x(slice(1, None, None), Ellipsis, None)"),
        ("x.reshape([2, *x.shape])", "x.reshape([2, 1, 2])"),
        ("np.negative(x)", "-x"),
        ("f = {'n': np.negative}['n']\nreturn f(x)", "-x"),
        ("f = g\nreturn f(x)", "g(x)"),
    ],
)
def test_host_values(text, spelled):
    """Host values take part through Python's operators and the tables."""
    names = {"x": Tensor("x"), "y": Tensor("y"), "g": lambda x: Tensor(f"g({x.text})")}
    assert value(text, HOST, **names).text == spelled


def test_parts():
    """Values of a callable type may be called wherever they come from."""
    parts = [Part(1), Part(2)]
    assert value("ps[1](3, *xs)", HOST, ps=parts, xs=[4, 5]) == (2, 3, (4, 5))
    assert value("[p(0)[0] for p in ps]", HOST, ps=parts) == [1, 2]
    assert value("ps[0].weight, p.weight(1)", HOST, ps=parts, p=Part(Part(7))) == ((1, (7, 1, ())))
    assert value("np.pi", HOST) == math.pi
    assert value("np.weight", HOST, np=Part(3)) == 3


def test_numpy():
    """Arrays are host values like others."""
    x = np.arange(4.0)
    assert value("[2, 1] @ x[:2] + sum(x)", x=x) == 7
    assert value("-x * 2 <= 0", x=x).all()


@pytest.mark.parametrize(
    ("text", "message", "columns"),
    [
        ("1 + y", "`y` is not defined", (4, 5)),
        ("[1 // z]", "`//` of 1 and 0: integer division or modulo by zero", (1, 7)),
        ("x.save('f')", "a `Tensor` has no method `save` here", (0, 6)),
        ("x.secret", "a `Tensor` has no attribute `secret` here", (0, 8)),
        ("x.reshape", "a `Tensor` has no attribute `reshape` here", (0, 9)),
        (
            "1 if x else 2",
            "a `Tensor` is neither true nor false: a tensor is not of type bool",
            (5, 6),
        ),
        ("x and 1", "a `Tensor` is neither true nor false: a tensor is not of type bool", (0, 1)),
        ("0 < z < x", None, None),
        ("np.load", "`np.load` is not defined", (0, 7)),
        ("np", "`np` is not a value; write `np.` and one of its names", (0, 2)),
        ("z(1)", "`z` is 0, which cannot be called", (0, 1)),
        ("fs[0](1)", "`fs[0]` is a `builtin_function_or_method`, which cannot be called", (0, 5)),
        ("exp()", "`exp`: ", (0, 5)),
        ("[1][3]", "[1] has no item 3: list index out of range", (0, 6)),
        ("{'a': 1}['b']", "a mapping has no item 'b'", (0, 13)),
        ("[a for a, b in [1]]", "1 cannot be listed", (7, 11)),
        ("[a for a, b in [[1]]]", "2 names cannot take 1 values", (7, 11)),
        ("a, b = [1, 2, 3]\nreturn a", "2 names cannot take 3 values", (7, 16)),
        ("a, b, *c = [1]\nreturn a", "3 names cannot take 1 values", (11, 14)),
        ("[*x]", "a `Tensor` cannot be listed", (1, 3)),
        ("{[]: 1}", "[] cannot be a key: unhashable type: 'list'", (1, 3)),
        ("all(1 / a for a in [1, 0])", "`/` of 1 and 0: division by zero", (4, 9)),
        ("'%s' % x", "`%` of '%s' and a `Tensor`: a string has no `%`", (0, 8)),
        ("''.format(1)", "'' has no method `format` here", (0, 9)),
        ("sum([[1], [2]], [])", "`sum`: `sum` adds numbers", (0, 19)),
    ],
)
def test_failures(text, message, columns):
    """Whatever goes wrong is said with the values and the place."""
    if message is None:
        assert value(text, HOST, x=Tensor("x"), z=0) is False
        return
    error = failure(text, HOST, x=Tensor("x"), z=0, fs=[len.__call__, print][1:])
    assert error.message.startswith(message)
    assert (error.column, error.end_column) == columns


def test_codes():
    """A name that nothing binds, a limit, and all else are told apart."""
    assert failure("x").code == failure("np.x", HOST).code == "unbound-name"
    assert failure("[0] * 10 ** 9").code == "snippet-limit"
    assert failure("[range(99999) for i in range(9)]").code == "snippet-limit"
    assert failure("1 / 0").code == "snippet-evaluation"


class UndecidedSize(Exception):
    """Stands for the one of `types`, known by its name."""


class Mine(Exception):
    """An error that only the caller knows."""


def test_errors_that_pass():
    """Errors that say more by themselves come out as they are."""

    def raises(error):
        raise error

    told = ValueError("told")
    told.diagnostics = ()
    # A failed assertion is a bug of ours, and no fault of the snippet.
    for error in (UndecidedSize("S"), told, Mine(), AssertionError("ours")):
        with pytest.raises(type(error)) as caught:
            evaluate(parse("1 + f(e)"), {"f": raises, "e": error}, PYTHON, passes=(Mine,))
        assert caught.value is error
    assert failure("f(e)", f=raises, e=Mine("x")).message == "`f`: x"


def test_undecided_truth():
    """A condition that is not decided passes, unless one before it decides."""

    class Condition:
        def __bool__(self):
            raise UndecidedSize

    names = {"c": Condition(), "no": False}
    asked = ["c and 1", "1 if c else 2", "not c", "all(x for x in [1, c])", "[1 for x in 'a' if c]"]
    for text in asked:
        with pytest.raises(UndecidedSize):
            value(text, **names)
    assert value("all(x for x in [no, c]), no and c, no if True else c", **names) == (False,) * 3


def test_an_error_of_another_snippet_is_placed_here():
    """A name computed on demand, or a part, may walk a snippet of its own."""
    inner = parse_expression("xxxxxxxx + 1")

    def part():
        return evaluate(inner, {}, PYTHON)

    error = failure("1 + f()", f=part)
    assert (error.column, error.message) == (4, "`f`: `xxxxxxxx` is not defined")
    assert isinstance(error.__cause__, EvaluationError)


def test_vocabularies_join():
    """The right side's word counts, and its laziness; namespaces are joined."""
    left = Vocabulary({"all": all}, {"np": {"a": 1, "b": 1}}, lazy=frozenset({"all"}))
    right = Vocabulary({"all": len}, {"np": {"b": 2}})
    both = left | right
    assert value("all(x for x in 'ab')", both) == 2
    assert value("np.a, np.b", both) == (1, 2)
    assert value("all(x for x in [0])", right | left) is False


def test_sizes_cut_themselves():
    """`int`, `abs`, `min` and `sum` leave symbolic sizes to their own methods."""

    class Size(SimpleNamespace):
        def __trunc__(self):
            return self

        def __radd__(self, other):
            return ("sum", other)

        def __gt__(self, other):
            return False

    size = Size()
    assert value("int(s), min(s, 3), sum([s])", s=size) == (size, size, ("sum", 0))

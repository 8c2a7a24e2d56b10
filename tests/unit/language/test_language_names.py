"""Which names a snippet takes, makes and calls."""

import pytest

from tripybuild.language.grammar import parse, parse_expression
from tripybuild.language.names import called_names, free_names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("C % groups == 0 and M % groups == 0", ("C", "groups", "M")),
        ("[x + y for x in xs]", ("y", "xs")),
        ("[x for x in x]", ("x",)),
        ("[d for s in S for d in s if d != k]", ("S", "k")),
        ("{l: f(l) for l, (a, b) in z}", ("f", "z")),
        ("a = b\nreturn a + c", ("b", "c")),
        ("x = x + 1\nreturn x", ("x",)),
        ("a, *b = c\nreturn f(a, key=b)", ("c", "f")),
        ("np.where(x, wte.weight[:S])", ("np", "x", "wte", "S")),
        ("all(a for a in b) or a", ("all", "b", "a")),
    ],
)
def test_free(text, names):
    """Free names come in reading order, without those that the snippet binds."""
    assert free_names(parse(text)) == names


def test_free_of_a_node():
    """An expression alone has names too."""
    assert free_names(parse_expression("T[N, *D]")) == ("T", "N", "D")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("np.where(exp(x), exp(y), hlo.exp(z))", ("np.where", "exp", "hlo.exp")),
        ("y = f(x)\nreturn y.reshape(x.cast(T))", ("f", "x.cast")),
        ("h = {'a': f}[m]\nreturn h(x)", ()),
        ("[g(x) for g in gs] + k[0](x)", ()),
    ],
)
def test_calls(text, names):
    """What is called from outside is named with its dots; what the snippet made is not."""
    assert called_names(parse(text)) == names

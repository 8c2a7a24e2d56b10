"""What types say of arguments is asked without examples: each is wrong alone, in the sample."""

from dataclasses import replace

import pytest

import tripyapi
from tripybuild.process import paths
from tripybuild.testing.registry import registry
from tripybuild.testing.wrong_arguments import problems
from tripybuild.types.type_syntax import parse_pattern

OPERATORS = registry(paths.registry()).operators


def asked(name, declared=None):
    """What is wrong with an operator's function, were an argument declared otherwise."""
    operator = OPERATORS[name]
    for argument, text in (declared or {}).items():
        for key in ("inputs", "attributes"):
            known = getattr(operator, key)
            if argument in known:
                changed = replace(
                    known[argument], pattern=parse_pattern(text, frozenset(operator.types))
                )
                operator = replace(operator, **{key: {**known, argument: changed}})
    return list(problems(operator, getattr(tripyapi, name)))


@pytest.mark.parametrize(
    "name", ["softmax", "movedim", "linear", "resize", "copy", "plugin", "cond", "one_hot"]
)
def test_an_operator_as_declared_refuses_what_its_types_refuse(name):
    assert asked(name) == []


@pytest.mark.parametrize(
    ("name", "declared", "problem"),
    [
        ("softmax", {"dim": "axis(1)"}, "`dim` is 1: accepted, want softmax/dim"),
        ("softmax", {"dim": "axis(3)"}, "`dim` is 2, which is a dimension: it is refused"),
        ("flip", {"dim": "axis(1)[...]"}, "`dim` is [1]: accepted, want flip/dim"),
        ("leaky_relu", {"negative_slope": "int"}, "`negative_slope` is 1.5: accepted"),
        ("plugin", {"name": "device"}, "`name` is 'tpu': accepted, want plugin/name"),
        ("outer", {"vec2": "T[N]"}, "`vec2` is of shape [3]: accepted, want outer/vec2"),
        ("tile", {"repeats": "size[1]"}, "`repeats` is [1, 1]: accepted, want tile/repeats"),
    ],
)
def test_a_function_that_refuses_less_than_declared_is_found(name, declared, problem):
    assert any(problem in each for each in asked(name, declared))

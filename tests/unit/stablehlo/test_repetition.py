"""What is cloned for operations of one form is what builders emit for each of them."""

from collections.abc import Callable

import pytest

import tripyapi as tp
from tripybuild import stablehlo as hlo
from tripybuild.compiler.lower import lower_stablehlo
from tripybuild.eager.compile.function_graph import record_function
from tripybuild.eager.evaluate import xla_backend
from tripybuild.stablehlo.templates import build_or_clone
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import operations_between
from tripybuild.types.dtypes import float32


class Forgetful(dict):
    """Patterns that are never found."""

    def get(self, _: object) -> None:
        """Nothing was met before."""


def text(function: Callable[..., object], *shapes: tuple[int, ...]) -> str:
    """The module of a function on tensors of these shapes, with the place of everything."""
    infos = [tp.InputInfo(shape, tp.float32) for shape in shapes]
    return lower_stablehlo(record_function(function, infos).graph).text(locations=True)


def layers(x: tp.Tensor, y: tp.Tensor) -> tp.Tensor:
    """The same again and again, with reductions, constants and places that differ."""
    for turn in range(3):
        x = tp.softmax(x * 0.5 + y, -1) @ tp.transpose(y, 0, 1) @ y
        x = tp.where(x > 0.25, tp.max(x, 1, keepdim=True), y) - tp.mean(x)
        y = tp.cumsum(y, turn % 2) + tp.cast(tp.argmax(x, 1, keepdim=True), tp.float32)
    return x


def same_or_not(x: tp.Tensor, y: tp.Tensor) -> tp.Tensor:
    """Operands that are one tensor, and such that are two."""
    return (x * x) + (x * y) + (y * x) + (y * y)


def controlled(x: tp.Tensor, y: tp.Tensor) -> tp.Tensor:
    """Branches, which read tensors from outside, twice."""
    x = tp.cond(tp.any(x > y), lambda: x + y, lambda: x - y)
    return tp.cond(tp.any(y > x), lambda: y + x, lambda: y - x)


@pytest.mark.parametrize("function", [layers, same_or_not, controlled])
def test_clones_are_what_builders_emit(
    function: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Byte by byte, with places, and the same constants."""
    cloned = text(function, (3, 4), (3, 4))
    made = hlo.HloModule.__init__

    def forgetful(self: hlo.HloModule, *arguments: object) -> None:
        made(self, *arguments)
        self.patterns = Forgetful()

    monkeypatch.setattr(hlo.HloModule, "__init__", forgetful)
    assert cloned == text(function, (3, 4), (3, 4))


def test_operations_of_one_form_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lowering is asked again only where something is different."""
    asked, tanh = [], hlo.tanh
    monkeypatch.setattr(hlo, "tanh", lambda x: asked.append(x.shape) or tanh(x))
    text(lambda x, y: tp.tanh(tp.tanh(tp.tanh(x))) + tp.tanh(tp.tanh(y[:1])), (3, 4), (3, 4))
    assert asked == [(3, 4), (1, 4)]


def test_regions_that_read_what_is_outside_are_built_each_time() -> None:
    """A clone would read what the first one read."""
    module = hlo.HloModule({}, dict.fromkeys("ab", (float32, (2,))))

    def build(x: hlo.Value) -> list[hlo.Value]:
        branches = (lambda _: [x + 1.0]), (lambda _: [x])
        return list(hlo.if_(hlo.constant(True, tp.bool), *branches, [x]))

    with module:
        a, b = module.inputs.values()
        first, second = (build_or_clone(module, "if", [x], lambda x=x: build(x)) for x in (a, b))
        module.finish({"first": first[0], "second": second[0]})
    body = module.text().split("stablehlo.if")
    assert "%arg0" in body[1]
    assert "%arg1" in body[2]
    assert "%arg0" not in body[2]


def test_operands_that_are_constants_of_the_module_are_no_pattern_for_others() -> None:
    """The builder uses the very constant that is its operand the first time."""
    module = hlo.HloModule({}, {"a": (float32, ())})

    def build(x: hlo.Value) -> list[hlo.Value]:
        return [x * 0.5]

    with module:
        operands = (hlo.constant(0.5, float32), module.inputs["a"], hlo.constant(3.0, float32))
        results = [build_or_clone(module, "half", [x], lambda x=x: build(x))[0] for x in operands]
        module.finish({f"result{i}": result for i, result in enumerate(results)})
    products = [line for line in module.text().splitlines() if "multiply" in line]
    read = [line.split("multiply ")[1].split(" : ")[0] for line in products]
    assert read == ["%cst, %cst", "%arg0, %cst", "%cst_0, %cst"]


def test_zeros_of_both_signs_are_two_programs() -> None:
    """They are equal in Python, and give other results."""
    x = tp.ones((2, 2))

    def key(value: float) -> object:
        wanted = [tp.threshold(x, 2.0, value).value]
        found = operations_between(frozenset(), wanted)
        given = [each for each in found if isinstance(each, Constant)]
        return xla_backend.structure(given, [each for each in found if each not in given], wanted)

    assert key(0.0) == key(0.0)
    assert key(0.0) != key(-0.0)

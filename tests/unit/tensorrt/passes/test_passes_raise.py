"""`tensorrt-raise-activations` and `tensorrt-raise-normalizations`: what is raised, what is not."""

import pytest
from oracles.tensorrt_numpy import assert_same, names, parsed

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.passes import pipeline
from tripybuild.tensorrt.passes.rewriting.driver import greedy
from tripybuild.tensorrt.passes.rewriting.matching import near

ACTIVATIONS = "tensorrt-raise-activations"
NORMALIZATIONS = "tensorrt-raise-normalizations"


class Text:
    """A function, written op by op; numbers are splats of the rank of `x`."""

    def __init__(self, x, *others, element="f32"):
        self.element = element
        self.lines = []
        self.arguments = [f"%x{i}" for i in range(1 + len(others))]
        self.types = dict(zip(self.arguments, (x, *others), strict=True))
        self.ones = "x".join("1" for _ in x)

    def type(self, value):
        shape = self.types[value]
        return f"tensor<{'x'.join([*map(str, shape), self.element])}>"

    def add(self, text, shape):
        name = f"%{len(self.lines)}"
        self.types[name] = shape
        self.lines.append(f"  {name} = {text.replace('RESULT', self.type(name))}")
        return name

    def number(self, value):
        shape = tuple(1 for _ in self.types["%x0"])
        value = f"{value:e}" if isinstance(value, float) else value
        return self.add(f"tensorrt.constant dense<{value}> : RESULT", shape)

    def binary(self, kind, a, b):
        shape = tuple(
            max(p, q) if isinstance(p, int) and isinstance(q, int) else p if q == 1 else q
            for p, q in zip(self.types[a], self.types[b], strict=True)
        )
        types = f"{self.type(a)}, {self.type(b)}"
        return self.add(f"tensorrt.element_wise <{kind}>({a}, {b} : {types}) -> RESULT", shape)

    def unary(self, kind, a):
        attribute = f"{{unaryOperation = #tensorrt.unary_operation<{kind}>}}"
        return self.add(f"tensorrt.unary {attribute} {a} : RESULT", self.types[a])

    def activation(self, kind, a):
        attribute = f"{{activationType = #tensorrt.activation_type<{kind}>}}"
        return self.add(f"tensorrt.activation {attribute} {a} : RESULT", self.types[a])

    def reduce(self, kind, a, axis, keep=True):
        shape = list(self.types[a])
        shape[axis : axis + 1] = [1] if keep else []
        keeps = f"keepDimensions = {str(keep).lower()}, reduceAxes = array<i64: {axis}>"
        text = f"tensorrt.reduce <{kind}> {a} {{{keeps}}} : {self.type(a)} -> RESULT"
        return self.add(text, tuple(shape))

    def to(self, op, a, shape):
        return self.add(f"tensorrt.{op} {a} : {self.type(a)} to RESULT", shape)

    def returned(self, value):
        arguments = ", ".join(f"{name}: {self.type(name)}" for name in self.arguments)
        head = f"func.func @main({arguments}) -> {self.type(value)} {{"
        return "\n".join([head, *self.lines, f"  return {value} : {self.type(value)}", "}"])


def after(text, name, **options):
    module = parsed(text)
    pipeline.run(module, [name], {name: {k.replace("_", "-"): v for k, v in options.items()}})
    return names(module)


def unchanged(text):
    """The names of the ops where equal constants are one, at the head."""
    module = parsed(text)
    greedy(module, [])
    return names(module)


def gelu_tanh(
    cubic=0.044715, root=0.797884583, one=1.0, half=0.5, *, power=False, order=0, **kwargs
):
    t = Text((2, 8), **kwargs)
    x = "%x0"
    cube = (
        t.binary("kPOW", x, t.number(3.0))
        if power
        else t.binary("kPROD", t.binary("kPROD", x, x), x)
    )
    inner = t.binary("kSUM", x, t.binary("kPROD", cube, t.number(cubic)))
    scale = t.binary("kPOW", t.number(0.63661977), t.number(0.5)) if power else t.number(root)
    tanh = t.activation("kTANH", t.binary("kPROD", scale, inner))
    plus = t.binary("kSUM", t.number(one), tanh)
    if order == 0:
        return t.returned(t.binary("kPROD", x, t.binary("kPROD", plus, t.number(half))))
    if order == 1:
        return t.returned(t.binary("kPROD", t.binary("kPROD", x, t.number(half)), plus))
    return t.returned(t.binary("kPROD", t.binary("kPROD", x, plus), t.number(half)))


def gelu_erf(root=0.70710678, **kwargs):
    t = Text((2, 8), **kwargs)
    erf = t.unary("kERF", t.binary("kPROD", "%x0", t.number(root)))
    normal = t.binary("kPROD", t.binary("kSUM", erf, t.number(1.0)), t.number(0.5))
    return t.returned(t.binary("kPROD", "%x0", normal))


@pytest.mark.parametrize("power", [False, True])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_gelu_by_tanh(power, order):
    """In the orders and forms that frameworks write."""
    text = gelu_tanh(power=power, order=order)
    result = assert_same(text, ACTIVATIONS)
    assert after(text, ACTIVATIONS) == ["activation"]
    assert "#tensorrt.activation_type<kGELU_TANH>" in result


def test_gelu_by_erf():
    """The exact form; NVIDIA's constant, as float16 keeps it, is near enough."""
    text = gelu_erf()
    assert "#tensorrt.activation_type<kGELU_ERF>" in assert_same(text, ACTIVATIONS)
    assert after(gelu_erf(0.707031), ACTIVATIONS) == ["activation"]
    assert after(gelu_erf(element="f16"), ACTIVATIONS) == ["activation"]


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_gelu_in_short_floats(element):
    """The constants are rounded, and are the same ones."""
    assert after(gelu_tanh(element=element), ACTIVATIONS) == ["activation"]


@pytest.mark.parametrize(
    "changed", [{"cubic": 0.0452}, {"root": 0.8}, {"one": 1.1}, {"half": 0.25}], ids=str
)
def test_other_numbers_are_no_gelu(changed):
    """Each constant counts."""
    text = gelu_tanh(**changed)
    assert after(text, ACTIVATIONS) == unchanged(text)


def test_gelu_of_another_value_is_none():
    """The factor in front must be the argument inside."""
    t = Text((2, 8), (2, 8))
    erf = t.unary("kERF", t.binary("kPROD", "%x1", t.number(0.70710678)))
    normal = t.binary("kPROD", t.binary("kSUM", erf, t.number(1.0)), t.number(0.5))
    text = t.returned(t.binary("kPROD", "%x0", normal))
    assert after(text, ACTIVATIONS) == unchanged(text)


def test_gelu_of_what_is_broadcast_is_none():
    """A constant that stretches the argument gives another shape."""
    t = Text((1, 8))
    t.ones = "1x1"
    wide = t.add("tensorrt.constant dense<1.0> : RESULT", (4, 8))
    erf = t.unary("kERF", t.binary("kPROD", "%x0", t.number(0.70710678)))
    normal = t.binary("kPROD", t.binary("kSUM", erf, wide), t.number(0.5))
    text = t.returned(t.binary("kPROD", "%x0", normal))
    assert after(text, ACTIVATIONS) == unchanged(text)


def test_older_releases_have_no_gelu():
    """Version 9 is given the parts; clips are raised for all versions."""
    text = gelu_erf()
    assert after(text, ACTIVATIONS, target_tensorrt_version="9.3") == unchanged(text)
    assert after(text, ACTIVATIONS, target_tensorrt_version="10.0") == ["activation"]
    assert after(clip(-1.0, 1.0), ACTIVATIONS, target_tensorrt_version="8.6") == ["activation"]


@pytest.mark.parametrize("version", ["ten", "10.0.0.0.0", "", "10.-1"])
def test_versions_that_are_none(version):
    """What is no version is said to be none."""
    with pytest.raises(DiagnosticError, match="invalid version"):
        after(gelu_erf(), ACTIVATIONS, target_tensorrt_version=version)


def clip(low, high, *, swapped=False, **kwargs):
    t = Text((2, 8), **kwargs)
    maximum = t.binary("kMAX", *[t.number(low), "%x0"][:: 1 if swapped else -1])
    return t.returned(t.binary("kMIN", *[t.number(high), maximum][:: -1 if swapped else 1]))


@pytest.mark.parametrize("swapped", [False, True])
def test_minimum_of_maximum_is_a_clip(swapped):
    """The lower bound is alpha, the upper one beta."""
    text = clip(-0.5, 0.25, swapped=swapped)
    result = assert_same(text, ACTIVATIONS)
    assert "kCLIP" in result
    assert "alpha = -5.000000e-01 : f32" in result
    assert "beta = 2.500000e-01 : f32" in result


def test_bounds_that_cross_are_no_clip():
    """`min(1, max(x, 2))` is 1 everywhere; a clip would give 2."""
    assert after(clip(2.0, 1.0), ACTIVATIONS).count("element_wise") == 2


def test_bounds_of_integers_are_no_clip():
    """A clip is one of floats."""
    assert after(clip(0, 3, element="i32"), ACTIVATIONS).count("element_wise") == 2


def test_bounds_that_differ_by_element_are_no_clip():
    """A bound is one number."""
    two = Text((2, 2))
    bound = two.add("tensorrt.constant dense<[[0.0, 1.0]]> : RESULT", (1, 2))
    low = two.binary("kMAX", "%x0", bound)
    text = two.returned(two.binary("kMIN", low, two.number(2.0)))
    assert after(text, ACTIVATIONS) == unchanged(text)


def test_how_near_a_constant_is():
    """A thousandth, and less for small numbers; bfloat16 has three digits."""
    assert near(0.797, 0.797884583)
    assert not near(0.0455, 0.044715)
    assert not near(0.796875, 0.797884583)
    assert near(0.796875, 0.797884583, coarse=True)
    assert not near(float("nan"), 1.0)


# Normalizations


def instance_norm(divisor=24.0, again=24.0, epsilon=1e-6, flat=True):
    t = Text((2, 3, 4, 6), (1, 3, 1, 1), (1, 3, 1, 1))

    def mean(value, count):
        joined = t.to("reshape", value, (2, 3, 24) if flat else (2, 24, 3))
        total = t.reduce("kSUM", joined, 2 if flat else 1, keep=False)
        return t.binary("kDIV", t.to("expand_rank", total, (2, 3, 1, 1)), t.number(count))

    centred = t.binary("kSUB", "%x0", mean("%x0", divisor))
    variance = mean(t.binary("kPROD", centred, centred), again)
    root = t.unary("kSQRT", t.unary("kRECIP", t.binary("kSUM", variance, t.number(epsilon))))
    product = t.binary("kPROD", t.binary("kPROD", "%x1", root), centred)
    return t.returned(t.binary("kSUM", product, "%x2"))


def test_instance_norm():
    """The planes of NCHW; the epsilon is kept."""
    text = instance_norm()
    result = assert_same(text, NORMALIZATIONS)
    assert after(text, NORMALIZATIONS) == ["normalization"]
    assert "axis = array<i64: 2, 3>" in result
    assert "eps = 9.99999997E-7 : f32" in result


def test_instance_norm_of_unknown_many_images():
    """Their number is not summed over."""
    text = instance_norm().replace("<2x3", "<?x3")
    assert text.count("<?x3") > 10
    assert_same(text, NORMALIZATIONS)
    assert after(text, NORMALIZATIONS) == ["normalization"]


def test_instance_norm_with_the_usual_epsilon():
    """The default is not printed."""
    assert "eps" not in assert_same(instance_norm(epsilon=1e-5), NORMALIZATIONS)


@pytest.mark.parametrize(
    "changed",
    [{"divisor": 23.0}, {"again": 12.0}, {"epsilon": 0.1}, {"flat": False}],
    ids=str,
)
def test_what_is_no_instance_norm(changed):
    """Another divisor, a large epsilon, sums over something else than planes."""
    text = instance_norm(**changed)
    assert after(text, NORMALIZATIONS) == unchanged(text)


def layer_norm(count=8.0, axis=1, epsilon=1e-5, *, element="f32", x=(2, 8), average=False, root=0):
    t = Text(x, (1, *x[1:]), (1, *x[1:]), element=element)

    def mean(value):
        if average:
            return t.reduce("kAVG", value, 1)
        return t.binary("kDIV", t.reduce("kSUM", value, 1), number)

    number = t.number(count)
    centred = t.binary("kSUB", "%x0", t.reduce("kAVG", "%x0", axis))
    again = t.binary("kSUB", "%x0", mean("%x0"))
    variance = t.binary("kSUM", mean(t.binary("kPROD", again, again)), t.number(epsilon))
    kinds = ["kRECIP", "kSQRT"][:: -1 if root else 1]
    inverse = t.unary(kinds[1], t.unary(kinds[0], variance))
    normal = t.binary("kPROD", centred, inverse)
    return t.returned(t.binary("kSUM", t.binary("kPROD", normal, "%x1"), "%x2"))


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("root", [0, 1])
def test_layer_norm(average, root):
    """As PyTorch is lowered, and as `canonicalize` leaves that."""
    text = layer_norm(average=average, root=root)
    assert_same(text, NORMALIZATIONS)
    assert after(text, NORMALIZATIONS) == ["normalization"]


def test_layer_norm_in_the_pipeline():
    """It is found behind `canonicalize`, too."""
    text = layer_norm(epsilon=1e-3)
    result = assert_same(text, *pipeline.SIMPLIFICATION)
    assert "tensorrt.normalization" in result
    assert "eps = 1.000000e-03 : f32" in result


@pytest.mark.parametrize("changed", [{"count": 7.0}, {"axis": 0}], ids=str)
def test_what_is_no_layer_norm(changed):
    """Another divisor; a mean over another dimension."""
    text = layer_norm(**changed)
    assert after(text, NORMALIZATIONS) == unchanged(text)


def test_layer_norm_of_unknown_size():
    """An average needs no count; a divisor that cannot be compared is not believed."""
    dynamic = {"x": (2, "?"), "average": True}
    assert after(layer_norm(**dynamic), NORMALIZATIONS) == ["normalization"]
    text = layer_norm(x=(2, "?"))
    assert after(text, NORMALIZATIONS) == unchanged(text)


CASTS = """
func.func @main(%x: tensor<2x8xf16>, %s: tensor<1x8xf32>, %b: tensor<1x8xf16>) -> tensor<2x8xTO> {
  %0 = tensorrt.cast %x : tensor<2x8xf16> to tensor<2x8xf32>
  %1 = tensorrt.cast %b : tensor<1x8xf16> to tensor<1x8xf32>
  %2 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.0e-3 : f32}
    (%0 : tensor<2x8xf32>, %s : tensor<1x8xf32>, %1 : tensor<1x8xf32>) -> tensor<2x8xf32>
  %3 = tensorrt.cast %2 : tensor<2x8xf32> to tensor<2x8xTO>
  return %3 : tensor<2x8xTO>
}
"""


def test_a_normalization_between_casts():
    """It is computed in the type that goes in and comes out; scale and bias are cast."""
    text = CASTS.replace("TO", "f16")
    result = assert_same(text, NORMALIZATIONS)
    assert after(text, NORMALIZATIONS).count("normalization") == 1
    assert "eps = 1.000000e-03 : f32" in result
    assert "-> tensor<2x8xf16>" in result


@pytest.mark.parametrize("to", ["bf16", "i32"])
def test_a_normalization_to_another_type_stays(to):
    """What comes out differs from what goes in."""
    text = CASTS.replace("TO", to)
    assert after(text, NORMALIZATIONS) == unchanged(text)

"""The parser: xDSL's traps are out of the way, and nothing but diagnostics comes out."""

import gc
import random
import re
import weakref

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    CallSiteLoc,
    DenseResourceAttr,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    TensorType,
    UnknownLoc,
    f32,
)
from xdsl.ir import Attribute

from tests.helpers.tensorrt_text import attribute_text
from tests.unit.tensorrt.mlir.test_mlir_text import MODULES
from tripybuild.errors.diagnostics import DiagnosticError, Span
from tripybuild.tensorrt.mlir import locations, resources
from tripybuild.tensorrt.mlir.context import UniformQuantizedType, new_context
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.writing import printer

WEIGHTS = """
"a.b"() {{v = dense_resource<{name}> : tensor<2xf32>}} : () -> ()
{{-#
  dialect_resources: {{
    builtin: {{
      {name}: "0x04000000{data}"
    }}
  }}
#-}}
"""


def read(text, **options):
    """Read a text that may hold anything."""
    return parser.parse(text, context=new_context(allow_unregistered=True), **options)


def value(written):
    """The attribute that is written so."""
    return read(f'"a.b"() {{v = {written}}} : () -> ()').body.block.first_op.attributes["v"]


def refusal(text):
    """What the parser says about a text that is not MLIR."""
    with pytest.raises(DiagnosticError) as raised:
        parser.parse(text, "file.mlir")
    (found,) = raised.value.diagnostics
    assert found.code == "mlir-syntax"
    return found


# xDSL's traps


def test_trap_infinities_among_elements():
    """Trap 1: `0x7F800000` is a pattern of bits, alone and in lists."""
    assert value("dense<0x7F800000> : tensor<f32>").get_values() == (float("inf"),)
    assert value("dense<[0xFF800000, 1.0]> : tensor<2xf32>").get_values() == (float("-inf"), 1.0)


def test_trap_order_of_attributes():
    """Trap 2: dictionaries are printed in the order of their keys."""
    text = printer.text(read('"a.b"() {c = 1 : i32, a, b = {z, y}} : () -> ()'))

    assert "{a, b = {y, z}, c = 1 : i32}" in text


def test_trap_resources_do_not_leak():
    """Trap 3: two texts use one name for different data, and neither is renamed."""
    one = read(WEIGHTS.format(name="w", data="0000803F00000040"))
    two = read(WEIGHTS.format(name="w", data="0000804000000041"))
    for module, expected in ((one, [1, 2]), (two, [4, 8])):
        attribute = module.body.block.first_op.attributes["v"]
        assert attribute.resource_handle.data == "w"
        assert resources.of(module).array(attribute).tolist() == expected
        assert printer.text(read(printer.text(module))) == printer.text(module)


def test_trap_elided_resources_stay_elided():
    """Trap 3: `__elided__` keeps its meaning however often it is read."""
    text = '"a.b"() {v = dense_resource<__elided__> : tensor<2xf32>} : () -> ()'
    for _ in range(2):
        module = read(text)
        assert "<__elided__>" in printer.text(module)
        attribute = module.body.block.first_op.attributes["v"]
        assert resources.of(module).array(attribute) is None


def test_trap_dynamic_sizes():
    """Trap 4: a dynamic size is xDSL's mark, whatever it is."""
    assert value("tensor<?x3xf32>").get_shape() == (DYNAMIC_INDEX, 3)


def test_trap_locations_with_metadata():
    """Trap 9: nvtripy's locations are read, and printed if they are asked for."""
    module = read('"a.b"() : () -> () loc(fused<"in1;;out">["a", "b"])')
    location = module.body.block.first_op.location

    assert location.metadata == StringAttr("in1;;out")
    assert 'loc(fused<"in1;;out">[#loc1, #loc2])' in printer.text(module, locations=True)
    assert "loc(" not in printer.text(module)


def test_trap_aliases_are_printed():
    """Trap 10: maps have aliases; `sparse` is refused in words; `builtin.` is not written."""
    text = printer.text(read('"a.b"() {m = affine_map<(d0) -> (d0)>} : () -> ()'))

    assert text == '#map = affine_map<(d0) -> (d0)>\nmodule {\n  "a.b"() {m = #map} : () -> ()\n}\n'
    assert (
        "sparse constants are not supported"
        in refusal("arith.constant sparse<[[0]], 1> : tensor<1xi32>").message
    )


def test_trap_strings_without_an_end():
    """xDSL's lexer tries the parts of a long string in all ways before it gives up."""
    assert "the string has no end" in refusal('"' + "a" * 200).message
    assert refusal("arith.constant dense<[" + "// " * 200).span is not None


# What is kept


def test_resources_are_given_beside_a_module():
    """Weights need not go through text."""
    module = read('"a.b"() {v = dense_resource<w> : tensor<2xf32>} : () -> ()')
    weights = np.array([1, 2], np.float32)
    table = resources.of(module)
    table.add_arrays({"w": weights})

    found = table.array(DenseResourceAttr.from_params("w", TensorType(f32, [2])))
    assert np.shares_memory(found, weights)
    assert '"0x040000000000803F00000040"' in printer.text(module)
    assert "dialect_resources" not in printer.text(module, data=False)


def test_resources_go_with_their_module():
    """A module that nobody holds any more keeps no weights alive."""
    module = read(WEIGHTS.format(name="w", data="0000803F00000040"))
    table = weakref.ref(resources.of(module))
    del module
    gc.collect()

    assert table() is None


@pytest.mark.parametrize("data", ["", "000080", "xx"])
def test_resources_have_the_size_of_their_type(data):
    """Data that is cut off is said so, when it is read or when it is used."""

    def used():
        module = read(WEIGHTS.format(name="w", data=data))
        return resources.of(module).array(module.body.block.first_op.attributes["v"])

    with pytest.raises((DiagnosticError, ValueError)):
        used()


@pytest.mark.parametrize(
    "written",
    [
        "!quant.uniform<i8:f32, 5.000000e-01>",
        "!quant.uniform<i8:f32, 9.987200e-01:127>",
        "!quant.uniform<u8<0:100>:f16, 2.500000e-01:-3>",
        "!quant.uniform<i8:f32:1, {2.000000e+02, 9.987200e-01:120}>",
        "tensor<2x3x!quant.uniform<i8:f32, 1.000000e+00>>",
    ],
)
def test_quantized_types_are_kept(written):
    """Per tensor and per axis, with and without bounds and zeros."""
    assert attribute_text(value(written)) == written


def test_quantized_type_has_one_scale():
    """A zero point of zero is not written."""
    found = value("!quant.uniform<i8:f32, 1.0:0>")

    assert isinstance(found, UniformQuantizedType)
    assert (found.scale, found.zero_points.data[0].data) == (1.0, 0)
    assert attribute_text(found) == "!quant.uniform<i8:f32, 1.000000e+00>"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("!quant.uniform<i8:f32, 0.0>", "illegal scale: 0.000000"),
        ("!quant.uniform<i64:f32, 1.0>", "illegal quantized storage type alias"),
        ("!quant.uniform<i8<5:5>:f32, 1.0>", "illegal storage min and storage max: (5:5)"),
        ("!quant.uniform<i8:i32, 1.0>", "expressed type must be floating point"),
        ("!quant.uniform<i8:f32:{0:1}, {1.0}>", "blocks of several axes are not supported"),
    ],
)
def test_quantized_types_are_checked(written, message):
    """The words are MLIR's."""
    assert message in refusal(f"func.func private @f({written})").message


def test_plan_and_profiles_are_read_without_more_ado():
    """What nvtripy writes on its inputs."""
    text = (
        "func.func @f(%a: tensor<i32> {plan.memory_space = #plan.memory_space<host>, "
        'tensorrt.dimension_names = {"0" = "batch"}}) { return }'
    )
    printed = printer.text(parser.parse(text))

    assert "plan.memory_space = #plan.memory_space<host>" in printed
    assert '{"0" = "batch"}' in printed


def test_operations_know_their_place():
    """An operation without a location, and each argument, has its place in the text."""
    text = "func.func @f(%a: i32) {\n  %0 = arith.constant 1 : i32\n  return\n}\n"
    function = parser.parse(text, "f.mlir").body.block.first_op
    block = function.body.block

    assert locations.span_of(function.location) == Span("f.mlir", 1, 1, 1, 2)
    assert locations.span_of(block.first_op.location) == Span("f.mlir", 2, 8, 2, 9)
    assert locations.span_of(block.args[0].location) == Span("f.mlir", 1, 14, 1, 15)


def test_types_that_are_written_alike_are_one():
    """A type is read once."""
    text = "func.func @f(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) { return }"
    one, two = parser.parse(text).body.block.first_op.body.block.args

    assert one.type is two.type


def test_isolated_regions_have_names_of_their_own():
    """A value of outside is not seen, and its name may be used again."""
    body = "%0 = arith.constant 1 : i32"
    text = f"func.func @f() {{ {body}\n return }}\nfunc.func @g() {{ {body}\n return }}"

    assert len(list(parser.parse(text).walk())) == 7


# Problems


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("tensorrt.activaton", "unknown operation 'tensorrt.activaton'", (1, 1)),
        ("func.func @f() {\n  nothing.here\n}", "unknown operation 'nothing.here'", (2, 3)),
        (
            "func.func @f() {\n  return %x : i32\n}",
            "use of undeclared SSA value name '%x'",
            (2, 10),
        ),
        ("func.func @f(%a: i32, %a: i32) { return }", "SSA value %a is already defined", (1, 23)),
        ("func.func @f(", "expected", (1, 14)),
        ("func.func @f() { ^a: cf.br ^b }", "reference to an undefined block '^b'", (1, 28)),
        (
            "%0 = func.func @f() { return }",
            "operation defines 0 results but was provided 1",
            (1, 1),
        ),
        ("#a = 1\n#a = 2", "re-declaration of alias '#a'", (2, 4)),
        ("func.func private @f() loc(#x)", "undefined symbol alias '#x'", (1, 28)),
        ("&", "unexpected character `&`", (1, 1)),
        ("arith.constant 300 : i8", "out of range", None),
        ("func.func @f(%a: tensor<2xf32>, i32) { return }", "for each argument, or for none", None),
    ],
)
def test_problems_have_a_place(text, message, place):
    """What is wrong, and where."""
    found = refusal(text)

    assert message in found.message
    assert found.span.path == "file.mlir"
    assert place is None or (found.span.line, found.span.column) == place


def test_name_that_was_meant_is_said():
    """Of the operations of the same dialect."""
    assert refusal("tensorrt.activaton").hint == "did you mean `tensorrt.activation`?"
    assert refusal("tensort.activation").hint is None


def test_unregistered_operations_need_their_generic_form():
    """Nobody knows how else to read them."""
    with pytest.raises(DiagnosticError, match="only its generic form can be read"):
        read("foo.bar 1")


def test_deep_texts_are_refused():
    """A text that is nested without end is no fault of ours."""
    assert "too deeply" in refusal("func.func private @f(" + "tuple<" * 20000).message


PIECES = [
    *'{}[]()<>,:;%#!@^"-=?*x01 \n.e_a\\/',
    *["tensor<", "dense<", "loc(", "0x", "->", "::", "{-#", "#-}", "affine_map<", "true", "i1"],
    *["%0", "^bb0", "// ", "\x00", "é", "99999999999999999999", "f32", "array<", "fused<"],
]


def mutated(text, chance):
    """A text with a few changes."""
    for _ in range(chance.randint(1, 4)):
        place, other = (chance.randrange(len(text) + 1) for _ in range(2))
        text = chance.choice(
            [
                text[:place] + chance.choice(PIECES) + text[place:],
                text[:place] + text[place + chance.randint(1, 6) :],
                text[:place] + text[other : other + 20] + text[place:],
                text[:place],
            ]
        )
    return text


@pytest.mark.parametrize("seed", range(8))
def test_only_diagnostics_come_out(seed):
    """Whatever the text: a module that prints and reads back, or diagnostics with a place."""
    chance = random.Random(seed)
    texts = [*MODULES.values(), WEIGHTS.format(name="w", data="0000803F00000040")]
    for _ in range(60):
        text = mutated(chance.choice(texts), chance)
        try:
            module = read(text)
        except DiagnosticError as error:
            placeless = [each for each in error.diagnostics if each.span is None]
            assert placeless == [], text
            continue
        printed = printer.text(module, locations=True, generic=True)
        assert re.search("module|func", printed)


# Locations

PLACES = st.builds(
    locations.file_location,
    st.text(max_size=5).map(StringAttr),
    st.integers(0, 99),
    st.integers(0, 99),
)
RANGES = st.builds(
    lambda place, line, column: locations.make_location(
        locations.FileLineColRange,
        filename=place.filename,
        line=place.line,
        column=place.column,
        end_line=IntAttr(line),
        end_column=IntAttr(column),
    ),
    PLACES,
    st.integers(0, 99),
    st.integers(0, 99),
)


def _composed(inner: st.SearchStrategy[Attribute]):
    name = st.text(max_size=5).map(StringAttr)
    known = inner.filter(lambda each: not isinstance(each, UnknownLoc))
    return st.one_of(
        st.builds(
            lambda desc, location: locations.make_location(NameLoc, desc=desc, location=location),
            name,
            known | st.just(NoneAttr()),
        ),
        st.builds(
            lambda one, two: locations.make_location(CallSiteLoc, callee=one, caller=two),
            inner,
            inner,
        ),
        st.builds(
            lambda parts, metadata: locations.make_location(
                FusedLoc,
                locations=FusedLoc([], NoneAttr()).locations.__class__(parts),
                metadata=metadata,
            ),
            st.lists(inner, min_size=1, max_size=3),
            name | st.just(NoneAttr()),
        ),
    )


LOCATIONS = st.recursive(PLACES | RANGES | st.just(locations.UNKNOWN), _composed, max_leaves=6)


@settings(max_examples=150, deadline=None)
@given(location=LOCATIONS)
def test_locations_survive_text(location):
    """All forms, nested in each other."""
    module = read('"a.b"() : () -> ()')
    module.body.block.first_op.location = location
    text = printer.text(module, locations=True)
    again = read(text)

    assert again.body.block.first_op.location == location
    assert printer.text(again, locations=True) == text


def test_place_of_a_location_is_the_nearest_in_a_file():
    """Names, calls and fused locations stand for the first place in them."""
    place = locations.file_location(StringAttr("f"), 3, 4)
    named = locations.make_location(NameLoc, desc=StringAttr("n"), location=place)
    call = locations.make_location(CallSiteLoc, callee=named, caller=locations.UNKNOWN)

    assert locations.span_of(call) == Span("f", 3, 4, 3, 5)
    assert locations.span_of(locations.UNKNOWN) is None
    assert isinstance(place, FileLineColLoc)

"""`canonicalize` folds constants, casts and shapes, gathers constants, drops what is dead."""

import pytest

from tests.oracles.canonical import canonical, function
from tests.oracles.tensorrt_numpy import parsed
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes import canonicalize
from tripybuild.tensorrt.passes.canonicalize import folds
from tripybuild.tensorrt.passes.elimination import broadcast_elimination

SHAPE = "tensor<3xi32>"


def constant(name, value, type):
    return f"%{name} = tensorrt.constant dense<{value}> : {type}"


def negated(type, name="r", value="%c"):
    return (
        f"%{name} = tensorrt.unary {{unaryOperation = #tensorrt.unary_operation<kNEG>}} "
        f"{value} : {type}"
    )


@pytest.mark.parametrize(
    ("value", "type", "found"),
    [
        ("[1.0, -0.0, 0xFF800000]", "tensor<3xf32>", "[-1.000000e+00, 0.000000e+00, 0x7F800000]"),
        ("2.5", "tensor<300000xf32>", "dense<-2.500000e+00>"),
        ("[1, -2, -2147483648]", SHAPE, "[-1, 2, -2147483648]"),
        ("1.5", "tensor<2xbf16>", "dense<-1.500000e+00> : tensor<2xbf16>"),
        ("1.5", "tensor<2xf16>", "dense<-1.500000e+00> : tensor<2xf16>"),
        ("7", "tensor<2xi64>", "dense<-7> : tensor<2xi64>"),
    ],
)
def test_a_sign_is_folded(value, type, found):
    text = function(constant("c", value, type) + "\n" + negated(type), [], type)
    result = canonical(text)
    assert result.names == ("constant",)
    assert found in result


def test_other_functions_weights_and_large_constants_are_not():
    text = function(
        constant("c", "1.0", "tensor<2xf32>") + "\n" + negated("tensor<2xf32>"), [], "tensor<2xf32>"
    )
    assert canonical(text.replace("kNEG", "kEXP")).names == ("constant", "unary")
    body = "%c = tensorrt.constant dense_resource<__elided__> : tensor<2xf32>\n"
    text = function(body + negated("tensor<2xf32>"), [], "tensor<2xf32>")
    assert canonical(text).names == ("constant", "unary")
    count = folds.LARGEST + 1
    data = "0x" + "0000803F" * (count - 1) + "00000000"
    type = f"tensor<{count}xf32>"
    text = function(constant("c", f'"{data}"', type) + "\n" + negated(type), [], type)
    assert canonical(text).names == ("constant", "unary")


def binary(kind, type=SHAPE, left="%c", right="%d", name="r"):
    return f"%{name} = tensorrt.element_wise <{kind}>({left}, {right} : {type}, {type}) -> {type}"


@pytest.mark.parametrize(("kind", "found"), [("kSUM", "[11, 22, 33]"), ("kSUB", "[-9, -18, -27]")])
def test_shapes_are_computed(kind, found):
    body = [constant("c", [1, 2, 3], SHAPE), constant("d", [10, 20, 30], SHAPE), binary(kind)]
    result = canonical(function("\n".join(body), [], SHAPE))
    assert result.names == ("constant",)
    assert found in result


def test_sums_wrap_around():
    body = [constant("c", 2147483647, SHAPE), constant("d", 1, SHAPE), binary("kSUM")]
    assert "dense<-2147483648>" in canonical(function("\n".join(body), [], SHAPE))


@pytest.mark.parametrize(
    ("kind", "type", "left", "right"),
    [
        ("kPROD", SHAPE, [1, 2, 3], [10, 20, 30]),
        ("kSUM", "tensor<3xi64>", [1, 2, 3], [10, 20, 30]),
        ("kSUM", "tensor<3xf32>", [1.0, 2.0, 3.0], [10.0, 20.0, 30.0]),
        ("kSUM", "tensor<1x3xi32>", [[1, 2, 3]], [[10, 20, 30]]),
    ],
)
def test_other_sums_are_not_computed(kind, type, left, right):
    body = [constant("c", left, type), constant("d", right, type), binary(kind, type)]
    found = canonical(function("\n".join(body), [], type))
    assert found.names == ("constant", "constant", "element_wise")


def concatenation(values, types, result, axis=0):
    return (
        f"%r = tensorrt.concatenation {{axis = {axis} : i32}} "
        f"ins({', '.join(values)} : {', '.join(types)}) -> {result}"
    )


def test_shapes_are_put_together():
    body = [
        constant("c", [1, 2], "tensor<2xi32>"),
        constant("d", [3], "tensor<1xi32>"),
        concatenation(["%c", "%d"], ["tensor<2xi32>", "tensor<1xi32>"], SHAPE),
    ]
    found = canonical(function("\n".join(body), [], SHAPE))
    assert found.names == ("constant",)
    assert "[1, 2, 3]" in found


def test_one_input_is_the_result_and_empty_ones_go():
    x = "tensor<2x3xf32>"
    assert canonical(function(concatenation(["%a"], [x], x), [x], x)).names == ()
    empty = "tensor<2x0xf32>"
    body = concatenation(["%b", "%a", "%b"], [empty, x, empty], x, 1)
    assert canonical(function(body, [x, empty], x)).names == ()
    wide = "tensor<2x6xf32>"
    body = concatenation(["%a", "%b", "%a"], [x, empty, x], wide, 1)
    found = canonical(function(body, [x, empty], wide))
    assert found.names == ("concatenation",)
    assert "ins(%arg0, %arg0" in found
    body = concatenation(["%a", "%b"], [empty, empty], empty, 1)
    assert canonical(function(body, [empty, empty], empty)).names == ()


def test_values_and_floats_are_not_put_together():
    body = constant("c", [1, 2], "tensor<2xi32>") + "\n"
    body += concatenation(["%c", "%a"], ["tensor<2xi32>", "tensor<1xi32>"], SHAPE)
    assert canonical(function(body, ["tensor<1xi32>"], SHAPE)).names == (
        "constant",
        "concatenation",
    )
    body = constant("c", [1.0], "tensor<1xf32>") + "\n"
    body += concatenation(["%c", "%c"], ["tensor<1xf32>", "tensor<1xf32>"], "tensor<2xf32>")
    found = canonical(function(body, [], "tensor<2xf32>"))
    assert found.names == ("constant", "concatenation")


@pytest.mark.parametrize(
    ("type", "found"), [("tensor<2x0x5xf32>", "[2, 0, 5]"), ("tensor<7x7x7xi8>", "dense<7>")]
)
def test_known_sizes_are_a_constant(type, found):
    text = function(f"%r = tensorrt.shape %a : {type} -> {SHAPE}", [type], SHAPE)
    result = canonical(text)
    assert result.names == ("constant",)
    assert found in result


def test_the_shape_of_a_scalar_and_unknown_sizes():
    text = function(
        "%r = tensorrt.shape %a : tensor<f32> -> tensor<0xi32>", ["tensor<f32>"], "tensor<0xi32>"
    )
    assert canonical(text).names == ("constant",)
    text = function(
        f"%r = tensorrt.shape %a : tensor<2x?x5xf32> -> {SHAPE}", ["tensor<2x?x5xf32>"], SHAPE
    )
    assert canonical(text).names == ("shape",)


def test_a_size_that_is_no_i32_is_not_written():
    type = "tensor<3000000000xi8>"
    text = function(f"%r = tensorrt.shape %a : {type} -> tensor<1xi32>", [type], "tensor<1xi32>")
    assert canonical(text, evaluated=False).names == ("shape",)


def casts(op, *elements, value="%a"):
    names = [f"v{index}" for index in range(len(elements) - 2)] + ["r"]
    lines = []
    for name, before, after in zip(names, elements, elements[1:], strict=False):
        lines.append(f"%{name} = tensorrt.{op} {value} : tensor<4x{before}> to tensor<4x{after}>")
        value = f"%{name}"
    return "\n".join(lines)


@pytest.mark.parametrize("op", ["cast", "identity"])
@pytest.mark.parametrize(
    ("elements", "kept"),
    [
        (["f32", "f32"], 0),
        (["f16", "f32", "f16"], 0),
        (["bf16", "f32", "bf16"], 0),
        (["i8", "i32", "i8"], 0),
        (["i8", "f16", "i8"], 0),
        (["i1", "i32", "i1"], 0),
        (["f32", "f16", "f32"], 2),
        (["i32", "f32", "i32"], 2),
        (["f16", "i32", "f16"], 2),
        (["f16", "bf16", "f16"], 2),
        (["f16", "f32", "bf16"], 2),
        (["i32", "i1", "i32"], 2),
    ],
)
def test_casts_that_change_nothing_go(op, elements, kept):
    before, after = f"tensor<4x{elements[0]}>", f"tensor<4x{elements[-1]}>"
    found = canonical(function(casts(op, *elements), [before], after))
    assert found.names == (op,) * kept


@pytest.mark.parametrize(("elements", "kept"), [(["f32", "f32"], 0), (["f16", "f32", "f16"], 2)])
def test_other_passes_fold_casts_to_the_same_type_only(elements, kept):
    before, after = f"tensor<4x{elements[0]}>", f"tensor<4x{elements[-1]}>"
    module = parsed(function(casts("cast", *elements), [before], after))
    broadcast_elimination.run(module)
    assert printer.text(module).count("tensorrt.cast") == kept


@pytest.mark.parametrize(
    ("value", "before", "after", "found"),
    [
        ("[2049.0, 2051.0, 1.0, 2.0]", "f32", "f16", "[2.048000e+03, 2.052000e+03, 1.0"),
        ("1.0e+30", "f32", "f16", "dense<0x7C00> : tensor<4xf16>"),
        ("0xFF800000", "f32", "bf16", "dense<0xFF80> : tensor<4xbf16>"),
        ("[1.0, 2.0, 3.0, -0.0]", "f16", "f32", "[1.000000e+00, 2.000000e+00, 3.000000e+00"),
    ],
)
def test_a_constant_is_rounded_as_its_type_is(value, before, after, found):
    body = (
        constant("c", value, f"tensor<4x{before}>")
        + "\n"
        + casts("cast", before, after, value="%c")
    )
    module = parsed(function(body, [], f"tensor<4x{after}>"))
    canonicalize.run(module)
    assert found in printer.text(module)
    assert "cast" not in printer.text(module)


def test_constants_of_integers_are_not_cast():
    body = constant("c", 3, "tensor<4xi32>") + "\n" + casts("cast", "i32", "f32", value="%c")
    assert canonical(function(body, [], "tensor<4xf32>")).names == ("constant", "cast")


def test_dead_ops_go_and_equal_constants_are_one():
    v = "tensor<2xf32>"
    body = [
        "%d = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %a : tensor<2xf32>",
        binary("kSUM", v, "%d", "%d", "e"),
        constant("x", [1.0, 2.0], "tensor<2xf32>"),
        binary("kPROD", v, "%a", "%x", "s"),
        constant("y", [1.0, 2.0], "tensor<2xf32>"),
        constant("z", [1.0, 3.0], "tensor<2xf32>"),
        binary("kPROD", v, "%s", "%y", "t"),
        binary("kMIN", v, "%t", "%z", "r"),
    ]
    found = canonical(function("\n".join(body), ["tensor<2xf32>"], "tensor<2xf32>"))
    assert found.names == ("constant", "constant", "element_wise", "element_wise", "element_wise")
    assert found.text.index("3.000000e+00") < found.text.index("2.000000e+00]> : tensor<2xf32>\n")


def test_constants_of_branches_stand_at_the_head_of_the_function():
    text = """
func.func @main(%c: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %r = tensorrt.if (%c : tensor<i1>) -> tensor<2xf32> {
    %k = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %s = tensorrt.element_wise <kSUM>(%a, %k : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tensorrt.yield %s : tensor<2xf32>
  } else {
    %k = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %s = tensorrt.element_wise <kSUB>(%a, %k : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tensorrt.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}
"""
    found = canonical(text)
    assert found.names == ("constant", "if", "element_wise", "yield", "element_wise", "yield")


def test_a_branch_that_nobody_uses_goes():
    text = """
func.func @main(%c: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  %r = tensorrt.if (%c : tensor<i1>) -> tensor<2xf32> {
    tensorrt.yield %a : tensor<2xf32>
  } else {
    tensorrt.yield %a : tensor<2xf32>
  }
  return %a : tensor<2xf32>
}
"""
    assert canonical(text).names == ()


def test_an_assertion_stays():
    text = """
func.func @main(%c: tensor<i1>, %a: tensor<2xf32>) -> tensor<2xf32> {
  tensorrt.assertion {message = "no"} ins(%c : tensor<i1>)
  return %a : tensor<2xf32>
}
"""
    assert canonical(text, evaluated=False).names == ("assertion",)


def test_shapes_of_plugins_are_computed():
    text = """
func.func @main(%a: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %r = tensorrt.opaque_plugin {plugin_name = "p", plugin_version = "1", plugin_namespace = "",
    creator_params = {}} (%a) : (tensor<?x4xf32>) -> tensor<?x8xf32> {
  ^bb0(%n: i64, %m: i64):
    %one = arith.constant 1 : i64
    %three = arith.constant 3 : i64
    %four = arith.addi %one, %three : i64
    %two = arith.subi %three, %one : i64
    %eight = arith.muli %four, %two : i64
    %zero = arith.constant 0 : i64
    %same = arith.addi %n, %zero : i64
    tensorrt.yield %same, %eight : i64, i64
  }
  return %r : tensor<?x8xf32>
}
"""
    found = canonical(text, evaluated=False)
    assert "arith.constant 8 : i64" in found
    assert "arith.addi" not in found
    assert "arith.muli" not in found

"""The verifier: what is wrong with a module, in MLIR's words, at its place."""

import pytest
from jaxlib.mlir import ir
from oracles import mlir
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr

from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.context import new_context
from tripybuild.tensorrt.mlir.reading import parser


def problems(text):
    """Give the messages with their lines."""
    module = parser.parse(text, "file.mlir", new_context(allow_unregistered=True))
    found = verifier.problems(module)
    assert {each.code for each in found} <= {"mlir-invalid"}
    return [(each.span.line, each.message) for each in found]


GENERIC = """"func.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({
ENTRY
  "func.return"() : () -> ()
}) : () -> ()"""
USED_EARLY = """func.func @f(%a: i32) {
  %0 = arith.addi %1, %a : i32
  %1 = arith.addi %a, %a : i32
  return
}"""
NOT_ALWAYS = """func.func @f(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  %0 = arith.constant 1 : i32
  cf.br ^b
^b:
  %1 = arith.addi %0, %0 : i32
  return
}"""
TWO_FUNCTIONS = """func.func @f() {
  %0 = arith.constant 1 : i32
  return
}
func.func @g() {
  %0 = arith.constant 2 : i32
  %1 = arith.addi %0, %0 : i32
  return
}"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("func.func @f(%a: i32) -> f32 {\n  return %a : i32\n}", 2),
        ("func.func @f(%a: i32) -> i32 {\n  return\n}", 2),
        ("func.func @f() { return }\nfunc.func @f() { return }", 2),
        ("func.func @f(%a: i32) {\n  %0 = arith.constant 1 : i32\n}", 2),
        ("func.func @f() {\n  return\n  return\n}", 2),
        (GENERIC.replace("ENTRY", "^bb0(%a: f32):"), 1),
        (GENERIC.replace("ENTRY", ""), 1),
        (USED_EARLY, 2),
        (NOT_ALWAYS, 7),
    ],
)
def test_words_and_places_are_those_of_mlir(text, line):
    """MLIR says the same about the same line."""
    (found, *_) = problems(text)

    assert found[0] == line
    with pytest.raises(ir.MLIRError) as raised:
        mlir.printed(text)
    theirs = str(raised.value)
    assert f'"-":{line}:' in theirs
    assert found[1].split("has %")[0].split(", has ")[0] in theirs


def test_every_operation_is_looked_at():
    """One run finds what is wrong everywhere, once for each operation."""
    found = problems(
        """module {
  func.func @f(%x: tensor<2xf32>) {
    %a = tensorrt.activation {activationType = #tensorrt.activation_type<kCLIP>} %x : tensor<2xf32>
    return
  }
  tensorrt.module @m {
    func.func @g(%x: tensor<2xf32>) -> tensor<3xf32> {
      return %x : tensor<2xf32>
    }
  }
}"""
    )

    assert [line for line, _ in found] == [3, 8]
    assert found[0][1].startswith("'tensorrt.activation' op expected `alpha` attribute")


def test_mismatched_inference_is_two_problems():
    """What is inferred, and that inference failed."""
    found = problems(
        """func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> {
  %0 = tensorrt.element_wise <kSUM> (%x, %x : tensor<2xf32>, tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
    )

    assert [line for line, _ in found] == [2, 2]
    assert "inferred type(s) 'tensor<2xf32>' are incompatible with" in found[0][1]
    assert found[1][1] == "'tensorrt.element_wise' op failed to infer returned types"


def test_values_of_outside_stay_outside():
    """A module that was made in memory may break what the parser does not let through."""
    module = parser.parse(TWO_FUNCTIONS, "f")
    one, two = (function.body.block.first_op for function in module.body.block.ops)
    two.next_op.operands[0] = one.results[0]
    (found,) = verifier.problems(module)

    assert found.message == "'arith.addi' op using value defined outside the region"
    assert found.notes == ("required by region isolation constraints",)
    assert found.span.line == 7


def test_attributes_of_arguments_are_counted():
    """One dictionary for each argument."""
    module = parser.parse("func.func private @f(i32 {a.b}, i32)", "f")
    module.body.block.first_op.properties["arg_attrs"] = ArrayAttr([DictionaryAttr({})])
    (found,) = verifier.problems(module)

    assert "expects argument attribute array to have the same number of elements" in found.message


def test_unreached_blocks_are_left_alone():
    """What is never run may use anything of its function, and changes no dominance."""
    text = "func.func @f(%a: i32) -> i32 {\n  cf.br ^y\n^y:\n  return %a : i32\n^z:\n  cf.br ^y\n}"

    assert problems(text) == []
    assert mlir.printed(text)


def test_graphs_have_no_order():
    """In the region of a module values may be used before they are defined."""
    assert problems('"a.b"(%0) : (i32) -> ()\n%0 = "a.c"() : () -> i32') == []


def test_second_symbol_is_the_wrong_one():
    """The note says where the first is."""
    module = parser.parse("func.func @f() { return }\nfunc.func @f() { return }", "file.mlir")
    (found,) = verifier.problems(module)

    assert found.message == "redefinition of symbol named 'f'"
    assert found.notes == ("see existing symbol definition here: file.mlir:1:1",)


def test_other_dialects_are_checked_by_xdsl():
    """Its words, behind the operation's name."""
    text = 'func.func @f(%a: i32, %b: i64) {\n  %0 = "arith.addi"(%a, %b) : (i32, i64) -> i32\n'
    (found,) = problems(text + "  return\n}")

    assert found[0] == 2
    assert found[1].startswith("'arith.addi' op ")


PAD = "tensorrt.padding {prePadding = array<i64: 0, 0>, postPadding = array<i64: 0, 0>}"
MANY = f"""func.func @f(%c: tensor<i1>, %x: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {{
  %r = tensorrt.if(%c : tensor<i1>) -> tensor<1x1x4x4xf32> {{
    INSIDE
    %p = {PAD} ins(%x : tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
    tensorrt.yield %p : tensor<1x1x4x4xf32>
  }} else {{
    tensorrt.yield %x : tensor<1x1x4x4xf32>
  }}
  AFTER
  return %r : tensor<1x1x4x4xf32>
}}
func.func @g() -> i32 {{
  return
}}"""
SOFTMAX = "%s = tensorrt.softmax {axis = 9 : i64} %x : tensor<1x1x4x4xf32>"


@pytest.mark.parametrize(
    ("inside", "after", "lines"),
    [(SOFTMAX, SOFTMAX, [3]), ("", SOFTMAX, [4, 2]), ("", "", [4, 2])],
    ids=["what is inside", "how that fits", "functions in their order"],
)
def test_mlir_stops_at_the_first_operation_that_fails(inside, after, lines):
    """Inside before outside, functions one after the other."""
    text = MANY.replace("INSIDE", inside).replace("AFTER", after)
    module = parser.parse(text, "f", new_context())

    assert [each.span.line for each in verifier.first_problems(module)] == lines
    assert len(verifier.problems(module)) > len(lines)


def test_first_of_what_a_whole_module_breaks():
    """Symbols and dominance come last."""
    text = "func.func @f() { return }\nfunc.func @f() { return }\nfunc.func @f() { return }"
    (found,) = verifier.first_problems(parser.parse(text, "f", new_context()))
    (early,) = verifier.first_problems(parser.parse(USED_EARLY, "f", new_context()))

    assert found.span.line == 2
    assert early.span.line == 2
    assert verifier.first_problems(parser.parse(TWO_FUNCTIONS, "f", new_context())) == []

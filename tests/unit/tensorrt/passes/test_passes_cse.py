"""`cse`: what is shared, and what is not."""

from oracles.tensorrt_numpy import assert_same, count, names, parsed

from tripybuild.tensorrt.passes import pipeline


def after(text):
    module = parsed(text)
    pipeline.run(module, ["cse"])
    return module


def test_equal_ops_are_one():
    """Same op, same operands, same attributes; a chain of them is shared to its end."""
    text = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
  %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
  %2 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %0 : tensor<2xf32>
  %3 = tensorrt.activation {activationType = #tensorrt.activation_type<kTANH>} %1 : tensor<2xf32>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %4 : tensor<2xf32>
}
"""
    assert_same(text, "cse")
    assert names(after(text)) == ["unary", "activation", "element_wise"]


def test_what_differs_stays():
    """Another attribute, another order of operands, another result type, another constant."""
    text = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<?xf32>) {
  %a = tensorrt.constant dense<1.0> : tensor<2x3xf32>
  %b = tensorrt.constant dense<2.0> : tensor<2x3xf32>
  %0 = tensorrt.element_wise <kSUB>(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tensorrt.element_wise <kSUB>(%y, %x : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tensorrt.element_wise <kPROD>(%0, %a : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = tensorrt.element_wise <kPROD>(%1, %b : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = tensorrt.element_wise <kSUM>(%2, %3 : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = tensorrt.reshape %4 : tensor<2x3xf32> to tensor<6xf32>
  %6 = tensorrt.reshape %4 : tensor<2x3xf32> to tensor<?xf32>
  return %5, %6 : tensor<6xf32>, tensor<?xf32>
}
"""
    assert names(after(text)) == names(parsed(text))
    assert_same(text, "cse")


def test_effects_are_not_shared():
    """Assertions are kept, equal or not; random numbers differ."""
    text = """
func.func @main(%c: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
  tensorrt.assertion {message = "no"} ins(%c : tensor<i1>)
  tensorrt.assertion {message = "no"} ins(%c : tensor<i1>)
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNOT>} %c : tensor<i1>
  %1 = func.call @f() : () -> tensor<2xf32>
  %2 = func.call @f() : () -> tensor<2xf32>
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}
func.func private @f() -> tensor<2xf32>
"""
    module = after(text)
    assert names(module) == ["assertion", "assertion"]
    assert count(module, "func.call") == 2


IF = """
func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
  %1 = tensorrt.if(%c : tensor<i1>) -> tensor<2xf32> {
    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %x : tensor<2xf32>
    %3 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %2 : tensor<2xf32>
    tensorrt.yield %3 : tensor<2xf32>
  } else {
    %4 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<2xf32>
    tensorrt.yield %4 : tensor<2xf32>
  }
  %5 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %0 : tensor<2xf32>
  %6 = tensorrt.element_wise <kSUM>(%1, %5 : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %6 : tensor<2xf32>
}
"""


def test_regions_see_what_is_around_them_and_not_each_other():
    """The `exp` outside serves inside; one branch's `abs` serves neither the other nor after."""
    assert_same(IF, "cse")
    module = after(IF)
    kinds = [op.value("unary_operation") for op in module.walk() if op.name == "tensorrt.unary"]
    assert kinds == ["kEXP", "kABS", "kABS", "kABS"]


def test_functions_are_apart():
    """What is equal in two functions stays in both."""
    text = "\n".join(
        f"""
func.func @f{n}(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %c = tensorrt.constant dense<1.0> : tensor<2xf32>
  return %c : tensor<2xf32>
}}"""
        for n in range(2)
    )
    assert names(after(text)) == ["constant", "constant"]


def test_locations_of_the_first_stay():
    """What is shared is at the first one's place."""
    text = """
func.func @main() -> (tensor<2xf32>, tensor<2xf32>) {
  %a = tensorrt.constant dense<1.0> : tensor<2xf32> loc("first")
  %b = tensorrt.constant dense<1.0> : tensor<2xf32> loc("second")
  return %a, %b : tensor<2xf32>, tensor<2xf32>
}
"""
    module = after(text)
    (constant,) = [op for op in module.walk() if op.name == "tensorrt.constant"]
    assert "first" in str(constant.location)


def test_running_twice_changes_nothing():
    """The second time there is nothing left."""
    module = after(IF)
    text = str(module)
    pipeline.run(module, ["cse"])
    assert str(module) == text

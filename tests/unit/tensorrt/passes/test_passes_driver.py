"""The table of passes, and the driver: order, folding, dead ops, constants, locations."""

import numpy as np
import pytest
from oracles.tensorrt_numpy import assert_same, functions, names, parsed
from xdsl.dialects.builtin import TensorType, f32

from tripybuild.tensorrt.dialect import (
    ActivationOp,
    ConstantOp,
    ElementWiseOp,
    IdentityOp,
    IfOp,
    UnaryOp,
)
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes import pipeline
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, Worklist, greedy
from tripybuild.tensorrt.passes.rewriting.values import (
    defining_op,
    numbers_of,
    only_user,
    splat,
    uniform,
)

CHAIN = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %x : tensor<2x3xf32>
  %1 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %0 : tensor<2x3xf32>
  %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %1 : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
"""


def kinds(module):
    return [op.value("unary_operation") for op in module.walk() if isinstance(op, UnaryOp)]


def negations(op, rewriter):
    inner = defining_op(op.input, UnaryOp)
    if inner is None or {op.value("unary_operation"), inner.value("unary_operation")} != {"kNEG"}:
        return False
    rewriter.replace(op, inner.input)
    return True


NEGATIONS = Pattern("negations", UnaryOp, negations, "two are none")


def test_the_pipeline_is_mlir_tensorrts():
    """The order of `buildTensorRTModuleTransformationPipeline`; each name is in the table."""
    clean = ["canonicalize", "cse"]
    assert [name for name in pipeline.PIPELINE if name not in clean] == [
        "tensorrt-broadcast-elimination",
        "tensorrt-transpose-elimination",
        "tensorrt-reshape-elimination",
        "tensorrt-raise-normalizations",
        "tensorrt-apply-wars",
        "tensorrt-expand-ops",
        "tensorrt-expand-ops",
        "tensorrt-legalize-int8",
    ]
    assert list(pipeline.PIPELINE[-2:]) == ["tensorrt-expand-ops", "tensorrt-legalize-int8"]
    assert set(pipeline.PIPELINE) < set(pipeline.PASSES)
    assert all(name == entry.name for name, entry in pipeline.PASSES.items())


@pytest.mark.parametrize("name", pipeline.PASSES)
def test_each_pass_is_there_and_takes_an_empty_module(name):
    """The entry of the table names a function, and its defaults are taken."""
    module = parsed("")
    pipeline.run(module, [name])
    assert printer.text(module).split() == ["module", "{", "}"]


def test_options_are_keywords_with_defaults():
    """What is not given is the default; what is unknown is refused."""
    entry = pipeline.PASSES["tensorrt-apply-wars"]
    assert entry.keywords({"tensorrt-strongly-typed": True}) == {
        "tensorrt_version": "8.5",
        "tensorrt_strongly_typed": True,
        "force_default_slice_in_bounds": False,
    }
    with pytest.raises(KeyError):
        entry.keywords({"tensorrt_version": "10.0"})
    with pytest.raises(KeyError):
        pipeline.run(parsed(""), ["cannonicalize"])


def test_what_a_rewrite_leaves_dead_goes():
    """The inner op of a pair is dead once the outer one is replaced."""
    module = parsed(CHAIN)
    assert greedy(module, [NEGATIONS])
    assert kinds(module) == ["kEXP"]


def test_a_use_more_keeps_an_op():
    """What is used elsewhere stays."""
    module = parsed(CHAIN.replace("return %2", "return %0").replace("> {", "> {", 1))
    greedy(module, [NEGATIONS])
    assert kinds(module) == ["kNEG"]


def test_benefit_goes_before_order():
    """The pattern of the larger benefit is asked first."""
    asked = []

    def ask(name):
        def pattern(_op, _rewriter):
            asked.append(name)
            return False

        return pattern

    rows = [
        Pattern(name, UnaryOp, ask(name), "", benefit=n) for name, n in (("low", 1), ("high", 2))
    ]
    greedy(parsed(CHAIN), rows)
    assert asked == ["high", "low"] * 3


NESTED = """
func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kNEG>} %x : tensor<2xf32>
  %1 = tensorrt.if (%c: tensor<i1>) -> tensor<2xf32> {
    %2 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %0 : tensor<2xf32>
    tensorrt.yield %2 : tensor<2xf32>
  } else {
    tensorrt.yield %0 : tensor<2xf32>
  }
  %3 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kABS>} %1 : tensor<2xf32>
  return %3 : tensor<2xf32>
}
"""


@pytest.mark.parametrize(
    ("top_down", "order"),
    [(False, ["kABS", "if", "kEXP", "kNEG"]), (True, ["kNEG", "if", "kEXP", "kABS"])],
)
def test_ops_are_looked_at_from_the_last_one(top_down, order):
    """MLIR's driver takes the last op first, and what is inside after what it is in."""
    asked = []

    def ask(op, _rewriter):
        asked.append(op.value("unary_operation") if isinstance(op, UnaryOp) else "if")
        return False

    greedy(parsed(NESTED), [Pattern("ask", (UnaryOp, IfOp), ask, "")], top_down=top_down)
    assert asked == order


def test_rewrites_that_undo_each_other_end():
    """The driver gives up after a while."""

    def again(op, rewriter):
        rewriter.touch(op)
        return True

    def other(op, rewriter):
        swap = {"kNEG": "kEXP", "kEXP": "kNEG"}[op.value("unary_operation")]
        rewriter.replace(op, rewriter.create(UnaryOp, op.input, unary_operation=swap))
        return True

    assert greedy(parsed(CHAIN), [Pattern("again", UnaryOp, again, "")])
    assert greedy(parsed(CHAIN), [Pattern("other", UnaryOp, other, "")])


def test_new_ops_have_the_roots_location():
    """A location of the text survives in what replaces its op."""
    module = parsed(CHAIN)
    wanted = [op.location for op in module.walk() if isinstance(op, UnaryOp)][-1]

    def tanh(op, rewriter):
        if op.value("unary_operation") != "kEXP":
            return False
        rewriter.replace(op, rewriter.create(ActivationOp, op.input, activation_type="kTANH"))
        return True

    greedy(module, [Pattern("tanh", UnaryOp, tanh, "")])
    (made,) = [op for op in module.walk() if isinstance(op, ActivationOp)]
    assert made.location == wanted
    assert str(wanted) != str(module.location)


def test_folds_become_constants_and_values():
    """An array becomes a constant of the result's type; a value is used as it is."""
    module = parsed(CHAIN)

    def fold(op):
        if op.value("unary_operation") == "kEXP":
            return [np.full((2, 3), 7.0)]
        return None

    greedy(module, [], {UnaryOp: fold})
    block = functions(module)["main"].body.block
    assert splat(block.last_op.operands[0]) == 7.0
    assert names(module) == ["constant"]
    module = parsed(CHAIN)
    greedy(module, [], {UnaryOp: lambda op: [op.input]})
    assert names(module) == []


CONSTANTS = """
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %a = tensorrt.constant dense<1.0> : tensor<2xf32>
  %0 = tensorrt.element_wise <kSUM>(%x, %a : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = tensorrt.constant dense<1.0> : tensor<2xf32>
  %c = tensorrt.constant dense<2.0> : tensor<2xf32>
  %1 = tensorrt.element_wise <kSUB>(%b, %c : tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
"""


def test_equal_constants_are_one_at_the_head():
    """As in MLIR's folder: later constants move before earlier ones, equal ones are dropped."""
    module = parsed(CONSTANTS)
    greedy(module, [])
    assert names(module) == ["constant", "constant", "element_wise", "element_wise"]
    block = functions(module)["main"].body.block
    first, second = list(block.ops)[:2]
    assert (splat(first.results[0]), splat(second.results[0])) == (2.0, 1.0)


def test_functions_do_not_share_constants():
    """A function is isolated: each has constants of its own."""
    module = parsed(CONSTANTS + CONSTANTS.replace("@main", "@other"))
    greedy(module, [])
    assert names(module).count("constant") == 4


def test_a_worklist_gives_the_last_first():
    """Each op once; what is erased is not given; turning it over gives the first first."""
    ops = [op for op in parsed(CHAIN).walk() if isinstance(op, UnaryOp)]
    worklist = Worklist()
    for op in (*ops, ops[0]):
        worklist.push(op)
    worklist.forget(ops[1])
    worklist.reverse()
    assert [worklist.pop(), worklist.pop(), worklist.pop()] == [ops[0], ops[2], None]


VALUES = """
func.func @main(%x: tensor<2x2xf32>) {
  %list = tensorrt.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %same = tensorrt.constant dense<[0.1, 0.1]> : tensor<2xf32>
  %bytes = tensorrt.constant dense<-3> : tensor<1x2xi8>
  %none = tensorrt.constant dense<> : tensor<0xf32>
  %ends = tensorrt.constant dense<[1.0, 2.0, 1.0]> : tensor<3xf32>
  %resource = tensorrt.constant dense_resource<w> : tensor<2xf32>
  %half = tensorrt.cast %same : tensor<2xf32> to tensor<2xf16>
  %wide = tensorrt.expand_rank %half : tensor<2xf16> to tensor<1x2xf16>
  %filled = tensorrt.slice %same[1][2][1]
    {mode = #tensorrt.slice_mode<kFILL>} : tensor<2xf32> to tensor<2xf32>
  %wrapped = tensorrt.slice %same[1][2][1]
    {mode = #tensorrt.slice_mode<kWRAP>} : tensor<2xf32> to tensor<2xf32>
  return
}
"""


def test_what_values_are_told_to_be():
    """Splats of text only; through casts they are rounded, and a fill is another number."""
    block = functions(parsed(VALUES))["main"].body.block
    values = [op.results[0] for op in block.ops if op.results]
    listed, same, small, none, ends, resource, half, wide, filled, wrapped = values
    assert [splat(each) for each in (listed, small, none, ends, resource, half)] == [
        None,
        -3,
        None,
        None,
        None,
        None,
    ]
    assert splat(same) == float(np.float32(0.1))
    assert uniform(wide) == float(np.float16(0.1))
    assert uniform(filled) is None
    assert uniform(wrapped) == splat(same)
    assert uniform(block.args[0]) is None
    assert numbers_of(listed) == [1, 2]
    assert numbers_of(resource) is None
    assert only_user(half) is wide.owner
    assert only_user(same) is None
    assert defining_op(half, IdentityOp) is None
    assert defining_op(listed, ConstantOp) is listed.owner


def test_a_rewriter_rounds_constants():
    """An array of doubles becomes one of the type."""
    module = parsed(CONSTANTS)
    op = next(op for op in module.walk() if isinstance(op, ElementWiseOp))
    rewriter = PatternRewriter()
    rewriter.start(op)
    value = rewriter.constant(np.array([0.1]), TensorType(f32, [1]))
    assert splat(value) == float(np.float32(0.1))
    assert value.owner.next_op is op


def test_nothing_to_do_changes_nothing():
    """The driver leaves a module as it is if no pattern matches."""
    module = parsed(CHAIN)
    text = printer.text(module)
    assert not greedy(module, [])
    assert printer.text(module) == text
    assert assert_same(CHAIN, "cse") == text


def test_a_pass_that_has_seen_the_module_is_passed_over(monkeypatch):
    """Until something changes, what a pass left is what it would leave; None says nothing."""
    ran = []
    changes = {"a": [True, False], "b": [False, False], "c": [None]}

    def entry(name):
        def run(_module):
            ran.append(name)
            return changes[name].pop(0)

        found = pipeline.Pass(name, "")
        found.__dict__["run"] = run
        return found

    monkeypatch.setattr(pipeline, "PASSES", {name: entry(name) for name in changes})
    pipeline.run(parsed(""), ["a", "b", "a", "b", "c", "b", "a"])
    assert ran == ["a", "b", "c", "b", "a"]


@pytest.mark.parametrize("name", pipeline.PASSES)
def test_passes_tell_whether_they_changed_anything(name):
    """A pass that says no left the text as it was; one that ran settles the module for itself."""
    module = parsed(EVERYTHING)
    entry = pipeline.PASSES[name]
    before = printer.text(module)
    if not entry.run(module, **entry.keywords({})):
        assert printer.text(module) == before
    text = printer.text(module)
    pipeline.run(module, [name])
    assert printer.text(module) == text


EVERYTHING = """
func.func @main(%x: tensor<2x3xf32>, %b: tensor<2x3xi8>, %n: tensor<2xi32>) -> (tensor<4x3xf32>, tensor<2x3xi8>, tensor<?x?xf32>) {
  %one = tensorrt.constant dense<1> : tensor<2x3xi8>
  %u = tensorrt.element_wise <kMAX>(%b, %one : tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>
  %low = tensorrt.constant dense<0.0> : tensor<2x3xf32>
  %0 = tensorrt.element_wise <kMAX>(%x, %low : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %high = tensorrt.constant dense<6.0> : tensor<2x3xf32>
  %1 = tensorrt.element_wise <kMIN>(%0, %high : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tensorrt.transpose {permutation = affine_map<(a, b) -> (b, a)>} %1 : tensor<2x3xf32> to tensor<3x2xf32>
  %3 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %2 : tensor<3x2xf32>
  %4 = tensorrt.transpose {permutation = affine_map<(a, b) -> (b, a)>} %3 : tensor<3x2xf32> to tensor<2x3xf32>
  %5 = tensorrt.broadcast %4 broadcast_dims<1, 2> : tensor<2x3xf32> to tensor<2x2x3xf32>
  %6 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<kEXP>} %5 : tensor<2x2x3xf32>
  %7 = tensorrt.element_wise <kSUM>(%5, %6 : tensor<2x2x3xf32>, tensor<2x2x3xf32>) -> tensor<2x2x3xf32>
  %8 = tensorrt.reshape %7 : tensor<2x2x3xf32> to tensor<4x3xf32>
  %9 = tensorrt.slice %x[%n: tensor<2xi32>][%n: tensor<2xi32>][1, 1] : tensor<2x3xf32> to tensor<?x?xf32>
  return %8, %u, %9 : tensor<4x3xf32>, tensor<2x3xi8>, tensor<?x?xf32>
}
"""  # noqa: E501

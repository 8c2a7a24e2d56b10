"""Conditions, loops, calls, modules and plugins: their text, and what is wrong with them."""

import pytest
from tensorrt_operations import values
from tensorrt_text import messages, module, places, printed
from xdsl.ir import Block, Region

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.shape_rules import ShapeError

X = "tensor<2x3xf32>"
LOOP = {"n": "tensor<i32>", "c": "tensor<i1>", "x": X}

IF = """
%0 = tensorrt.if(%c : tensor<i1>) -> {result} {{
  tensorrt.yield %x : {true}
}} else {{
  tensorrt.yield %y : {false}
}}
""".strip()
WHILE = """
%0 = tensorrt.while(%n : tensor<i32>) -> {result} {{
^bb0(%arg3: {taken}):
  tensorrt.condition(%c : tensor<i1>) %arg3 : {taken}
}}, {{
^bb0(%arg3: {inner}):
  tensorrt.yield %arg3 : {inner}
}}
""".strip()
FOR = """
%0 = tensorrt.for %arg3 = %n to %n step %n init(%arg4 = %x) -> ({kind}) {{
  {body}
  tensorrt.yield {given}
}}
""".strip()
SUM = f"%1 = tensorrt.element_wise <kSUM>(%arg4, %x : {X}, {X}) -> {X}"
PLUGIN = (
    '%0 = tensorrt.opaque_plugin {{creator_params = {{alpha = 1 : i32}}, plugin_name = "p",'
    ' plugin_namespace = "", plugin_version = "1"{more}}}(%x) : ({given}) -> {result}'
)


def branches(result=X, true=X, false=X):
    """A condition."""
    return IF.format(result=result, true=true, false=false)


def loop(result="tensor<i32>", taken="tensor<i32>", inner="tensor<i32>"):
    """A loop as long as a condition holds."""
    return WHILE.format(result=result, taken=taken, inner=inner)


def counted(body=SUM, given=f"%1 : {X}", kind=X):
    """A loop over numbers."""
    return FOR.format(body=body, given=given, kind=kind)


def plugin(region="", more="", given=X, result=X):
    """A plugin."""
    return PLUGIN.format(more=more, given=given, result=result) + region


SIZES = """ {
^bb0(%arg1: i64, %arg2: i64):
  %c4_i64 = arith.constant 4 : i64
  %1 = arith.addi %arg1, %arg2 : i64
  tensorrt.yield %c4_i64, %1 : i64, i64
}"""

LINES = {
    "if": (branches(), {"c": "tensor<i1>", "x": X, "y": X}),
    "while": (loop(), LOOP),
    "for": (counted(), LOOP),
    "for without values": (
        "tensorrt.for %arg3 = %n to %n step %n init() -> () {\n  tensorrt.yield\n}",
        LOOP,
    ),
    "assertion": ('tensorrt.assertion {message = "no"} ins(%c : tensor<i1>)', LOOP),
    "plugin": (plugin(), {"x": X}),
    "plugin with sizes": (plugin(SIZES, result="tensor<4x?xf32>"), {"x": X}),
}


@pytest.mark.parametrize("name", LINES)
def test_what_is_read_is_printed(name):
    """Character for character, and nothing is wrong with it."""
    line, types = LINES[name]
    assert printed(line, **types) == line


def test_a_loop_may_have_attributes_and_no_end():
    """Attributes stand after the body; an end that gives nothing need not be written."""
    text = "tensorrt.for %i = %n to %n step %n init() -> () {\n} {note = 1 : i32}"
    made = printed(text, **LOOP)
    assert made.endswith("  tensorrt.yield\n} {note = 1 : i32}")


def test_a_loop_needs_as_many_types_as_values():
    """The parser says so."""
    text = f"%0 = tensorrt.for %i = %n to %n step %n init(%k = %x) -> ({X}, {X}) {{}}"
    with pytest.raises(DiagnosticError, match="mismatch in number of loop-carried values"):
        module(text, **LOOP)


def op(name, *said):
    """Messages with an operation's name first."""
    return [f"'tensorrt.{name}' op {each}" for each in said]


POOL = (
    "%p = tensorrt.pooling {windowSize = array<i64: 2, 2>, stride = array<i64: 2, 2>, prePadding ="
    " array<i64: 0, 0>, postPadding = array<i64: 0, 0>, poolingType = #tensorrt.pooling_type<kMAX>}"
    " ins(%i : tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>"
)
WRONG = {
    "two types from two branches": (
        branches(false="tensor<3xf32>"),
        {"c": "tensor<i1>", "x": X, "y": "tensor<3xf32>"},
        [
            "true and false regions must yield equivalent types",
            *op("if", "failed to infer returned types"),
        ],
    ),
    "two numbers of values": (
        (
            f"%0 = tensorrt.if(%c : tensor<i1>) -> {X} {{\ntensorrt.yield %x : {X}\n}} else {{\n"
            "tensorrt.yield\n}"
        ),
        LOOP,
        [
            "number of output tensors in true and false regions must be same",
            *op("if", "failed to infer returned types"),
        ],
    ),
    "a result that no branch gives": (
        (
            f"%0, %1 = tensorrt.if(%c : tensor<i1>) -> {X}, {X} {{\ntensorrt.yield %x : {X}\n}}"
            f" else {{\ntensorrt.yield %x : {X}\n}}"
        ),
        LOOP,
        op(
            "if",
            " region control flow edge from Region #0 to parent results: source has 1 operands,"
            " but target successor needs 2",
        ),
    ),
    "another result": (
        branches(result="tensor<3x3xf32>"),
        {"c": "tensor<i1>", "x": X, "y": X},
        op(
            "if",
            f"inferred type(s) '{X}' are incompatible with return type(s) of operation"
            " 'tensor<3x3xf32>'",
            "failed to infer returned types",
        ),
    ),
    "a result that says less": (
        branches(result="tensor<?x3xf32>"),
        {"c": "tensor<i1>", "x": X, "y": X},
        op(
            "if",
            f" along control flow edge from Region #0 to parent results: source type #0 '{X}'"
            " should match input type #0 'tensor<?x3xf32>'",
        ),
    ),
    "a type that conditions do not give": (
        branches("tensor<2xi64>", "tensor<2xi64>", "tensor<2xi64>"),
        {"c": "tensor<i1>", "x": "tensor<2xi64>", "y": "tensor<2xi64>"},
        op(
            "if",
            "result #0 must be variadic of 0D/1D/2D/3D/4D/5D/6D/7D/8D tensor of 1-bit signless"
            " integer or 32-bit signless integer or 16-bit float or bfloat16 type or 32-bit float"
            " values, but got 'tensor<2xi64>'",
        ),
    ),
    "a condition of several truths": (
        branches().replace("tensor<i1>", "tensor<2xi1>"),
        {"c": "tensor<2xi1>", "x": X, "y": X},
        op(
            "if",
            "operand #0 must be 0D tensor of 1-bit signless integer values, but got 'tensor<2xi1>'",
        ),
    ),
    "a branch without blocks": (
        f'%0 = "tensorrt.if"(%c) ({{}}, {{}}) : (tensor<i1>) -> {X}',
        LOOP,
        op("if", "region #0 ('trueRegion') failed to verify constraint: region with 1 blocks"),
    ),
    "a branch that takes something": (
        (
            f'%0 = "tensorrt.if"(%c) ({{^bb0(%a: {X}): "tensorrt.yield"(%a) : ({X}) -> ()}},'
            f' {{"tensorrt.yield"(%x) : ({X}) -> ()}}) : (tensor<i1>) -> {X}'
        ),
        LOOP,
        op("if", "region #0 should have no arguments"),
    ),
    "a loop with another result": (
        loop(result="tensor<2xi32>"),
        LOOP,
        op(
            "while",
            " along control flow edge from Region #0 to parent results: source type #0"
            " 'tensor<i32>' should match input type #0 'tensor<2xi32>'",
        ),
    ),
    "a loop that begins with another type": (
        loop(result="tensor<i64>", taken="tensor<i64>", inner="tensor<i64>"),
        LOOP,
        op(
            "while",
            " along control flow edge from parent operands to Region #0: source type #0"
            " 'tensor<i32>' should match input type #0 'tensor<i64>'",
        ),
    ),
    "a loop whose body takes another type": (
        loop(inner="tensor<2xi32>"),
        LOOP,
        op(
            "while",
            " along control flow edge from Region #0 to Region #1: source type #0 'tensor<i32>'"
            " should match input type #0 'tensor<2xi32>'",
        ),
    ),
    "a loop that gives less": (
        counted(given=""),
        LOOP,
        op(
            "for",
            " region control flow edge from Region #0 to Region #0: source has 0 operands, but"
            " target successor needs 1",
        ),
    ),
    "a loop that gives another type": (
        counted(
            body=("%1 = tensorrt.shape %x : tensor<2x3xf32> -> tensor<2xi32>"),
            given="%1 : tensor<2xi32>",
        ),
        LOOP,
        op(
            "for",
            " along control flow edge from Region #0 to Region #0: source type #0 'tensor<2xi32>'"
            f" should match input type #0 '{X}'",
        ),
    ),
    "what cannot be in a loop": (
        counted(body=POOL, given=f"%arg4 : {X}"),
        {**LOOP, "i": "tensor<1x1x4x4xf32>"},
        [
            *op("pooling", "not supported in control flow region body"),
            *op(
                "for",
                "contains an operation that is not supported in a control flow branch region",
            ),
        ],
    ),
    "an assertion of a matrix": (
        'tensorrt.assertion {message = "no"} ins(%m : tensor<2x2xi1>)',
        {"m": "tensor<2x2xi1>"},
        op("assertion", "expected condition to be of rank 0 or 1"),
    ),
    "a yield in a function": (
        "tensorrt.yield",
        {},
        op(
            "yield",
            "must be the last operation in the parent block",
        ),
    ),
    "a condition of no loop": (
        (
            f"%0 = tensorrt.if(%c : tensor<i1>) -> {X}"
            f" {{\ntensorrt.condition(%c : tensor<i1>)\n}} else"
            f" {{\ntensorrt.yield %x : {X}\n}}"
        ),
        LOOP,
        [
            "number of output tensors in true and false regions must be same",
            *op("if", "failed to infer returned types"),
            *op("condition", "expects parent op 'tensorrt.while'"),
        ],
    ),
    "a plugin's maker without a library": (
        plugin(more=', creator_func = "make"'),
        {"x": X},
        op("opaque_plugin", '"creator_func" is provided but "dso_path" was not specified'),
    ),
    "a plugin's region with other operations": (
        plugin(
            SIZES.replace(
                "%1 = arith.addi %arg1, %arg2 : i64",
                ("%1 = builtin.unrealized_conversion_cast %arg1 : i64 to i64"),
            )
        ),
        {"x": X},
        op(
            "opaque_plugin",
            "expected only 'arith' dialect ops and 'tensorrt.yield' (terminator) in the 'shapes'"
            " region, but an op of type 'builtin.unrealized_conversion_cast' is present",
        ),
    ),
    "a plugin's region that takes less": (
        plugin(" {\n^bb0(%arg1: i64):\n  tensorrt.yield %arg1, %arg1 : i64, i64\n}"),
        {"x": X},
        op(
            "opaque_plugin",
            "expected 2 i64 block arguments but got 1 arguments  of types 'i64'",
        ),
    ),
    "a plugin's region that gives other types": (
        plugin(
            " {\n^bb0(%arg1: i64, %arg2: i64):\n  %c = arith.constant 1 :"
            " i32\n  tensorrt.yield %arg1, %c : i64, i32\n}"
        ),
        {"x": X},
        op(
            "opaque_plugin",
            "expected 2 i64 values to be yielded from the 'shapes' region but got 2 values of types"
            " 'i64', 'i32'",
        ),
    ),
    "a plugin's region that knows better": (
        plugin(SIZES, result="tensor<5x3xf32>"),
        {"x": X},
        op(
            "opaque_plugin",
            "result 0 has type tensor<5x3xf32> but inferred tensor of shape <4x?>",
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(name):
    """In MLIR's words, and in its order."""
    lines, types, expected = WRONG[name]
    assert messages(lines, **types) == expected


def test_a_problem_inside_is_shown_there():
    """The line of what is banned, and that of the loop."""
    lines, types, _ = WRONG["what cannot be in a loop"]
    assert places(lines, **types) == [2, 1]


def test_a_yield_stands_in_one_of_four():
    """Nowhere else, where it is the last."""
    region = Region(Block([dialect.YieldOp.make([])]))
    holder = dialect.TensorRTModuleOp.make(sym_name="m", regions=[region], result_types=[])
    (problem,) = holder.body_region.block.first_op.problems()
    assert problem.message == (
        "expects parent op to be one of 'tensorrt.if, tensorrt.for, tensorrt.while,"
        " tensorrt.opaque_plugin'"
    )


def test_branches_give_an_if_its_results():
    """What both yield; ShapeError where they differ."""
    condition, x, y = values("tensor<i1>", "tensor<2x?xf32>", "tensor<3xf32>")

    def ending(value):
        return Region(Block([dialect.YieldOp.make([value])]))

    made = dialect.IfOp.make(condition, regions=[ending(x), ending(x)])
    assert [str(each.type) for each in made.results] == ["tensor<2x?xf32>"]
    assert list(made.problems()) == []
    other = dialect.IfOp.make(condition, regions=[ending(x), ending(y)])
    with pytest.raises(ShapeError, match="equivalent types"):
        other.infer_types()


CALLS = """
module {{
  tensorrt.module @trt {{
    func.func @main(%arg0: tensor<?x3xf32>) -> tensor<2x3xf32> {{
      %0 = "test.made"() : () -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    }}
  }}
  func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %m: memref<2x3xf32>, %i: i32) {{
    {line}
    return
  }}
}}
"""


def called(line):
    """What is wrong with a call."""
    text = CALLS.format(line=line).replace(
        '"test.made"() : () -> tensor<2x3xf32>', "tensorrt.constant dense<0.0> : tensor<2x3xf32>"
    )
    return [each.message for each in verifier.problems(parser.parse(text))]


GOOD_CALLS = [
    (
        "%0 = tensorrt.call @trt::@main(%x : tensor<2x3xf32>) outs(%x :"
        " tensor<2x3xf32>) -> tensor<2x3xf32>"
    ),
    "%0 = tensorrt.call_alloc @trt::@main(%x : tensor<2x3xf32>) -> tensor<2x3xf32>",
    "%0 = tensorrt.call_alloc @trt::@main(%m : memref<2x3xf32>) -> memref<2x3xf32>",
]


@pytest.mark.parametrize("line", GOOD_CALLS)
def test_calls_fit(line):
    """Up to sizes that are not known."""
    assert called(line) == []


KIND = "'(tensor<?x3xf32>) -> tensor<2x3xf32>'"
BAD_CALLS = [
    (
        "%0 = tensorrt.call_alloc @trt::@other(%x : tensor<2x3xf32>) -> tensor<2x3xf32>",
        "call_alloc",
        "no valid kernel found with symbol name @trt::@other",
    ),
    (
        "%0 = tensorrt.call_alloc @trt(%x : tensor<2x3xf32>) -> tensor<2x3xf32>",
        "call_alloc",
        "no valid kernel found with symbol name @trt",
    ),
    (
        "%0 = tensorrt.call_alloc @f::@g(%x : tensor<2x3xf32>) -> tensor<2x3xf32>",
        "call_alloc",
        "no valid kernel found with symbol name @f::@g",
    ),
    (
        "%0 = tensorrt.call_alloc @trt::@main(%y : tensor<3xf32>) -> tensor<2x3xf32>",
        "call_alloc",
        f"callee has function type {KIND} which is not compatible with input/result types of call",
    ),
    (
        (
            "%0 = tensorrt.call_alloc @trt::@main(%x, %x : tensor<2x3xf32>,"
            " tensor<2x3xf32>) -> tensor<2x3xf32>"
        ),
        "call_alloc",
        f"callee has function type {KIND} which is not compatible with input/result types of call",
    ),
    (
        "%0 = tensorrt.call_alloc @trt::@main(%i : i32) -> tensor<2x3xf32>",
        "call_alloc",
        f"callee has function type {KIND} which is not compatible with input/result types of call",
    ),
    (
        "tensorrt.call @trt::@main(%x : tensor<2x3xf32>) outs(%x : tensor<2x3xf32>)",
        "call",
        "expected the number of tensor results (0) to be equal to the number of output tensors (1)",
    ),
    (
        (
            "%0 = tensorrt.call @trt::@main(%x : tensor<2x3xf32>) outs(%y :"
            " tensor<3xf32>) -> tensor<2x3xf32>"
        ),
        "call",
        (
            "expected type of operand #1 ('tensor<3xf32>') to match type of corresponding result"
            " ('tensor<2x3xf32>')"
        ),
    ),
    (
        "tensorrt.call @trt::@main(%x : tensor<2x3xf32>) outs(%i : i32)",
        "call",
        "operand #1 must be variadic of shaped of any type values, but got 'i32'",
    ),
]


@pytest.mark.parametrize(("line", "name", "message"), BAD_CALLS)
def test_calls_that_do_not_fit(line, name, message):
    """NVIDIA's dialect looks at the first type alone; ours at all."""
    assert called(line) == op(name, message)


def test_a_call_that_writes_into_memory_has_no_result():
    """The function has one, so that they do not fit."""
    line = "tensorrt.call @trt::@main(%x : tensor<2x3xf32>) outs(%m : memref<2x3xf32>)"
    assert called(line) == op(
        "call",
        f"callee has function type {KIND} which is not compatible with input/result types of call",
    )


MODULE = "module {\n  tensorrt.module @trt {\n    func.func @a() {\n      return\n    }\n  }\n}\n"


def test_a_module_is_a_table_of_functions():
    """Its name is a symbol; a name that is given twice is shown where the second is."""
    assert verifier.problems(parser.parse(MODULE)) == []
    twice = MODULE.replace("    }\n  }", "    }\n    func.func @a() {\n      return\n    }\n  }")
    (problem,) = verifier.problems(parser.parse(twice))
    assert problem.message == "redefinition of symbol named 'a'"
    assert problem.span.line == 6


def test_a_module_uses_nothing_from_outside():
    """It is isolated, and has attributes of its own."""
    made = parser.parse(MODULE.replace("@trt {", '@trt attributes {note = "kept"} {'))
    (inner,) = made.body.block.ops
    assert inner.value("sym_name") == "trt"
    assert inner.attributes["note"].data == "kept"


def test_operations_with_effects_are_kept():
    """An assertion is not pure, and bodies decide for what they stand in."""
    (truth,) = values("tensor<i1>")
    made = dialect.AssertionOp.make(truth, message="m")
    assert not made.traits.traits
    kinds = {type(each).__name__ for each in dialect.IfOp.get_irdl_definition().traits.traits}
    assert kinds == {"RecursiveMemoryEffect"}

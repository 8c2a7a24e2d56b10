"""`canonicalize` folds constants, casts and shapes, gathers constants, drops what is dead."""

import pytest

from tests.oracles.canonical import canonical, function
from tests.oracles.tensorrt_numpy import parsed
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes.canonicalize import folds
from tripybuild.tensorrt.passes.elimination import broadcast_elimination


def constant(name, value, type):
    return f"%{name} = tensorrt.constant dense<{value}> : {type}"


def negated(type, name="r", value="%c"):
    return (
        f"%{name} = tensorrt.unary {{unaryOperation = #tensorrt.unary_operation<kNEG>}} "
        f"{value} : {type}"
    )


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


def casts(op, *elements, value="%a"):
    names = [f"v{index}" for index in range(len(elements) - 2)] + ["r"]
    lines = []
    for name, before, after in zip(names, elements, elements[1:], strict=False):
        lines.append(f"%{name} = tensorrt.{op} {value} : tensor<4x{before}> to tensor<4x{after}>")
        value = f"%{name}"
    return "\n".join(lines)


@pytest.mark.parametrize(("elements", "kept"), [(["f32", "f32"], 0), (["f16", "f32", "f16"], 2)])
def test_other_passes_fold_casts_to_the_same_type_only(elements, kept):
    before, after = f"tensor<4x{elements[0]}>", f"tensor<4x{elements[-1]}>"
    module = parsed(function(casts("cast", *elements), [before], after))
    broadcast_elimination.run(module)
    assert printer.text(module).count("tensorrt.cast") == kept

"""Packed modules: what a module says comes out again, and equal modules are equal bytes."""

import json
from pathlib import Path

import pytest

from tripybuild.model.graph_builder import build
from tripybuild.targets.tensorrt.model import engine_module
from tripybuild.tensorrt.mlir import packing, verifier
from tripybuild.tensorrt.mlir.context import new_context
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.writing import printer

ROOT = Path(__file__).resolve().parents[4]
TEXTS = {
    "regions": """
        func.func @main(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
          %0 = tensorrt.if (%c : tensor<i1>) -> tensor<2xf32> {
            %1 = tensorrt.softmax {axis = 0 : i64} %x : tensor<2xf32>
            tensorrt.yield %1 : tensor<2xf32>
          } else {
            tensorrt.yield %x : tensor<2xf32>
          }
          return %0 : tensor<2xf32>
        }""",
    "maps": """
        func.func @main(%x: tensor<2x3xf32> loc("here")) -> tensor<3x2xf32> {
          %0 = tensorrt.transpose {m = [affine_map<(d0) -> (d0 + 1)>],
            permutation = affine_map<(d0, d1) -> (d1, d0)>} %x : tensor<2x3xf32> to tensor<3x2xf32>
          return %0 : tensor<3x2xf32>
        }""",
    "constants": """
        func.func @main() -> (tensor<2xf32>, tensor<2xi8>, tensor<2xf32>) {
          %0 = tensorrt.constant dense<[0x7F800000, 0x7FC00001]> : tensor<2xf32>
          %1 = tensorrt.constant dense<[-1, 1]> : tensor<2xi8>
          %2 = tensorrt.constant dense_resource<"a \\22b"> : tensor<2xf32>
            loc(callsite("f" at "g":1:2))
          return %0, %1, %2 : tensor<2xf32>, tensor<2xi8>, tensor<2xf32>
        } loc(fused<"x">["a", "b":3:4])""",
    "values-of-several": """
        func.func @main(%x: tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
          %v, %i = tensorrt.top_k <kMAX> {axis = 0 : i64, k = 2 : i64} %x
            : tensor<4xf32> -> tensor<2xf32>, tensor<2xi32>
          return %v, %i : tensor<2xf32>, tensor<2xi32>
        }""",
    "names": 'module @"a \\22 \u00e9" attributes {b = 1 : i32, a = {z, y = unit}} {}',
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_module_comes_out_as_it_went_in(name):
    """Its text with locations and its bytes are the same again."""
    module = parser.parse(TEXTS[name], "x.mlir")
    content = packing.pack(module)
    again = packing.unpack(content, new_context())
    assert printer.text(again, locations=True) == printer.text(module, locations=True)
    assert packing.pack(again) == content
    assert verifier.problems(again) == verifier.problems(module)


@pytest.mark.parametrize("name", ["minilm", "gpt2", "resnet50"])
def test_models_come_out_as_they_went_in(name):
    """As their engines are built of them."""
    built = build(ROOT / "specs" / f"{name}.yaml")
    module = engine_module(built, built.entry()).module
    again = packing.unpack(packing.pack(module), new_context())
    expected = printer.text(module, locations=True, data=False)
    assert printer.text(again, locations=True, data=False) == expected


def test_an_attribute_is_packed_once():
    """Types, names and places are most of a text, and few of them are different."""
    text = "func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {\n"
    text += '  %0 = tensorrt.constant dense_resource<w> : tensor<2xf32> loc("w"("f":1:1))\n'
    text += "  return %b : tensor<2xf32>\n}"
    attributes, _ = json.loads(packing.pack(parser.parse(text)))
    assert attributes.count("tensor<2xf32>") == 1
    assert len({json.dumps(each) for each in attributes}) == len(attributes)


@pytest.mark.parametrize(
    "text",
    [
        '"foo.x"() : () -> ()',
        "func.func @f() {\n  cf.br ^a\n^a:\n  return\n}",
        "func.func @f() {\n  %0 = arith.negf %1 : f32\n  %1 = arith.constant 1. : f32\n  return\n}",
    ],
)
def test_what_cannot_be_packed_is_refused(text):
    """Nobody has to guess what came out."""
    module = parser.parse(text, "-", new_context(allow_unregistered=True))
    with pytest.raises(ValueError, match=r"packed|before it is defined"):
        packing.pack(module)

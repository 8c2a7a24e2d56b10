"""Functions of MLIR as text, for tests of passes in Python."""

from tests.oracles.tensorrt_numpy import parsed
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes import pipeline

SHORT = {
    "PLAIN": ("{op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kNONE>}"),
    "VECTOR": (
        "{op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kNONE>}"
    ),
    "PAIRED": (
        "{op0 = #tensorrt.matrix_operation<kVECTOR>, op1 = #tensorrt.matrix_operation<kVECTOR>}"
    ),
    "SWAP": "{permutation = affine_map<(d0, d1) -> (d1, d0)>}",
    "LAST": "{permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>}",
    "FIRST": "{permutation = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>}",
}


def normal(text):
    """A module's text with its values numbered, so that their names do not matter."""
    module = parsed(text)
    for op in module.walk():
        for value in (*op.results, *(arg for r in op.regions for b in r.blocks for arg in b.args)):
            value.name_hint = None
    return printer.text(module)


def function(signature, body):
    """A module with a function: `(%x: T) -> T`, and its body's lines with words of `SHORT`."""
    for word, text in SHORT.items():
        body = body.replace(word, text)
    return f"func.func @main{signature} {{\n{body}\n}}"


def settled(text, name):
    """Whether a pass changes nothing (more)."""
    module = parsed(text)
    before = printer.text(module)
    pipeline.run(module, [name])
    return printer.text(module) == before

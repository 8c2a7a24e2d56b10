"""Specs with a fault that was planted."""

from unary_operator import unary_operator

REFERENCE, ORT = "reference", "cpu:onnxruntime"
STEPS = 30
WRONG_LOWERING = unary_operator(
    "triple",
    """\
reference: input * 3
lower:
  tensorrt: |
    factor = trt.constant(3.0, T)
    return trt.element_wise(*trt.align(input, factor), "kPROD")
  stablehlo: hlo.multiply(input, 3.0)
  onnx: input * 3.5
examples:
  - call: triple([1.0])
    gives: [3.0]
""",
    dtypes="float32, float16",
)


def chain(changes=(), head="", types=""):
    """A spec of many steps, some of which are others."""
    lines = [
        "tripybuild: 1",
        "model: chain",
        *([head] if head else []),
        *([types] if types else []),
    ]
    lines += ["inputs:", "  x: F[B, 16]", "ranges:", "  B: {min: 1, opt: 4, max: 64}", "steps:"]
    for number in range(1, STEPS + 1):
        before = f"s{number - 1}" if number > 1 else "x"
        usual = (f"tanh({before}) + x", f"{before} * 1.25", f"{before} - mean({before}, 1, True)")
        lines.append(f"  s{number}: {dict(changes).get(number, usual[number % 3]).format(before)}")
    return "\n".join([*lines, "outputs:", f"  y: s{STEPS}", ""])

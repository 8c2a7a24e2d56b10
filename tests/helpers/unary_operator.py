"""Files of a small operator: one input, and one output of its type."""

TYPES = """\
types:
  T: [float32]
inputs:
  input:
    type: T[*S]
    doc: The values.
outputs:
  output:
    type: T[*S]
    doc: The results.
"""
SUM_BUT_ONNX = """\
lower:
  tensorrt: trt.element_wise(input, input, "kSUM")
  stablehlo: hlo.add(input, input)
"""
SUM = SUM_BUT_ONNX + "  onnx: onnx.Add(input, input)\n"


def unary_operator(name, rest, sizes="[2, 3]", dtypes="float32"):
    """The text of an operator file.

    Args:
        name: The operator.
        rest: The keys beside types, documents and the sample.
        sizes: The shape of the sample.
        dtypes: What it takes.
    """
    head = f"tripybuild: 1\nop: {name}\ndoc: Change each value.\n"
    return f"{head}{TYPES.replace('float32', dtypes)}{rest}sample: {{S: {sizes}}}\n"

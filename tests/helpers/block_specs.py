"""Specs of blocks that repeat, as most models have them."""

SPEC = """
tripybuild: 1
model: readers
inputs:
  lines: float32[B, {width}]
ranges:
  B: {{min: 1, opt: {opt}, max: {most}}}
parts:
  blocks: block * 2
outputs:
  scores: blocks(lines)
define:
  block:
    inputs:
      x: float32[B, {width}]
    parts:
      up: Linear({width}, {inner})
      down: Linear({inner}, {width})
    outputs:
      out: x + down(relu(up(x)))
"""


def block_spec(width, inner, opt, most):
    """Two blocks of two layers.

    Args:
        width: The size of what is read and given.
        inner: The size between the layers.
        opt: The best number of rows.
        most: The largest one.
    """
    return SPEC.format(width=width, inner=inner, opt=opt, most=most)

"""The journey of an operator's author: a registry outside of the repository, and all it is for."""

import numpy as np

OPERATOR = """\
tripybuild: 1
op: hard_tanh_shrink
doc: Take away what the hard tangent keeps.
types:
  T: [float32, float16, bfloat16]
inputs:
  input:
    type: T[*S]
    doc: The values.
attributes:
  limit:
    type: float
    default: 1.0
    doc: Where the tangent ends.
outputs:
  output:
    type: T[*S]
    doc: What is beyond the limit, and zero elsewhere.
requires:
  positive-limit:
    that: limit > 0.0
    message: The limit must be positive
decompose: input - clip(input, -limit, limit)
targets:
  tensorrt:
    builds:
      not-offered: T in [int8, int32, int64, bool]
examples:
  - call: hard_tanh_shrink([1.0, 5.0, -3.0])
    gives: [0.0, 4.0, -2.0]
  - call: hard_tanh_shrink([1.0], limit=0.0)
    fails: positive-limit
"""
SPEC = """\
tripybuild: 1
model: shrunk
registry: mine
inputs:
  x: float32[B, 3]
ranges:
  B: {min: 1, opt: 2, max: 8}
outputs:
  y: hard_tanh_shrink(x, limit=2.0)
"""
PROGRAM = """\
import my_ops
import tripyapi as tp
info = tp.InputInfo([(1, 2, 8)], tp.float32)
compiled = tp.compile(lambda x: my_ops.hard_tanh_shrink(x), args=[info])
print(compiled(tp.Tensor([1.0, 5.0])).tolist(), compiled(tp.Tensor([1.0, 5.0, 7.0])).tolist())
my_ops.hard_tanh_shrink(tp.Tensor([1.0]), limit=-1.0)
"""


def test_from_a_new_file_to_an_executable(newcomer, request):
    """`new op`, `gen`, the suite, a spec, `check`, `compile`, `run`, and Python beside it."""
    full = request.config.getoption("--full")
    said = newcomer.run("tripybuild", "new", "op", "hard_tanh_shrink", "--registry", "mine")
    path = newcomer.folder / "mine/math/hard_tanh_shrink.yaml"
    assert "mine/math/hard_tanh_shrink.yaml" in said
    assert str(newcomer.folder) not in path.read_text()

    slip = OPERATOR.replace("clip(", "clamp(")
    path.write_text(slip)
    words = ["tripybuild", "gen", "--registry", "mine", "--package", "my_ops"]
    said = newcomer.run(*words, code=1)
    assert "mine/math/hard_tanh_shrink.yaml:23:20" in said
    assert "did you mean `clip`?" in said
    path.write_text(OPERATOR)
    said = newcomer.run(*words)
    suite = "generated/suites/math/test_hard_tanh_shrink.py"
    assert "python -m pytest" in said
    words = ["-q", "-p", "no:cacheprovider", suite, *["-k", "not tensorrt"] * (not full)]
    assert " passed" in newcomer.run("python", "-m", "pytest", *words)

    newcomer.write("shrunk.yaml", SPEC)
    assert "y  float32[B, 3]" in newcomer.run("tripybuild", "check", "shrunk.yaml")
    newcomer.run("tripybuild", "compile", "shrunk.yaml", "--target", "cpu:onnxruntime")
    np.save(newcomer.folder / "x.npy", np.float32([[1, 5, -3]]))
    words = ["tripybuild", "run", "shrunk.tpb", "--input", "x=x.npy"]
    assert "`tripybuild run --registry mine`" in newcomer.run(*words, code=1)
    said = newcomer.run(*words, "--registry", "mine")
    assert "y  float32[1, 3]  0, 3, -1" in said
    explained = newcomer.run(
        "tripybuild", "explain", "hard_tanh_shrink/positive-limit", "--registry", "mine"
    )
    assert "limit" in explained

    newcomer.write("program.py", PROGRAM)
    said = newcomer.run("python", "program.py", code=1, paths=["generated"])
    assert "[0.0, 4.0] [0.0, 4.0, 6.0]" in said
    assert "error[hard_tanh_shrink/positive-limit]: The limit must be positive" in said
    assert "program.py:6" in said

"""Snippets of a stranger's registry are refused by the reader where they leave their vocabulary."""

from pathlib import Path

import pytest

from tripybuild.codegen.modules.module import module_fragment
from tripybuild.codegen.operators.operator import operator_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.eager.module.module import Module
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema.load import load
from tripybuild.schema.registry_files import FileSubset
from tripybuild.types.naming import MEMBERS

OPERATOR = """\
tripybuild: 1
op: evil
doc: Do something.
types:
  T: [float32]
inputs:
  input:
    type: {type}
    doc: The values.
attributes:
  count:
    type: int
    default: {default}
    doc: A number.
outputs:
  output:
    type: T[N]
    doc: The results.
requires:
  law: {law}
infer:
  other: {infer}
reference: |
  {reference}
lower:
  tensorrt: |
    {tensorrt}
  stablehlo: |
    {stablehlo}
  onnx: |
    {onnx}
sample: {{N: 2}}
examples:
  - call: evil([1.0])
    gives: [2.0]
"""
USUAL = {
    "type": "T[N]",
    "default": "2",
    "law": "count > other",
    "infer": "N - N",
    "reference": "input + input",
    "tensorrt": 'trt.element_wise(input, input, "kSUM")',
    "stablehlo": "hlo.add(input, input)",
    "onnx": "onnx.Add(input, input)",
}
HOSTILE = [
    ("reference", "f = np.load\n  return f('x.npy', allow_pickle=True)", "unknown-function"),
    ("reference", "[np.save][0]('x.npy', input)", "unknown-function"),
    ("reference", "{1: np.exp}[1](input)", "function-value"),
    ("reference", "(np.exp if True else np.sin)(input)", "function-value"),
    ("reference", "n = np\n  return n.exp(input)", "function-value"),
    ("reference", "np.lib.format.open_memmap('x')", "unknown-function"),
    ("reference", "[f(input) for f in [np.exp]][0]", "function-value"),
    ("reference", "input.tofile('x')", "unknown-attribute"),
    ("reference", "np.abs(input).tofile('x')", "unknown-attribute"),
    ("reference", "input.T.tofile('x')", "unknown-attribute"),
    ("reference", "[input][0].dump('x')", "unknown-attribute"),
    ("reference", "input.data", "unknown-attribute"),
    ("reference", "input.shape.count(1)", "unknown-attribute"),
    ("reference", "f = input.sum\n  return f()", "unknown-attribute"),
    ("reference", "input(1)", "function-value"),
    ("reference", "other()", "function-value"),
    ("reference", "np.pi(1)", "function-value"),
    ("reference", "len", "function-value"),
    ("reference", "sorted([input], key=len)", "function-value"),
    ("reference", "open('x')", "unbound-name"),
    ("reference", "'%s' % input", "snippet-limit"),
    ("reference", "np.exp(input, out=input)", "unknown-argument"),
    ("stablehlo", "h = hlo\n    return h.add(input, input)", "function-value"),
    ("stablehlo", "hlo.module.io.open('x', 'w')", "unknown-attribute"),
    ("stablehlo", "f = hlo.add\n    return f(input, input)", "function-value"),
    ("stablehlo", "input.mlir", "unknown-attribute"),
    ("stablehlo", "op", "unbound-name"),
    ("stablehlo", "input / hlo(N)", "function-value"),
    ("reference", "np('O')", "function-value"),
    ("onnx", "o = onnx\n    return o.Add(input, input)", "function-value"),
    ("onnx", "[onnx.Add][0](input, input)", "function-value"),
    ("onnx", "onnx.builder.current()", "unknown-attribute"),
    ("onnx", "input.producer", "unknown-attribute"),
    ("tensorrt", "[trt.cast][0](input, T)", "function-value"),
    ("tensorrt", "input.name", "unknown-attribute"),
    ("law", "len(input) > 0 and [len][0]", "function-value"),
    ("law", "float32.numpy is None", "unknown-attribute"),
    ("law", "input.value.operation is None", "unknown-attribute"),
    ("infer", "(max if N else min)(N, 2)", "function-value"),
    ("default", "len", "function-value"),
    ("default", "2.0 ** 99999", "snippet-evaluation"),
    ("default", "1 / 0", "snippet-evaluation"),
    ("default", '"[][0]"', "snippet-evaluation"),
    ("law", "count > 1e400", "snippet-limit"),
    ("law", "0 .size > 0", "unknown-attribute"),
    ("type", "T[N, [len][0]('a')]", "function-value"),
    ("type", "T[input.tofile('x')]", "unknown-attribute"),
    ("type", "T[__import__('os')]", "snippet-grammar"),
]
MODULE = """\
tripybuild: 1
module: Evil
doc: Do something.
sizes:
  width:
    doc: The width.
inputs:
  x: F[N, width]
parts:
  {parts}
weights:
  weight: F[width]
steps:
  y: {step}
outputs:
  {output}
sample: {{width: 4, N: 2}}
"""
USUAL_MODULE = {
    "parts": "part: Linear(width, width)",
    "step": "x * weight",
    "output": "z: part(y)",
}
SAMPLES = ["3 .numpy", "2(10**12)", "1[::2]", "9 ** 9 ** 9"]
HOSTILE_MODULES = [
    ("output", "\"self.__dict__[__import__('os').system('x')]\": y", "bad-name"),
    ("output", "import: y", "bad-name"),
    ("output", "z: y\n  __builtins__: y", "bad-name"),
    ("step", "open('x')", "unbound-name"),
    ("step", '"[exp][0](x)"', "function-value"),
    ("step", "part.weight.data", "unknown-attribute"),
    ("step", "part.load_weights('x')", "unknown-attribute"),
    ("step", "x.to_device('gpu')", "unknown-attribute"),
    ("step", "np.load('x')", "unbound-name"),
    ("parts", "part: exp(width)", "unbound-name"),
    ("parts", "part: len('text')", "wrong-value"),
    ("parts", "part: Linear(width, width) if width > 1 else 2", "wrong-value"),
    ("parts", "forward: Linear(width, width)", "bad-name"),
    ("parts", 'part: "[Linear][0](width, width)"', "function-value"),
]


BUILT_IN = paths.registry()
OPERATORS = frozenset(path.stem for path in BUILT_IN.glob("*/*.yaml"))


def problems(folder: Path, text: str) -> list[str]:
    """The codes of what is wrong with a registry of one file, on top of the built-in one."""
    path = folder / "evil" / "math" / "evil.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    few = FileSubset({"evil/math/evil.yaml", "ops_registry/modules/linear.yaml"}, OPERATORS)
    registry, found = load([BUILT_IN, folder / "evil"], few)
    if not found:
        calls = CallResolver(OPERATORS, registry.own, "evil_package", frozenset(registry.modules))
        try:
            for module in registry.modules.values():
                module_fragment(module, calls)
            for operator in registry.operators.values():
                operator_fragment(operator, calls)
        except DiagnosticError as error:
            found = list(error.diagnostics)
    return [each.code for each in found]


@pytest.mark.parametrize(("key", "text", "code"), HOSTILE)
def test_operators(key, text, code, tmp_path):
    found = problems(tmp_path, OPERATOR.format(**USUAL | {key: text}))
    assert code in found


def test_the_usual_operator_is_taken(tmp_path):
    assert problems(tmp_path, OPERATOR.format(**USUAL)) == []


@pytest.mark.parametrize("text", SAMPLES)
def test_samples(text, tmp_path):
    declared = OPERATOR.format(**USUAL).replace("sample: {N: 2}", f'sample: {{N: "{text}"}}')
    assert len(problems(tmp_path, declared)) == 1


@pytest.mark.parametrize(("key", "text", "code"), HOSTILE_MODULES)
def test_modules(key, text, code, tmp_path):
    assert code in problems(tmp_path, MODULE.format(**USUAL_MODULE | {key: text}))


def test_the_usual_module_is_taken(tmp_path):
    assert problems(tmp_path, MODULE.format(**USUAL_MODULE)) == []


def test_members_of_modules():
    """What every module has is what the reader refuses as a name."""
    public = {name for name in dir(Module) if not name.startswith("_")}
    assert public == MEMBERS

"""Random calls of ATen's operators are read as what PyTorch computes, or are refused."""

import random
from collections import Counter

import numpy as np
import pytest

from tests.helpers.call_programs import run_calls
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignNode,
    ForeignProgram,
    ForeignValue,
    SourcePlace,
)
from tripybuild.importer.translation.program import translate
from tripybuild.packages.builtin import builtin_registry
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import BY_NAME

torch = pytest.importorskip("torch")

# Those that PyTorch itself survives with any arguments.
OPERATORS = [
    "abs", "add.Scalar", "add.Tensor", "addcmul", "all.dim", "amax", "amin", "any.dim",
    "argmax", "argmin", "bitwise_and.Tensor", "bmm", "cat", "clamp", "clone", "constant_pad_nd",
    "cos", "cumsum", "div.Scalar", "div.Tensor", "div.Tensor_mode", "eq.Scalar", "eq.Tensor",
    "erf", "exp", "expand", "floor", "floor_divide", "fmod.Tensor", "full", "full_like",
    "ge.Scalar", "gelu", "gt.Tensor", "index.Tensor", "index_select", "layer_norm", "le.Scalar",
    "leaky_relu", "log_softmax.int", "logical_and", "lt.Tensor", "masked_fill.Scalar",
    "max.dim", "maximum", "mean.dim", "mm", "mul.Scalar", "mul.Tensor", "ne.Scalar", "neg",
    "permute", "pow.Scalar", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "prod.dim_int", "relu",
    "remainder.Scalar", "remainder.Tensor", "repeat", "rms_norm", "rsqrt", "rsub.Scalar",
    "select.int", "sigmoid", "sign", "silu", "slice.Tensor", "softmax.int", "split.Tensor",
    "split_with_sizes", "sqrt", "squeeze.dim", "stack", "sub.Tensor", "sum.dim_IntList", "tanh",
    "transpose.int", "tril", "triu", "unbind.int", "unsqueeze", "var.correction", "view",
    "where.self",
]  # fmt: skip
BY_TORCH = {getattr(torch, each.torch): each for each in BY_NAME.values() if each.torch}
SHAPES = [(), (3,), (1,), (2, 3), (2, 1), (1, 3), (3, 3), (2, 3, 4), (1, 2, 3)]
DTYPES = [torch.float32] * 4 + [torch.int64] * 2 + [torch.bool, torch.int32, torch.float16]
DROPPED = ("device", "layout", "pin_memory", "memory_format", "generator")
TOLERANCE = {torch.float16: 2e-2}


@pytest.fixture(scope="module")
def registry():
    return builtin_registry()


class Calls:
    """Random calls of PyTorch's operators, the same ones each time."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)

    def tensor(self, like=None):
        choose = self.random
        shape = choose.choice(SHAPES)
        kind = choose.choice(DTYPES)
        if like is not None:
            kind = like.dtype if choose.random() < 0.8 else kind
            shape = tuple(like.shape) if choose.random() < 0.6 else shape
        whole = torch.randint(-3, 4, shape, generator=self.generator)
        return (
            whole.to(kind)
            if kind != torch.float32
            else whole + torch.rand(shape, generator=self.generator)
        )

    def argument(self, kind, name, last):
        choose = self.random.choice
        if kind.kind() == "OptionalType":
            return choose([None, self.argument(kind.getElementType(), name, last)])
        if kind.kind() == "TensorType":
            if "ind" in name:
                return torch.randint(0, 2, choose([(), (2,), (2, 3)]), generator=self.generator)
            return self.tensor(last)
        if kind.kind() == "ListType":
            inner = kind.getElementType()
            return [self.argument(inner, name, last) for _ in range(choose([0, 1, 2, 2, 3]))]
        if name == "dtype":
            return choose([torch.float32, torch.int64, torch.bool, torch.float16])
        return choose(
            {
                "IntType": [0, 1, -1, 2, 3, -2, 6],
                "FloatType": [0.0, 1.0, 0.5, -1.5],
                "BoolType": [True, False],
                "NumberType": [0, 1, 2, -1, 0.5, -1.5, True],
                "StringType": ["none", "tanh", "floor", "trunc"],
            }[kind.kind()]
        )

    def call(self, name):
        """The arguments of a call, and what PyTorch gives; None where it refuses them."""
        packet, _, overload = name.partition(".")
        operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
        given, last = {}, None
        for each in operator._schema.arguments:
            if each.name in DROPPED or (each.has_default_value() and self.random.random() < 0.5):
                continue
            given[each.name] = self.argument(each.type, each.name, last)
            last = given[each.name] if isinstance(given[each.name], torch.Tensor) else last
        try:
            found = operator(**given)
        except (RuntimeError, IndexError, TypeError, ValueError):
            return given, None
        return given, list(found) if isinstance(found, list | tuple) else [found]


def foreign(value, inputs):
    if isinstance(value, torch.Tensor):
        made = ForeignValue(f"x{len(inputs)}", TensorType(BY_TORCH[value.dtype], (*value.shape,)))
        inputs[made] = value.numpy()
        return made
    if isinstance(value, list):
        return [foreign(each, inputs) for each in value]
    return BY_TORCH[value] if isinstance(value, torch.dtype) else value


def program_of(name, given, results):
    inputs = {}
    arguments = {each: foreign(value, inputs) for each, value in given.items()}
    types = [TensorType(BY_TORCH[each.dtype], (*each.shape,)) for each in results]
    outputs = [ForeignValue(f"y{i}", each) for i, each in enumerate(types)]
    node = ForeignNode(name, arguments, outputs, SourcePlace(name))
    graph = ForeignGraph([*inputs], [node], [(each.name, each) for each in outputs])
    return ForeignProgram(name, "aten", graph), {each.name: a for each, a in inputs.items()}


def test_what_is_read_is_what_pytorch_computes(registry):
    """No call of these is read as another one; what is refused is refused in words."""
    calls, count = Calls(7), Counter()
    for turn in range(10 * len(OPERATORS)):
        name = OPERATORS[turn % len(OPERATORS)]
        given, results = calls.call(name)
        if results is None or any(each.dtype not in BY_TORCH for each in results):
            continue
        program, arrays = program_of(name, given, results)
        try:
            said = translate(program, registry)
        except DiagnosticError:
            count["refused"] += 1
            continue
        count["compared"] += 1
        for found, wanted in zip(run_calls(said, arrays).values(), results, strict=True):
            near = TOLERANCE.get(wanted.dtype, 1e-4)
            assert found.dtype == wanted.numpy().dtype, (name, given)
            np.testing.assert_allclose(
                found, wanted.numpy(), near, near, equal_nan=True, err_msg=f"{name}: {given}"
            )
    assert count["compared"] > 3 * count["refused"], count
    assert count["compared"] > 300, count

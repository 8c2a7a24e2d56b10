"""Each composition of `foreign/aten.yaml` computes what PyTorch's operator does.

An example is translated as a program of one node, and run beside PyTorch. Those of ONNX are in
`test_onnx_compositions.py`: models of one node.
"""

import ast
import zlib

import numpy as np
import pytest
from built_in import declared
from call_programs import run_calls

from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignNode,
    ForeignProgram,
    ForeignValue,
    SourcePlace,
)
from tripybuild.importer.translation.program import translate
from tripybuild.reference.numerics.arrays import round_cast
from tripybuild.testing.check_counts import has_distribution
from tripybuild.testing.oracles.foreign_calls import ForeignCall
from tripybuild.testing.oracles.oracles import SYSTEMS
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import BY_NAME, dtype, from_numpy

REGISTRY = declared()
COMPOSITIONS = [
    (name, index)
    for name, several in REGISTRY.foreign["aten"].operators.items()
    for index in range(len(several))
]
CLOSE = {"float32": 1e-5, "float16": 1e-2, "bfloat16": 1e-1}
# What an example cannot say. Graphs and lists of tensors have tests of their own.
UNASKED = {
    **dict.fromkeys(["cond", "while_loop", "scan"], "graphs"),
    **dict.fromkeys(
        ["empty.memory_format", "empty_permuted", "empty_strided", "empty_like"],
        "elements not stated",
    ),
    **dict.fromkeys(["_embedding_bag", "_embedding_bag_forward_only"], "results of training"),
    **dict.fromkeys(["rand", "randn", "randperm", "rand_like", "randn_like"], "random numbers"),
}


class Example:
    """The arguments of a call, with arrays for tensors; those that are written out are known."""

    def __init__(self, signature, snippet):
        self.random = np.random.default_rng(zlib.crc32(snippet.text.encode()))
        call = snippet.result
        names = iter(signature.by_position)
        self.arguments = {}
        for node in call.args:
            name = next(names)
            if name == signature.several:
                rest = call.args[call.args.index(node) :]
                self.arguments[name] = [self.value(each) for each in rest]
                break
            self.arguments[name] = self.value(node)
        self.arguments |= {each.arg: self.value(each.value) for each in call.keywords}

    def value(self, node):
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=sizes) if name in BY_NAME:
                sizes = ast.literal_eval(sizes)
                return self.drawn(BY_NAME[name], sizes if isinstance(sizes, tuple) else (sizes,))
            case ast.Call(func=ast.Name(id=name), args=[elements]) if name in BY_NAME:
                return round_cast(np.asarray(ast.literal_eval(elements)), BY_NAME[name])
            case ast.Name(id=name) if name in BY_NAME:
                return BY_NAME[name]
            case ast.Name(id="inf") | ast.Name(id="nan"):
                return float(node.id)
            case ast.List(elts=items):
                return [self.value(each) for each in items]
        return ast.literal_eval(node)

    def drawn(self, of, shape):
        if of.kind == "boolean":
            return self.random.random(shape) < 0.5
        if of.kind == "integer":
            return round_cast(self.random.integers(0, 5, shape), of)
        return round_cast(self.random.normal(size=shape), of)


def leaves(value):
    several = value if isinstance(value, (list, tuple)) else [value]
    return [each for one in several for each in (leaves(one) if isinstance(one, list) else [one])]


class Program:
    """A program of one node, whose tensors are inputs, or weights where they are known."""

    def __init__(self, signature, example, results):
        self.inputs, self.feeds = [], {}
        arguments = {name: self.value(v, name) for name, v in example.arguments.items()}
        made = [ForeignValue(f"r{i}", kind) for i, kind in enumerate(results)]
        node = ForeignNode(signature.name, arguments, made, SourcePlace("example"))
        node.is_list = signature.results is None
        outputs = [(each.name, each) for each in made]
        graph = ForeignGraph(self.inputs, [node], outputs)
        self.program = ForeignProgram("example", "aten", graph)

    def value(self, value, name):
        if isinstance(value, list):
            return [self.value(each, f"{name}{index}") for index, each in enumerate(value)]
        if not isinstance(value, np.ndarray):
            return value
        kind = TensorType(from_numpy(value.dtype), value.shape)
        self.inputs.append(ForeignValue(name, kind))
        self.feeds[name] = value
        return self.inputs[-1]

    def run(self):
        found = run_calls(translate(self.program, REGISTRY), self.feeds)
        return [found[name] for name, _ in self.program.graph.outputs]


def wanted_results(composition, example):
    """What PyTorch gives."""
    found = SYSTEMS["aten"].run(ForeignCall(composition.signature, example.arguments, None), [])
    assert found, "the oracle gives nothing"
    return [each for one in found for each in (one if isinstance(one, list) else [one])]


def test_the_file_is_read():
    assert len(COMPOSITIONS) > 10


@pytest.mark.parametrize(("name", "index"), COMPOSITIONS)
def test_a_composition_computes_what_the_operator_does(name, index):
    for distribution in SYSTEMS["aten"].distributions:
        if not has_distribution(distribution):
            pytest.skip(f"{distribution} is not installed")
    composition = REGISTRY.foreign["aten"].operators[name][index]
    assert bool(composition.examples) != (name in UNASKED), f"`{name}` has no `examples:`"
    for snippet in composition.examples:
        example = Example(composition.signature, snippet)
        wanted = wanted_results(composition, example)
        types = [TensorType(from_numpy(each.dtype), each.shape) for each in wanted]
        program = Program(composition.signature, example, types)
        for got, want in zip(program.run(), wanted, strict=True):
            assert got.dtype == want.dtype, snippet.text
            assert got.shape == want.shape, snippet.text
            if want.dtype.kind in "fV":
                close = CLOSE[str(from_numpy(want.dtype))]
                one, other = (np.asarray(each, np.float64) for each in (got, want))
                np.testing.assert_allclose(one, other, close, close, err_msg=snippet.text)
            else:
                np.testing.assert_array_equal(got, want, err_msg=snippet.text)


def test_words():
    """An example of each kind of argument is what its text says."""
    parsed = ast.parse("f(float32[2, 3], int64([1, 2]), [bool, None], dtype=int32)").body[0].value

    class Signature:
        by_position, several = ("a", "b", "c"), None

    class Snippet:
        text, result = "f", parsed

    example = Example(Signature, Snippet)
    assert example.arguments["a"].shape == (2, 3)
    assert example.arguments["b"].tolist() == [1, 2]
    assert all(isinstance(each, dtype | None) for each in example.arguments["c"])
    assert example.arguments["dtype"] is BY_NAME["int32"]

"""Exported programs of PyTorch as foreign programs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignNode,
    ForeignProgram,
    ForeignWeight,
)
from tripybuild.importer.pytorch.exported_program import decompose, read_exported_program
from tripybuild.importer.pytorch.serialized_program import read_archive
from tripybuild.types.size_range import SizeRange

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn
# PyTorch's own, in its export.
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")


class Block(nn.Module):
    """A layer with a buffer that no checkpoint has."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 8), nn.LayerNorm(8)
        self.register_buffer("scale", torch.arange(8.0), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.norm(torch.relu(self.linear(x))) * self.scale


class Model(nn.Module):
    """What an adapter meets: tied weights, state, lists, several results, a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(10, 8), nn.Linear(8, 10, bias=False)
        self.head.weight = self.embed.weight
        self.blocks = nn.ModuleList([Block(), Block()])
        self.register_buffer("count", torch.zeros(1))

    def forward(self, ids: Any, mask: Any = None) -> Any:
        x = self.embed(ids)
        self.count.add_(1)
        for block in self.blocks:
            x = block(x)
        x = self.blocks[0](x + torch.tensor([1.0] * 8)) * mask[..., None]
        first, _ = x.split(4, -1)
        best, _ = torch.topk(x, 2)
        rows = x.reshape(x.shape[0] * x.shape[1], 8)
        return {"logits": self.head(x), "rest": [first, best], "rows": rows}


@pytest.fixture(scope="module")
def exported() -> Any:
    """The model above, with a dynamic batch and length, decomposed."""
    batch, length = torch.export.Dim("batch", min=1, max=16), torch.export.Dim("S", max=48)
    sizes = {0: batch, 1: length}
    given = (torch.ones(2, 3, dtype=torch.int64), torch.ones(2, 3))
    whole = torch.export.export(
        Model().eval(), given, dynamic_shapes={"ids": sizes, "mask": sizes}, strict=False
    )
    return decompose(whole)


@pytest.fixture(scope="module")
def program(exported: Any) -> ForeignProgram:
    """The same as a foreign program."""
    return read_exported_program(exported)


def described(program: ForeignProgram) -> Any:
    """All that a program says, but for the names of its sizes."""

    def text(value: Any) -> Any:
        match value:
            case ForeignGraph():
                return [text(value.inputs), text(value.nodes), text(value.outputs)]
            case ForeignNode():
                said = [value.operator, value.domain, value.place, value.modules, value.is_list]
                return [*said, text(value.arguments), text(value.results)]
            case ForeignWeight():
                return [value.name, text(value.type), value.is_constant, value.load().tolist()]
            case list() | tuple():
                return [text(each) for each in value]
            case dict():
                return {name: text(each) for name, each in value.items()}
        return str(value).replace("batch", "B").replace("S*B", "B*S")

    weights = dict(sorted(program.weights.items()))
    return text([program.name, program.graph, weights, program.updates, program.tied])


def test_a_file_says_what_the_program_says(
    exported: Any, program: ForeignProgram, tmp_path: Path
) -> None:
    torch.export.save(exported, tmp_path / "model.pt2")
    read = read_archive(tmp_path / "model.pt2")
    assert list(read.ranges.values()) == list(program.ranges.values())
    assert described(read) == described(program)


def test_inputs_have_the_names_of_parameters_and_the_sizes_of_dims(program: ForeignProgram) -> None:
    assert program.name == "model"
    assert [(each.name, str(each.type)) for each in program.graph.inputs] == [
        ("ids", "tensor<batchxSxi64>"),
        ("mask", "tensor<batchxSxf32>"),
    ]
    assert program.ranges == {"batch": SizeRange(1, 2, 16), "S": SizeRange(1, 3, 48)}
    assert {name: each.shape for name, each in program.examples.items()} == {
        "ids": (2, 3),
        "mask": (2, 3),
    }


def test_outputs_are_named_by_their_keys(program: ForeignProgram) -> None:
    assert [(name, str(value.type)) for name, value in program.graph.outputs] == [
        ("logits", "tensor<batchxSx10xf32>"),
        ("rest_0", "tensor<batchxSx4xf32>"),
        ("rest_1", "tensor<batchxSx2xf32>"),
        ("rows", "tensor<(S*batch)x8xf32>"),
    ]


def test_weights_are_those_of_the_checkpoint_once(program: ForeignProgram) -> None:
    layer = ["linear.weight", "linear.bias", "norm.weight", "norm.bias"]
    named = [f"blocks.{at}.{name}" for at in (0, 1) for name in layer]
    buffers = ["count", "blocks.0.scale", "blocks.1.scale"]
    assert sorted(program.weights) == sorted(["embed.weight", *named, *buffers, "lifted_tensor_0"])
    assert program.tied == {"head.weight": "embed.weight"}
    constants = [path for path, each in program.weights.items() if each.is_constant]
    assert constants == ["lifted_tensor_0"]
    scale = program.weights["blocks.1.scale"].load()
    np.testing.assert_array_equal(scale, np.arange(8, dtype=np.float32))


def test_what_a_buffer_is_afterwards_is_an_update(program: ForeignProgram) -> None:
    (path,) = program.updates
    assert path == "count"
    node = next(n for n in program.graph.nodes if program.updates["count"] in n.results)
    assert (node.operator, node.arguments["other"]) == ("add.Tensor", 1)
    assert node.arguments["self"] is program.weights["count"]


def test_nodes_know_their_modules_and_calls(program: ForeignProgram) -> None:
    linear = [n for n in program.graph.nodes if n.operator == "linear"]
    found = [[(m.path, m.class_name, m.call) for m in node.modules] for node in linear]
    assert found == [
        [("blocks.0", "Block", 0), ("blocks.0.linear", "Linear", 0)],
        [("blocks.1", "Block", 0), ("blocks.1.linear", "Linear", 0)],
        [("blocks.0", "Block", 1), ("blocks.0.linear", "Linear", 1)],
        [("head", "Linear", 0)],
    ]
    assert linear[0].place.file.endswith("test_exported_program.py")
    assert linear[0].place.text.startswith("return self.norm(")


def test_sizes_are_arguments_and_unread_results_are_gone(program: ForeignProgram) -> None:
    by_name = {node.operator: node for node in program.graph.nodes}
    rows = by_name["view"].arguments["size"]
    assert [str(each) for each in rows] == ["S*batch", "8"]
    assert [each and each.name for each in by_name["topk"].results][1:] == [None]
    split = by_name["split.Tensor"]
    assert split.is_list
    assert [each is None for each in split.results] == [False, True]
    assert not any(node.operator.startswith(("sym_", "_assert")) for node in program.graph.walk())


def test_a_program_that_changes_its_tensors_is_refused_as_it_is() -> None:
    exported = torch.export.export(Model().eval(), (torch.ones(2, 3).long(), torch.ones(2, 3)))
    with pytest.raises(DiagnosticError) as caught:
        read_exported_program(exported)
    (found,) = caught.value.diagnostics
    assert found.code == "import-not-decomposed"
    assert "2 calls change what they are given (`add_.Tensor`, `detach_`)" in found.message


class Halves(nn.Module):
    """Dtypes that NumPy lacks, and one that tripybuild lacks."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([0.5, -1.5], dtype=torch.bfloat16))
        self.register_buffer("small", torch.tensor([3], dtype=torch.int16))

    def forward(self, x: Any) -> Any:
        return x * self.weight, x.float() + self.small


def test_dtypes_are_ours_or_named() -> None:
    given = (torch.ones(2, dtype=torch.bfloat16),)
    read = read_exported_program(decompose(torch.export.export(Halves(), given)))
    weight, small = read.weights["weight"], read.weights["small"]
    assert isinstance(weight, ForeignWeight)
    assert weight.load().astype(np.float32).tolist() == [0.5, -1.5]
    assert (small.type, small.unsupported) == (None, "int16")
    assert [name for name, _ in read.graph.outputs] == ["output_0", "output_1"]


class Chosen(nn.Module):
    """How many results there are depends on the values."""

    def forward(self, x: Any) -> Any:
        return torch.nonzero(x > 0).sum(0)


def test_sizes_of_data_are_refused_where_they_are_made() -> None:
    exported = decompose(torch.export.export(Chosen(), (torch.ones(3),)))
    with pytest.raises(DiagnosticError) as caught:
        read_exported_program(exported)
    assert {each.code for each in caught.value.diagnostics} == {"import-unsupported"}
    first = caught.value.diagnostics[0].message
    assert first.startswith("`nonzero`, ")
    assert "depends on the values of tensors" in first

"""Modules of PyTorch, exported with example inputs and the dimensions that vary."""

from typing import Any

import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.foreign_program import ForeignProgram
from tripybuild.importer.pytorch.module_export import ModuleInputs, read_module
from tripybuild.process import paths
from tripybuild.testing.registry import registry
from tripybuild.types.size_range import SizeRange

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn


class Layer(nn.Module):
    """A layer with dropout and an optional input."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.dropout = nn.Linear(8, 8), nn.Dropout(0.1)

    def forward(self, x: Any, y: Any = None) -> Any:
        return self.dropout(self.linear(x)) + (0 if y is None else y)


class Fixed(nn.Module):
    """The size of its first dimension is one number."""

    def forward(self, x: Any) -> Any:
        return x.reshape(2, 24)


class Flow(nn.Module):
    """What it does depends on data."""

    def forward(self, x: Any) -> Any:
        if x.sum() > 0:
            return x
        return x * 2


def read(module: Any, *args: Any, **more: Any) -> ForeignProgram:
    """Read a module with these inputs."""
    return read_module(module, ModuleInputs(args, **more), registry(paths.registry()))


def refused(module: Any, *args: Any, **more: Any) -> Diagnostic:
    """The one diagnostic of a module that is not read."""
    with pytest.raises(DiagnosticError) as caught:
        read(module, *args, **more)
    (found,) = caught.value.diagnostics
    return found


def test_a_module_is_exported_in_evaluation_mode_and_left_as_it_was() -> None:
    layer = Layer()
    layer.linear.eval()
    found = read(layer, torch.ones(2, 8))
    assert [str(each.type) for each in found.graph.inputs] == ["tensor<2x8xf32>"]
    assert found.notes == ["exported in evaluation mode"]
    assert (layer.training, layer.dropout.training, layer.linear.training) == (True, True, False)


def test_dimensions_vary_by_name() -> None:
    given = (torch.ones(3, 8), torch.ones(3, 8))
    found = read(Layer(), *given, dynamic={"x": ["B"], "y": {0: "C"}})
    assert [str(each.type) for each in found.graph.inputs] == ["tensor<Bx8xf32>"] * 2
    assert found.ranges == {"B": SizeRange(1, 3, None)}


def test_an_info_is_an_input_with_its_ranges() -> None:
    named = tp.NamedDimension("B", 1, 1, 4)
    found = read(Layer(), kwargs={"x": tp.InputInfo([named, 8], tp.float32)})
    assert found.ranges == {"B": SizeRange(1, 1, 4)}
    assert found.examples["x"].shape == (2, 8)
    plain = read(Layer(), tp.InputInfo([(1, 5, 9), 8], tp.float32))
    assert plain.ranges == {"x_0": SizeRange(1, 5, 9)}


def test_a_dimension_that_cannot_vary_is_named() -> None:
    found = refused(Fixed(), torch.ones(6, 8), dynamic={"x": ["B"]})
    assert found.code == "import-static-dimension"
    assert found.message == "the dimension 0 (`B`) of `x` cannot vary: its size is always 6"
    optional = read(Fixed(), torch.ones(6, 8), dynamic={"x": ["B"]}, optional=True)
    assert found.message in optional.notes


def test_control_flow_over_data_is_refused_at_its_line() -> None:
    found = refused(Flow(), torch.ones(6, 8))
    assert found.code == "export-failed"
    assert "torch.cond" in (found.hint or "")
    assert found.span is not None
    assert found.span.path == __file__


def test_inputs_that_do_not_fit_are_refused() -> None:
    assert refused(Layer()).code == "missing-input"
    assert refused(Layer(), torch.ones(2, 8), dynamic={"z": ["B"]}).code == "unknown-input"
    assert refused(Layer(), torch.ones(2, 8), dynamic={"x": ["a b"]}).code == "bad-name"
    wrong = refused(Layer(), torch.ones(2, 9))
    assert (wrong.code, wrong.span and wrong.span.path) == ("export-failed", __file__)


def test_a_function_of_c_is_no_forward() -> None:
    module = nn.Module()
    module.forward = torch.special.bessel_j0
    found = refused(module, torch.ones(2))
    assert (found.code, "no function of Python" in found.message) == ("export-failed", True)


class Namesake(nn.Module):
    """Its weight has the name of its input."""

    def __init__(self) -> None:
        super().__init__()
        self.x = nn.Parameter(torch.ones(4))

    def forward(self, x: Any) -> Any:
        return x * self.x


def test_an_input_with_the_name_of_a_weight_has_another_one() -> None:
    found = read(Namesake(), torch.full((2, 4), 3.0))
    (value,) = found.graph.inputs
    assert found.examples[value.name].tolist() == [[3.0] * 4] * 2
    assert f"the input `x` is `{value.name}`: a weight or a part is `x`" in found.notes


def test_what_pytorch_cannot_decompose_is_refused() -> None:
    """PyTorch writes the names of modules as Python, where `for` is no attribute."""
    module = nn.Sequential()
    module.add_module("for", nn.Linear(8, 8))
    found = refused(module, torch.ones(2, 8))
    assert (found.code, found.message[:34]) == (
        "export-failed",
        "the module cannot be decomposed: S",
    )

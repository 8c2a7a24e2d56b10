"""Layers that somebody else wrote: what a call records, and who cannot run it."""

import json

import numpy as np
import pytest

import tripyapi as tp
from tripyapi.tensor import Tensor
from tripybuild.artifact.graph_json import from_data, to_data
from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.execute import reference_run
from tripybuild.targets.tensorrt.model import dialect_module, module_text
from tripybuild.trace import printer
from tripybuild.trace.generated_code import operation_class
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.shapes import fresh_symbols


def made(info, **fields):
    """A call on one tensor, as a graph."""
    x = Value(TensorType(tp.float32, (2, 3)), name="x")
    with fresh_symbols():
        given = tp.plugin("Mine", [Tensor.of(x)], info, "2", "us", **fields)
    several = given if isinstance(given, tuple) else (given,)
    return Graph("g", {"x": x}, {}, {f"y{i}": each.value for i, each in enumerate(several)})


def test_what_a_call_records():
    """Fields are keywords; their order says nothing."""
    graph = made([(1, tp.float16)], sizes=np.array([1, 2]), mode="fast", scale=0.5)
    line = printer.canonical(graph).splitlines()[1]

    assert "fields=(('mode', 'fast'), ('scale', 0.5), ('sizes', (1, 2)))" in line
    assert "output_info=((1, float16),), version='2', namespace='us'" in line
    assert line.endswith(": tensor<_0xf16>")
    again = made([(1, tp.float16)], scale=0.5, sizes=(1, 2), mode="fast")
    assert printer.canonical(again) == printer.canonical(graph)


def test_one_result_is_given_as_itself():
    """Several are a tuple; a size of each is known when it runs."""
    assert [str(v.type) for v in made([(0, tp.int32)]).outputs.values()] == ["tensor<i32>"]
    both = made([(2, tp.float32), (1, tp.int64)]).outputs.values()
    assert [str(value.type) for value in both] == ["tensor<_0x_1xf32>", "tensor<_2xi64>"]


def test_the_module_names_the_plugin():
    """With all that it is given, and nothing to load."""
    text = module_text(
        dialect_module(made([(1, tp.float32)], scale=0.5, sizes=[1, 2], mode="fast"))
    )

    assert 'plugin_name = "Mine"' in text
    assert 'plugin_version = "2"' in text
    assert 'plugin_namespace = "us"' in text
    assert "scale = 5.000000e-01 : f64" in text
    assert "sizes = array<i64: 1, 2>" in text
    assert 'mode = "fast"' in text
    assert "dso_path" not in text


def test_it_survives_json():
    """Where no size depends on it."""
    graph = made([(0, tp.float32)], scale=0.5, flags=[True, False])
    data, arrays = to_data(graph)
    read = from_data(json.loads(json.dumps(data)), arrays, {}, operation_class)

    assert printer.canonical(read) == printer.canonical(graph)


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (lower_stablehlo, "Plugins are code for TensorRT."),
        (
            lambda graph: reference_run(graph, {})([np.zeros((2, 3), np.float32)]),
            "No declaration says what a plugin computes.",
        ),
    ],
)
def test_who_cannot_run_it(run, why):
    """They say what the declaration says."""
    with pytest.raises(DiagnosticError) as caught:
        run(made([(0, tp.float32)]))
    (found,) = caught.value.diagnostics

    assert (found.code, found.label) == ("no-decompose", why)
    assert found.message.startswith("`plugin` cannot be run by `")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scale": [[1.0]]}, "`scale` of `plugin` must be a number, a string or a sequence of"),
        ({"scale": None}, "found None"),
        ({"scale": tp.float32}, "found float32"),
    ],
)
def test_fields_that_a_plugin_cannot_have(fields, message):
    """Numbers, texts and sequences of numbers are data."""
    with pytest.raises(DiagnosticError, match=message) as caught:
        made([(1, tp.float32)], **fields)
    assert caught.value.diagnostics[0].code == "plugin/fields"

"""Forms that runtimes are fast in compute what the references do."""

import numpy as np
import pytest
from onnx_models import agree, floats, graph_of, operators

import tripyapi as tp
from tripybuild.symbolic.dims import symbol
from tripybuild.types import dtypes

B, H, W = symbol("B", 0), symbol("H", 1), symbol("W", 1)


@pytest.mark.parametrize("coordinates", ["asymmetric", "half_pixel"])
@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_down"])
def test_pixels_that_are_repeated_have_constant_scales(coordinates, rounding):
    """Whatever the sizes of the image are."""
    options = {"coordinates": coordinates, "rounding": rounding}
    graph = graph_of(
        lambda x: tp.resize_nearest(x, scales=[1, 1, 2, 3], **options),
        (dtypes.float32, (B, 2, H, W)),
    )
    model = agree(
        graph,
        ({"B": 2, "H": 3, "W": 5}, floats(2, 2, 3, 5)),
        ({"B": 0, "H": 3, "W": 5}, floats(0, 2, 3, 5)),
    )
    assert operators(model).count("Resize") == 1
    assert "Gather" not in operators(model)
    scales = [each for each in model.graph.initializer if each.data_type == 1]
    assert [list(np.frombuffer(each.raw_data, np.float32)) for each in scales] == [[1, 1, 2, 3]]


def test_elements_that_are_repeated_are_joined():
    """ONNX Runtime expands a last dimension of one element slowly."""
    graph = graph_of(lambda x: tp.repeat(x, 2, 1), (dtypes.float32, (B, W)))
    model = agree(graph, ({"B": 2, "W": 3}, floats(2, 3)), ({"B": 0, "W": 3}, floats(0, 3)))
    assert "Expand" not in operators(model)
    graph = graph_of(lambda x: tp.expand(x, [4, H, 3]), (dtypes.float32, (1, H, 1)))
    model = agree(graph, ({"H": 5}, floats(1, 5, 1)))
    assert operators(model)[-2:] == ["Expand", "Concat"]
    graph = graph_of(lambda x: tp.expand(x, [-1, 70]), (dtypes.float32, (H, 1)))
    assert operators(agree(graph, ({"H": 5}, floats(5, 1))))[-1] == "Expand"

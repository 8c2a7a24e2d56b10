"""What a graph, or one call of an operator, gives on each engine that needs no GPU.

What TensorRT's layers give is computed in NumPy, by an evaluator of the dialect that knows nothing
of the declarations.
"""

from unittest import mock

import numpy as np

from oracles import tensorrt_layers, tensorrt_numpy as oracle
from tripybuild.reference.execute import execute
from tripybuild.targets.tensorrt import model as engine_model
from tripybuild.tensorrt.mlir import resources
from tripybuild.tensorrt.passes import pipeline
from tripybuild.testing import batch
from tripybuild.testing.cases import Case
from tripybuild.types.dtypes import from_numpy


def results(call, arrays):
    """The results of `call(*tensors)` on each engine, as lists of arrays."""
    named = {f"given{i}": array for i, array in enumerate(arrays)}
    case = Case(lambda **tensors: call(*tensors.values()), "call", "", named, {})
    (outcome,) = batch.run([case])
    assert not isinstance(outcome, str), outcome
    reference = execute(case.graph, case.data)
    with np.errstate(all="ignore"):
        layers = computed(case.graph, case.data)
    return {"cpu": outcome, "reference": list(reference.values()), "tensorrt": layers}


def computed(graph, data, *, passes=engine_model.PIPELINE):
    """What the module of a graph gives, after the passes that models take."""
    emitted = engine_model.dialect_module(graph)
    resources.of(emitted.module).add_arrays({**emitted.resources, **data})
    pipeline.run(emitted.module, passes)
    inputs = [wide(np.asarray(data[name])) for name in graph.inputs]
    with mock.patch.object(oracle, "OPS", tensorrt_layers.LAYERS):
        return oracle.evaluate(emitted.module, "main", inputs)


def wide(array):
    """Floats as the evaluator computes them."""
    if from_numpy(array.dtype).kind == "float":
        return array.astype(np.float64)
    return array.astype(np.int8) if array.dtype.name == "int4" else array

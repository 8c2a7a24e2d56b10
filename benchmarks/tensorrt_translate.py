"""A module of the tensorrt dialect becomes a network: ours, and the library's calls alone.

The bare row makes the same layers with the same names through `tensorrt_rtx` alone, and asks each
for its shape. Nothing is built: that is TensorRT's time, and the same for both.
"""

import time
from collections.abc import Callable

import numpy as np
import tensorrt_rtx as trt
from table import Cell, Table, arguments, machine, report

from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.runtime import engine
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.tensorrt.translation.translate import translate

BLOCK = 5
REPEATS = 50  # of which the best counts: others may be at work
WHOLE, GOAL = 500, 30  # layers of a model such as GPT-2, and milliseconds for them
KIND, SQUARE = "tensor<8x64xf32>", "tensor<64x64xf32>"


def text(layers: int) -> str:
    """A chain of constant, matrix product, sum, softmax and activation."""
    lines, last = [], "%a"
    none, gelu = "#tensorrt.matrix_operation<kNONE>", "#tensorrt.activation_type<kGELU_ERF>"
    for index in range(layers // BLOCK):
        k, m, e, s, x = (f"%{letter}{index}" for letter in "kmesx")
        operands = f"ins({last}, {k} : {KIND}, {SQUARE})"
        lines.append(f"{k} = tensorrt.constant dense<0.5> : {SQUARE}")
        product = f"tensorrt.matrix_multiply {{op0 = {none}, op1 = {none}}}"
        lines.append(f"{m} = {product} {operands} -> {KIND}")
        total = f"tensorrt.element_wise <kSUM>({m}, {last} : {KIND}, {KIND})"
        lines.append(f"{e} = {total} -> {KIND}")
        lines.append(f"{s} = tensorrt.softmax {{axis = 1 : i64}} {e} : {KIND}")
        lines.append(f"{x} = tensorrt.activation {{activationType = {gelu}}} {s} : {KIND}")
        last = x
    body = "\n".join(lines)
    return f"func.func @main(%a: {KIND}) -> {KIND} {{\n{body}\nreturn {last} : {KIND}\n}}"


class Quiet(trt.ILogger):  # type: ignore[misc]  # the library has no types
    """A logger that drops everything."""

    def __init__(self) -> None:
        trt.ILogger.__init__(self)

    def log(self, severity: trt.ILogger.Severity, message: str) -> None:
        """Drop a message."""


def bare(builder: trt.Builder, layers: int, weights: np.ndarray) -> trt.INetworkDefinition:
    """The same network, written by hand."""
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    network.name = "main"
    count = 0

    def done(layer: trt.ILayer) -> trt.ITensor:
        nonlocal count
        layer.name = f"[tensorrt.layer] loc(model.mlir:{count}:8)"
        count += 1
        tensor = layer.get_output(0)
        tensor.shape  # noqa: B018 - TensorRT infers it when asked
        return tensor

    x = network.add_input("arg0", trt.float32, (8, 64))
    none = trt.MatrixOperation.NONE
    for _ in range(layers // BLOCK):
        data = trt.Weights(trt.float32, weights.ctypes.data, weights.size)
        kernel = done(network.add_constant((64, 64), data))
        product = done(network.add_matrix_multiply(x, none, kernel, none))
        total = done(network.add_elementwise(product, x, trt.ElementWiseOperation.SUM))
        layer = network.add_softmax(total)
        layer.axes = 2
        x = done(network.add_activation(done(layer), trt.ActivationType.GELU_ERF))
    network.mark_output(x)
    return network


def processor_time(call: Callable[[], object]) -> float:
    """Return the milliseconds of the processor that the best of some calls took."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times) * 1e3


def row(library: Library, layers: int, weights: np.ndarray) -> dict[str, Cell]:
    """Time both on a network of so many layers."""
    function = engine.select_function(parser.parse(text(layers), "model.mlir"), None)
    log, silent = Log(), trt.Builder(Quiet())
    builder = library.builder(log)

    def ours() -> trt.INetworkDefinition:
        return translate(library, builder, log, function).network

    assert ours().num_layers == bare(silent, layers, weights).num_layers == layers
    milliseconds = processor_time(ours)
    return {
        "layers": layers,
        "tripybuild CPU ms": milliseconds,
        "bare API CPU ms": processor_time(lambda: bare(silent, layers, weights)),
        "tripybuild µs per layer": milliseconds * 1e3 / layers,
        "goal ms": GOAL if layers == WHOLE else None,
    }


def main() -> None:
    """Print the comparison."""
    options = arguments(__doc__).parse_args()
    library, weights = Library.find("tensorrt-rtx"), np.full((64, 64), 0.5, np.float32)
    rows = [row(library, layers, weights) for layers in (50, WHOLE, 2000)]
    title = "A module in memory as a TensorRT network, named and checked"
    report([Table(title, tuple(rows[0]), rows)], machine("tensorrt-rtx", "xdsl"), options.json)


if __name__ == "__main__":
    main()

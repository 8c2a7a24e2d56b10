"""What becomes of one graph on its way through ONNX: a model, a legal model, a session, numbers.

Whether a model is legal says ONNX itself: its checker, and its strict inference of types, which
compares what it infers with the type that the lowering gives each value.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module

from tripybuild.compiler.lowering.lower_onnx import lower_onnx
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.onnx.protobuf import encode_model
from tripybuild.reference.numerics.arrays import Array
from tripybuild.testing.check_counts import error_line
from tripybuild.testing.engines.onnx_sessions import (
    Results,
    RuntimeCrashError,
    RuntimeRefusalError,
    run_apart,
    run_sessions,
)
from tripybuild.trace.graph import Graph

# What exporters write by default, and the newest that ONNX Runtime takes.
OPSET, NEWEST = 20, 26
OPSETS = tuple(map(str, range(OPSET, NEWEST + 1)))
# The engine whose own form of a model, where it differs, must compute the same.
RUNTIME = "onnxruntime"
# What is said of an operation that has no form in an opset, and of one that has none in any.
UNAVAILABLE = frozenset({"onnx-unavailable", "no-decompose"})
# What ONNX's own computation of sizes says where integers wrap, which they may.
WRAPS = "Integer overflow"

# How far a graph comes; that it is unsaid or refused may be declared, by these words.
UNSAID, REFUSED, COMPUTES = "builder", "build", "computes"
LOWERING, ILLEGAL, CRASHES = FAULTS = ("lowering", "illegal", "crashes")


@dataclass(frozen=True)
class OnnxAnswer:
    """How far a graph came at an opset, what was said there, and what it gave.

    `results` are those of each array of inputs, by how far ONNX Runtime changed the model.
    """

    opset: int
    level: str
    says: str = ""
    results: Results = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.level} at opset {self.opset}: {self.says}" if self.says else self.level


def ask(graph: Graph, inputs: Sequence[Sequence[Array]], opset: int) -> OnnxAnswer:
    """What ONNX Runtime gives for a graph, or what ends its way there.

    Args:
        graph: The graph; sizes may be symbols.
        inputs: The arrays of each call, in the order of the graph's inputs.
        opset: The version of ONNX's operators.
    """
    try:
        model = encode_model(lower_onnx(graph, opset, types=True))
        own = encode_model(lower_onnx(graph, opset, types=True, runtime=RUNTIME))
    except DiagnosticError as error:
        return OnnxAnswer(opset, UNSAID if is_unavailable(error) else LOWERING, error_line(error))
    models = {"": model} if own == model else {"": model, f" for {RUNTIME}": own}
    results: dict[str, Sequence[Sequence[Array]]] = {}
    try:
        for form, each in models.items():
            wrong = legality_problem(each)
            if wrong is not None:
                return OnnxAnswer(opset, ILLEGAL, wrong)
            found = run_apart(run_sessions, each, inputs)
            results |= {f"{level}{form}": arrays for level, arrays in found.items()}
    except RuntimeRefusalError as error:
        return OnnxAnswer(opset, REFUSED, str(error))
    except RuntimeCrashError as error:
        return OnnxAnswer(opset, CRASHES, str(error))
    return OnnxAnswer(opset, COMPUTES, results=results)


def ask_newer(graph: Graph, inputs: Sequence[Sequence[Array]]) -> OnnxAnswer:
    """The same at the lowest opset that can say the graph, from the default one on."""
    found = ask(graph, inputs, OPSET)
    lowest = lowest_opset(graph) if found.level == UNSAID else None
    return found if lowest is None else ask(graph, inputs, lowest)


def lowest_opset(graph: Graph) -> int | None:
    """The lowest opset, from the default one on, that can say a graph."""

    def says(opset: int) -> bool:
        try:
            lower_onnx(graph, opset)
        except DiagnosticError as error:
            return not is_unavailable(error)
        return True

    return next(filter(says, range(OPSET, NEWEST + 1)), None)


def is_unavailable(error: DiagnosticError) -> bool:
    """Whether what is wrong is that an operation has no form in ONNX."""
    return not UNAVAILABLE.isdisjoint(each.code for each in error.diagnostics)


def legality_problem(model: bytes) -> str | None:
    """What ONNX says against a model, if anything."""
    onnx = import_module("onnx")
    try:
        onnx.checker.check_model(model)
        try:
            _infer(model, data_prop=True)
        except import_module("onnx.shape_inference").InferenceError as error:
            if WRAPS not in str(error):
                raise
            _infer(model, data_prop=False)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return " | ".join(str(error).split("\n"))
    return None


def _infer(model: bytes, *, data_prop: bool) -> None:
    inference = import_module("onnx.shape_inference")
    inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=data_prop)

"""ONNX Runtime as a test oracle: an ONNX operator, called through an alias, as a model of one node.

ONNX's own declarations say how a node is written. The opset is the lowest one from `OPSETS` on that
has the operator with these attributes for these dtypes.

Where it has no kernel, and where it cannot run a model that ONNX declares legal, ONNX's own
reference implementation is asked. Where that has none either, the question is not asked.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from tripybuild.reference.numerics.arrays import Array, round_cast
from tripybuild.targets.onnx_runtime import library
from tripybuild.testing.oracles.foreign_calls import (
    ForeignCall,
    UndefinedCall,
    UnsupportedCall,
    widen,
)
from tripybuild.types.dtypes import BY_NAME, dtype, from_numpy

# From what exporters write by default to the newest one that ONNX Runtime takes.
OPSETS = range(20, 27)
IR_VERSION = 11
# What NumPy has from elsewhere: the model holds it, and gives it in a wider dtype.
CARRIED = {"bfloat16": "float32", "float8": "float32", "float4": "float32", "int4": "int8"}
# What a number is in a place that takes tensors of any dtype.
NUMBERS = {bool: "bool", int: "int64", float: "float32"}
WIDE = {"float": "float32"}


@dataclass(frozen=True)
class NodeModel:
    """A model with one node: its text, what goes in, and the dtypes of what comes out."""

    text: bytes
    feeds: Mapping[str, Array]
    types: Sequence[dtype]


class _NoKernelError(Exception):
    """ONNX Runtime cannot run a model that is legal."""


def run(call: ForeignCall, wanted: Sequence[dtype], *, wide: bool = False) -> list[Array]:
    """What the operator gives; `tripybuild.testing.oracles.foreign_calls.System` says how.

    Raises:
        UndefinedCall: Where no opset has the operator for these dtypes.
        UnsupportedCall: Where no available runtime has a kernel.
        RuntimeError: Where it is refused.
    """
    way = WIDE if wide else {}
    made = model(call.wider(way), [widen(type, way) for type in wanted])
    try:
        results = _run(made)
    except _NoKernelError as error:
        results = _by_reference(made, str(error))
    found = [round_cast(a, t) for a, t in zip(results, made.types, strict=True)]
    return [round_cast(a, t) for a, t in zip(found, wanted, strict=True)] if wide else found


def _run(made: NodeModel) -> list[Array]:
    session = _session(made.text)
    try:
        return [np.asarray(each) for each in session.run(None, dict(made.feeds))]
    except library.errors() as error:
        raise _NoKernelError(_line(error)) from error


@cache
def _session(text: bytes) -> Any:
    """A session of a model, of which many calls have the same."""
    runtime = library.runtime()
    options = runtime.SessionOptions()
    options.log_severity_level = library.FATAL_ONLY
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return runtime.InferenceSession(text, options, providers=["CPUExecutionProvider"])
    except library.errors() as error:
        _check(text)
        raise _NoKernelError(_line(error)) from error


def _check(text: bytes) -> None:
    """Let ONNX say what is wrong with a model."""
    inference = import_module("onnx.shape_inference")
    try:
        inference.infer_shapes(text, check_type=True, strict_mode=True)
    except inference.InferenceError as error:
        raise RuntimeError(_line(error)) from error


def _by_reference(made: NodeModel, why: str) -> list[Array]:
    """What ONNX's reference gives, where ONNX Runtime gives a reason and no result."""
    reference = import_module("onnx.reference")
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = reference.ReferenceEvaluator(made.text).run(None, dict(made.feeds))
    # It has no errors of its own, and says what it cannot do with those of NumPy and Python.
    except Exception as error:
        told = f"{why}; onnx.reference: {type(error).__name__}: {_line(error)}"
        raise (UnsupportedCall if "NOT_IMPLEMENTED" in why else RuntimeError)(told) from error
    return [np.asarray(each) for each in results]


def _line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def model(call: ForeignCall, wanted: Sequence[dtype]) -> NodeModel:
    """The model of a call that gives results of some dtypes.

    Raises:
        UndefinedCall: Where no opset has the operator in this form.
    """
    defs = import_module("onnx").defs
    name = call.signature.name
    reason = f"ONNX has no {name} before opset {OPSETS.stop}"
    for opset in range(call.opset or OPSETS.start, OPSETS.stop):
        if defs.has(name, opset, ""):
            try:
                return _NodeBuilder(defs.get_schema(name, opset, ""), opset, call).model(wanted)
            except UndefinedCall as error:
                reason = str(error)
    raise UndefinedCall(reason)


class _NodeBuilder:
    """Writes one call in one opset."""

    def __init__(self, schema: Any, opset: int, call: ForeignCall) -> None:
        self.onnx = import_module("onnx")
        self.schema, self.opset, self.call = schema, opset, call
        self.feeds: dict[str, Array] = {}
        self.held: list[Any] = []
        self.variables: dict[str, dtype] = {}
        """The dtypes that the schema's type variables stand for."""

    def model(self, wanted: Sequence[dtype]) -> NodeModel:
        helper = self.onnx.helper
        inputs = [self._input(f"input{i}", v, f) for i, (v, f) in enumerate(self._input_pairs())]
        while inputs and not inputs[-1]:
            inputs.pop()
        skipped = self.call.result or 0
        names = [f"result{i}" for i in range(len(wanted))]
        types = list(self._results(skipped, wanted))
        attributes = [
            helper.make_attribute(name, value, attr_type=self.schema.attributes[name].type)
            for name, value in self._attributes()
        ]
        outputs = [*[""] * skipped, *names]
        nodes = [helper.make_node(self.schema.name, inputs, outputs)]
        nodes[0].attribute.extend(attributes)
        infos = []
        for name, type in zip(names, types, strict=True):
            code, given = self._code(type), name
            if str(type) in CARRIED:
                code, given = self._code(BY_NAME[CARRIED[str(type)]]), f"{name}_carried"
                nodes.append(helper.make_node("Cast", [name], [given], to=code))
            infos.append(helper.make_tensor_value_info(given, code, None))
        taken = [
            helper.make_tensor_value_info(n, self._code(from_numpy(a.dtype)), [None] * a.ndim)
            for n, a in self.feeds.items()
        ]
        graph = helper.make_graph(nodes, "call", taken, infos, self.held)
        opsets = [helper.make_opsetid("", self.opset)]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        return NodeModel(made.SerializeToString(), self.feeds, types)

    def _input_pairs(self) -> Iterator[tuple[Any, Any]]:
        """The value and the formal parameter of each input, as this opset orders them."""
        signature, arguments = self.call.signature, self.call.arguments
        if any(p in arguments for p in signature.by_position[len(self.schema.inputs) :]):
            raise UndefinedCall(
                f"ONNX has no such form of {self.schema.name} in opset {self.opset}"
            )
        pairs = []
        for parameter, formal in zip(signature.by_position, self.schema.inputs, strict=False):
            value = arguments.get(parameter)
            several = value if parameter == signature.several and value is not None else [value]
            pairs += [(each, formal) for each in several]
        for value, formal in pairs:
            if isinstance(value, np.ndarray):
                self.variables.setdefault(formal.type_str, from_numpy(value.dtype))
        yield from pairs

    def _input(self, name: str, value: Any, formal: Any) -> str:
        """Add an input; what is not there has no name."""
        if value is None:
            return ""
        given = isinstance(value, np.ndarray)
        array = value if given else self._array(value, formal)
        type = from_numpy(array.dtype)
        self._check(type, formal)
        if not given or str(type) in CARRIED:
            self.held.append(self.onnx.numpy_helper.from_array(array, name))
        else:
            self.feeds[name] = array
        return name

    def _array(self, value: Any, formal: Any) -> Array:
        """A number or a list of numbers in the place of a tensor."""
        first = value
        while isinstance(first, (list, tuple)):
            first = first[0] if first else 0
        type = self.variables.get(formal.type_str)
        for candidate in (NUMBERS[bool if isinstance(first, bool) else first.__class__], "float32"):
            if type is None and _text(BY_NAME[candidate]) in formal.types:
                type = BY_NAME[candidate]
        return round_cast(np.asarray(value), type or BY_NAME["int64"])

    def _check(self, type: dtype, formal: Any) -> None:
        if _text(type) not in formal.types:
            reason = f"ONNX has no {self.schema.name} with `{formal.name}` of {type}"
            raise UndefinedCall(f"{reason} in opset {self.opset}")

    def _results(self, skipped: int, wanted: Sequence[dtype]) -> Iterator[dtype]:
        """The dtypes of the results: as the schema says, or as its variable is bound."""
        formals = self.schema.outputs
        for at, type in enumerate(wanted):
            formal = formals[min(skipped + at, len(formals) - 1)]
            only = [t for t in BY_NAME.values() if _text(t) in formal.types]
            given = self.variables.get(formal.type_str, only[0] if len(only) == 1 else type)
            self._check(given, formal)
            yield given

    def _attributes(self) -> Iterator[tuple[str, Any]]:
        """The attributes, with values of the kinds that the schema says."""
        kinds = self.onnx.defs.OpSchema.AttrType
        for name in self.call.signature.by_name:
            value = self.call.arguments.get(name)
            if value is None:
                continue
            declared = self.schema.attributes.get(name)
            if declared is None:
                raise UndefinedCall(
                    f"ONNX has no `{name}` of {self.schema.name} in opset {self.opset}"
                )
            if isinstance(value, dtype):
                yield name, self._code(value)
            elif declared.type == kinds.TENSOR:
                yield name, self.onnx.numpy_helper.from_array(value, name)
            elif declared.type in {kinds.FLOAT, kinds.INT}:
                yield name, float(value) if declared.type == kinds.FLOAT else int(value)
            else:
                yield name, list(value) if isinstance(value, tuple) else value

    def _code(self, type: dtype) -> int:
        """The number of a dtype in ONNX's files."""
        code: int = self.onnx.TensorProto.DataType.Value(type.onnx.upper())
        return code


def _text(type: dtype) -> str:
    """A dtype as ONNX's declarations spell it."""
    return f"tensor({type.onnx})"

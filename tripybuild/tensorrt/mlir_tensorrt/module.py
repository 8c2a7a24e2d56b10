"""Module conversion for mlir-tensorrt, and the record of its inputs.

Attributes of ours are taken away (names of inputs stay in the record); a tensor on the host is said
as nvtripy says it, by its memory space; of several profiles the first is kept, which holds all.
"""

from typing import Any

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.mlir.plan import MemorySpaceAttr
from tripybuild.tensorrt.translation import location_text
from tripybuild.tensorrt.translation.profiles import BOUNDS, SHAPES, read
from tripybuild.tensorrt.translation.signature import (
    DIMENSION_NAMES,
    HOST,
    NAME,
    SPACE,
    Port,
    inputs_of,
    outputs_of,
)
from tripybuild.types.dtypes import BY_MLIR

Record = dict[str, Any]
HOST_SPACE = MemorySpaceAttr(StringAttr("host"))


def function_record(function: FuncOp) -> Record:
    """Return the record of a function, as that of an engine."""
    body = [op for op in function.body.walk() if op.name.startswith("tensorrt.") and op.results]
    return {
        "function": function.sym_name.data,
        "inputs": [{**_port(port), **_ranges(port)} for port in inputs_of(function)],
        "outputs": [_port(port) for port in outputs_of(function)],
        "layers": [_layer(op) for op in body],
    }


def _port(port: Port) -> Record:
    record: Record = {"name": port.name, **_type(port.value), "host": port.on_host}
    names = port.attributes.get(DIMENSION_NAMES)
    if isinstance(names, DictionaryAttr):
        record["dimension_names"] = {key: each.data for key, each in sorted(names.data.items())}  # type: ignore[attr-defined]
    return record


def _ranges(port: Port) -> Record:
    bounds = read(port, BOUNDS)
    found = bounds or read(port, SHAPES) or ()
    profiles = [each.to_json() for each in found[:1]]
    return {"profiles": profiles, "of_values": bounds is not None}


def _layer(op: Operation) -> Record:
    return {
        "name": op.name,
        "op": op.name,
        "location": location_text.text(op.location),
        "outputs": [_type(value) for value in op.results],
    }


def _type(value: SSAValue) -> Record:
    assert isinstance(value.type, TensorType)
    shape = [None if size == DYNAMIC_INDEX else size for size in value.type.get_shape()]
    element = str(value.type.element_type)
    return {"dtype": str(BY_MLIR.get(element, element)), "shape": shape}


def adapt(function: FuncOp) -> None:
    """Write a function's attributes as mlir-tensorrt reads them, in place."""
    function.arg_attrs = _attributes(function.arg_attrs)
    function.res_attrs = _attributes(function.res_attrs)


def _attributes(given: ArrayAttr[DictionaryAttr] | None) -> ArrayAttr[DictionaryAttr] | None:
    if given is None:
        return None
    return ArrayAttr([DictionaryAttr(dict(_named_attributes(each.data.items()))) for each in given])


def _named_attributes(attributes: Any) -> list[tuple[str, Attribute]]:
    found: list[tuple[str, Attribute]] = []
    for name, value in attributes:
        if name == HOST and isinstance(value, UnitAttr):
            found.append((SPACE, HOST_SPACE))
        elif name in {SHAPES, BOUNDS} and isinstance(value, ArrayAttr):
            found.append((name, value.data[0]))
        elif name != NAME:
            found.append((name, value))
    return found

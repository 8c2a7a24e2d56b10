"""Failing operation: TensorRT's messages mapped to operations by layer and tensor names.

Where it names none, it names the data types that a GPU lacks; then it is the first operation that
has one of them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.tensorrt.mlir import locations
from tripybuild.types.dtypes import BY_MLIR

_GATE = re.compile(r"for target\(s\) (?P<targets>.+?), because .*datatypes: (?P<types>[\w, ]+)")
# Data types as Myelin calls them, under MLIR's names.
TYPES: Mapping[str, str] = {
    "fp4_e2m1": "f4E2M1FN",
    "fp8_e4m3": "f8E4M3FN",
    "fp8_e4m3fn": "f8E4M3FN",
    "fp8": "f8E4M3FN",
    "fp4": "f4E2M1FN",
    "b16": "bf16",
    "bf16": "bf16",
    "bfloat16": "bf16",
    "int4": "i4",
    "i4": "i4",
    "e8m0": "f8E8M0FNU",
    "ue8m0": "f8E8M0FNU",
}
# Internal messages of TensorRT, and what they mean to a user.
RIDDLES: Mapping[str, str] = {
    "mScopedOp2Scopes": "a loop in a branch cannot hold another loop or branch; flatten one of them"
}
HOLES = re.compile(r"has no runners that implement it|moe_lowering")
# What names no layer, and the operation that is the only one it can be about.
ALONE: Mapping[str, str] = {"moe_lowering": "trtx.moe"}


def build_failure(
    said: Sequence[str], names: Mapping[str, Operation], function: FuncOp, library: str
) -> Diagnostic:
    """Return what a failed build comes to, with the operation that it is about."""
    gate = next((found for each in said if (found := _GATE.search(each)) is not None), None)
    if gate is not None:
        return _gpu_support_diagnostic(gate, said, function)
    culprit = next((op for each in said if (op := find_operation(each, names)) is not None), None)
    if culprit is None or culprit is function:
        culprit = _only_candidate(said, function)
    if culprit is None:
        message = f"{UNBUILT} `{function.sym_name.data}`"
        where = locations.span_of(function.location)
        hint = next((RIDDLES[key] for key in RIDDLES if any(key in each for each in said)), None)
        return Diagnostic("tensorrt-refused", message, where, notes=tuple(said), hint=hint)
    where = locations.span_of(culprit.location)
    if any(HOLES.search(each) for each in said):
        message = f"`{library}` {UNCOMPUTED} `{culprit.name}`"
        return Diagnostic("tensorrt-unsupported", message, where, notes=tuple(said))
    message = f"{UNBUILT} `{culprit.name}`"
    return Diagnostic("tensorrt-refused", message, where, notes=tuple(said))


def _only_candidate(said: Sequence[str], function: FuncOp) -> Operation | None:
    kinds = {kind for key, kind in ALONE.items() if any(key in each for each in said)}
    return next((op for op in function.walk() if op.name in kinds), None)


def find_operation(text: str, names: Mapping[str, Operation]) -> Operation | None:
    """Return the operation whose name stands first in a text; of several there, the longest."""
    best: tuple[int, int] | None = None
    found = None
    for name, op in names.items():
        place = _find(text, name)
        if place >= 0 and (best is None or (place, -len(name)) < best):
            best, found = (place, -len(name)), op
    return found


def _find(text: str, name: str) -> int:
    """Find a name as a whole: `arg1` is not in `arg10`."""
    place = text.find(name)
    while place >= 0:
        before, after = text[place - 1 : place], text[place + len(name) :][:1]
        if not (_is_name_character(before) and _is_name_character(name[0])) and not (
            _is_name_character(after) and name[-1].isalnum()
        ):
            return place
        place = text.find(name, place + 1)
    return -1


def _is_name_character(character: str) -> bool:
    return character.isalnum() or character == "_"


def _gpu_support_diagnostic(
    gate: re.Match[str], said: Sequence[str], function: FuncOp
) -> Diagnostic:
    elements = {TYPES.get(word.strip(), word.strip()) for word in gate["types"].split(",")}
    op = next(_operations_with(elements, function), function)
    shown = " and ".join(f"`{each}`" for each in sorted(elements))
    message = f"`{gate['targets']}` {GATED} {shown}"
    dtypes = " and ".join(sorted(f"`{BY_MLIR.get(each, each)}`" for each in elements))
    hint = f"leave that GPU out of the target, or use other dtypes than {dtypes}"
    where = locations.span_of(op.location)
    return Diagnostic("tensorrt-refused", message, where, notes=tuple(said), hint=hint)


def _operations_with(elements: Iterable[str], function: FuncOp) -> Iterator[Operation]:
    """Give the operations with operands or results of some element types, in order."""
    wanted = set(elements)
    for op in function.walk():
        types = [value.type for value in (*op.operands, *op.results)]
        if any(isinstance(t, TensorType) and str(t.element_type) in wanted for t in types):
            yield op


# How far it came: a layer is not added, its result has no type, or the typed network is not built.
Level = Literal["builder", "shape", "build"]

UNTYPED = "TensorRT refuses the types of"
DIFFERS = "in TensorRT, and not"
UNBUILT = "TensorRT cannot build"
GATED = "cannot compute with"
UNCOMPUTED = "has nothing that computes"

_WORDS: tuple[tuple[str, Level], ...] = (
    (UNTYPED, "shape"),
    (DIFFERS, "shape"),
    (UNBUILT, "build"),
    (GATED, "build"),
    (UNCOMPUTED, "build"),
)


def level(message: str) -> Level:
    """Return how far a network came, from the message of the diagnostic."""
    return next((level for words, level in _WORDS if words in message), "builder")

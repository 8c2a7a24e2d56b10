"""Payload headers: what programs take and give, and in which order they run.

Digests say that nothing was damaged, not that it makes sense. All of a header is checked before
native code sees a byte, and nothing of it is checked again.
"""

import json
import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from tripybuild.stablehlo.functions import CallPlan
from tripybuild.targets.xla.arrays import DTYPES, ArrayType
from tripybuild.targets.xla.loaded_program import Program, format_error, header_error

MAGIC = b"tbpjrt01"
FIELDS = {"identity", "parameters", "results"}
PLAN_FIELDS = {"programs", "steps", "returns"}
MESH_FIELDS = {"devices", "collectives", "costs"}
PROGRAM_FIELDS = {"size", "parameters", "results"}
FORMS = (FIELDS, FIELDS | PLAN_FIELDS, FIELDS | MESH_FIELDS)
MOST_BYTES = 1 << 63  # of an array: addresses have 64 bits

Types = tuple[ArrayType, ...]


def encode_payload(header: Mapping[str, Any], *contents: bytes | memoryview) -> bytes:
    """A payload of what programs are, and of the programs."""
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    return b"".join((MAGIC, struct.pack("<I", len(text)), text, *contents))


def split_payload(payload: memoryview) -> tuple[dict[str, Any], memoryview]:
    """The header, of which the keys and the identity are checked, and the programs behind it.

    Raises:
        DiagnosticError: It is no payload.
    """
    start = len(MAGIC) + 4
    if len(payload) < start or payload[: len(MAGIC)] != MAGIC:
        raise format_error("it does not begin as one")
    end = start + struct.unpack_from("<I", payload, len(MAGIC))[0]
    try:
        header = json.loads(bytes(payload[start:end]))
    except (ValueError, RecursionError) as error:
        raise format_error("its header is malformed") from error
    if not isinstance(header, dict) or header.keys() not in FORMS:
        raise header_error("its keys are others")
    identity = header["identity"]
    if not isinstance(identity, dict) or not all(isinstance(v, str) for v in identity.values()):
        raise header_error("`identity` is not that of a machine")
    return header, payload[end:]


def read_programs(
    header: Mapping[str, Any], content: memoryview
) -> tuple[list[Program], CallPlan | None, Types, Types]:
    """The programs, the plan in which they run, and what is taken and given.

    Raises:
        DiagnosticError: The header does not describe programs that fit together.
    """
    parameters, results = (_types(header[key], key) for key in ("parameters", "results"))
    if "programs" not in header:
        return [Program(content, parameters, results)], None, parameters, results
    programs = []
    for each in _items(header["programs"], "programs"):
        if not isinstance(each, dict) or each.keys() != PROGRAM_FIELDS:
            raise header_error("`programs` cannot be understood")
        size = _index(each["size"], len(content) + 1, "programs")
        types = _types(each["parameters"], "programs"), _types(each["results"], "programs")
        programs.append(Program(content[:size], *types))
        content = content[size:]
    if len(content) or not programs:
        raise header_error("`programs` are not those that follow")
    plan = _plan(header, programs, parameters, results)
    return programs, plan, parameters, results


def _plan(
    header: Mapping[str, Any], programs: Sequence[Program], parameters: Types, results: Types
) -> CallPlan:
    """The plan, in which each program takes what is there by then, and of its types."""
    types: list[ArrayType] = list(parameters)
    steps = []
    for step in _items(header["steps"], "steps"):
        if not isinstance(step, list) or len(step) != 2:
            raise header_error("`steps` cannot be understood")
        at = _index(step[0], len(programs), "steps")
        takes = tuple(_index(each, len(types), "steps") for each in _items(step[1], "steps"))
        if tuple(types[each] for each in takes) != programs[at].parameters:
            raise header_error("its programs do not fit together")
        types += programs[at].results
        steps.append((at, takes))
    returns = _items(header["returns"], "returns")
    returned = tuple(_index(each, len(types), "returns") for each in returns)
    if tuple(types[each] for each in returned) != results:
        raise header_error("`results` are not what its programs give")
    spelled = tuple((each.dtype.name, each.shape) for each in parameters)
    return CallPlan(spelled, tuple(steps), returned)


def _types(spelled: Any, key: str) -> Types:
    found = []
    for each in _items(spelled, key):
        if not isinstance(each, list) or len(each) != 2 or not isinstance(each[0], str):
            raise header_error(f"`{key}` cannot be understood")
        name, sizes = each
        if name not in DTYPES:
            raise header_error(f"`{key}` cannot be understood")
        shape = tuple(_index(size, MOST_BYTES, key) for size in _items(sizes, key))
        if math.prod(shape) * DTYPES[name].itemsize >= MOST_BYTES:
            raise header_error(f"`{key}` are larger than all memory")
        found.append(ArrayType(shape, DTYPES[name]))
    return tuple(found)


def _items(value: Any, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise header_error(f"`{key}` cannot be understood")
    return value


def _index(value: Any, end: int, key: str) -> int:
    """A number from zero that is less than `end`; JSON's `true` is none."""
    if type(value) is not int or not 0 <= value < end:
        raise header_error(f"`{key}` cannot be understood")
    return value

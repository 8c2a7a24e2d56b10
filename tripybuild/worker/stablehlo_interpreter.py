"""StableHLO reference interpreter of jaxlib: a second engine for lowerings.

It aborts the process at an operation that it does not know, so a worker runs it: `interpret` asks
from the session's side, and `run_module` answers there.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.module import context
from tripybuild.types.dtypes import BY_NAME, from_numpy
from tripybuild.worker.compiler_process import session

TARGET = "interpreter"  # its name in the worker's table
Array = npt.NDArray[Any]
Job = tuple[str, Sequence[Array]]
# The dtypes whose results NumPy can read from MLIR's attributes.
DTYPES = frozenset({"float64", "float32", "float16", "int8", "int32", "int64", "bool"})


def interpret(jobs: Sequence[Job]) -> list[list[Array] | str]:
    """What modules give for their arguments, each a list of arrays, or why one gives nothing.

    Args:
        jobs: The text of each module, and the arguments of its `main`.
    """
    return [_interpret(*job) for job in jobs]


def _interpret(module: str, arrays: Sequence[Array]) -> list[Array] | str:
    try:
        return _unpack(session(TARGET).compile(TARGET, _pack(arrays), {"module": module}))
    except DiagnosticError as error:
        problem = error.diagnostics[0]
        return (problem.notes or (problem.message,))[0]


def run_module(body: bytes, options: Mapping[str, Any]) -> bytes:
    """Run the module of a request on the arrays in its body."""
    with context() as made, bindings.ir.Location.unknown(made):
        bindings.stablehlo.register_interpreter_dialect(made)
        parsed = bindings.ir.Module.parse(options["module"])
        arguments = [_attribute(each) for each in _unpack(body)]
        results = bindings.stablehlo.eval_module(parsed, arguments)
        return _pack([np.array(each) for each in results])


def _pack(arrays: Sequence[Array]) -> bytes:
    """Dtypes and shapes on a line of JSON, and the elements behind it."""
    types = [[str(from_numpy(each.dtype)), each.shape] for each in arrays]
    return b"".join([json.dumps(types).encode(), b"\n", *[each.tobytes() for each in arrays]])


def _unpack(content: bytes) -> list[Array]:
    line, _, rest = content.partition(b"\n")
    arrays: list[Array] = []
    start = 0
    for name, shape in json.loads(line):
        type, count = BY_NAME[name].numpy, math.prod(shape)
        arrays.append(np.frombuffer(rest, type, count, start).reshape(shape))
        start += count * type.itemsize
    return arrays


def _attribute(array: Array) -> Any:
    """An array as MLIR's constant, by way of its bytes; truth values have words of their own."""
    type = from_numpy(array.dtype)
    shape = "".join(f"{size}x" for size in array.shape)
    if type.kind == "boolean":
        content = json.dumps(array.tolist())
    else:
        content = f'"0x{array.tobytes().hex().upper()}"'
    content = content if array.size else ""
    return bindings.ir.Attribute.parse(f"dense<{content}> : tensor<{shape}{type.mlir}>")

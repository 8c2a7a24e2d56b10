"""StableHLO reference interpreter of jaxlib: a second engine for lowerings.

It aborts the process at an operation that it does not know, so it runs in one of its own:
`python -m tripybuild.worker.stablehlo_interpreter` answers each line of its input, a job, with a
line.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.module import context
from tripybuild.types.dtypes import BY_NAME, from_numpy

Array = npt.NDArray[Any]
Job = tuple[str, Sequence[Array]]
# The dtypes whose results NumPy can read from MLIR's attributes.
DTYPES = frozenset({"float64", "float32", "float16", "int8", "int32", "int64", "bool"})


def interpret(jobs: Sequence[Job]) -> list[list[Array] | str]:
    """What modules give for their arguments, each a list of arrays, or why one gives nothing.

    Args:
        jobs: The text of each module, and the arguments of its `main`.
    """
    found: list[list[Array] | str] = []
    while len(found) < len(jobs):
        lines = [json.dumps([module, [_spell(a) for a in arrays]]) for module, arrays in jobs]
        done = subprocess.run(  # noqa: S603  # our own module, and no shell
            [sys.executable, "-m", __name__],
            input="\n".join(lines[len(found) :]) + "\n",
            capture_output=True,
            text=True,
            check=False,
        )
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        found += [a if isinstance(a, str) else [_read(each) for each in a] for a in answers]
        if len(found) < len(jobs):  # it aborted at the next one, and said why
            found.append((done.stderr.strip().splitlines() or ["it ended"])[0])
    return found


def _spell(array: Array) -> list[Any]:
    return [str(from_numpy(array.dtype)), list(array.shape), array.tobytes().hex()]


def _read(spelled: Sequence[Any]) -> Array:
    name, shape, octets = spelled
    return np.frombuffer(bytes.fromhex(octets), BY_NAME[name].numpy).reshape(shape)


def _answers(lines: Iterator[str]) -> Iterator[str]:
    """The answer to each job, until one aborts the process."""
    with context() as made, bindings.ir.Location.unknown(made):
        bindings.stablehlo.register_interpreter_dialect(made)
        for line in lines:
            module, arrays = json.loads(line)
            arguments = [_attribute(_read(each)) for each in arrays]
            try:
                parsed = bindings.ir.Module.parse(module)
                results = bindings.stablehlo.eval_module(parsed, arguments)
                yield json.dumps([_spell(np.array(each)) for each in results])
            except (ValueError, RuntimeError, bindings.ir.MLIRError) as error:
                yield json.dumps(str(error).splitlines()[0])


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


if __name__ == "__main__":
    for answer in _answers(iter(sys.stdin)):
        sys.stdout.write(answer + "\n")
        sys.stdout.flush()

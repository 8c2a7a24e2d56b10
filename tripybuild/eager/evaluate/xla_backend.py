"""XLA backend for large graphs: compiled once per structure, constants are arguments.

The structure of a graph is its operations with their attributes and how they hang together, and
the dtypes and shapes of what it begins with. Data is no part of it: a loop over one expression
compiles once, and the compiled program is found again by later processes.
"""

from collections import OrderedDict
from collections.abc import Sequence
from operator import attrgetter

from tripybuild.compiler.lowering.footprint import check_footprint
from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.errors.logger import logger
from tripybuild.process.per_process import per_process
from tripybuild.reference.numerics.arrays import Array
from tripybuild.targets.cpu.compile_module import compile_module
from tripybuild.targets.xla import pjrt
from tripybuild.targets.xla.loaded_program import LoadedProgram
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.structural_key import subgraph_key
from tripybuild.trace.values import Value

MOST = 1024  # programs that are kept loaded


@per_process
def _programs() -> OrderedDict[object, LoadedProgram]:
    """Those of this process."""
    return OrderedDict()


def compute(operations: Sequence[TraceOp], wanted: Sequence[Value]) -> list[Array]:
    """Compute operations in their order.

    Args:
        operations: What is to be computed.
        wanted: The values that are asked for.

    Returns:
        Their arrays, in their dtypes and shapes.

    Raises:
        DiagnosticError: An operation has no way to XLA, or XLA fails.
    """
    read = {value.producer for operation in operations for value in operation.reads()}
    given = sorted((e for e in read if isinstance(e, Constant)), key=attrgetter("serial"))
    key = structure(given, operations, wanted)
    programs = _programs()
    program = programs.pop(key, None)  # another thread that misses it now loads it, too
    if program is None:
        program = _load_program(given, wanted)
    programs[key] = program
    if len(programs) > MOST:
        programs.popitem(last=False)
    return program(*[each.data.array for each in given])


def structure(
    given: Sequence[Constant], steps: Sequence[TraceOp], wanted: Sequence[Value]
) -> object:
    """What two graphs have in common that one program computes."""
    begins = [each.outputs[0] for each in given]
    types = tuple([value.type for value in begins])
    return types, *subgraph_key(begins, steps, wanted)


def _load_program(given: Sequence[Constant], wanted: Sequence[Value]) -> LoadedProgram:
    inputs = {f"input{i}": each.outputs[0] for i, each in enumerate(given)}
    outputs = {f"output{i}": value for i, value in enumerate(wanted)}
    graph = Graph("eager", inputs, {}, outputs)
    check_footprint(graph)
    module = lower_stablehlo(graph)
    logger.mlir(module.text)
    payload, _ = compile_module(module.bytecode(locations=False))
    return pjrt.load(payload)

"""Constants: evaluated once at build time by the operators' references.

Invariant: a constant depends on fixed sizes, dtypes and constants before it. What depends on more
is a step.
"""

import math
from collections.abc import Mapping

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.frontend.checks.messages import format_value
from tripybuild.model.context import BuildContext
from tripybuild.model.shape_match import pattern_dimensions
from tripybuild.reference.execute import reference_run
from tripybuild.schema.operator.part import Part, Step
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant, constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import caller_location
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import TensorType, Value

LARGEST = 256 << 20
LARGEST_TOGETHER = 512 << 20
HINT = "make it a step"
PREPARED_HINT = "put it under `prepared:`, which reads weights"


def compute_constant(
    context: BuildContext, part: Part, step: Step, names: Mapping[str, object]
) -> Value:
    """A constant's value, with the array that its expression gives.

    Raises:
        DiagnosticError: Where it depends on more than sizes, is no tensor, or is too large.
    """
    held = {*part.parts, *part.weights, *(each.name for each in part.prepared)}
    later = dict.fromkeys(held, PREPARED_HINT) | dict.fromkeys((*part.inputs, *part.state), HINT)
    check_reads(context, part, step, names, "constant", later)
    found = context.evaluate(step.value, names)
    if not isinstance(found, Tensor):
        message = f"the constant `{step.name}` must be a tensor, but this is {format_value(found)}"
        hint = "a number is a size: declare it under `sizes:`"
        raise DiagnosticError(Diagnostic("wrong-type", message, context.current_span(), hint=hint))
    graph = Graph(step.name, {}, {}, {step.name: found.value})
    _check_memory(context, step, graph)
    (array,) = reference_run(graph, {})([])
    value = constant(np.array(array, order="C"), found.dtype, caller_location(()))
    value = context.memoize(("constant", _digest(value)), lambda: value)  # equal data is kept once
    if value not in context.constants:
        context.constants.add(value)
        context.constant_octets += _octets(value.type)
    return value


def _digest(value: Value) -> str:
    assert isinstance(value.producer, Constant)
    return value.producer.data.digest


def check_reads(
    context: BuildContext,
    part: Part,
    step: Step,
    names: Mapping[str, object],
    what: str,
    later: Mapping[str, str],
) -> None:
    """Check what is read where a part is made, before a name is looked for that is not there.

    Args:
        context: The build.
        part: The part.
        step: What is computed once, when the model or its executable is built.
        names: What its names mean.
        what: What messages call it.
        later: The names that it cannot read beside those of steps, each with a hint.

    Raises:
        DiagnosticError: It reads what only a call knows.
    """
    bound = {d.name for pattern in part.inputs.values() for d in pattern_dimensions(pattern)}
    steps = (target for each in part.steps for target in each.targets)
    later = {**dict.fromkeys(steps, HINT), **later}
    for name in sorted(step.reads):
        if isinstance(names.get(name), Dim) or (name in bound and name not in names):
            raise dynamic_size_error(context, step, name, what)
        if name in later:
            message = f"the {what} `{step.name}` is computed once, so it cannot read `{name}`"
            raise DiagnosticError(
                Diagnostic("unbound-name", message, context.current_span(), hint=later[name])
            )


def _check_memory(context: BuildContext, step: Step, graph: Graph) -> None:
    """What leads to a constant is in memory beside all others: count before anything is made."""
    types = [
        output.type
        for operation in walk_operations(graph.operations)
        for output in operation.outputs
    ]
    for type in types:
        for size in type.shape:
            if isinstance(size, Dim):
                raise dynamic_size_error(context, step, str(size))
    largest, together = max(map(_octets, types)), context.constant_octets + sum(map(_octets, types))
    if largest > LARGEST or together > LARGEST_TOGETHER:
        most, found = (LARGEST, largest) if largest > LARGEST else (LARGEST_TOGETHER, together)
        what = "a value" if largest > LARGEST else "it, what leads to it and the constants before"
        message = f"computing the constant `{step.name}` takes too much memory"
        label = f"{what} would have {found >> 20:,} MiB, of at most {most >> 20:,} MiB"
        raise DiagnosticError(
            Diagnostic("constant-too-large", message, context.current_span(), label, hint=HINT)
        )


def _octets(type: TensorType) -> int:
    sizes = [size for size in type.shape if isinstance(size, int)]
    return math.ceil(math.prod(sizes) * type.dtype.itemsize)


def dynamic_size_error(
    context: BuildContext, step: Step, name: str, what: str = "constant"
) -> DiagnosticError:
    """Error for what is computed once and depends on a size that each call tells anew."""
    message = f"the {what} `{step.name}` depends on `{name}`, which only a call knows"
    return DiagnosticError(Diagnostic("undecided-size", message, context.current_span(), hint=HINT))

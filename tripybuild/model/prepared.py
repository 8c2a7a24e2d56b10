"""Prepared weights: computed from other weights once, when an executable is built.

Invariant: a prepared weight depends on weights, fixed sizes, dtypes, constants and prepared ones
before it. In the graph of the model it is a weight like others; how it is computed is a graph of
its own, since its data is there only where weights are read.
"""

from collections.abc import Mapping

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.frontend.checks.messages import format_value
from tripybuild.model.constants import HINT, check_reads, dynamic_size_error
from tripybuild.model.context import BuildContext
from tripybuild.schema.operator.part import Part, Step
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.graph import Graph, operations_between
from tripybuild.trace.values import Value, is_static

KIND = "prepared weight"
ORDER_HINT = "a prepared weight reads those before it: move it down"


def prepare_weight(
    context: BuildContext, part: Part, step: Step, names: Mapping[str, object], path: str
) -> Tensor:
    """A weight of this path, whose data the step computes.

    Raises:
        DiagnosticError: Where it depends on what only a call knows, or is no tensor.
    """
    later = dict.fromkeys((*part.inputs, *part.state), HINT)
    later |= {each.name: ORDER_HINT for each in part.prepared if each.name not in names}
    check_reads(context, part, step, names, KIND, later)
    found = context.evaluate(step.value, names)
    if not isinstance(found, Tensor):
        message = f"the {KIND} `{step.name}` must be a tensor, but this is {format_value(found)}"
        hint = "`stack` and `concatenate` make one of several" if isinstance(found, list) else None
        raise DiagnosticError(Diagnostic("wrong-type", message, context.current_span(), hint=hint))
    value = found.value
    if not is_static(value):
        message = f"the {KIND} `{step.name}` depends on an input or on a state"
        raise DiagnosticError(
            Diagnostic("unbound-name", message, context.current_span(), hint=HINT)
        )
    for size in value.shape:
        if isinstance(size, Dim):
            raise dynamic_size_error(context, step, str(size), KIND)
    made = Value(value.type, name=path, weight=True)
    context.weights[path] = made
    context.prepared[path] = Graph(path, {}, _read_weights(value), {path: value})
    return Tensor.of(made)


def _read_weights(value: Value) -> dict[str, Value]:
    """The weights that a value is computed from, in the order in which they are read."""
    read = [v for each in operations_between(frozenset(), [value]) for v in each.reads()]
    leaves = (each for each in (*read, value) if each.producer is None)
    return {each.name: each for each in leaves if each.name is not None}

"""Python functions and modules as graphs: what `tp.compile` compiles."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tripybuild.build.model import PACKAGE
from tripybuild.build.sizes import Range
from tripybuild.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.eager.arguments import Inputs, replaced
from tripybuild.eager.executable import Call
from tripybuild.eager.infos import InputInfo
from tripybuild.eager.module import Module
from tripybuild.frontend.tensor import PACKAGES, Tensor
from tripybuild.frontend.tracing import tracing
from tripybuild.garbage import uncollected
from tripybuild.logger import logger
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import here
from tripybuild.trace.messages import shown
from tripybuild.trace.values import Value
from tripybuild.types.shapes import fresh_symbols


@dataclass(frozen=True, eq=False)
class Recorded:
    """A function as a graph, and how it is called."""

    graph: Graph
    call: Call
    infos: Mapping[str, InputInfo]
    ranges: Mapping[str, Range]
    doc: str


def recorded(
    func: Callable[..., Any], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Recorded:
    """Call a function once, with inputs in the place of each `InputInfo`, and keep what it did.

    Args:
        func: The function, the module, or a method of one. The parameters of a module and of all
            below it are weights of the graph, under their paths.
        args: What to call it with.
        kwargs: What to call it with by name.

    Raises:
        DiagnosticError: The function cannot be called like this, or gives something that is no
            tensor.
    """
    place = here(PACKAGES).span()
    import_module(f"{PACKAGE}.tensor")  # its Tensor has the operators
    bound = _bound(func, args, kwargs or {}, place)
    inputs, forms = Inputs(), dict(bound.arguments)
    timed = logger.timed(f"record {_name(func)}")
    with uncollected(), fresh_symbols(), tracing(), timed:
        for name, given in forms.items():
            bound.arguments[name] = replaced(name, given, inputs.take)
        result = func(*bound.args, **bound.kwargs)
    graph = Graph(_name(func), inputs.values, _weights(func), _outputs(result, place))
    _closed(graph)
    call = Call.of(bound.signature, forms, several=isinstance(result, (tuple, list)))
    return Recorded(graph, call, inputs.infos, inputs.ranges, inspect.getdoc(func) or "")


def _bound(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], place: Span
) -> inspect.BoundArguments:
    # A module's `__call__` takes anything; `forward` says what.
    called = func.forward if isinstance(func, Module) else func
    try:
        return inspect.signature(called).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        message = f"`{_name(func)}` cannot be called like this: {error}"
        raise DiagnosticError(Diagnostic("wrong-type", message, place)) from error


def _name(func: Callable[..., Any]) -> str:
    found = getattr(func, "__name__", None) or type(func).__name__
    return found if found.isidentifier() else "function"


def _outputs(result: Any, place: Span) -> dict[str, Value]:
    """The tensors that the function gave, by the names that it gave them, or by their places."""
    several = list(result) if isinstance(result, (tuple, list)) else [result]
    for index, each in enumerate(several):
        if not isinstance(each, Tensor):
            which = f"result {index} of the function" if len(several) > 1 else "its result"
            message = f"{which} must be a tensor, but is {shown(each)}"
            raise DiagnosticError(Diagnostic("wrong-type", message, place))
    if not several:
        message = "the function gives nothing"
        raise DiagnosticError(Diagnostic("wrong-type", message, place))
    places = [f"output{i}" if len(several) > 1 else "output" for i in range(len(several))]
    own = [
        (each.value.producer and each.value.name) or place
        for each, place in zip(several, places, strict=True)
    ]
    names = own if len({*own}) == len(own) else places
    return {name: each.value for name, each in zip(names, several, strict=True)}


def _weights(func: Callable[..., Any]) -> dict[str, Value]:
    """The parameters of a module, or of the module whose method it is, by their paths.

    A tensor that several parameters share is there once, under the first one's path.
    """
    module: Any = func if hasattr(func, "named_parameters") else getattr(func, "__self__", None)
    if hasattr(module, "state_dict"):
        found = module.state_dict()
    else:
        found = dict(module.named_parameters() if hasattr(module, "named_parameters") else ())
    named = {tensor.value: name for name, tensor in reversed(found.items())}
    return {name: tensor.value for name, tensor in found.items() if named[tensor.value] == name}


def _closed(graph: Graph) -> None:
    """Refuse what depends on the inputs of another function."""
    own = {*graph.inputs.values(), *graph.weights.values()}
    for operation in graph.operations:
        for value in operation.reads():
            if value.producer is None and value not in own:
                message = f"this depends on the input `{value.name}` of another function"
                span = operation.location.span()
                raise DiagnosticError(Diagnostic("not-known-yet", message, span))

"""`tp.compile`: a Python function is recorded once, and compiled as a model's spec is."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tripybuild.build.model import PACKAGE, Built
from tripybuild.build.session import compile_built
from tripybuild.build.targets import ENGINES, parse_target
from tripybuild.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.eager.arguments import Inputs, replaced
from tripybuild.eager.evaluate import array_of
from tripybuild.eager.executable import KEY, Call, Executable
from tripybuild.frontend.tensor import PACKAGES, Tensor
from tripybuild.frontend.tracing import tracing
from tripybuild.logger import logger
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import here
from tripybuild.trace.messages import shown
from tripybuild.trace.values import Value
from tripybuild.types.shapes import fresh_symbols


def compile(
    func: Callable[..., Any],
    optimization_level: int = 3,
    *,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    target: str = "cpu",
) -> Executable:
    """Compile a function or a module.

    It is called once, with inputs in the place of each `InputInfo`; whatever else it is given, and
    the tensors that it finds elsewhere, are constants of what is compiled. The parameters of a
    module are its weights.

    Args:
        func: The function, the module, or a method of one.
        optimization_level: How long TensorRT may look for faster kernels, from 0 to 5.
        args: What to call it with.
        kwargs: What to call it with by name.
        target: What runs it: `cpu`, `tensorrt-rtx[:sm89]` or `tensorrt`.

    Raises:
        DiagnosticError: The function cannot be called like this, gives something that is no tensor,
            or its graph cannot be compiled.
    """
    place = here(PACKAGES).span()
    chosen = parse_target(target)
    import_module(f"{PACKAGE}.tensor")  # its Tensor has the operators
    bound = _bound(func, args, kwargs or {}, place)
    inputs = Inputs()
    forms = dict(bound.arguments)
    with fresh_symbols(), tracing(), logger.timed(f"record {_name(func)}"):
        for name, given in forms.items():
            bound.arguments[name] = replaced(name, given, inputs.take)
        result = func(*bound.args, **bound.kwargs)
    outputs = _outputs(result, place)
    weights = _weights(func)
    graph = Graph(_name(func), inputs.values, weights, outputs)
    _closed(graph)
    call = Call.of(bound.signature, forms, several=isinstance(result, (tuple, list)))
    doc = inspect.getdoc(func) or ""
    built = Built(graph, (), inputs.ranges, doc, _Caller(place), (), None, {})
    best = {name: each.opt for name, each in inputs.ranges.items()}
    provenance = {"function": graph.name, KEY: call.data(inputs.infos)}
    options = {"optimization_level": optimization_level} if chosen.name in ENGINES else None
    made = compile_built(built, _Held(weights), chosen, [best], provenance, options=options)
    for warning in made.warnings:
        logger.warning(warning.message)
    return Executable(made, call, inputs.infos)


def _bound(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], place: Span
) -> inspect.BoundArguments:
    try:
        return inspect.signature(func).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        message = f"`{_name(func)}` cannot be called like this: {error}"
        raise DiagnosticError(Diagnostic("wrong-type", message, place)) from error


def _name(func: Callable[..., Any]) -> str:
    found = getattr(func, "__name__", None) or type(func).__name__
    return found if found.isidentifier() else "function"


def _outputs(result: Any, place: Span) -> dict[str, Value]:
    """The tensors that the function gave, by their names or places."""
    several = list(result) if isinstance(result, (tuple, list)) else [result]
    for index, each in enumerate(several):
        if not isinstance(each, Tensor):
            which = f"result {index} of the function" if len(several) > 1 else "its result"
            message = f"{which} must be a tensor, but is {shown(each)}"
            raise DiagnosticError(Diagnostic("wrong-type", message, place))
    if not several:
        message = "the function gives nothing"
        raise DiagnosticError(Diagnostic("wrong-type", message, place))
    named = [f"output{i}" if len(several) > 1 else "output" for i in range(len(several))]
    return {name: each.value for name, each in zip(named, several, strict=True)}


def _weights(func: Callable[..., Any]) -> dict[str, Value]:
    """The parameters of a module, or of the module whose method it is, by their paths."""
    module: Any = func if hasattr(func, "named_parameters") else getattr(func, "__self__", None)
    found = module.named_parameters() if hasattr(module, "named_parameters") else ()
    weights: dict[str, Value] = {}
    for name, tensor in found:
        array_of(tensor.value)
        weights[name] = tensor.value
    return weights


def _closed(graph: Graph) -> None:
    """Refuse what depends on the inputs of another function."""
    own = set(graph.inputs.values())
    for operation in graph.operations:
        for value in operation.reads():
            if value.producer is None and value not in own:
                message = f"this depends on the input `{value.name}` of another function"
                span = operation.location.span()
                raise DiagnosticError(Diagnostic("not-known-yet", message, span))


@dataclass(frozen=True)
class _Caller:
    """The call of `compile`, in the place of a spec's file."""

    place: Span
    text: str = ""

    @property
    def path(self) -> str:
        return self.place.path

    def span(self, *_: object, **__: object) -> Span:
        return self.place


@dataclass(frozen=True)
class _Held:
    """Weights that are in memory."""

    values: Mapping[str, Value]
    path: Path = Path()

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        return {name: array_of(self.values[name]) for name in wanted}

    def places(self, wanted: Iterable[str]) -> Mapping[str, Any]:
        del wanted
        return {}

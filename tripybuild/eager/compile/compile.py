"""`tp.compile`: a Python function is recorded once and compiled like a model spec."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tripybuild.compiler.session import compile_graph, sizes_to_compile
from tripybuild.eager.compile import results
from tripybuild.eager.compile.argument_errors import (
    binding_problems,
    check_arguments,
    explain_constants,
)
from tripybuild.eager.compile.arguments import Inputs, replace_infos
from tripybuild.eager.compile.call_form import KEY, CallForm, prefix
from tripybuild.eager.compile.executable import Executable
from tripybuild.eager.compile.infos import Info
from tripybuild.eager.evaluate.error_locations import locate_errors
from tripybuild.eager.evaluate.evaluate import array_of
from tripybuild.eager.module.module import skip_parameter_check
from tripybuild.eager.module.placeholders import is_optional, require_parameters
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, render, text_of
from tripybuild.errors.logger import logger
from tripybuild.frontend.checks.argument_error import argument_error
from tripybuild.frontend.sizes import trace_mode
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.process.gc_pause import pause_gc
from tripybuild.schema.model.entry_points import UNNAMED
from tripybuild.targets.table import DEFAULT, parse_target
from tripybuild.tensorrt.translation.options import Options
from tripybuild.trace.generated_code import BUILT_IN
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import caller_location
from tripybuild.trace.values import Value, is_tensor
from tripybuild.types.shapes import fresh_symbols
from tripybuild.types.size_range import SizeRange

NO_INPUTS = (
    "`{name}` is compiled without inputs: the tensors that it was given are constants of it; "
    "`tp.InputInfo(shape, dtype)` in the place of a tensor makes it an input"
)


@dataclass(frozen=True, eq=False)
class FunctionGraph:
    """A function as a graph, and how the function was called.

    Args:
        graph: What it does; the parameters of a module are its weights.
        ranges: The values of its symbols.
        call: What it takes and gives.
        infos: What stands for its inputs, by name.
        place: The place of the call.
        doc: What the function says of itself.
    """

    graph: Graph
    ranges: Mapping[str, SizeRange]
    call: CallForm
    infos: Mapping[str, Info]
    place: Span
    doc: str

    @property
    def compiler_input(self) -> ModelGraph:
        """The graph as a model's spec gives it."""
        caller = _CompileCall(self.place)
        whole = EntryGraph(self.graph, (), dict(self.ranges))
        return ModelGraph(self.graph.name, {UNNAMED: whole}, self.doc, caller)

    @property
    def provenance(self) -> dict[str, Any]:
        """Where it comes from, for the manifest of an executable."""
        return {"function": self.graph.name, KEY: self.call.data(self.infos)}


def record_function(
    func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    place: Span | None = None,
) -> FunctionGraph:
    """Call a function once, with inputs in the place of infos, and keep what it did.

    Unset parameters are weights as all others; their data is asked for when it is needed.

    Args:
        func: The function, the module, or a method of one. The parameters of a module and of all
            below it are weights of the graph, under their paths.
        args: What to call it with.
        kwargs: What to call it with by name.
        place: The place of the call; by default, the caller's line.

    Raises:
        DiagnosticError: It cannot be called like this, or gives something that is no tensor.
    """
    at = caller_location(PACKAGES)
    place = place or at.span()
    import_module(f"{BUILT_IN}.tensor")  # its Tensor has the operators
    kwargs = {} if kwargs is None else kwargs
    check_arguments(func, args, kwargs, place)
    bound = _bind_call(func, args, kwargs, place)
    inputs = Inputs()
    forms = dict(bound.arguments)
    timed = logger.log_time(f"record {name_of(func)}")
    module = _module(func)
    parameters = nullcontext() if module is None else skip_parameter_check()
    with pause_gc(), fresh_symbols(), trace_mode(), parameters, timed:
        for name, given in forms.items():
            start = prefix(name, bound.signature.parameters[name].kind.name)
            bound.arguments[name] = replace_infos(start, given, inputs.add_input)
        with explain_constants(func, forms, kwargs, at):
            result = func(*bound.args, **bound.kwargs)
    gives, outputs = results.flatten_results(result, place, inputs.values.keys())
    graph = Graph(name_of(func), inputs.values, _weights(module), outputs)
    _check_inputs(graph)
    if not inputs.infos and any(is_tensor(each) for each in (*args, *kwargs.values())):
        logger.warning(NO_INPUTS.format(name=name_of(func)), mode="once")
    call = CallForm.of(bound.signature, forms, gives)
    return FunctionGraph(
        graph, inputs.ranges, call, inputs.infos, place, inspect.getdoc(func) or ""
    )


def _bind_call(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], place: Span
) -> inspect.BoundArguments:
    try:
        signature = inspect.signature(func)
    except (TypeError, ValueError) as error:  # of what is not written in Python
        message = f"`{name_of(func)}` cannot be compiled: {error}"
        raise DiagnosticError(Diagnostic("wrong-type", message, place)) from error
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        name = name_of(func)
        why = binding_problems(name, signature, args, kwargs) or [
            f"`{name}` cannot be called: {error}"
        ]
        note = f"can be called as {name}{signature}"
        found = [Diagnostic("wrong-type", each, place, notes=(note,)) for each in why]
        raise DiagnosticError(*found) from error


def name_of(func: Callable[..., Any]) -> str:
    """The name of a function, or of the class of a module."""
    found = getattr(func, "__name__", None) or type(func).__name__
    return found if found.isidentifier() else "function"


def _module(func: Callable[..., Any]) -> Any:
    """The module, or the module whose method it is: what names parameters; else None."""
    found = func if hasattr(func, "named_parameters") else getattr(func, "__self__", None)
    return found if hasattr(found, "named_parameters") else None


def _weights(module: Any) -> dict[str, Value]:
    """The parameters of a module, by their paths; none of what is no module.

    A tensor that several parameters share is there once, under the first one's path.
    """
    if hasattr(module, "state_dict"):
        found = module.state_dict()
    else:
        found = dict(() if module is None else module.named_parameters())
    found = {name: tensor for name, tensor in found.items() if not is_optional(tensor)}
    named = {tensor.value: name for name, tensor in reversed(found.items())}
    return {name: tensor.value for name, tensor in found.items() if named[tensor.value] == name}


def _check_inputs(graph: Graph) -> None:
    """Refuse what depends on the inputs of another function."""
    own = {*graph.inputs.values(), *graph.weights.values()}
    for operation in graph.operations:
        for value in operation.reads():
            if value.producer is None and value not in own:
                message = f"this depends on the input `{value.name}` of another function"
                span = operation.location.span()
                raise DiagnosticError(Diagnostic("not-known-yet", message, span))


@dataclass(frozen=True)
class _CompileCall:
    """The call of `compile`, in the place of a spec's file."""

    place: Span
    text: str = ""

    @property
    def path(self) -> str:
        return self.place.path

    def span(self, *_: object, **__: object) -> Span:
        return self.place


@dataclass(frozen=True)
class InMemoryWeights:
    """Weights that are in memory."""

    values: Mapping[str, Value]
    span: Span
    place: str = ""
    noun: str = "parameter"

    @property
    def paths(self) -> tuple[Path, ...]:
        """None: they are in no file."""
        return ()

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """The arrays of some weights."""
        return {name: array_of(self.values[name]) for name in wanted}

    def compute(self, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """None: all of them are there."""
        del wanted
        return iter(())

    def file_entries(self, wanted: Iterable[str]) -> Mapping[Path, Any]:
        """None of them lies in a file."""
        del wanted
        return {}

    def same_data(self, wanted: Iterable[str]) -> dict[str, str]:
        """None: parameters that share a tensor are one weight."""
        del wanted
        return {}

    def verify(self) -> None:
        """Verify that the data of tensors is read-only."""


def compile(
    func: Callable[..., Any],
    optimization_level: int = 3,
    *,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    target: str = DEFAULT,
) -> Executable:
    """Compile a function or a module.

    It is called once, with inputs in the place of each `InputInfo`; whatever else it is given, and
    the tensors that it finds elsewhere, are constants of what is compiled. The parameters of a
    module are its weights; those that hold NaN or infinity are warned of.

    Args:
        func: The function, the module, or a method of one.
        optimization_level: How long TensorRT may look for faster kernels, from 0 to 5.
        args: What to call it with.
        kwargs: What to call it with by name.
        target: What runs it: `cpu`, `tensorrt-rtx[:sm89]` or `tensorrt`.

    Raises:
        DiagnosticError: The function cannot be called like this, gives something that is no tensor,
            parameters have not been given, or its graph cannot be compiled.
    """
    place = caller_location(PACKAGES).span()
    if isinstance(optimization_level, (Info, list, tuple)):
        hint = "what to call the function with is `args=[...]`"
        raise argument_error("compile", "optimization_level", "a number", optimization_level, hint)
    with locate_errors((), place, "compiled"):
        parse_target(target)
        Options.of({"optimization_level": optimization_level})
    found = record_function(func, args, kwargs, place)
    with locate_errors(found.graph.operations, place, "compiled"):
        require_parameters(found.graph.weights, lambda: place)
        made = compile_function(found, target, options={"optimization_level": optimization_level})
    for warning in made.program.warnings:
        logger.warning(render(warning, text_of, kind="warning"))
    return made


def read_parameters(found: FunctionGraph) -> InMemoryWeights:
    """The parameters that a function was recorded with.

    Raises:
        DiagnosticError: Some have not been given.
    """
    require_parameters(found.graph.weights, lambda: found.place)
    for each in found.graph.weights.values():
        array_of(each)
    return InMemoryWeights(found.graph.weights, found.place)


def compile_function(
    found: FunctionGraph,
    target: str,
    shapes: Sequence[Mapping[str, int]] = (),
    timeout: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Executable:
    """Compile a function that was recorded.

    Args:
        found: The function.
        target: What runs it.
        shapes: Dynamic sizes to compile ahead for, beside the `opt` of each range.
        timeout: Seconds that the compiler may take.
        options: How the compiler builds, for targets that take options.

    Raises:
        DiagnosticError: Parameters have not been given, the graph cannot be compiled, or a size is
            in no range.
    """
    chosen = parse_target(target)
    made = compile_graph(
        found.compiler_input,
        read_parameters(found),
        chosen,
        sizes_to_compile(found.compiler_input, shapes),
        found.provenance,
        timeout=timeout,
        options=options,
        asked=bool(shapes),
    )
    return Executable(made, found.call, found.infos)

"""`tp.compile`: a Python function is recorded once and compiled like a model spec."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tripybuild.compiler.session import compile_graph, sizes_to_compile
from tripybuild.eager.compile.executable import Executable
from tripybuild.eager.compile.function_graph import FunctionGraph, InMemoryWeights, record_function
from tripybuild.eager.compile.infos import Info
from tripybuild.eager.evaluate.error_locations import locate_errors
from tripybuild.eager.evaluate.evaluate import array_of
from tripybuild.eager.module.placeholders import require_parameters
from tripybuild.errors.diagnostics import render, text_of
from tripybuild.errors.logger import logger
from tripybuild.frontend.checks.argument_error import argument_error
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.targets.table import DEFAULT, parse_target
from tripybuild.tensorrt.translation.options import Options
from tripybuild.trace.location import caller_location


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


def compile_function(
    found: FunctionGraph,
    target: str,
    shapes: Sequence[Mapping[str, int]] = (),
    tell: Callable[[str], None] = lambda _: None,
    timeout: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Executable:
    """Compile a function that was recorded.

    Args:
        found: The function.
        target: What runs it.
        shapes: Dynamic sizes to compile ahead for, beside the `opt` of each range.
        tell: Told the name of each phase.
        timeout: Seconds that the compiler may take.
        options: How the compiler builds, for targets that take options.

    Raises:
        DiagnosticError: Parameters have not been given, the graph cannot be compiled, or a size is
            in no range.
    """
    chosen = parse_target(target)
    require_parameters(found.graph.weights, lambda: found.place)
    for each in found.graph.weights.values():
        array_of(each)
    made = compile_graph(
        found.compiler_input,
        InMemoryWeights(found.graph.weights, found.place),
        chosen,
        sizes_to_compile(found.compiler_input, shapes),
        found.provenance,
        tell,
        timeout,
        options,
    )
    return Executable(made, found.call, found.infos)

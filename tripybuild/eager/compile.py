"""`tp.compile`: a Python function is recorded once, and compiled as a model's spec is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripybuild.build.model import Built
from tripybuild.build.session import compile_built
from tripybuild.build.targets import ENGINES, parse_target
from tripybuild.diagnostics import Span
from tripybuild.eager.evaluate import array_of
from tripybuild.eager.executable import KEY, Executable
from tripybuild.eager.recorded import recorded
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.logger import logger
from tripybuild.trace.location import here
from tripybuild.trace.values import Value


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
    found = recorded(func, args, kwargs)
    weights = found.graph.weights
    for each in weights.values():
        array_of(each)
    best = {name: each.opt for name, each in found.ranges.items()}
    provenance = {"function": found.graph.name, KEY: found.call.data(found.infos)}
    built = Built(found.graph, (), found.ranges, found.doc, _Caller(place), (), None, {})
    options = {"optimization_level": optimization_level} if chosen.name in ENGINES else None
    made = compile_built(built, _Held(weights), chosen, [best], provenance, options=options)
    for warning in made.warnings:
        logger.warning(warning.message)
    return Executable(made, found.call, found.infos)


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

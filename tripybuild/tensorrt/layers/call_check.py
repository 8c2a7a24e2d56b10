"""Static call check of `trt.` calls against the declarations, at code generation.

Invariant: nothing is called and nothing is recorded; what passes here can still have a wrong rank
or dtype, which the laws of the operator and TensorRT itself decide.
"""

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any

from tripybuild.language.call_check import check_arguments
from tripybuild.tensorrt.layers import (
    collectives,
    compositions,
    control,
    elementwise,
    images,
    indexing,
    linear,
    quantization,
    reductions,
    reshapes,
    shapes,
    slicing,
    sources,
    transformers,
    windows,
)
from tripybuild.tensorrt.layers.declaration import LayerDeclaration
from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, accept

_GROUPS = (
    *(elementwise, linear, windows, reductions, sources, quantization, shapes, reshapes, slicing),
    *(images, indexing, transformers, collectives, control),
)

LAYERS: Mapping[str, LayerDeclaration] = MappingProxyType(
    {
        layer.name: layer
        for group in _GROUPS
        for layer in vars(group).values()
        if isinstance(layer, LayerDeclaration)
    }
)
# What snippets may call besides layers.
HELPERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        helper.__name__: helper
        for helper in (
            compositions.align,
            compositions.at_least,
            compositions.contraction,
            compositions.crop_or_pad,
            compositions.full,
            compositions.remainder,
            compositions.scan,
            compositions.truncate,
        )
    }
)


def check_call(
    name: str,
    positional_count: int | None,
    keywords: Iterable[str],
    literals: Mapping[int | str, object] | None = None,
) -> str | None:
    """What is wrong with `trt.NAME(...)`, as a sentence, or None.

    Args:
        name: The name of a layer, or of a helper.
        positional_count: How many arguments are positional; None when there is a `*` among them.
        keywords: The names of the others.
        literals: Arguments that are plain literals, by position or keyword, to check for kind.
    """
    if name in HELPERS:
        return _check_helper(name, positional_count, list(keywords))
    layer = LAYERS.get(name)
    if layer is None:
        return f"there is no layer `trt.{name}`"
    needed = {each: kind.default is REQUIRED for each, kind in layer.parameters.items()}
    problem = check_arguments(f"trt.{name}", needed, positional_count, keywords)
    if problem:
        return problem
    order = list(layer.parameters)
    for key, value in (literals or {}).items():
        parameter = order[key] if isinstance(key, int) else key
        try:
            accept(layer.parameters[parameter], value)
        except ValueError as error:
            return f"`trt.{name}` needs {error} for `{parameter}`, not {value!r}"
    return None


def _check_helper(name: str, positional_count: int | None, keywords: list[str]) -> str | None:
    parameters = signature(HELPERS[name]).parameters.values()
    if any(each.kind is Parameter.VAR_POSITIONAL for each in parameters):
        return f"`trt.{name}` takes no keywords" if keywords else None
    needed = {each.name: each.default is Parameter.empty for each in parameters}
    return check_arguments(f"trt.{name}", needed, positional_count, keywords)

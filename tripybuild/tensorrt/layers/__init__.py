"""Layers of TensorRT: the `trt` of lowering snippets, each layer declared once.

Invariant: `LAYERS` and `HELPERS` are the whole vocabulary of `trt.`, and `check_call` judges a call
in a snippet against it. A layer that TensorRT adds is one class and its builder in one of these
modules. Importing this package loads neither TensorRT nor xDSL nor NumPy.
"""
# ruff: noqa: F403, F405  # the names of layers stand in their modules, and nowhere else

from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any

from tripybuild.language.call_check import check_arguments
from tripybuild.tensorrt.layers.collectives import *
from tripybuild.tensorrt.layers.compositions import *
from tripybuild.tensorrt.layers.control import *
from tripybuild.tensorrt.layers.declaration import LayerDeclaration
from tripybuild.tensorrt.layers.elementwise import *
from tripybuild.tensorrt.layers.images import *
from tripybuild.tensorrt.layers.indexing import *
from tripybuild.tensorrt.layers.linear import *
from tripybuild.tensorrt.layers.quantization import *
from tripybuild.tensorrt.layers.reductions import *
from tripybuild.tensorrt.layers.reshapes import *
from tripybuild.tensorrt.layers.shapes import *
from tripybuild.tensorrt.layers.slicing import *
from tripybuild.tensorrt.layers.sources import *
from tripybuild.tensorrt.layers.transformers import *
from tripybuild.tensorrt.layers.windows import *
from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, accept
from tripybuild.tensorrt.recorder.network import Network as Network
from tripybuild.tensorrt.recorder.value import NetworkValue

Value = NetworkValue
LAYERS: Mapping[str, LayerDeclaration] = MappingProxyType(
    {each.name: each for each in [*globals().values()] if isinstance(each, LayerDeclaration)}
)
# What snippets may call besides layers.
HELPERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        helper.__name__: helper
        for helper in (align, at_least, contraction, crop_or_pad, full, remainder, scan, truncate)
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

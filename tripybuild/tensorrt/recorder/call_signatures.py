"""Static call check of `trt.` calls against the layer table, at code generation.

Invariant: nothing is called and nothing is recorded; what passes here can still have a wrong rank
or dtype, which the laws of the operator and TensorRT itself decide.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from tripybuild.language.call_check import check_arguments
from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, accept
from tripybuild.tensorrt.recorder.layer_table import LAYERS

# What snippets may call besides layers: the parameters, or None for any number of values.
HELPERS: Mapping[str, Mapping[str, bool] | None] = MappingProxyType(
    {
        "align": None,
        "at_least": {"value": True, "rank": True},
        "contraction": {"inputs": True, "equation": True},
        "full": {"value": True, "dtype": True, "shape": False},
        "crop_or_pad": {"value": True, "shape": True},
        "remainder": {"lhs": True, "rhs": True},
        "scan": {
            "init": True,
            "inputs": True,
            "body": True,
            "results": True,
            "reverse": False,
        },
        "truncate": {"value": True},
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
        helper = HELPERS[name]
        given = list(keywords)
        if helper is not None:
            return check_arguments(f"trt.{name}", helper, positional_count, given)
        return f"`trt.{name}` takes no keywords" if given else None
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

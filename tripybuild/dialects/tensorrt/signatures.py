"""Whether a `trt.` call in a snippet fits the table of layers, judged when code is generated.

Law: nothing is called and nothing is recorded; what passes here can still have a wrong rank or
dtype, which the laws of the operator and TensorRT itself decide.
"""

from collections.abc import Iterable, Mapping

from tripybuild.dialects.signatures import check_arguments
from tripybuild.dialects.tensorrt.kinds import REQUIRED, accept
from tripybuild.dialects.tensorrt.layers import LAYERS


def check_call(
    name: str,
    positional_count: int | None,
    keywords: Iterable[str],
    literals: Mapping[int | str, object] | None = None,
) -> str | None:
    """What is wrong with `trt.NAME(...)`, as a sentence, or None.

    Args:
        name: The layer's name.
        positional_count: How many arguments are positional; None when there is a `*` among them.
        keywords: The names of the others.
        literals: Arguments that are plain literals, by position or keyword, to check for kind.
    """
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

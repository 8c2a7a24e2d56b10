"""Function argument attributes of engines: shape and value profiles, and names.

Invariant: NVIDIA's dialect takes anything here and its translator looks at some; we say at once
what no translator could use. Whether a range is there at all is asked when an engine is made.
"""

from collections.abc import Callable, Iterator, Mapping

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from tripybuild.tensorrt.dialect.attributes import ShapeProfileAttr
from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.layers.operation import OpProblem
from tripybuild.tensorrt.shape_rules import MaybeSize, differ

PREFIX = "tensorrt."


def function_problems(function: FuncOp) -> Iterator[OpProblem]:
    """Give what is wrong with the attributes of a function's arguments."""
    described = function.arg_attrs or ()
    pairs = zip(described, function.function_type.inputs.data, strict=False)
    for index, (given, kind) in enumerate(pairs):
        for name, attribute in given.data.items():
            check = _CHECKS.get(name)
            if check is not None:
                for message in check(attribute, kind):
                    yield OpProblem(f"argument #{index}: {message}")


def _profiles(given: Attribute) -> list[ShapeProfileAttr] | None:
    several = list(given) if isinstance(given, ArrayAttr) else [given]
    profiles = [each for each in several if isinstance(each, ShapeProfileAttr)]
    return profiles if profiles and len(profiles) == len(several) else None


def _ranges(name: str, given: Attribute, count: MaybeSize, what: str) -> Iterator[str]:
    profiles = _profiles(given)
    if profiles is None:
        yield f"`{PREFIX}{name}` must be a `#tensorrt.shape_profile`, but is '{given}'"
        return
    for each in profiles:
        found = len(each.bounds[0])
        if differ(found, count):
            yield f"`{PREFIX}{name}` has {found} {what}, but the argument has {count}"


def _shape_profile(given: Attribute, kind: Attribute) -> Iterator[str]:
    if not isinstance(kind, TensorType):
        yield f"`{PREFIX}shape_profile` is of a ranked tensor, but the argument is a '{kind}'"
        return
    shape = sizes(kind)
    yield from _ranges("shape_profile", given, len(shape), "dimensions")
    for profile in _profiles(given) or ():
        for bounds in profile.bounds:
            for dim, (size, bound) in enumerate(zip(shape, bounds, strict=False)):
                if size is not None and size != bound:
                    yield f"dimension {dim} is {size}, but `{PREFIX}shape_profile` says {bound}"
                    return


def _value_bounds(given: Attribute, kind: Attribute) -> Iterator[str]:
    if not (isinstance(kind, TensorType) and isinstance(element(kind), IntegerType)):
        yield f"`{PREFIX}value_bounds` is of a tensor of integers, but the argument is a '{kind}'"
        return
    shape = sizes(kind)
    if len(shape) > 1:
        yield f"`{PREFIX}value_bounds` is of a scalar or a vector, but the argument is a '{kind}'"
        return
    yield from _ranges("value_bounds", given, shape[0] if shape else 1, "values")


def _host_tensor(given: Attribute, kind: Attribute) -> Iterator[str]:
    if not isinstance(given, UnitAttr):
        yield f"`{PREFIX}host_tensor` is said without a value, but has '{given}' for '{kind}'"


def _dimension_names(given: Attribute, kind: Attribute) -> Iterator[str]:
    if not isinstance(given, DictionaryAttr):
        yield f"`{PREFIX}dimension_names` must be a dictionary, but is '{given}'"
        return
    rank = len(sizes(kind)) if isinstance(kind, TensorType) else 0
    for key, name in given.data.items():
        if not (key.isascii() and key.isdigit()):
            yield f"dimension name key '{key}' is not an integer"
        elif int(key) >= rank:
            yield f"dimension name key '{int(key)}' is out of bounds for rank {rank}"
        if not isinstance(name, StringAttr):
            yield f"dimension name value '{name}' is not a string"


_CHECKS: Mapping[str, Callable[[Attribute, Attribute], Iterator[str]]] = {
    f"{PREFIX}shape_profile": _shape_profile,
    f"{PREFIX}value_bounds": _value_bounds,
    f"{PREFIX}host_tensor": _host_tensor,
    f"{PREFIX}dimension_names": _dimension_names,
}

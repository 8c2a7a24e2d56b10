"""From an operation to the generated code that says what becomes of it.

A generated package has one file for each operator and layer, on the same path: the class of an
operation says where its lowering and its decomposition are, and no table of names is needed.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tripybuild.trace.operation import TraceOp
from tripybuild.types.naming import class_name


def lowering(operation: type[TraceOp], target: str) -> Callable[..., Any] | None:
    """The function that lowers operations of a class to a target, if the declaration gives one."""
    return _generated(operation.__module__, f"lowering.{target}", "lower")


def decomposition(operation: type[TraceOp]) -> Callable[..., Any] | None:
    """The function that says operations of a class with other operators, if there is one."""
    return _generated(operation.__module__, "decompositions", "decompose")


def reference(operation: type[TraceOp]) -> Callable[..., Any] | None:
    """The function that computes operations of a class in NumPy, if the declaration gives one."""
    return _generated(operation.__module__, "references", "compute")


@cache
def _generated(module: str, layer: str, function: str) -> Callable[..., Any] | None:
    package, trace, place = module.split(".", 2)
    assert trace == "trace", "operations are generated into `trace`"
    name = f"{package}.{layer}.{place}"
    try:
        if find_spec(name) is None:
            return None
    except ModuleNotFoundError:
        return None
    found: Callable[..., Any] = getattr(import_module(name), function)
    return found


@cache
def operation_class(name: str, package: str = "tripyapi") -> type[TraceOp] | None:
    """The class of an operator, looked up in the table of an installed generated package."""
    place = import_module(package)._PLACES.get(name)  # noqa: SLF001 - the package's table is for this
    if place is None or f"{package}.ops." not in place:
        return None
    module = import_module(place.replace(".ops.", ".trace.", 1))
    found: type[TraceOp] = getattr(module, class_name(name))
    return found

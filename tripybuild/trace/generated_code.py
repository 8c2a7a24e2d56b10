"""Generated code of an operation: lowerings, decomposition, reference and cost by class.

A generated package has one file for each operator and layer, on the same path: the class of an
operation says where its lowering and its decomposition are, and no table of names is needed.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.package_catalog import Package
from tripybuild.trace.operation import TraceOp
from tripybuild.types.naming import class_name

BUILT_IN = "tripyapi"


def lowering_function(operation: type[TraceOp], target: str) -> Callable[..., Any] | None:
    """The function that lowers operations of a class to a target, if the declaration gives one."""
    return _generated_function(operation.__module__, f"lowering.{target}", "lower")


def decomposition_function(operation: type[TraceOp]) -> Callable[..., Any] | None:
    """The function that says operations of a class with other operators, if there is one."""
    return _generated_function(operation.__module__, "decompositions", "decompose")


def reference_function(operation: type[TraceOp]) -> Callable[..., Any] | None:
    """The function that computes operations of a class in NumPy, if the declaration gives one."""
    return _generated_function(operation.__module__, "references", "compute")


def cost_function(operation: type[TraceOp], quantity: str) -> Callable[..., Any] | None:
    """The function that counts `flops`, `bytes` or `turns` of a class, if one is declared."""
    return _generated_function(operation.__module__, "costs", quantity)


@cache
def _generated_function(module: str, layer: str, function: str) -> Callable[..., Any] | None:
    package, trace, place = module.split(".", 2)
    assert trace == "trace", "operations are generated into `trace`"
    name = f"{package}.{layer}.{place}"
    try:
        if find_spec(name) is None:
            return None
    except ModuleNotFoundError:
        return None
    found: Callable[..., Any] | None = getattr(import_module(name), function, None)
    return found


def operation_class(name: str, package: Package | None = None) -> type[TraceOp]:
    """The class of an operator of a generated package, of the built-in one by default.

    Raises:
        DiagnosticError: The package has no such operator, or it records no operation of its own.
    """
    module = BUILT_IN if package is None else package.module
    found = _operation_class(name, module, None if package is None else package.digest)
    if found is None:
        by = "" if package is None else f" by `{package.name}`"
        message = f"the operator `{name}` is not installed here{by}"
        raise DiagnosticError(Diagnostic("unknown-operator", message))
    return found


@cache
def _operation_class(name: str, package: str, _digest: str | None) -> type[TraceOp] | None:
    """The class, looked up in the table of the package; `_digest` tells reloaded ones apart."""
    table: dict[str, str] = vars(import_module(package))["_PLACES"]
    place = table.get(name, "")
    module = place.replace(".ops.", ".trace.", 1)
    if module == place or find_spec(module) is None:  # a class, or a function of other operators
        return None
    found: type[TraceOp] = getattr(import_module(module), class_name(name))
    return found

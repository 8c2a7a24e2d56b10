"""Engine builder: functions of a module built by TensorRT, each with a build record.

Invariant: the same module, options and library give the same record, and for most networks the same
bytes; a record is plain data and says nothing of when or where it was made.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.runtime.plan_file import PlanInMemory
from tripybuild.tensorrt.translation.constants import Array
from tripybuild.tensorrt.translation.failing_op import build_failure
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.tensorrt.translation.options import Options
from tripybuild.tensorrt.translation.profiles import Ranges, add_profiles, ranges_of
from tripybuild.tensorrt.translation.translate import (
    DIMENSION_NAMES,
    Port,
    Stored,
    Translation,
    translate,
)

MAIN = "main"
Record = dict[str, Any]


@dataclass(frozen=True)
class BuiltEngine:
    """An engine, and what it was made of."""

    plan: bytes
    record: Record


def build(
    module: ModuleOp,
    options: Options | Mapping[str, Any] | None = None,
    weights: Mapping[str, Array] | None = None,
    stored: Stored = lambda _: None,
) -> BuiltEngine:
    """Build a function of a module as `serialize` does, and hold the engine in memory."""
    plan = PlanInMemory()
    record = serialize(module, plan.take, options, weights, stored)
    return BuiltEngine(bytes(plan), record)


def serialize(
    module: ModuleOp,
    take: Callable[[Any], bool],
    options: Options | Mapping[str, Any] | None = None,
    weights: Mapping[str, Array] | None = None,
    stored: Stored = lambda _: None,
) -> Record:
    """Build a function of a module, and hand the engine on as it is made.

    Args:
        module: A module whose function, or whose `tensorrt.module`'s, is made of layers.
        take: Told each piece of the engine, which it may keep; False ends the building.
        options: How to build, as `Options` says; a mapping is read by `Options.of`.
        weights: The data of `dense_resource<name>` constants, by name; nothing is copied.
        stored: Gives the data of those constants that the module holds itself.

    Returns:
        The record of what is in the engine.

    Raises:
        DiagnosticError: The library is not there, or refuses the module.
    """
    asked = options if isinstance(options, Options) else Options.of(options or {})
    library = Library.find(asked.library)
    function = select_function(module, asked.function)
    log = Log()
    builder = library.builder(log)
    made = translate(library, builder, log, function, weights, stored)
    ranges = ranges_of(made.emission, function, made.inputs)
    config = builder.create_builder_config()
    asked.apply(library, config, log)
    add_profiles(made.emission, config, builder, ranges)
    if not library.build_plan(builder, made.network, config, take):
        said = log.drain()
        raise DiagnosticError(
            build_failure(said, made.emission.names.owners, function, library.name)
        )
    return _record(made, library, asked, ranges)


def functions(module: ModuleOp) -> list[FuncOp]:
    """Return the functions that are engines: those of `tensorrt.module`s, or else all."""
    inner = [op for op in module.body.ops if op.name == "tensorrt.module"]
    holders = inner or [module]
    found = [op for holder in holders for block in holder.regions[0].blocks for op in block.ops]
    return [op for op in found if isinstance(op, FuncOp) and op.body.blocks]


def select_function(module: ModuleOp, name: str | None) -> FuncOp:
    """Return the function of a name; without one, the only function, or `main`."""
    known = functions(module)
    wanted = MAIN if name is None and len(known) != 1 else name
    found = [each for each in known if wanted in (None, each.sym_name.data)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"`{each.sym_name.data}`" for each in known) or "none"
    message = f"The module has {len(found) or 'no'} functions called `{wanted}`"
    raise DiagnosticError(Diagnostic("wrong-value", message, notes=(f"functions: {names}",)))


def _record(made: Translation, library: Library, options: Options, ranges: list[Ranges]) -> Record:
    by_port = {each.port.index: each for each in ranges}

    def record(port: Port, shape: list[int | None]) -> Record:
        return port_record(port, made.emission.kind(port.type.element_type).name, shape)

    return {
        "function": made.function.sym_name.data,
        "library": {"name": library.name, "version": library.version},
        "compute_capabilities": list(options.compute_capabilities),
        "inputs": [
            {**record(port, list(sizes(port.type))), **_ranges(by_port.get(port.index))}
            for port in made.inputs
        ],
        "outputs": [
            record(port, shape)
            for port, shape in zip(made.outputs, made.output_shapes, strict=True)
        ],
        "layers": made.emission.records,
    }


def port_record(port: Port, dtype: str, shape: list[int | None]) -> Record:
    """Return the record of an input or output."""
    record: Record = {"name": port.name, "dtype": dtype, "shape": shape, "host": port.on_host}
    names = port.attributes.get(DIMENSION_NAMES)
    if names is not None:
        record["dimension_names"] = {key: each.data for key, each in sorted(names.data.items())}  # type: ignore[attr-defined]
    return record


def _ranges(ranges: Ranges | None) -> Record:
    if ranges is None:
        return {"profiles": []}
    profiles = [each.to_json() for each in ranges.ranges]
    return {"profiles": profiles, "of_values": ranges.of_values}

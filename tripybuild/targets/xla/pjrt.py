"""PJRT compiler and runtime: StableHLO to an executable, an executable to a function.

With `xla.client` and `xla.loaded_program`, this is the only module that touches jaxlib's
semi-private client. It never imports `jax`, and it never calls what does so in C++: an array that
is taken apart or copied to the host looks for `jax.core` and imports it where it is installed.
Results are therefore built by result handlers, and read through their address (`arrays.reader`).
"""

import platform
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.hashing import processor_identity
from tripybuild.process.per_process import per_process
from tripybuild.stablehlo.functions import CallPlan
from tripybuild.stablehlo.sharding import device_count
from tripybuild.targets.xla.arrays import DTYPES, Array
from tripybuild.targets.xla.client import client, devices, mesh_client, mesh_devices, mesh_options
from tripybuild.targets.xla.loaded_program import LoadedProgram
from tripybuild.targets.xla.mesh_program import load_sharded, mesh_header
from tripybuild.targets.xla.payload import canonicalize
from tripybuild.targets.xla.payload_header import (
    MAGIC,
    encode_payload,
    read_programs,
    split_payload,
)

__all__ = ["DTYPES", "MAGIC", "CompileError", "compile", "identity", "link", "load", "prepare"]


class CompileError(RuntimeError):
    """The compiler refused the module; the text is the compiler's own."""


@per_process
def identity() -> dict[str, str]:
    """Return what a compiled payload depends on besides the module and its options."""
    import jaxlib.version  # noqa: PLC0415 - heavy

    return {
        "jaxlib": jaxlib.version.__version__,
        "platform": f"cpu {platform.machine()}",
        "cpu": processor_identity(),
    }


def prepare(_target: str) -> Callable[[bytes, Mapping[str, Any]], bytes]:
    """Make the client, and return what compiles with it: for the compiler's process."""
    client()
    return compile


def compile(stablehlo: str | bytes, options: Mapping[str, str | bool | int] | None = None) -> bytes:
    """Compile a StableHLO module to a payload that `load` takes.

    Args:
        stablehlo: The module, as text or MLIR bytecode, with a public function `main`.
        options: XLA's own debug options by name, such as `xla_allow_excess_precision`.

    Raises:
        CompileError: The module is malformed, or the compiler cannot compile it.
    """
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    count = device_count(stablehlo)
    settings = xla_client.CompileOptions() if count == 1 else mesh_options(count)
    settings.env_option_overrides = list((options or {}).items())
    try:
        if count == 1:
            loaded = client().compile_and_load(stablehlo, devices(), settings)
        else:
            among = mesh_devices(count)
            loaded = mesh_client(count).compile_and_load(stablehlo, among, settings)
        shape = xla_client.XlaComputation(
            loaded.hlo_modules()[0].as_serialized_hlo_module_proto()
        ).program_shape()
    except RuntimeError as error:
        raise CompileError(str(error)) from error
    result = shape.result_shape()
    results = result.tuple_shapes() if result.is_tuple() else [result]
    header: dict[str, Any] = {
        "identity": identity(),
        "parameters": [_spell(each) for each in shape.parameter_shapes()],
        "results": [_spell(each) for each in results],
    }
    if count > 1:
        header |= mesh_header(loaded, count, header["parameters"], header["results"])
    return encode_payload(header, canonicalize(_serialize(loaded)))


def link(plan: CallPlan, payloads: Sequence[bytes]) -> bytes:
    """The payload of a module whose `@main` calls what was compiled, function by function.

    Args:
        plan: What `@main` does.
        payloads: What `compile` made of each function.
    """
    split = [split_payload(memoryview(each)) for each in payloads]
    types: list[Any] = list(plan.parameters)
    for program, _ in plan.steps:
        types += split[program][0]["results"]
    header = {
        "identity": identity(),
        "parameters": plan.parameters,
        "results": [types[value] for value in plan.results],
        "programs": [
            {"size": len(content), "parameters": each["parameters"], "results": each["results"]}
            for each, content in split
        ],
        "steps": plan.steps,
        "returns": plan.results,
    }
    return encode_payload(header, *[content for _, content in split])


def _serialize(loaded: Any) -> bytes:
    method = getattr(loaded, "serialize", None)
    content: bytes = method() if method else client().serialize_executable(loaded)
    return content


def _spell(shape: Any) -> list[Any]:
    name = np.dtype(shape.element_type()).name
    if name not in DTYPES:
        raise CompileError(f"`main` takes or returns `{name}`, which is not a tensor dtype")
    return [name, list(shape.dimensions())]


def load(payload: bytes | memoryview, constants: Sequence[Array] = ()) -> LoadedProgram:
    """Load a payload that `compile` made on such a machine; the caller has checked its digest.

    Args:
        payload: What `compile` or `link` returned.
        constants: Arrays for the first arguments. They are placed once, without a copy where
            their address is a multiple of 64, and must not be written to afterwards.

    Raises:
        DiagnosticError: The payload is none, or another version or processor made it.
    """
    header, content = split_payload(memoryview(payload))
    if header["identity"] != identity():
        raise DiagnosticError(_incompatible(header["identity"]))
    if "devices" in header:
        return load_sharded(header, content, constants)
    return LoadedProgram(*read_programs(header, content), constants)


def mesh_facts(payload: bytes | memoryview) -> dict[str, Any]:
    """What a program over a mesh has beside its types: collectives, and what each device needs."""
    header = split_payload(memoryview(payload))[0]
    return {key: header[key] for key in ("collectives", "costs")}


MeasuredCall = tuple[float, list[tuple[str, str, float]]]


def measured_calls(
    program: LoadedProgram, arrays: Sequence[Array], rounds: int
) -> list[MeasuredCall]:
    """The seconds of calls, each with the contents, names and seconds of its kernels.

    XLA's own profiler tells which instructions ran on which thread; what is in one are the places
    of the module that it was compiled of.
    """
    from jaxlib import _profile_data, _profiler  # noqa: PLC0415 - heavy

    contents = _instruction_places(program.text)
    options = _profiler.ProfileOptions()
    options.python_tracer_level = 0
    program(*arrays)
    found = []
    for _ in range(rounds):
        session = _profiler.ProfilerSession(options)
        began = perf_counter()
        program(*arrays)
        seconds = perf_counter() - began
        data = _profile_data.ProfileData.from_serialized_xspace(session.stop())
        lines = [line.events for plane in data.planes for line in plane.lines]
        kernels = [each for events in lines for each in _outer_instructions(events)]
        named = [(contents.get(n, ""), n.partition(".")[0], took) for n, took in kernels]
        found.append((seconds, named))
    return found


def _outer_instructions(events: Iterable[Any]) -> Iterator[tuple[str, float]]:
    """The instructions of a thread with their seconds; those in another one have its time."""
    kept = (each for each in events if any(name == "hlo_op" for name, _ in each.stats))
    end = 0.0
    for each in sorted(kept, key=lambda event: (event.start_ns, -event.duration_ns)):
        if each.start_ns >= end:
            end = each.start_ns + each.duration_ns
            yield each.name, each.duration_ns * 1e-9


def _instruction_places(text: str) -> dict[str, str]:
    """The places in the module that each instruction of HLO's text was made of."""
    computations: dict[str, list[str]] = {}
    calls: dict[str, tuple[str, list[str]]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if _COMPUTATION.match(line):
            current = computations.setdefault(_COMPUTATION.match(line)[1], [])  # type: ignore[index]
        elif made := _INSTRUCTION.match(line):
            places = [] if _SHARED.search(line) else _PLACE.findall(line)
            current += places
            called = _CALLED.search(line)
            calls[made[1]] = (called[1] if called else "", places)
    uses = Counter(called for called, _ in calls.values())  # equal ones are there once
    inside = {name: each for name, each in computations.items() if uses[name] == 1}
    return {
        name: " ".join(dict.fromkeys([*inside.get(called, []), *places]))
        for name, (called, places) in calls.items()
    }


_COMPUTATION = re.compile(r"(?:ENTRY )?%([\w.-]+) \(.*\{$")
_INSTRUCTION = re.compile(r"\s+(?:ROOT )?%([\w.-]+) = ")
_PLACE = re.compile(r'metadata=\{[^}]*op_name="([^"]*)"')
_SHARED = re.compile(r" (?:broadcast|constant)\(")  # all that need one have the first one's
_CALLED = re.compile(r"(?:calls|body)=%([\w.-]+)")


def _incompatible(found: Mapping[str, str]) -> Diagnostic:
    here = identity()
    differing = sorted(name for name in here if found.get(name) != here[name])
    notes = (f"{name}: `{here[name]}` here, `{found.get(name)}` there" for name in differing)
    return Diagnostic(
        "executable-incompatible",
        "The executable was compiled for another machine or version",
        notes=tuple(notes),
        hint="compile the model again on this machine",
    )

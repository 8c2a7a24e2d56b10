"""PJRT client singleton: XLA's CPU device, and placement of arrays on it."""

import contextlib
import ctypes
import os
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, one_line
from tripybuild.process import memory
from tripybuild.process.per_process import per_process

# Bytes of addresses that the client and a small program take, and those of its threads for each
# processor, whose stacks have 8 MB.
CLIENT_SPACE, THREAD_SPACE = 160 << 20, 64 << 20
MOST_DEVICES = 256  # of a mesh: each has a thread in a call, and 256 take 60 ms to begin
_ARENA_MAX = -8  # glibc's M_ARENA_MAX


@per_process
def client() -> Any:
    """Return the process's one CPU client, without its start-up lines on stderr."""
    return _make_client(1)


@per_process
def mesh_client(count: int) -> Any:
    """Return the process's client of so many devices, which share the processor.

    Raises:
        DiagnosticError: So many cannot be made.
    """
    if count > MOST_DEVICES:
        message = f"the mesh has {count} devices, and a processor is at most {MOST_DEVICES}"
        hint = "give the axes of `mesh:` smaller sizes; `--set` replaces a size that they read"
        raise DiagnosticError(Diagnostic("mesh-devices", message, hint=hint))
    try:
        made = _make_client(count)
    except RuntimeError as error:
        message = f"XLA cannot make {count} devices of this processor: {one_line(str(error))}"
        raise DiagnosticError(Diagnostic("mesh-devices", message)) from error
    if len(made.local_devices()) != count:
        message = f"XLA made {len(made.local_devices())} devices, and the mesh has {count}"
        raise DiagnosticError(Diagnostic("mesh-devices", message))
    return made


def _make_client(count: int) -> Any:
    import jaxlib.xla_client  # noqa: PLC0415 - heavy
    from jaxlib import utils  # noqa: PLC0415 - heavy

    _check_address_space(count)
    if "TF_CPP_MIN_LOG_LEVEL" not in os.environ:
        utils.absl_set_min_log_level(1)
    # Small programs run in the caller's thread; large ones still use every core.
    return jaxlib.xla_client.make_cpu_client(asynchronous=False, num_devices=count)


def _check_address_space(count: int) -> None:
    """Refuse to begin where XLA would abort: it cannot bear that its threads are not started.

    Raises:
        DiagnosticError: `ulimit -v` leaves too little.
    """
    left = memory.address_space()
    if left is None:
        return
    # An allocator reserves 64 MB of addresses for each thread, of which few are used.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
    needed = CLIENT_SPACE + THREAD_SPACE * max(os.cpu_count() or 1, count)
    if left.size < needed:
        message = f"XLA needs {memory.format_bytes(needed)} of address space"
        raise DiagnosticError(memory.memory_diagnostic(message, at=left))


@per_process
def devices() -> Any:
    """Return the list of the one device."""
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    return xla_client.DeviceList(tuple(client().local_devices()[:1]))


@per_process
def mesh_devices(count: int) -> Any:
    """Return the list of so many devices."""
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    return xla_client.DeviceList(tuple(mesh_client(count).local_devices()))


def mesh_options(count: int) -> Any:
    """What a program for so many devices is compiled with: Shardy partitions it.

    No argument and no result is split but as the module says.
    """
    import numpy as np  # noqa: PLC0415
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_partitions = build.num_partitions = count
    grid = np.arange(count).reshape(1, count)
    options.device_assignment = xla_client.DeviceAssignment.create(grid)
    build.device_assignment = options.device_assignment
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    return options


@per_process
def placement() -> Any:
    """Return the sharding of an array that is whole on the one device."""
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    replicated = xla_client.HloSharding.replicate()

    class Placement(xla_client.SingleDeviceSharding):  # type: ignore[misc]
        memory_kind = None

        def _to_xla_hlo_sharding(self, rank: int) -> Any:
            del rank
            return replicated

    return Placement(client().local_devices()[0])

"""PJRT client singleton: XLA's CPU device, and placement of arrays on it."""

import contextlib
import ctypes
import os
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import memory
from tripybuild.process.per_process import per_process

# Bytes of addresses that the client and a small program take, and those of its threads for each
# processor, whose stacks have 8 MB.
CLIENT_SPACE, THREAD_SPACE = 160 << 20, 64 << 20
_ARENA_MAX = -8  # glibc's M_ARENA_MAX


@per_process
def client() -> Any:
    """Return the process's one CPU client, without its start-up lines on stderr."""
    import jaxlib.xla_client  # noqa: PLC0415 - heavy
    from jaxlib import utils  # noqa: PLC0415 - heavy

    _check_address_space()
    if "TF_CPP_MIN_LOG_LEVEL" not in os.environ:
        utils.absl_set_min_log_level(1)
    # Small programs run in the caller's thread; large ones still use every core.
    return jaxlib.xla_client.make_cpu_client(asynchronous=False)


def _check_address_space() -> None:
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
    needed = CLIENT_SPACE + THREAD_SPACE * (os.cpu_count() or 1)
    if left.size < needed:
        message = f"XLA needs {memory.format_bytes(needed)} of address space"
        raise DiagnosticError(memory.memory_diagnostic(message, at=left))


@per_process
def devices() -> Any:
    """Return the list of the one device."""
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    return xla_client.DeviceList(tuple(client().local_devices()[:1]))


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

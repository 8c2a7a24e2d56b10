"""Worker main loop: requests on stdin, answers on stdout, exits with its parent.

Native compilers abort, hang or are killed for memory; here that ends only this process. A target
is a key of the fixed table of targets, never the name of something to import.
"""

import contextlib
import ctypes
import gc
import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import BinaryIO

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import phases
from tripybuild.process.gc_pause import pause_gc
from tripybuild.targets.table import TARGETS, Compile, import_part, prepare_compiler
from tripybuild.worker import diagnostics_json, protocol
from tripybuild.worker.protocol import PHASE

Requests = queue.SimpleQueue[tuple[protocol.Header, bytes]]

IDLE = 10.0  # seconds until freed memory is given back; to get it again costs a build 0.3 s


# What the compiler's process does beside compiling for targets.
SERVICES = {
    "portable": "tripybuild.targets.xla.foreign_module:compile",  # StableHLO of a file, for the CPU
    "job": "tripybuild.workspace.execution:run_job",  # of a workspace
    "interpreter": "tripybuild.worker.stablehlo_interpreter:run_module",  # where engines differ
    "trial": "tripybuild.workbench.reduction.trial:run_trial",  # of a spec, which may end it
    "weights": "tripybuild.tensorrt.runtime.request:digest_weights",  # asked before any engine
}
COMPILERS: Mapping[str, Callable[[], Compile]] = {
    **{name: partial(prepare_compiler, name) for name in TARGETS},
    **{name: partial(import_part, place) for name, place in SERVICES.items()},
}


def handle_request(
    header: protocol.Header,
    module: bytes,
    compilers: Mapping[str, Callable[[], Compile]] = COMPILERS,
) -> tuple[Mapping[str, object], bytes]:
    """Compile one module; what goes wrong in Python is an answer too."""
    prepare = compilers.get(str(header.get("target")))
    if prepare is None:
        return {"outcome": "failed", "text": f"there is no target `{header.get('target')}`"}, b""
    try:
        return {"outcome": "done"}, prepare()(module, header.get("options") or {})
    except DiagnosticError as error:
        text = "\n".join(each.message for each in error.diagnostics)
        said = diagnostics_json.to_json(error.diagnostics)
        return {"outcome": "failed", "text": text, "diagnostics": said}, b""
    except MemoryError:
        return {"outcome": "out-of-memory", "text": "the compiler could not allocate memory"}, b""
    except Exception as error:  # noqa: BLE001 - any failure must reach the session as text
        text = str(error) or type(error).__name__
        exhausted = text.startswith("RESOURCE_EXHAUSTED")
        return {"outcome": "out-of-memory" if exhausted else "failed", "text": text}, b""


def serve(compilers: Mapping[str, Callable[[], Compile]], ready: Sequence[str] = ()) -> None:
    """Serve requests until stdin ends.

    Args:
        compilers: What prepares each target.
        ready: The targets that are prepared before the first request.
    """
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever native code prints must not end up between the replies
    requests: Requests = queue.SimpleQueue()
    listener = threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True)
    listener.start()
    for target in ready:
        # What keeps a target from starting is the answer to its requests.
        with contextlib.suppress(Exception):
            compilers[target]()
    phases.set_listener(lambda name: protocol.send(replies, {"outcome": PHASE, "name": name}))
    gc.collect()
    gc.freeze()  # what was imported stays, and need not be looked through again
    protocol.send(replies, {"outcome": "ready"})
    while True:
        gc.collect()  # between requests, and not amid them
        header, module = _next(requests)
        with pause_gc():
            outcome, payload = handle_request(header, module, compilers)
        protocol.send(replies, {**outcome, "id": header.get("id")}, payload)


def _next(requests: Requests) -> tuple[protocol.Header, bytes]:
    """Wait for a request; when none comes for a while, memory is others' to have."""
    with contextlib.suppress(queue.Empty):
        return requests.get(timeout=IDLE)
    _trim_heap()
    return requests.get()


def _listen(stream: BinaryIO, requests: Requests) -> None:
    """Queue the requests; when the parent is gone, leave at once, even in mid-compile."""
    try:
        while (message := protocol.receive(stream)) is not None:
            requests.put(message)
    finally:
        os._exit(0)


def _trim_heap() -> None:
    """Let the system have the memory that a compiler has freed; while it runs, glibc keeps it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


if __name__ == "__main__":
    serve(COMPILERS, sys.argv[1:])

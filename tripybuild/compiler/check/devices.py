"""Devices of the roofline model: peak operations and bytes per second.

GPUs are a table of their vendor's figures for dense products with sums in float32, without
sparsity and without TF32. This processor is measured by NumPy for a tenth of a second. Since other
programs make it slower and nothing makes it faster, it is measured a few times, by as many checks,
and the best is remembered in the user's cache.
"""

import json
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.process.atomic_write import atomic_write
from tripybuild.process.paths import cache_folder, read_or_none
from tripybuild.types.dtypes import dtype

HERE = "cpu"
FILE = "roofline.json"
SIDE, COPY, TURNS = 768, 1 << 25, 4  # of the matrices, in bytes, and how often the best is taken of
ROUNDS = 6  # checks that measure


@dataclass(frozen=True, slots=True)
class Roofline:
    """A device: its operations per second by dtype, of which float32 is for all others."""

    name: str
    title: str
    flops: Mapping[str, float]
    bandwidth: float
    measured: bool = False

    def seconds(self, flops: int, moved: int, kind: dtype) -> tuple[float, bool]:
        """The least time of an operation, and whether it is that of its arithmetic."""
        computing = flops / self.flops.get(str(kind), self.flops["float32"])
        moving = moved / self.bandwidth
        return max(computing, moving), computing > moving


def _gpu(name: str, title: str, tera: tuple[float, float, float, float], giga: float) -> Roofline:
    """A GPU by tera operations of float32, float16, float8 and int8, and gigabytes, per second."""
    single, half, eighth, integer = (each * 1e12 for each in tera)
    flops = {"float32": single, "float16": half, "bfloat16": half, "float8": eighth}
    return Roofline(name, title, flops | {"int8": integer}, giga * 1e9)


GPUS = {
    each.name: each
    for each in (
        _gpu("a100", "NVIDIA A100 SXM 80 GB", (19.5, 312, 312, 624), 2039),
        _gpu("h100", "NVIDIA H100 SXM", (66.9, 989.4, 1978.9, 1978.9), 3350),
        _gpu("h200", "NVIDIA H200 SXM", (66.9, 989.4, 1978.9, 1978.9), 4800),
        _gpu("l4", "NVIDIA L4", (30.3, 121, 242, 242), 300),
        _gpu("l40s", "NVIDIA L40S", (91.6, 362, 733, 733), 864),
        _gpu("rtx3090", "GeForce RTX 3090", (35.6, 71, 71, 284), 936),
        _gpu("rtx4090", "GeForce RTX 4090", (82.6, 165.2, 330.3, 660.6), 1008),
        _gpu("rtx5090", "GeForce RTX 5090", (104.8, 209.5, 419, 838), 1792),
        _gpu("t4", "NVIDIA T4", (8.1, 65, 65, 130), 320),
    )
}


def find_device(name: str) -> Roofline:
    """The device of a name.

    Raises:
        DiagnosticError: There is none.
    """
    if name == HERE:
        return this_processor()
    found = GPUS.get(name)
    if found is None:
        near = suggest(name, [HERE, *GPUS])
        hint = f"did you mean `{near}`?" if near else f"there are {', '.join([HERE, *GPUS])}"
        raise DiagnosticError(
            Diagnostic("unknown-target", f"there is no device `{name}`", hint=hint)
        )
    return found


def this_processor() -> Roofline:
    """This processor, as it was measured before, or as it is measured now."""
    threads = _threads()
    title = f"this processor, {threads} thread{'s' * (threads > 1)}"
    key = "/".join((platform.machine(), _model_name(), str(threads)))
    place = cache_folder() / FILE
    known = _read_measurements(place)
    flops, bandwidth, rounds = known.get(key, [0.0, 0.0, 0.0])
    if rounds < ROUNDS:
        flops, bandwidth = max(flops, _measure_flops()), max(bandwidth, _measure_bandwidth())
        known[key] = [flops, bandwidth, rounds + 1]
        with suppress(DiagnosticError, OSError):  # where nothing can be kept, it is measured again
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with atomic_write(place) as stream:
                stream.write(json.dumps(known).encode())
    return Roofline(HERE, title, {"float32": flops}, bandwidth, measured=True)


def _read_measurements(place: Path) -> dict[str, list[float]]:
    """What was measured on this machine; nothing where the file cannot be understood."""
    try:
        found = json.loads(read_or_none(str(place)) or b"{}")
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: each for key, each in found.items() if _is_measurement(each)}


def _is_measurement(found: object) -> bool:
    """Whether these are three numbers above 0: operations, bytes, and how often they were seen."""
    if not isinstance(found, list) or len(found) != 3:
        return False
    return all(isinstance(each, float) and 0 < each < float("inf") for each in found)


def _threads() -> int:
    """The processors that this process may use, or fewer where the environment says so."""
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    named = os.environ.get("OMP_NUM_THREADS", "")
    return min(here, int(named)) if named.isascii() and named.isdigit() and int(named) else here


def _model_name() -> str:
    """What the processor is called, where the system tells."""
    text = (read_or_none("/proc/cpuinfo") or b"").decode(errors="replace")
    names = (line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line)
    return next(names, platform.processor())


def _measure_flops() -> float:
    """Operations per second of a product of matrices in float32, the best of some."""
    import numpy as np  # noqa: PLC0415 - GPUs need none

    left, right = np.ones((2, SIDE, SIDE), np.float32)
    result = np.empty_like(left)
    best = float("inf")
    for _ in range(TURNS):
        began = perf_counter()
        np.matmul(left, right, result)
        best = min(best, perf_counter() - began)
    return 2 * SIDE**3 / best


def _measure_bandwidth() -> float:
    """Bytes per second of a copy that no cache holds: each is read and written."""
    import numpy as np  # noqa: PLC0415 - see above

    source, result = np.ones(COPY, np.uint8), np.zeros(COPY, np.uint8)
    best = float("inf")
    for _ in range(TURNS):
        began = perf_counter()
        np.copyto(result, source)
        best = min(best, perf_counter() - began)
    return 2 * COPY / best

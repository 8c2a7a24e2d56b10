"""GPU detection through the driver: works without any CUDA package."""

import ctypes
import sys
from dataclasses import dataclass

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.process.per_process import per_process

DRIVER = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*
NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
LONGEST_NAME = 256


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU: its name, and its compute capability as TensorRT-RTX writes it, such as `sm89`."""

    name: str
    capability: str


@dataclass(frozen=True, slots=True)
class Absence:
    """Why there is no GPU, as the end of a sentence that begins with "this machine has"."""

    what: str
    note: str


@per_process
def find_gpu() -> Gpu | Absence:
    """Return the first GPU that the driver shows, or what is missing."""
    try:
        driver = ctypes.CDLL(DRIVER)
    except OSError as error:
        return Absence("no CUDA driver", str(error))
    return query_driver(driver)


def query_driver(driver: ctypes.CDLL) -> Gpu | Absence:
    """Return what a driver's library says of its first GPU."""
    status = driver.cuInit(0)
    count = ctypes.c_int()
    status = status or driver.cuDeviceGetCount(ctypes.byref(count))
    if status in {0, NO_DEVICE} and count.value == 0:
        return Absence("a CUDA driver, but no GPU", f"`{DRIVER}` shows no device")
    if status:
        return Absence("a CUDA driver that does not work", f"`{DRIVER}` gives the error {status}")
    name = ctypes.create_string_buffer(LONGEST_NAME)
    driver.cuDeviceGetName(name, LONGEST_NAME, 0)
    major, minor = (_attribute(driver, number) for number in (MAJOR, MINOR))
    return Gpu(name.value.decode(errors="replace"), f"sm{major}{minor}")


def _attribute(driver: ctypes.CDLL, number: int) -> int:
    value = ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(value), number, 0)
    return value.value


def absence_diagnostic(absence: Absence, capabilities: list[str]) -> Diagnostic:
    """Return what to say where an engine should run and no GPU is there."""
    built = f"the executable was built for {gpu_list(capabilities)}"
    hint = "run it where such a GPU is, or compile the model for `cpu`"
    message = f"{built}; this machine has {absence.what}"
    return Diagnostic("no-gpu", message, notes=(absence.note,), hint=hint)


def mismatch_diagnostic(gpu: Gpu, capabilities: list[str]) -> Diagnostic | None:
    """Return what to say where the GPU is not one of those that an engine is for."""
    if not capabilities or gpu.capability in capabilities:
        return None
    built = f"the executable was built for {gpu_list(capabilities)}"
    message = f"{built}; this machine's GPU is {gpu.capability.upper()}"
    hint = f"compile the model again with `--target tensorrt-rtx:{gpu.capability}`"
    return Diagnostic("executable-incompatible", message, notes=(f"it is a {gpu.name}",), hint=hint)


def gpu_list(capabilities: list[str]) -> str:
    """Return GPUs as a message names them."""
    names = [each.upper() for each in sorted(capabilities, key=lambda name: (len(name), name))]
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:]))) or "NVIDIA GPUs"

"""PJRT compiler and runtime: StableHLO to an executable, an executable to a function.

With `xla.client`, this is the only module that touches jaxlib's semi-private client. It never
imports `jax`, and it never calls what does so in C++: an array that is taken apart or copied to the
host looks for `jax.core` and imports it where it is installed. Results are therefore built by
result handlers, and read through their address (`reader`).
"""

import ctypes
import json
import math
import platform
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import memory
from tripybuild.process.per_process import per_process, process
from tripybuild.targets.xla.client import client, devices, placement
from tripybuild.targets.xla.payload import canonicalize
from tripybuild.types.dtypes import BY_NAME, numpy_dtype

MAGIC = b"tbpjrt01"
ALWAYS_THERE = 1 << 28  # bytes that are not worth a look at the limits
EXHAUSTED = "the program needs more memory than available"
# XLA calls them as NumPy does; the last ones are of modules that others wrote.
_NAMES = (
    *(each.numpy_name for each in BY_NAME.values()),
    *("uint4", "int16", "uint16", "uint32", "uint64"),
)
DTYPES = {name: numpy_dtype(name) for name in _NAMES}
# Two values in a byte, low half first.
PACKED = frozenset({"uint4", *(each.numpy_name for each in BY_NAME.values() if each.bits == 4)})

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type of one argument or result; also what the client reads as an abstract value."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool = False

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


def reader(type: ArrayType) -> Callable[[Any], Array]:
    """Return a function from a result on the device to an array over the same memory."""
    shape, dtype = type.shape, type.dtype
    count = math.prod(shape)
    packed = dtype.name in PACKED
    block = ctypes.c_char * ((count + 1) // 2 if packed else count * dtype.itemsize)
    at, array = block.from_address, np.ndarray

    def read(buffer: Any) -> Array:
        buffer.block_until_ready()
        memory = at(buffer.unsafe_buffer_pointer())
        memory.owner = buffer  # type: ignore[attr-defined] # the array keeps the buffer alive
        return array(shape, dtype, memory)  # type: ignore[arg-type]

    def unpack(buffer: Any) -> Array:
        buffer.block_until_ready()
        octets = np.frombuffer(bytes(at(buffer.unsafe_buffer_pointer())), np.uint8)
        halves = np.stack((octets & 15, octets >> 4), axis=-1).reshape(-1)[:count]
        return halves.view(dtype).reshape(shape)

    def empty(buffer: Any) -> Array:
        buffer.block_until_ready()
        return np.empty(shape, dtype)

    return empty if count == 0 else unpack if packed else read


class CompileError(RuntimeError):
    """The compiler refused the module; the text is the compiler's own."""


@per_process
def identity() -> dict[str, str]:
    """Return what a compiled payload depends on besides the module and its options."""
    import jaxlib.version  # noqa: PLC0415 - heavy

    return {
        "jaxlib": jaxlib.version.__version__,
        "platform": f"cpu {platform.machine()}",
        "cpu": _processor(),
    }


def _processor() -> str:
    """Return the processor's model and a digest of its features."""
    wanted = ("vendor_id", "cpu family", "model", "model name", "flags", "Features", "CPU part")
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    except OSError:
        lines = f"model name: {platform.processor()}"
    found = dict(line.split(":", 1) for line in lines.splitlines() if ":" in line)
    facts = {name.strip(): value.strip() for name, value in found.items() if name.strip() in wanted}
    digest = sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
    return f"{facts.get('model name', platform.machine())} {digest}"


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

    settings = xla_client.CompileOptions()
    settings.env_option_overrides = list((options or {}).items())
    try:
        loaded = client().compile_and_load(stablehlo, devices(), settings)
        shape = xla_client.XlaComputation(
            loaded.hlo_modules()[0].as_serialized_hlo_module_proto()
        ).program_shape()
    except RuntimeError as error:
        raise CompileError(str(error)) from error
    result = shape.result_shape()
    results = result.tuple_shapes() if result.is_tuple() else [result]
    header = {
        "identity": identity(),
        "parameters": [_spell(each) for each in shape.parameter_shapes()],
        "results": [_spell(each) for each in results],
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    return b"".join((MAGIC, struct.pack("<I", len(text)), text, canonicalize(_serialize(loaded))))


def _serialize(loaded: Any) -> bytes:
    method = getattr(loaded, "serialize", None)
    content: bytes = method() if method else client().serialize_executable(loaded)
    return content


def _spell(shape: Any) -> list[Any]:
    name = np.dtype(shape.element_type()).name
    if name not in DTYPES:
        raise CompileError(f"`main` takes or returns `{name}`, which is not a tensor dtype")
    return [name, list(shape.dimensions())]


def load(payload: bytes | memoryview, constants: Sequence[Array] = ()) -> "LoadedProgram":
    """Load a payload that `compile` made on such a machine; the caller has checked its digest.

    Args:
        payload: What `compile` returned.
        constants: Arrays for the first arguments. They are placed once, without a copy where
            their address is a multiple of 64, and must not be written to afterwards.

    Raises:
        DiagnosticError: The payload is none, or another version or processor made it.
    """
    header, content = _split(memoryview(payload))
    if header["identity"] != identity():
        raise DiagnosticError(_incompatible(header["identity"]))
    types = _types(header["parameters"]), _types(header["results"])
    return LoadedProgram(content, *types, constants)


def _deserialize(content: memoryview) -> Any:
    """Load a program into the client of this process."""
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    try:
        return client().deserialize_executable(
            bytes(content), devices(), xla_client.CompileOptions()
        )
    except RuntimeError as error:
        raise _format_error(str(error).splitlines()[0]) from error


def _split(payload: memoryview) -> tuple[dict[str, Any], memoryview]:
    start = len(MAGIC) + 4
    if len(payload) < start or payload[: len(MAGIC)] != MAGIC:
        raise _format_error("it does not begin as one")
    end = start + struct.unpack_from("<I", payload, len(MAGIC))[0]
    try:
        header = json.loads(bytes(payload[start:end]))
        known = {"identity", "parameters", "results"} == header.keys()
    except (ValueError, AttributeError):
        known = False
    if not known:
        raise _format_error("its header is malformed")
    return header, payload[end:]


def _types(spelled: Sequence[tuple[str, Sequence[int]]]) -> tuple[ArrayType, ...]:
    return tuple(ArrayType(tuple(shape), DTYPES[name]) for name, shape in spelled)


def _format_error(reason: str) -> DiagnosticError:
    message = f"The payload is not a compiled CPU program: {reason}"
    hint = "compile the model again"
    return DiagnosticError(Diagnostic("executable-not-recognized", message, hint=hint))


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


@per_process
def _reload_lock() -> RLock:
    """Serialize the threads of a forked process that call what was loaded before the fork."""
    return RLock()


class LoadedProgram:
    """A loaded program: call it with arrays of exactly its parameters' types.

    A forked process has none of the client's threads, and a call that needs them would never
    return. The first call in such a process therefore loads the program again.
    """

    def __init__(
        self,
        content: memoryview,
        parameters: tuple[ArrayType, ...],
        results: tuple[ArrayType, ...],
        constants: Sequence[Array],
    ) -> None:
        self.parameters = parameters[len(constants) :]
        self.results = results
        self._readers = [reader(type) for type in results]
        self._content = content
        self._constant_arrays = tuple(constants)
        self._constant_types = parameters[: len(constants)]
        self._load()

    def _load(self) -> None:
        """Hand the program and its constants to the client of this process."""
        from jaxlib import xla_client  # noqa: PLC0415 - heavy

        mark = process.mark
        loaded = _deserialize(self._content)
        self._check_size(loaded)
        self._execute = loaded.execute_sharded
        self._put = xla_client.batched_device_put
        self._share = xla_client.HostBufferSemantics.ZERO_COPY
        self._placement = placement()
        self._devices = client().local_devices()[:1]
        self._constants: list[Any] = []
        self._constants = self._place(self._constant_arrays, self._constant_types)
        self._handlers = [
            xla_client.array_result_handler(type, self._placement, True, _skip_checks=True)
            for type in self.results
        ]
        self._mark = mark  # last: another thread calls as soon as it reads this

    def __call__(self, *arrays: Array) -> list[Array]:
        """Run the program; the results own their memory and may be written to."""
        if self._mark is not process.mark:
            with _reload_lock():
                if self._mark is not process.mark:
                    self._load()
        try:
            arguments = self._place(arrays, self.parameters)
            outcome = self._execute(arguments).consume_with_handlers(self._handlers)
            return [read(buffer) for read, buffer in zip(self._readers, outcome, strict=True)]
        except (RuntimeError, MemoryError) as error:
            if not memory.is_out_of_memory(error):
                raise
            raise memory.memory_error(EXHAUSTED, self._types(), error) from error

    def _check_size(self, loaded: Any) -> None:
        """Refuse a program that cannot run: the system might end the process amid a call.

        Raises:
            DiagnosticError: What it computes takes more than all memory.
        """
        sizes = loaded.get_compiled_memory_stats()
        needed = sizes.temp_size_in_bytes + sizes.output_size_in_bytes
        if needed > ALWAYS_THERE and (met := memory.limit()) and needed > met.size:
            message = f"the program takes {memory.format_bytes(needed)} beside its inputs"
            raise DiagnosticError(memory.memory_diagnostic(message, self._types(), at=met))

    def _types(self) -> list[str]:
        """What it takes and gives, in words."""
        taken, given = (", ".join(map(str, each)) for each in (self.parameters, self.results))
        return [f"it takes {taken or 'nothing'} and returns {given}"]

    def _place(self, arrays: Sequence[Array], types: Sequence[ArrayType]) -> list[Any]:
        """Hand arrays to the device, behind the constants: 7 microseconds each, no copy."""
        put, placement, devices, share = self._put, self._placement, self._devices, self._share
        placed = self._constants.copy()
        for array, type in zip(arrays, types, strict=True):
            if array.dtype != type.dtype or array.shape != type.shape:
                raise ValueError(
                    f"expected {type.dtype.name}{list(type.shape)}, "
                    f"got {array.dtype.name}{list(array.shape)}"
                )
            placed.append(put(type, placement, [array], devices, True, False, share, True))
        return placed

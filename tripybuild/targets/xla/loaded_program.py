"""Loaded programs: one that is called with arrays, or several that run in the order of a plan."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import memory
from tripybuild.process.per_process import process, process_lock
from tripybuild.stablehlo.functions import CallPlan
from tripybuild.targets.xla.arrays import Array, ArrayType, KeptArray, byte_size, reader
from tripybuild.targets.xla.client import client, devices, placement

ALWAYS_THERE = 1 << 28  # bytes that are not worth a look at the limits
EXHAUSTED = "the program needs more memory than available"

GIVEN_AWAY = "deleted or donated"  # XLA's words for memory that a call has taken

Buffers = list[Any]  # on the device; None where one is not needed any more


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled program as it is stored, and what it takes and gives."""

    content: memoryview
    parameters: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]


def _deserialize(content: memoryview) -> Any:
    """Load a program into the client of this process."""
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    try:
        return client().deserialize_executable(
            bytes(content), devices(), xla_client.CompileOptions()
        )
    except RuntimeError as error:
        raise format_error(str(error).splitlines()[0]) from error


def format_error(reason: str) -> DiagnosticError:
    """The refusal of bytes that are no program."""
    message = f"The payload is not a compiled CPU program: {reason}"
    hint = "compile the model again"
    return DiagnosticError(Diagnostic("executable-not-recognized", message, hint=hint))


def header_error(reason: str) -> DiagnosticError:
    """The refusal of a payload whose digest is right and whose header is not."""
    message = f"the header of the compiled program does not describe it: {reason}"
    hint = "do not run it; compile the model again"
    return DiagnosticError(Diagnostic("executable-altered", message, hint=hint))


class LoadedProgram:
    """A loaded program: call it with arrays of exactly its parameters' types.

    A forked process has none of the client's threads, and a call that needs them would never
    return. The first call in such a process therefore loads the program again.

    Args:
        programs: What is compiled.
        plan: In which order they run, and on what; None where there is one, and it is the whole.
        parameters: What is taken.
        results: What is given.
        constants: Arrays for the first parameters.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        plan: CallPlan | None,
        parameters: tuple[ArrayType, ...],
        results: tuple[ArrayType, ...],
        constants: Sequence[Array],
    ) -> None:
        self.parameters = parameters[len(constants) :]
        self.results = results
        self._readers = [reader(type) for type in results]
        self._beside: dict[frozenset[int], list[Callable[[Any], Any]]] = {}
        self._programs = programs
        self._plan = plan
        self._constant_arrays = tuple(constants)
        self._constant_types = parameters[: len(constants)]
        if plan is not None:
            self._readers = _own_memory(self._readers, plan)
        self._load()

    def _load(self) -> None:
        """Hand the programs and the constants to the client of this process."""
        from jaxlib import xla_client  # noqa: PLC0415 - heavy

        mark = process.mark
        loaded = [_deserialize(each.content) for each in self._programs]
        for each, program in zip(loaded, self._programs, strict=True):
            self._check_size(each, program)
        self._put = xla_client.batched_device_put
        self._share = xla_client.HostBufferSemantics.ZERO_COPY
        self._placement = placement()
        self._devices = client().local_devices()[:1]
        self._constants: list[Any] = []
        self._constants = self._place(self._constant_arrays, self._constant_types)
        runs = [
            (each.execute_sharded, self._handlers_of(program.results))
            for each, program in zip(loaded, self._programs, strict=True)
        ]
        self._execute, self._handlers = runs[0]
        self._loaded = loaded
        self._run = self._run_whole if self._plan is None else _run_of(self._plan, runs)
        self._mark = mark  # last: another thread calls as soon as it reads this

    def _handlers_of(self, types: Sequence[ArrayType]) -> list[Any]:
        from jaxlib import xla_client  # noqa: PLC0415 - heavy

        return [
            xla_client.array_result_handler(type, self._placement, True, _skip_checks=True)
            for type in types
        ]

    def _run_whole(self, arguments: Buffers) -> Sequence[Any]:
        results: Sequence[Any] = self._execute(arguments).consume_with_handlers(self._handlers)
        return results

    @property
    def text(self) -> str:
        """The instructions of all programs, in HLO's text."""
        return "\n".join(m.to_string() for each in self._loaded for m in each.hlo_modules())

    def __call__(self, *arrays: Array) -> list[Array]:
        """Run the program; the results own their memory and may be written to."""
        return self.run(arrays, frozenset())

    def run(self, arrays: Sequence[Any], kept: frozenset[int]) -> list[Any]:
        """Run the program on arrays and on kept results, and keep the results of these numbers."""
        if self._mark is not process.mark:
            with process_lock("xla reload"):
                if self._mark is not process.mark:
                    self._load()
        try:
            arguments = self._place(arrays, self.parameters)
            outcome = self._run(arguments)
            readers = self._readers if not kept else self._readers_beside(kept)
            return [read(buffer) for read, buffer in zip(readers, outcome, strict=True)]
        except (RuntimeError, MemoryError) as error:
            if GIVEN_AWAY in str(error):  # by a program that only a file from elsewhere holds
                raise format_error("it gives away memory that it reads again") from error
            if not memory.is_out_of_memory(error):
                raise
            raise memory.memory_error(EXHAUSTED, self._types(), error) from error

    def _readers_beside(self, kept: frozenset[int]) -> Sequence[Callable[[Any], Any]]:
        """Readers where the results of these numbers are kept.

        A later call may overwrite what is kept, so nothing else has its memory: neither an argument
        nor another result.
        """
        if kept not in self._beside:
            values = range(len(self.results)) if self._plan is None else self._plan.results
            taken = set() if self._plan is None else set(range(len(self._plan.parameters)))
            readers: list[Callable[[Any], Any]] = list(self._readers)
            for number in sorted(kept):
                shared, type = values[number] in taken, self.results[number]
                taken.add(values[number])
                readers[number] = _copy(reader(type)) if shared else _keep(type)
            for number, value in enumerate(values):
                if number not in kept and value in taken:
                    readers[number] = _copy(reader(self.results[number]))
            self._beside[kept] = readers
        return self._beside[kept]

    def _check_size(self, loaded: Any, program: Program) -> None:
        """Refuse a program that cannot run: the system might end the process amid a call.

        Raises:
            DiagnosticError: What it computes takes more than all memory, or it takes or gives other
                bytes than those that arrays are made over.
        """
        sizes = loaded.get_compiled_memory_stats()
        taken, given = (sum(map(byte_size, e)) for e in (program.parameters, program.results))
        table = sizes.output_size_in_bytes - given  # a pointer to each, where there are several
        if taken != sizes.argument_size_in_bytes or not 0 <= table <= 8 * len(program.results):
            raise header_error("it takes or gives other types")
        needed = sizes.temp_size_in_bytes + sizes.output_size_in_bytes
        if needed > ALWAYS_THERE and (met := memory.limit()) and needed > met.size:
            message = f"the program takes {memory.format_bytes(needed)} beside its inputs"
            raise DiagnosticError(memory.memory_diagnostic(message, self._types(), at=met))

    def _types(self) -> list[str]:
        """What it takes and gives, in words."""
        taken, given = (", ".join(map(str, each)) for each in (self.parameters, self.results))
        return [f"it takes {taken or 'nothing'} and returns {given}"]

    def _place(self, arrays: Sequence[Any], types: Sequence[ArrayType]) -> list[Any]:
        """Hand arrays to the device, behind the constants: 7 microseconds each, no copy."""
        put, placement, devices, share = self._put, self._placement, self._devices, self._share
        placed = self._constants.copy()
        for array, type in zip(arrays, types, strict=True):
            if array.dtype != type.dtype or array.shape != type.shape:
                raise ValueError(
                    f"expected {type.dtype.name}{list(type.shape)}, "
                    f"got {array.dtype.name}{list(array.shape)}"
                )
            if array.__class__ is KeptArray:
                if array.mark is process.mark:
                    placed.append(array.buffer)
                    continue
                array = array.read_kept()  # noqa: PLW2901 - of the process before a fork
            placed.append(put(type, placement, [array], devices, True, False, share, True))
        return placed


def _run_of(
    plan: CallPlan, runs: Sequence[tuple[Callable[..., Any], list[Any]]]
) -> Callable[[Buffers], Sequence[Any]]:
    """What runs programs in the order of a plan; what no later one reads is let go."""
    last = {value: at for at, (_, takes) in enumerate(plan.steps) for value in takes}
    kept = {*plan.results, *range(len(plan.parameters))}
    steps = [
        (*runs[program], takes, [each for each in set(takes) - kept if last[each] == at])
        for at, (program, takes) in enumerate(plan.steps)
    ]

    def run(values: Buffers) -> Sequence[Any]:
        for execute, handlers, takes, drops in steps:
            values += execute([values[each] for each in takes]).consume_with_handlers(handlers)
            for each in drops:
                values[each] = None
        return [values[each] for each in plan.results]

    return run


def _own_memory(readers: list[Any], plan: CallPlan) -> list[Any]:
    """Readers that copy what is an argument, or another result, too: results may be written to."""
    seen = set(range(len(plan.parameters)))
    found = []
    for read, value in zip(readers, plan.results, strict=True):
        found.append(_copy(read) if value in seen else read)
        seen.add(value)
    return found


def _copy(read: Callable[[Any], Array]) -> Callable[[Any], Array]:
    return lambda buffer: read(buffer).copy()


def _keep(type: ArrayType) -> Callable[[Any], KeptArray]:
    read = reader(type)
    return lambda buffer: KeptArray(buffer, type, read)

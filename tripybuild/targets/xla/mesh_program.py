"""Programs over a mesh: each device of this process has pieces of arguments and of results.

Arrays are cut where a call hands them over, and put together of what the devices give. How they
are cut is what XLA's partitioner decided and the program itself says. To read the pieces of a
result, jaxlib makes an array of each, for which it imports `jax` where that is installed.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tripybuild.process.per_process import process
from tripybuild.targets.xla.arrays import Array, ArrayType, KeptArray, reader
from tripybuild.targets.xla.client import MOST_DEVICES, mesh_client, mesh_devices, mesh_options
from tripybuild.targets.xla.loaded_program import (
    LoadedProgram,
    Program,
    format_error,
    header_error,
)
from tripybuild.targets.xla.payload_header import read_programs

Slices = tuple[slice, ...]


@dataclass(frozen=True, slots=True)
class Pieces:
    """How an array is cut.

    Args:
        whole: Its type.
        piece: The type of what one device has of it.
        places: Where that is in the array, for each device.
    """

    whole: ArrayType
    piece: ArrayType
    places: tuple[Slices, ...]

    def cut(self, array: Array) -> list[Array]:
        """What each device has; those that have the same share it."""
        found: dict[str, Array] = {}
        for place in self.places:
            if str(place) not in found:
                found[str(place)] = np.ascontiguousarray(array[place]).reshape(self.piece.shape)
        return [found[str(place)] for place in self.places]

    def joiner(self) -> Callable[[Sequence[Any]], Array]:
        """Return a function from what the devices give to the array."""
        read = reader(self.piece)
        first = {str(place): (at, place) for at, place in reversed([*enumerate(self.places)])}

        def join(buffers: Sequence[Any]) -> Array:
            if self.piece.shape == self.whole.shape:
                return read(buffers[0]).copy()
            whole = np.empty(self.whole.shape, self.whole.dtype)
            for at, place in first.values():
                whole[place] = read(buffers[at])
            return whole

        return join


def mesh_header(
    loaded: Any, count: int, parameters: Sequence[Any], results: Sequence[Any]
) -> dict[str, Any]:
    """What a payload's header says of a program over a mesh; its types become those of the whole.

    Args:
        loaded: The compiled program.
        count: Its devices.
        parameters: The types of what one device takes, as headers spell them.
        results: The types of what one device gives.
    """
    named = zip(("parameters", "results"), (parameters, results), _shardings(loaded), strict=True)
    found: dict[str, Any] = {
        key: [
            [name, [size * n for size, n in zip(shape, _tiles(each, len(shape)), strict=True)]]
            for (name, shape), each in zip(types, shardings, strict=True)
        ]
        for key, types, shardings in named
    }
    text = "\n".join(module.to_string() for module in loaded.hlo_modules())
    said = {"devices": count, "collectives": count_collectives(text), "costs": _costs(loaded)}
    return found | said


def _costs(loaded: Any) -> dict[str, int]:
    """What XLA says that one device needs in a call: bytes, and operations as far as no loop."""
    sizes = loaded.get_compiled_memory_stats()
    memory = sizes.argument_size_in_bytes + sizes.output_size_in_bytes + sizes.temp_size_in_bytes
    return {"flops": int(loaded.cost_analysis().get("flops", 0)), "memory": memory}


def _shardings(loaded: Any) -> tuple[list[Any], list[Any]]:
    from jaxlib import xla_client  # noqa: PLC0415 - heavy

    said = loaded.get_parameter_shardings(), loaded.get_output_shardings()
    parameters, results = (
        [xla_client.HloSharding.from_proto(each) for each in every or ()] for every in said
    )
    return parameters, results


def _tiles(sharding: Any, rank: int) -> tuple[int, ...]:
    """Into how many pieces each dimension is cut."""
    if sharding.is_replicated():
        return (1,) * rank
    return tuple(sharding.tile_assignment_dimensions()[:rank])


def _pieces(whole: ArrayType, sharding: Any, count: int) -> Pieces:
    """How XLA cut an array.

    Raises:
        DiagnosticError: The program is none that was compiled here.
    """
    rank = len(whole.shape)
    if sharding.is_replicated():
        return Pieces(whole, whole, ((slice(None),) * rank,) * count)
    tiles = _tiles(sharding, rank)
    order = np.array(sharding.tile_assignment_devices()).reshape(
        sharding.tile_assignment_dimensions()
    )
    fits = sorted(order.flat) == [*range(count)] and order.ndim - rank in (0, 1)
    if not fits or any(size % n for size, n in zip(whole.shape, tiles, strict=True)):
        raise header_error("its arrays are cut otherwise")
    piece = tuple(size // n for size, n in zip(whole.shape, tiles, strict=True))
    places: list[Slices] = [()] * count
    for index, device in np.ndenumerate(order):
        starts = [at * size for at, size in zip(index[:rank], piece, strict=True)]
        places[device] = tuple(slice(at, at + size) for at, size in zip(starts, piece, strict=True))
    return Pieces(whole, ArrayType(piece, whole.dtype), tuple(places))


def load_sharded(
    header: Mapping[str, Any], content: memoryview, constants: Sequence[Array]
) -> LoadedProgram:
    """Load a program over a mesh; see `pjrt.load`.

    Raises:
        DiagnosticError: It is none, or this machine cannot make so many devices.
    """
    count = header["devices"]
    if type(count) is not int or not 1 < count <= MOST_DEVICES:
        raise header_error("`devices` cannot be understood")
    (program,), _, parameters, results = read_programs(header, content)
    return MeshProgram(count, program, parameters, results, constants)


class MeshProgram(LoadedProgram):
    """A loaded program whose arguments are cut, and whose results are put together.

    Results are NumPy's also where they are to be kept: a state is cut anew in each call.
    """

    def __init__(
        self,
        count: int,
        program: Program,
        parameters: tuple[ArrayType, ...],
        results: tuple[ArrayType, ...],
        constants: Sequence[Array],
    ) -> None:
        self._count = count
        super().__init__([program], None, parameters, results, constants)
        self._readers = [_given] * len(results)

    def _load(self) -> None:
        """Hand the program, and to each device its pieces of the constants, to this process."""
        from jaxlib import xla_client  # noqa: PLC0415 - heavy

        mark, (program,) = process.mark, self._programs
        among = mesh_devices(self._count)
        try:
            loaded = mesh_client(self._count).deserialize_executable(
                bytes(program.content), among, mesh_options(self._count)
            )
        except RuntimeError as error:
            raise format_error(str(error).splitlines()[0]) from error
        taken, given = _shardings(loaded)
        if (len(taken), len(given)) != (len(program.parameters), len(program.results)):
            raise header_error("it takes or gives others")
        self._cuts = [
            _pieces(*each, self._count) for each in zip(program.parameters, taken, strict=True)
        ]
        made = [_pieces(*each, self._count) for each in zip(program.results, given, strict=True)]
        pieces = Program(
            program.content, tuple(e.piece for e in self._cuts), tuple(e.piece for e in made)
        )
        self._check_size(loaded, pieces)
        self._placements = [xla_client.GSPMDSharding(among, each) for each in taken]
        self._put = xla_client.batched_device_put
        self._share = xla_client.HostBufferSemantics.ZERO_COPY
        self._devices = mesh_client(self._count).local_devices()
        self._constants = []
        self._constants = self._place(self._constant_arrays, self._constant_types)
        self._execute, self._handlers = loaded.execute_sharded, [each.joiner() for each in made]
        self._loaded = [loaded]
        self._run = self._run_whole
        self._mark = mark  # last: another thread calls as soon as it reads this

    def _place(self, arrays: Sequence[Any], types: Sequence[ArrayType]) -> list[Any]:
        """Hand each device its pieces of arrays, behind the constants."""
        placed = self._constants.copy()
        for array, type in zip(arrays, types, strict=True):
            at = len(placed)
            whole = array.read_kept() if array.__class__ is KeptArray else array
            if whole.dtype != type.dtype or whole.shape != type.shape:
                raise ValueError(f"expected {type}, got {whole.dtype.name}{list(whole.shape)}")
            pieces, placement = self._cuts[at].cut(whole), self._placements[at]
            put = self._put(type, placement, pieces, self._devices, True, False, self._share, True)
            placed.append(put)
        return placed

    def _readers_beside(self, kept: frozenset[int]) -> Sequence[Callable[[Any], Any]]:
        del kept
        return self._readers


def _given(array: Any) -> Any:
    return array


def count_collectives(text: str) -> dict[str, list[int]]:
    """How often each collective stands in a program, and the bytes that a device gets by them.

    Args:
        text: The program in HLO's text. What a loop does many times is counted once.
    """
    counts, sizes = Counter[str](), Counter[str]()
    for types, name in _COLLECTIVE.findall(text):
        counts[name] += 1
        for bits, shape in _TENSOR.findall(types):
            count = prod(map(int, filter(None, shape.split(","))))
            sizes[name] += -(-count * int(bits or 8) // 8)
    return {name: [counts[name], sizes[name]] for name in sorted(counts)}


_COLLECTIVE = re.compile(
    r" = ([^=]*?) (all-reduce|all-gather|all-to-all|collective-permute|reduce-scatter"
    r"|collective-broadcast)(?:-start)?\("
)
# An element's bits are the first number in its name, as in `s32`, `bf16` and `f8e4m3fn`.
_TENSOR = re.compile(r"\b(?:pred|[a-z]+([0-9]+)[a-z0-9]*)\[([0-9,]*)\]")

"""The engine `cpu:xla`: programs of XLA, compiled ahead or for a call.

Native code of an untrusted file is never loaded: digests prove that a file is whole, not where it
came from, and a compiled program can do whatever its process may. What stands beside it in
StableHLO can compute and nothing else (`targets.xla.foreign_module`), so `rebuild` compiles that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import prod
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from tripybuild.artifact.call_signature import CallSignature
from tripybuild.artifact.manifest_schema import manifest_error
from tripybuild.cache.explanation import PROGRAM
from tripybuild.cache.records import entry_origin
from tripybuild.compiler.lowering.lower import Place
from tripybuild.compiler.lowering.specialize import may_hold, sizes_name
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.process import memory
from tripybuild.targets.compiled_model import CompiledEntry, CompiledModel
from tripybuild.targets.cpu.compile_clock import CompileClock
from tripybuild.targets.cpu.compile_module import (
    compile_lowered,
    compile_module,
    lower_graph,
    padded_module,
    stablehlo_module,
    toolchain,
)
from tripybuild.targets.executable_file import entry_member
from tripybuild.targets.graph_model import graph_model
from tripybuild.targets.protocol import (
    CompileRequest,
    EngineTimes,
    EntryRequest,
    KernelTime,
    Loader,
    Run,
    Shapes,
    Target,
)
from tripybuild.targets.table import engines, find_target
from tripybuild.targets.xla import pjrt
from tripybuild.targets.xla.arrays import ArrayType
from tripybuild.targets.xla.loaded_program import LoadedProgram
from tripybuild.trace.graph import Graph
from tripybuild.types.size_range import SizeRange
from tripybuild.version import VERSION

NOTE = "XLA's instructions run on several threads: their sum may be more than a call"
_MEMORY = (memory.CODE, "compiler-out-of-memory")
_COMBINATIONS = 64  # of buckets, each of which is lowered when a model is compiled


class Xla(Target):
    """XLA on the processor."""

    distribution = "jaxlib"
    takes_buckets = True
    takes_mesh = True

    def toolchain(self) -> dict[str, str]:
        """What a program depends on; of a target that chooses, what those of all engines do."""
        chosen = [find_target(each).toolchain() for each in engines(self.name)]
        return {k: v for each in chosen for k, v in each.items()} or toolchain()

    def compile(self, request: CompileRequest) -> CompiledModel:
        """Compile ahead for the sizes, and keep the graph for others."""
        clock = CompileClock(request.timeout)

        def ahead(members: dict[str, Any]) -> list[Diagnostic]:
            found: list[Diagnostic] = []
            for entry in request.entries:
                programs = [_ranges(entry.manifest, sizes) for sizes in entry.shapes]
                place = partial(_input_span, request.built, entry.name)
                for ranges in _padded_programs(entry, programs):
                    _check_padding(entry.graph, ranges, place)
                for ranges in {_program_name(each): each for each in programs}.values():
                    label = " ".join(filter(None, (entry.name, _program_name(ranges))))
                    request.tell(f"compile {label}")
                    said, warnings = _add_specialization(request, entry, ranges, members, clock)
                    entry.manifest["specialisations"].append(said)
                    found += warnings
            return found

        return graph_model(request, ahead)

    def load(self, entry: CompiledEntry) -> Loader:
        """Take the file's own program for sizes where it fits this machine, or compile one."""
        programs = WeakValueDictionary[str, LoadedProgram]()  # as long as any sizes run it

        def load_sizes(sizes: Mapping[str, int]) -> Run:
            ranges = _ranges(entry.manifest, sizes)
            padded = sorted(name for name, each in ranges.items() if not each.is_static())
            program = programs.get(name := _program_name(ranges))
            if program is None:
                try:
                    payload = _payload(entry, ranges)
                    program = programs[name] = _load_program(entry, payload, ranges)
                except DiagnosticError as error:
                    raise _with_padding(error, sizes, _largest(ranges)) from error
            if not padded:
                return _Run(program)
            return _PaddedRun(program, entry, sizes, padded, _largest(ranges))

        return load_sizes

    def run_keeping(self, run: Run, arrays: list[Any], kept: frozenset[int]) -> list[Any]:
        """Leave results in XLA's memory: a later call takes them, and may overwrite them."""
        assert isinstance(run, _Run)
        return run.keeping(arrays, kept)

    def measure_kernels(
        self, entry: CompiledEntry, graph: Graph, arrays: Sequence[Any], rounds: int
    ) -> EngineTimes:
        """What XLA's profiler tells of each instruction; the graph is compiled as one program."""
        sizes = entry.signature.bind(list(arrays))
        module = lower_graph(graph, {name: SizeRange.of(size) for name, size in sizes.items()})
        payload, _ = compile_module(module.whole)
        weights = [entry.model.weights[name] for name in graph.weights]
        calls = pjrt.measured_calls(pjrt.load(payload, weights), arrays, rounds)
        kernels = [[KernelTime(*kernel) for kernel in each] for _, each in calls]
        return EngineTimes(kernels, [seconds for seconds, _ in calls], NOTE)

    def emit(self, built: ModelGraph, entry: EntryGraph, shapes: Shapes) -> str:
        """The StableHLO for the last of the sizes."""
        return stablehlo_module(built, entry.graph, shapes[-1]).text()

    def rebuild(self, model: CompiledModel, timeout: float | None = None) -> CompiledModel:
        """Compile the StableHLO of a file that was read, and not called yet, anew.

        Raises:
            DiagnosticError: A module does more than compute, or the compiler refuses one.
        """
        members = model.members
        entries: list[Mapping[str, Any]] = []
        warnings: list[Diagnostic] = []
        clock = CompileClock(timeout)
        for entry in model.manifest["entries"]:
            specialisations: list[Mapping[str, Any]] = []
            for each in entry["specialisations"]:
                if sizes_name(each["sizes"]) != each["name"]:
                    raise manifest_error("its `specialisations` cannot be understood")
                module = bytes(model.member(each["stablehlo"]))
                members[each["payload"]], said = compile_module(module, clock, foreign=True)
                warnings += said
                specialisations.append({**each, "identity": pjrt.identity()})
            entries.append({**entry, "specialisations": specialisations})
        made = CompiledModel({**model.manifest, "entries": entries}, members)
        made.warnings += dict.fromkeys(warnings)
        return made


class _Run:
    """A program as `Executable` calls it."""

    __slots__ = ("program",)

    def __init__(self, program: LoadedProgram) -> None:
        self.program = program

    def __call__(self, arrays: list[Any]) -> list[Any]:
        return self.program(*arrays)

    def keeping(self, arrays: list[Any], kept: frozenset[int]) -> list[Any]:
        """Run it, and leave some results where they are."""
        return self.program.run(arrays, kept)


class _PaddedRun(_Run):
    """A program for larger sizes, as `Executable` calls it with those of a call.

    Args:
        program: The program.
        entry: What it computes.
        sizes: The sizes of the call.
        padded: The names of those that the program has bounds for.
        largest: The sizes of the program.
    """

    __slots__ = ("_cuts", "_largest", "_sizes", "_true", "_types")

    def __init__(
        self,
        program: LoadedProgram,
        entry: CompiledEntry,
        sizes: Mapping[str, int],
        padded: Sequence[str],
        largest: Mapping[str, int],
    ) -> None:
        super().__init__(program)
        self._true, self._largest = sizes, largest
        self._types = program.parameters[: -len(padded)]
        self._sizes = [np.asarray(sizes[name], np.int64) for name in padded]
        true = [shape for _, shape in _result_types(entry, sizes)]
        self._cuts = [
            None if shape == each.shape else tuple(map(slice, shape))
            for shape, each in zip(true, program.results, strict=True)
        ]

    def __call__(self, arrays: list[Any]) -> list[Any]:
        return self.keeping(arrays, frozenset())

    def keeping(self, arrays: list[Any], kept: frozenset[int]) -> list[Any]:
        """Run it on padded arrays, and cut the results; what is kept has no padded dimension."""
        try:
            given = [pad_array(*pair) for pair in zip(arrays, self._types, strict=True)]
            results = self.program.run([*given, *self._sizes], kept)
            return [
                each if cut is None else each[cut].copy()
                for each, cut in zip(results, self._cuts, strict=True)
            ]
        except MemoryError as error:
            found = memory.memory_error("padded arrays need more memory than available", (), error)
            raise _with_padding(found, self._true, self._largest) from error
        except DiagnosticError as error:
            raise _with_padding(error, self._true, self._largest) from error


def _with_padding(
    error: DiagnosticError, sizes: Mapping[str, int], largest: Mapping[str, int]
) -> DiagnosticError:
    """The error of a call, which says where memory is for sizes that the call has not."""
    asked = {name: size for name, size in sizes.items() if size != largest[name]}
    if not asked:
        return error
    bucket = sizes_name({name: largest[name] for name in asked})
    note = f"{sizes_name(asked)} is padded to the bucket {bucket}"
    return DiagnosticError(
        *(
            replace(each, notes=(note, *each.notes)) if each.code in _MEMORY else each
            for each in error.diagnostics
        )
    )


def pad_array(array: Any, type: ArrayType) -> Any:
    """An array in the corner of a larger one; what is beyond it is read by no result."""
    if array.shape == type.shape:
        return array
    whole = np.zeros(type.shape, type.dtype)
    whole[tuple(map(slice, array.shape))] = array
    return whole


def _ranges(manifest: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, SizeRange]:
    """The sizes, or the buckets that they are in, that one program of an entry is for."""
    buckets = manifest.get("buckets", {})
    ranges = {name: SizeRange.from_json(manifest["ranges"][name]) for name in sizes}
    return {name: ranges[name].bucket(buckets.get(name, ()), n) for name, n in sizes.items()}


def _padded_programs(
    entry: EntryRequest, ahead: Sequence[Mapping[str, SizeRange]]
) -> Iterator[dict[str, SizeRange]]:
    """The programs that pad and are not compiled ahead: calls will ask for them.

    Of very many, they are those that would have one bucket for each size: what holds for all sizes
    of a range holds for fewer.
    """
    buckets: Mapping[str, Sequence[int]] = entry.manifest.get("buckets", {})
    known = {name: SizeRange.from_json(entry.manifest["ranges"][name]) for name in buckets}
    sizes = {name: [n for n in (0, 1) if known[name].contains(n)] for name in buckets}
    if prod(len({*sizes[name], *each}) for name, each in buckets.items()) > _COMBINATIONS:
        buckets = {name: each[-1:] for name, each in buckets.items()}
    choices = [
        [known[name].bucket(each, n) for n in sorted({*sizes[name], *each})]
        for name, each in buckets.items()
    ]
    for shape in entry.shapes:
        exact = {name: SizeRange.of(n) for name, n in shape.items() if name not in buckets}
        for chosen in product(*choices):
            ranges = exact | dict(zip(buckets, chosen, strict=True))
            if ranges not in ahead and not all(each.is_static() for each in chosen):
                yield ranges


def _check_padding(graph: Graph, ranges: Mapping[str, SizeRange], place: Place) -> None:
    """Refuse a program before it is asked for, unless no call can ask for it.

    Raises:
        DiagnosticError: It would compute another result than one for a size alone.
    """
    try:
        padded_module(graph, ranges, place=place)
    except DiagnosticError:
        symbols = {n: e.opt if e.is_static() else e.symbol(n) for n, e in ranges.items()}
        if may_hold(graph.deferred_laws, symbols):
            raise


def _input_span(built: ModelGraph, entry: str, name: str) -> Span:
    return built.document.span((*(("entries", entry) if entry else ()), "inputs", name))


def _program_name(ranges: Mapping[str, SizeRange]) -> str:
    return sizes_name(_largest(ranges))


def _largest(ranges: Mapping[str, SizeRange]) -> dict[str, int]:
    return {name: each.opt for name, each in ranges.items()}


def _add_specialization(
    request: CompileRequest,
    entry: EntryRequest,
    ranges: Mapping[str, SizeRange],
    members: dict[str, Any],
    clock: CompileClock,
) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """What the manifest says of a compiled module, and what was wrong with the cache."""
    name = _program_name(ranges)
    stablehlo = entry_member(f"stablehlo/{name}.mlirbc", entry.name)
    program = entry_member(f"cpu/{name}.bin", entry.name)
    place = partial(_input_span, request.built, entry.name)
    module = lower_graph(entry.graph, ranges, request.folder, place)
    with entry_origin({PROGRAM: " ".join(filter(None, (entry.name, name)))}):
        payload, warnings = compile_lowered(module, clock)
    members[stablehlo], members[program] = module.whole, payload
    said = {
        "name": name,
        "sizes": _largest(ranges),
        "stablehlo": stablehlo,
        "payload": program,
        "identity": pjrt.identity(),
    }
    if entry.graph.mesh is not None:
        said |= pjrt.mesh_facts(payload)
    return said, (*module.warnings, *warnings)


def _payload(entry: CompiledEntry, ranges: Mapping[str, SizeRange]) -> bytes | memoryview:
    model = entry.model
    name, made_by = _program_name(ranges), model.manifest["versions"]["tripybuild"]
    stored = next((s for s in entry.manifest["specialisations"] if s["name"] == name), None)
    if stored is not None and stored["identity"] == pjrt.identity():
        return model.member(stored["payload"])
    if stored is None:
        if made_by != VERSION:
            raise DiagnosticError(_other_version(name, made_by))
        made = lower_graph(entry.graph, ranges)
        payload, warnings = compile_lowered(made)
        model.warnings += made.warnings
    else:
        payload, warnings = compile_module(bytes(model.member(stored["stablehlo"])), foreign=True)
    model.warnings += warnings
    return payload


def _load_program(
    entry: CompiledEntry, payload: bytes | memoryview, ranges: Mapping[str, SizeRange]
) -> LoadedProgram:
    """The program, once it is known to take and to give what the manifest says."""
    try:
        weights = [entry.model.weights[name] for name in entry.manifest["arguments"]]
        loaded = pjrt.load(payload, weights)
    except (KeyError, TypeError, ValueError) as error:
        raise manifest_error("its program does not take its weights") from error
    types = [(each.dtype, each.shape) for each in loaded.parameters]
    results = [(each.dtype, each.shape) for each in loaded.results]
    sizes = _largest(ranges)
    wanted = entry.signature.types(sizes)
    wanted += [(np.dtype(np.int64), ()) for each in ranges.values() if not each.is_static()]
    if types != wanted or results != _result_types(entry, sizes):
        raise manifest_error("its program is that of another model")
    return loaded


def _result_types(entry: CompiledEntry, sizes: Mapping[str, int]) -> list[Any]:
    """The dtype and the shape of each output for these sizes, as the manifest has them."""
    outputs = {**entry.manifest, "inputs": entry.manifest["outputs"], "laws": []}
    try:
        return CallSignature(entry.label, outputs).types(sizes)
    except (ArithmeticError, KeyError, ValueError) as error:
        raise manifest_error("its `outputs` cannot be understood") from error


def _other_version(sizes: str, made_by: str) -> Diagnostic:
    return Diagnostic(
        "executable-version",
        f"the executable has no specialization for {sizes}, and was made by tripybuild {made_by}",
        notes=(f"this is tripybuild {VERSION}, whose operators may lower differently",),
        hint=f"compile the model again, with `--shapes {sizes}`",
    )

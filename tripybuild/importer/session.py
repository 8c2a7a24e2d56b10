"""Import sessions: a source is read, said with our operators, written as a spec and compared.

Invariant: what is compiled is what is written. `compile_foreign` compiles the spec that
`store_spec` stores.
"""

import importlib.util
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.foreign_program import ForeignProgram
from tripybuild.importer.peers import OnnxPeer
from tripybuild.importer.spec_writer import WrittenSpec, write_spec
from tripybuild.importer.translation.program import translate
from tripybuild.importer.translation.report import UnreadProgramError
from tripybuild.model.libraries import OperatorLibrary, builtin_library
from tripybuild.packages.builtin import builtin_registry
from tripybuild.process.atomic_write import write_error
from tripybuild.process.gc_pause import pause_gc
from tripybuild.schema.load import Registry, load_registries
from tripybuild.symbolic.dims import evaluate
from tripybuild.types.dtypes import floating
from tripybuild.weights import safetensors
from tripybuild.weights.files import open_path

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.nn import Module

    from tripybuild.compiler.executable import Executable
    from tripybuild.packages.libraries import Registries

Array = np.ndarray[Any, Any]
SPEC = "model.yaml"
WEIGHTS = frozenset({".safetensors", ".json", ".bin", ".pt", ".pth", ".ckpt"})
# The largest difference of an output, as a part of its largest value.
TOLERANCE = 1e-4
# Of models that have weights of a dtype; a code of few bits may be rounded to the next one.
TOLERANCES = {"float16": 1e-2, **dict.fromkeys(("bfloat16", "int4", "int8", "uint8"), 5e-2)}


@dataclass(slots=True)
class ImportRequest:
    """What is said of a source beside its path.

    Attributes:
        registries: The folders of registries whose operators are read, too.
        inputs: Tensors or infos by name, where a source has none of its own.
        dynamic: The dimensions that vary, by input.
        constants: The values of inputs that are parameters in truth, by name.
        args: Tensors or infos by position.
    """

    registries: "Registries" = None
    inputs: Mapping[str, Any] = field(default_factory=dict)
    dynamic: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)
    args: Sequence[Any] = ()

    def registry(self) -> Registry:
        """The declarations that calls are read with."""
        given = self.registries or []
        listed = [given] if isinstance(given, (str, Path)) else given
        if not listed:
            return builtin_registry()
        with pause_gc():
            return load_registries([Path(each) for each in listed])

    def libraries(self, spec: Path) -> Sequence[OperatorLibrary]:
        """Where the public functions of these declarations are."""
        if not self.registries:
            return [builtin_library()]
        from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415 - heavy

        return [builtin_library(), *model_libraries(self.registries, spec)(())]


def read_source(path: Path, request: ImportRequest, registry: Registry) -> ForeignProgram:
    """Read a file of PyTorch or ONNX, or a folder of Hugging Face.

    Raises:
        DiagnosticError: There is no such source, or it cannot be read.
    """
    if path.is_dir():
        from tripybuild.importer.pytorch.huggingface import read_folder  # noqa: PLC0415 - heavy

        _refuse(path, "a folder of Hugging Face", {"--constant": request.constants})
        inputs, dynamic = request.inputs, request.dynamic
        return read_folder(path, registry, inputs=inputs, dynamic=dynamic)
    own = {"--input": request.inputs, "--dynamic": request.dynamic}
    if path.suffix == ".onnx":
        from tripybuild.importer.onnx_model.program import load_file  # noqa: PLC0415 - heavy

        _refuse(path, "a model of ONNX", own)
        return load_file(path, request.constants)
    if path.suffix == ".pt2":
        from tripybuild.importer.pytorch.serialized_program import read_archive  # noqa: PLC0415

        _refuse(path, "an exported program", {**own, "--constant": request.constants})
        return read_archive(path)
    if not path.exists():
        raise DiagnosticError(Diagnostic("file-not-found", f"there is no file `{path}`"))
    if path.suffix in WEIGHTS:
        open_path(path)  # refuses what is pickled, with the line that converts it
        message = f"`{path}` holds weights, and no program"
        hint = f"name its folder, if there is a `config.json` beside it: `{path.parent}`"
    else:
        message = f"`{path}` is no model that is imported"
        hint = "models are `.pt2`, `.onnx`, `FILE.py:model` and folders with a `config.json`"
    raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))


def read_object(
    source: "ExportedProgram | Module", request: ImportRequest
) -> tuple[ForeignProgram, Registry]:
    """Read a program of PyTorch that is in memory, and give the declarations for it.

    Raises:
        DiagnosticError: It is none, or cannot be read.
    """
    from tripybuild.importer.pytorch import exported_program  # noqa: PLC0415 - heavy
    from tripybuild.importer.pytorch.module_export import (  # noqa: PLC0415 - the same
        ModuleInputs,
        decompose_program,
        read_module,
        require_torch,
    )

    require_torch()
    import torch  # noqa: PLC0415 - heavy, and an extra

    if isinstance(source, torch.nn.Module):
        given = ModuleInputs(request.args, request.inputs, request.dynamic)
        registry = request.registry()
        return read_module(source, given, registry), registry
    if not isinstance(source, torch.export.ExportedProgram):
        message = f"`{type(source).__name__}` is no model: a path, an `ExportedProgram` or a module"
        raise DiagnosticError(Diagnostic("wrong-type", message))
    if request.args or request.inputs or request.dynamic:
        message = "an `ExportedProgram` has its inputs, and takes no `args`, `kwargs` or `dynamic`"
        raise DiagnosticError(Diagnostic("wrong-value", message))
    registry = request.registry()
    decomposed = decompose_program(source, registry)
    return exported_program.read_exported_program(decomposed), registry


def _refuse(path: Path, kind: str, flags: Mapping[str, Mapping[str, Any]]) -> None:
    for flag, given in flags.items():
        if given:
            message = f"`{path}` is {kind}, which takes no `{flag}`"
            raise DiagnosticError(Diagnostic("wrong-value", message))


def write_foreign(
    program: ForeignProgram, request: ImportRequest, registry: Registry, folder: Path
) -> WrittenSpec:
    """Say a program with our operators, as the text of a spec.

    Raises:
        DiagnosticError: With all that cannot be said.
    """
    if not program.graph.inputs:
        message = f"`{program.name}` has no inputs, which a spec must have"
        raise DiagnosticError(Diagnostic("import-unsupported", message))
    try:
        calls = translate(program, registry, request.libraries(folder / SPEC))
    except UnreadProgramError as error:
        if not program.advice:
            raise
        message = f"`{program.name}` is not decomposed, and only PyTorch can break up its operators"
        advice = Diagnostic("import-not-decomposed", message, hint=program.advice)
        found = [*error.diagnostics, advice]
        raise UnreadProgramError(program, error.failures, found) from error
    with pause_gc():
        written = write_spec(calls, registry, by_name=True)
    program.spec_names = written.input_names
    program.notes += written.notes
    return written


def store_spec(written: WrittenSpec, folder: Path, *, force: bool = False) -> list[Path]:
    """Write a spec and its weights into a folder: all of its files, or none.

    A checkpoint that the spec reads as it is gets a hard link beside the spec.

    Args:
        written: The spec.
        folder: The folder, which is made if it is not there.
        force: Whether files that are there may be replaced.

    Returns:
        The files; the spec is the first one.

    Raises:
        DiagnosticError: A file is there, or the system does not let one be written.
    """
    links = {
        each.name: each.resolve()
        for each in written.checkpoints
        if each.absolute().parent != folder.absolute()  # otherwise it is beside the spec
    }
    names = [SPEC, *([written.weights] if written.weights else [])]
    check_files(folder, [*names, *links], force=force)
    try:
        with _stage(folder) as stage:
            if written.weights:
                _write_weights(written, stage / written.weights)
            for name, target in links.items():
                _link(target, stage / name)
            (stage / SPEC).write_text(written.text, encoding="utf-8")
            for name in [*links, *reversed(names)]:  # the spec last: it names the others
                (stage / name).replace(folder / name)
    except OSError as error:
        raise DiagnosticError(write_error(folder, error)) from error
    return [folder / name for name in [*names, *links]]


def _link(source: Path, path: Path) -> None:
    """Make a file that has the content of another: the same one, where the disk is the same."""
    try:
        path.hardlink_to(source)
    except OSError:  # another disk, or one that has no links
        shutil.copyfile(source, path)


def check_files(folder: Path, names: Sequence[str], *, force: bool) -> None:
    """Refuse to replace files, unless that is asked for."""
    there = [folder / name for name in names if os.path.lexists(folder / name)]
    if (there and not force) or any(each.is_dir() for each in there):
        message = f"`{there[0]}` already exists"
        hint = "`--force` replaces files, and `-o` names another folder"
        raise DiagnosticError(Diagnostic("file-exists", message, hint=hint))


@contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """A folder within another, which is made if it is not there; on failure both are gone."""
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=".import.", dir=folder))
    try:
        yield stage
    except BaseException:
        shutil.rmtree(folder if made else stage, ignore_errors=True)
        raise
    shutil.rmtree(stage, ignore_errors=True)


def _write_weights(written: WrittenSpec, path: Path) -> None:
    """Write the weights one by one, so that memory holds one of them."""
    types = {
        name: (each.type.dtype.numpy, tuple(map(int, each.type.shape)))
        for name, each in written.arrays.items()
        if each.type is not None
    }
    with path.open("wb") as stream:
        for piece in safetensors.stream(types, lambda name: written.arrays[name].load()):
            stream.write(piece)


def compile_foreign(
    program: ForeignProgram,
    registry: Registry,
    request: ImportRequest,
    compile_spec: Callable[[Path], "Executable"],
) -> "Executable":
    """Compile a program as the spec that it is written as, which is nowhere afterwards.

    Args:
        program: The program.
        registry: The declarations that it is read with.
        request: The folders that they are from.
        compile_spec: Compiles a spec by its path.

    Raises:
        DiagnosticError: It cannot be said, or not be compiled.
    """
    folder = Path(tempfile.mkdtemp(prefix="tripybuild-import-"))
    try:
        written = write_foreign(program, request, registry, folder)
        spec, *_ = store_spec(written, folder)
        executable = compile_spec(spec)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    # Its weights may still be read from there.
    weakref.finalize(executable, shutil.rmtree, folder, ignore_errors=True)
    return executable


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """How far an output is from the source's, as a part of the largest value there."""

    name: str
    size: float
    tolerance: float

    @property
    def is_small(self) -> bool:
        """Whether both are equal within the tolerance."""
        return self.size <= self.tolerance


def example_inputs(program: ForeignProgram, sizes: Mapping[str, int]) -> dict[str, Array]:
    """The inputs that a source brings along, or random ones of its types for some sizes."""
    if program.examples or not program.graph.inputs:
        return dict(program.examples)
    generator = np.random.default_rng(0)
    made = {}
    for each in program.graph.inputs:
        assert each.type is not None
        shape = [evaluate(size, sizes) for size in each.type.shape]
        kind = each.type.dtype
        values = generator.standard_normal(shape)
        whole = not issubclass(kind, floating)
        # NumPy gives numbers in the place of arrays without a shape, which runtimes refuse.
        made[each.name] = np.asarray(values > 0 if whole else values).astype(kind.numpy)
    return made


def source_outputs(
    path: Path, program: ForeignProgram, request: ImportRequest, inputs: Mapping[str, Array]
) -> Mapping[str, Array] | str:
    """Give what a source gives for the inputs, by output, or why it is not run."""
    if program.run is None and path.suffix != ".onnx":
        return "a file's own program is never run; `--verify-with FILE.py:model` runs its module"
    if program.run is None and importlib.util.find_spec("onnxruntime") is None:
        return "`onnxruntime` is not installed"
    try:
        if program.run is not None:
            return program.run()
        return _run_onnx(path, program, request, inputs)
    except Exception as error:  # noqa: BLE001 - whatever the source raises for these inputs
        said = next(iter(str(error).splitlines()), "")
        refused = error.diagnostics[0].message if isinstance(error, DiagnosticError) else ""
        return refused or f"it cannot be run: {type(error).__name__}: {said}"


def _run_onnx(
    path: Path, program: ForeignProgram, request: ImportRequest, inputs: Mapping[str, Array]
) -> dict[str, Array]:
    """What ONNX Runtime gives for the inputs of a model's file, by output."""
    peer = OnnxPeer(path, is_optimized=False)
    names = [each for each in peer.inputs if each not in request.constants]
    given = {**request.constants, **dict(zip(names, inputs.values(), strict=True))}
    names = [name for name, _ in program.graph.outputs]
    found: dict[str, Array] = {}
    for name, each in zip(names, peer.prepare(given)(), strict=True):
        lists = each if isinstance(each, list) else None
        found |= {name: each} if lists is None else {f"{name}_{i}": e for i, e in enumerate(lists)}
    return found


def compare_outputs(
    program: ForeignProgram,
    executable: "Executable",
    inputs: Mapping[str, Array],
    expected: Mapping[str, Array],
) -> list[OutputDifference]:
    """Run a compiled spec on the source's inputs, and compare what both give."""
    given = {program.spec_names.get(name, name): each for name, each in inputs.items()}
    for name in executable.entry().signature.inputs:
        if name not in given:  # a state, at its start
            given[name] = program.weights[name].load()
    found = executable(**given)
    kinds = {each.type.dtype.name for each in program.weights.values() if each.type is not None}
    tolerance = max((TOLERANCES.get(kind, TOLERANCE) for kind in kinds), default=TOLERANCE)
    return [
        OutputDifference(name, _difference(array, np.asarray(found[name])), tolerance)
        for name, array in expected.items()
    ]


def _difference(expected: Array, found: Array) -> float:
    """The largest difference, as a part of the largest value; infinite for other shapes."""
    if expected.shape != found.shape:
        return float("inf")
    if not expected.size:
        return 0.0
    one, other = (np.asarray(each).astype(np.float64) for each in (expected, found))
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(one - other))
    if np.isnan(apart).any():
        return float("inf")
    finite = np.abs(one[np.isfinite(one)])
    largest = float(finite.max()) if finite.size else 0.0
    return float(apart.max()) / (largest or 1.0)

"""`tripybuild import`: writes a model of PyTorch, Hugging Face or ONNX as a spec."""

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tripybuild.cli import options
from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import write_note
from tripybuild.cli.function_reference import FunctionReference, load_value, program, user_code
from tripybuild.cli.options import ArgumentSpec, InputFile, Inputs, Registries, infos
from tripybuild.cli.usage_errors import conflict, wrong_argument
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import write_error
from tripybuild.process.memory import format_bytes
from tripybuild.process.phases import begin_phase

if TYPE_CHECKING:
    from tripybuild.compiler.executable import Executable
    from tripybuild.importer.foreign_program import ForeignProgram
    from tripybuild.importer.session import ImportRequest, OutputDifference
    from tripybuild.importer.translation.report import UnreadProgramError
    from tripybuild.schema.load import Registry

_DYNAMIC = re.compile(r"(?P<input>[A-Za-z_]\w*)=(?P<sizes>[^=].*)", re.ASCII)
_FIXED = "_"
_MISMATCH = (
    "the spec is written all the same: with steps as further `outputs:` it tells where the two "
    "part; `args` or `--input` with other values tell whether these ones are at an edge"
)


class DynamicSizes(NamedTuple):
    """An input and its sizes: a name with a range, a name, or None for one that stays."""

    name: str
    sizes: tuple[Any, ...]


def dynamic(text: str) -> DynamicSizes:
    """Read `ids=B,S=1:8:512`; errors are those of usage."""
    match = _DYNAMIC.fullmatch(text)
    if match is None:
        raise typer.BadParameter(f"`{text}` is not of the form `ids=B,S=1:8:512`")
    try:
        read = options.tensor(f"float32[{match['sizes']}]")
    except ValueError as error:
        raise typer.BadParameter(f"`{text}`: {error}") from error
    assert read is not None
    return DynamicSizes(match["input"], tuple(map(_dynamic_size, read.shape)))


def _dynamic_size(size: options.SizeSpec) -> Any:
    if size.name in (None, _FIXED):
        return None
    if size.bounds is None or size.name is None:
        return size.name
    from tripybuild.eager.compile.infos import NamedDimension  # noqa: PLC0415 - heavy

    return NamedDimension(size.name, size.bounds.min, size.bounds.opt, size.bounds.max or 0)


@command
def import_model(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="An exported program, model.pt2; a module of a Python file, model.py:model, which "
            "runs that file; a folder with config.json and safetensors; or model.onnx.",
        ),
    ],
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The folder of the spec.")
    ],
    verify: Annotated[
        bool,
        typer.Option(
            "--verify/--no-verify", help="Run both programs on the same inputs, and compare."
        ),
    ] = True,
    verify_with: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.py:model",
            help="The module of a Python file, which is run, to compare a model.pt2 with.",
        ),
    ] = None,
    inputs: Inputs = None,
    varying: Annotated[
        list[DynamicSizes] | None,
        typer.Option(
            "--dynamic",
            metavar="NAME=B,S=1:8:512",
            parser=dynamic,
            help="The dimensions of an input that vary; `_` stays as it is.",
        ),
    ] = None,
    constants: Annotated[
        list[InputFile] | None,
        typer.Option(
            "--constant",
            metavar="NAME=FILE",
            parser=options.source,
            help="The value of an input of ONNX that is a parameter, in .npy or .safetensors.",
        ),
    ] = None,
    scaffold: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write an operator file for each call that is not read."),
    ] = None,
    registry: Registries = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files of the folder.")] = False,
) -> CommandResult:
    """Import a model of PyTorch, Hugging Face or ONNX as a spec."""
    from tripybuild.importer.session import SPEC, ImportRequest, check_files  # noqa: PLC0415 - heavy
    from tripybuild.weights import array_files  # noqa: PLC0415 - the same

    start = time.perf_counter()
    check_files(output, [SPEC], force=force)
    request = ImportRequest(
        registry,
        infos(inputs or []),
        {each.name: each.sizes for each in varying or []},
        {each.name: array_files.read(each.path, each.name) for each in constants or []},
    )
    known = request.registry()
    peer = None if verify_with is None else _peer(verify_with)
    begin_phase("read the source")
    read = read_foreign(source, request, known, inputs or [])
    begin_phase("write the spec")
    paths = _write(read, request, known, output, scaffold, force=force)
    seconds = time.perf_counter() - start
    said = ", ".join(f"`{path}` ({format_bytes(path.stat().st_size)})" for path in paths)
    lines = [f"Imported `{source}` into {said} in {seconds:.2f}s"]
    lines += [f"note: {note}" for note in read.notes]
    data: dict[str, object] = {
        "paths": [path.as_posix() for path in paths],
        "notes": list(read.notes),
        "seconds": round(seconds, 3),
    }
    begin_phase("compare with the source")
    differences = _verify(source, read, request, paths[0], lines, peer) if verify else None
    if differences is not None:
        data["differences"] = {each.name: each.size for each in differences}
    diagnostics = tuple(_mismatches(paths[0], differences or []))
    return CommandResult(remark="\n".join(lines), data=data, diagnostics=diagnostics)


def _write(
    read: "ForeignProgram",
    request: "ImportRequest",
    known: "Registry",
    output: Path,
    scaffold: Path | None,
    *,
    force: bool,
) -> list[Path]:
    """Write the spec, or the scaffolds for what it lacks."""
    from tripybuild.importer.session import store_spec, write_foreign  # noqa: PLC0415 - heavy
    from tripybuild.importer.translation.report import UnreadProgramError  # noqa: PLC0415 - the same

    try:
        written = write_foreign(read, request, known, output)
    except UnreadProgramError as error:
        if scaffold is not None:
            _write_scaffolds(error, scaffold, [*known.operators, *known.modules])
        raise
    return store_spec(written, output, force=force)


def _write_scaffolds(error: "UnreadProgramError", folder: Path, taken: Sequence[str]) -> None:
    """Write a file to begin with for each operator that is missing."""
    from tripybuild.importer.session import check_files  # noqa: PLC0415 - heavy
    from tripybuild.importer.translation.scaffold import scaffolds  # noqa: PLC0415 - the same
    from tripybuild.process.atomic_write import atomic_write_tree  # noqa: PLC0415 - the same

    texts = scaffolds(error, taken)
    foreign = dict.fromkeys(n.domain for n in (e.node for e in error.failures) if n.domain)
    for domain in foreign:
        write_note(f"No scaffold for operators of `{domain}`: aliases name ONNX's own alone")
    if not texts:
        return
    check_files(folder, [*texts], force=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise DiagnosticError(write_error(folder, failure)) from failure
    atomic_write_tree(folder, {name: text.encode() for name, text in texts.items()})
    write_note("".join(f"Wrote `{folder / name}`\n" for name in texts).rstrip())


def read_foreign(
    source: Path, request: "ImportRequest", registry: "Registry", inputs: Sequence[ArgumentSpec]
) -> "ForeignProgram":
    """Read a source of another system.

    Args:
        source: A file, a folder, or `FILE.py:model`.
        request: What is said of it.
        registry: The declarations that it is read with.
        inputs: The tensors that a module takes.

    Raises:
        DiagnosticError: There is no such source, or it cannot be read.
    """
    from tripybuild.importer.session import read_source  # noqa: PLC0415 - heavy

    asked = program(source)
    if asked is None:
        return read_source(source, request, registry)
    if request.constants:
        message = f"`{source}` is a module of PyTorch, which takes no `--constant`"
        raise conflict(message, None, "--constant")
    return _read_python(asked, request, registry, inputs)


def _read_python(
    asked: FunctionReference,
    request: "ImportRequest",
    registry: "Registry",
    inputs: Sequence[ArgumentSpec],
) -> "ForeignProgram":
    """Export the module that a Python file has, or that a function of it gives."""
    from tripybuild.importer.pytorch.module_export import (  # noqa: PLC0415 - heavy
        ModuleInputs,
        read_module,
    )

    found, file = load_module(asked)
    varying = {**getattr(file, "dynamic", {}), **request.dynamic}
    named = {each.name for each in inputs}
    args = () if named else tuple(getattr(file, "args", ()))
    kwargs = {**getattr(file, "kwargs", {}), **request.inputs}
    exported = ModuleInputs(args, kwargs, varying)
    return read_module(found, exported, registry)


def load_module(asked: FunctionReference) -> tuple[Any, Any]:
    """The module that a Python file has, or that a function of it gives, and the file's names.

    Raises:
        DiagnosticError: PyTorch or the file is not there, or it names something else.
    """
    from tripybuild.importer.pytorch.module_export import (  # noqa: PLC0415 - heavy
        is_module,
        require_torch,
    )

    require_torch()
    found, file = load_value(asked)
    if not is_module(found):
        with user_code(asked.file):
            found = found()
    if not is_module(found):
        message = f"`{asked.path}` of `{asked.file}` gives `{type(found).__name__}`, and no module"
        hint = "name a `torch.nn.Module`, or a function that returns one"
        raise DiagnosticError(Diagnostic("wrong-type", message, hint=hint))
    return found, file


def _peer(text: str) -> Any:
    """The module to compare with."""
    asked = program(Path(text))
    if asked is None:
        message = f"`{text}` is no module of a Python file"
        hint = "`--verify-with` takes `FILE.py:model`"
        raise wrong_argument(message, hint, "--verify-with")
    return load_module(asked)[0]


def _verify(
    source: Path,
    read: "ForeignProgram",
    request: "ImportRequest",
    spec: Path,
    lines: list[str],
    peer: Any,
) -> "list[OutputDifference] | None":
    """Run both programs, and say how far apart they are."""
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415 - heavy
    from tripybuild.importer.foreign_program import example_sizes  # noqa: PLC0415 - heavy
    from tripybuild.importer.session import compare_outputs, example_inputs  # noqa: PLC0415 - heavy

    options = example_sizes(read) if peer is None else example_sizes(read)[-1:]
    executable = None
    for sizes in options:
        is_last = sizes is options[-1]
        try:
            inputs = example_inputs(read, sizes)
        except (MemoryError, ValueError) as error:  # more elements than an array can have
            lines.append(f"Not compared with its source: its inputs are too large: {error}")
            return None
        expected = _expected(source, read, request, inputs, peer)
        if isinstance(expected, str):
            if is_last:
                lines.append(f"Not compared with its source: {expected}")
            continue
        executable = executable or _compile(spec, request)
        try:
            found = compare_outputs(read, executable, inputs, expected)
        except DiagnosticError:
            if is_last:
                raise
            continue
        where = f" at {sizes_name(sizes)}" if len(options) > 1 else ""
        lines.append(f"Compared with its source{where}: {_difference_text(found)}")
        return found
    return None


def _expected(
    source: Path,
    read: "ForeignProgram",
    request: "ImportRequest",
    inputs: Mapping[str, Any],
    peer: Any,
) -> Mapping[str, Any] | str:
    """What the source gives, or the module that stands for it; or why nothing does."""
    if peer is None:
        from tripybuild.importer.session import source_outputs  # noqa: PLC0415 - heavy

        return source_outputs(source, read, request, inputs)
    from tripybuild.importer.pytorch.module_export import module_outputs  # noqa: PLC0415 - heavy

    return module_outputs(peer, read, inputs)


def _difference_text(found: "Sequence[OutputDifference]") -> str:
    worst = max((each.size for each in found), default=0.0)
    count = "1 output differs" if len(found) == 1 else f"{len(found)} outputs differ"
    apart = f"by at most {worst:.1e} of the largest value" if worst else "in nothing"
    return f"{count} {apart}"


def _compile(spec: Path, request: "ImportRequest") -> "Executable":
    from tripybuild.compiler import session  # noqa: PLC0415 - heavy
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415 - the same

    return session.compile_spec(spec, homes=model_libraries(request.registries, spec))


def _mismatches(spec: Path, found: "Sequence[OutputDifference]") -> "Sequence[Diagnostic]":
    return [
        Diagnostic(
            "import-mismatch",
            f"the output `{each.name}` of `{spec}` differs from its source by {each.size:.1e} of "
            f"its largest value, and {each.tolerance:.0e} is tolerated",
            hint=_MISMATCH,
        )
        for each in found
        if not each.is_small
    ]

"""Sources that commands take beside each other, each opened as a program of the workbench.

A source is an executable, a spec or `FILE.py:f`, which may have `@TARGET` behind it, or a peer:
`torch:FILE.py:f` or `onnx:FILE`. A peer with `@TARGET` is imported as a spec.
"""

import atexit
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tripybuild.cli import options
from tripybuild.cli.function_reference import program, record_program
from tripybuild.cli.options import ArgumentSpec, InputFile, SizeAssignment
from tripybuild.cli.usage_errors import wrong_argument
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.phases import begin_phase
from tripybuild.targets.table import DEFAULT, TARGETS

if TYPE_CHECKING:
    from tripybuild.artifact.call_signature import Array
    from tripybuild.workbench.programs import Program

PEERS = ("torch", "onnx")
EXAMPLE = "x=float32[2,3]` or `x=x.npy"


class SourceOptions(NamedTuple):
    """How sources are opened.

    Args:
        target: What is compiled for where a source names no target.
        entry: The entry, where there are several.
        sizes: Sizes and dtypes to put in the place of a spec's own.
        weights: Where weights are, in the place of what a spec names.
        config: A configuration in the place of a spec's own.
        registry: Registries of the user.
        inputs: What Python functions take.
        threads: Those of peers.
        seed: Where weights begin that are drawn, if those of a spec are not there.
    """

    target: str = DEFAULT
    entry: str | None = None
    sizes: Mapping[str, object] = {}
    weights: Path | None = None
    config: Path | None = None
    registry: Sequence[Path] | None = None
    inputs: Sequence[ArgumentSpec] = ()
    threads: int | None = None
    seed: int | None = None


def _input(text: str) -> ArgumentSpec | InputFile:
    """Read `x=float32[2,3]`, what a Python function takes, or `x=x.npy`, an array."""
    _, _, rest = text.partition("=")
    return (
        options.argument(text) if options.TENSOR.fullmatch(rest.strip()) else options.source(text)
    )


InputValues = Annotated[
    list[Any] | None,
    typer.Option(
        "--input",
        metavar="NAME=FILE|TYPE",
        parser=_input,
        help="An array, x=x.npy, in the place of a drawn one; or what a Python function takes, "
        "x=float32[2,3].",
    ),
]
Shapes = Annotated[
    list[SizeAssignment] | None,
    typer.Option(
        "--shapes",
        metavar="B=1,S=128",
        parser=options.shape,
        help="Sizes of calls, instead of the `opt` of each range; may be repeated.",
    ),
]
Entry = Annotated[
    str | None, typer.Option(metavar="NAME", help="The entry to call, where there are several.")
]
Target = Annotated[str, typer.Option(help="What a source without `@TARGET` is compiled for.")]
RandomWeights = Annotated[
    bool, typer.Option("--random", help="Draw weights where those of a spec are not there.")
]
Absolute = Annotated[
    float | None,
    typer.Option(
        "--atol", metavar="X", parser=options.tolerance, help="How far each element may be off."
    ),
]
Relative = Annotated[
    float | None,
    typer.Option(
        "--rtol",
        metavar="X",
        parser=options.tolerance,
        help="The same, as a part of the element or of the root mean square, whichever is more.",
    ),
]


def is_executable(path: Path) -> bool:
    """Whether a path names an executable."""
    from tripybuild.compiler import executable  # noqa: PLC0415

    return executable.is_executable(path)


def split_source(text: str) -> tuple[str, str | None]:
    """A source and the target behind its `@`, if there is one; a file may have such a name.

    Raises:
        DiagnosticError: There is an `@`, and nothing behind it.
    """
    source, at, target = text.rpartition("@")
    if not at or Path(text).exists() or "/" in target:
        return text, None
    if not target:
        hint = f"write `{text}{DEFAULT}`, or leave out the `@`"
        raise wrong_argument(f"`{text}` names no target behind its `@`", hint)
    return source, target


def pair_sources(one: str, other: str | None) -> tuple[str, str]:
    """Two sources, of which the second may be the first one by another target: `@cpu:xla`.

    Where there is no second one, it is the first one by its reference.

    Raises:
        DiagnosticError: The first one is a target alone.
    """
    if not split_source(one)[0]:
        raise wrong_argument(f"`{one}` is a target", f"name what it runs first: `model.yaml{one}`")
    other = "@reference" if other is None else other
    source, target = split_source(other)
    if source or target is None:
        return one, other
    return one, f"{split_source(one)[0]}@{target}"


def hint_random(each: Diagnostic) -> Diagnostic:
    """A refusal of weights that are not there, which says that none are needed."""
    if each.code != "weights-not-found" or each.hint is None:
        return each
    return replace(each, hint=f"{each.hint}; or draw them by `--random`")


def open_source(text: str, how: SourceOptions) -> "Program":
    """Open a source.

    Raises:
        DiagnosticError: With all that is wrong with it.
    """
    source, target = split_source(text)
    if source.partition(":")[0] in PEERS:
        return open_peer(text, how.threads) if target is None else _open_import(text, how)
    path = Path(source)
    if program(source) is None and is_executable(path):
        opened = open_executable(path, how.entry, how.registry)
        return opened if target is None else _compile_again(opened, text, target)
    opened = _open_function(source, target or how.target, how) or _open_spec(
        path, target or how.target, how
    )
    opened.name = text
    return opened


def open_executable(
    path: Path, entry: str | None, registry: Sequence[Path] | None = None
) -> "Program":
    """Load an entry of an executable."""
    from tripybuild.compiler.executable import load  # noqa: PLC0415
    from tripybuild.workbench import programs  # noqa: PLC0415

    if registry:
        from tripybuild.packages.libraries import register_packages  # noqa: PLC0415

        register_packages(registry)
    begin_phase(f"load {path.name}")
    return programs.open_executable(load(path), path, entry)


def _compile_again(opened: "Program", text: str, target: str) -> "Program":
    """The graph that an executable keeps, by another target."""
    from tripybuild.workbench.programs import open_graph  # noqa: PLC0415

    if opened.source is None:
        message = f"`{opened.name}` keeps no graph, so that nothing but its engine runs it"
        hint = "name the spec that it was compiled from"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
    return open_graph(text, opened.source.built, opened.source.weights, target)


def _open_import(text: str, how: SourceOptions) -> "Program":
    """A peer's source as the spec that it is imported as, which is gone when the process ends."""
    from tripybuild.cli.commands.import_model import read_foreign  # noqa: PLC0415 - heavy
    from tripybuild.importer.session import (  # noqa: PLC0415 - the same
        ImportRequest,
        store_spec,
        write_foreign,
    )

    source, target = split_source(text)
    request = ImportRequest(registries=how.registry, inputs=options.infos(how.inputs))
    known = request.registry()
    folder = Path(mkdtemp(prefix="tripybuild-import-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    read = read_foreign(Path(source.partition(":")[2]), request, known, how.inputs)
    spec, *_ = store_spec(write_foreign(read, request, known, folder), folder)
    opened = _open_spec(spec, target or how.target, how._replace(weights=None, config=None))
    opened.name, opened.note = text, "imported"
    return opened


def _open_spec(path: Path, target: str, how: SourceOptions) -> "Program":
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415
    from tripybuild.workbench.programs import open_spec  # noqa: PLC0415

    return open_spec(
        path,
        target,
        entry=how.entry,
        sizes=how.sizes,
        homes=model_libraries(how.registry, path),
        weights=how.weights,
        config=how.config,
        seed=how.seed,
    )


def _open_function(text: str, target: str, how: SourceOptions) -> "Program | None":
    """A function of a Python file; None for what is none."""
    asked = program(text)
    if asked is None:
        return None
    from tripybuild.eager.compile.compile import read_parameters  # noqa: PLC0415
    from tripybuild.workbench.programs import open_graph  # noqa: PLC0415

    found = record_program(asked, how.inputs)
    return open_graph(text, found.compiler_input, read_parameters(found), target)


def check_peer(text: str, flag: str = "") -> tuple[str, str]:
    """The kind of a peer, and what it is.

    Raises:
        DiagnosticError: It is none.
    """
    kind, _, rest = text.partition(":")
    if kind not in PEERS or not rest or (program(rest) is None) is (kind == PEERS[0]):
        message, hint = f"`{text}` is no peer", "write `torch:FILE.py:model` or `onnx:FILE.onnx`"
        raise wrong_argument(message, hint, flag)
    return kind, rest


def open_peer(text: str, threads: int | None = None, flag: str = "") -> "Program":
    """A source as it is: `torch:FILE.py:f` or `onnx:FILE`.

    Args:
        text: The source.
        threads: How many it may use.
        flag: The option whose value it is; none for an argument.

    Raises:
        DiagnosticError: It is neither, or it cannot be loaded.
    """
    from tripybuild.cli.commands.import_model import load_module  # noqa: PLC0415 - heavy
    from tripybuild.importer.peers import OnnxPeer, TorchPeer, prepare_peer  # noqa: PLC0415 - heavy
    from tripybuild.workbench.programs import Program  # noqa: PLC0415 - heavy

    kind, rest = check_peer(text, flag)
    asked = program(rest)
    peer: OnnxPeer | TorchPeer
    if asked is None:
        if not Path(rest).is_file():
            is_folder = Path(rest).is_dir()
            message = f"`{rest}` is a folder" if is_folder else f"there is no file `{rest}`"
            raise DiagnosticError(Diagnostic("file-not-found", message))
        peer = OnnxPeer(Path(rest), threads)
    else:
        peer = TorchPeer(load_module(asked)[0], threads)
    return Program(text, kind, partial(prepare_peer, text, peer), read=peer.arrays)


def read_arrays(inputs: Sequence[ArgumentSpec | InputFile]) -> "dict[str, Array]":
    """The arrays among inputs, by name.

    Raises:
        DiagnosticError: A file cannot be read.
    """
    from tripybuild.weights.array_files import read  # noqa: PLC0415

    files = [each for each in inputs if isinstance(each, InputFile)]
    return {each.name: read(each.path, each.name) for each in files}


def function_inputs(inputs: Sequence[ArgumentSpec | InputFile]) -> list[ArgumentSpec]:
    """What Python functions take, among inputs."""
    return [each for each in inputs if isinstance(each, ArgumentSpec)]


def set_threads(target: str, threads: int) -> str:
    """The target with so many threads, where it has that option."""
    entry = TARGETS.get(target.partition(",")[0])
    if entry is not None and "threads" not in entry.options:
        able = ", ".join(f"`{name}`" for name, each in TARGETS.items() if "threads" in each.options)
        message = f"`{target}` does not take a number of threads"
        hint = f"name a target that does, by `--target`: {able}"
        raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
    return f"{target},threads={threads}"

"""A build system for operators and models declared in YAML, verified against real compilers."""

from __future__ import annotations

from tripybuild.version import VERSION

TYPE_CHECKING = False  # type checkers take it for true; `typing` and `pathlib` load in 10 ms
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from torch.export import ExportedProgram
    from torch.nn import Module

    from tripybuild.compiler.executable import Executable
    from tripybuild.compiler.export.export import ExportResult
    from tripybuild.compiler.generation import Generation
    from tripybuild.packages.libraries import Registries

__version__ = VERSION
__all__ = ["__version__", "compile", "emit", "export", "generate", "load"]


def compile(
    spec: Path | str | ExportedProgram | Module,
    args: Sequence[object] = (),
    kwargs: Mapping[str, object] | None = None,
    *,
    dynamic: Mapping[str, object] | None = None,
    target: str = "cpu",
    output: Path | str | None = None,
    sizes: Mapping[str, object] | None = None,
    shapes: Sequence[Mapping[str, int]] = (),
    timeout: float | None = None,
    registry: Registries = None,
    weights: Path | str | None = None,
    config: Path | str | Mapping[str, object] | None = None,
    buckets: Mapping[str, Sequence[int] | str] | None = None,
) -> Executable:
    """Compile a model specification, a module of the tensorrt dialect, or a program of PyTorch.

    Args:
        spec: The specification's file, or one of MLIR's text: `.mlir`. A program is one that
            `torch.export.export` gave, or an `nn.Module`, which is exported here. What is compiled
            is the specification that `tripybuild import` writes.
        args: What a module takes by position: tensors as examples, or an `InputInfo` for each.
        kwargs: The same by name.
        dynamic: The dimensions of a module's inputs that vary: `{"ids": ["B", "S"]}`, where None is
            one that does not, and a `NamedDimension` is a name with its range.
        target: `cpu`, which takes ONNX Runtime or XLA by what the model computes, or one of its
            engines, such as `cpu:xla`; `reference` (NumPy, from the declarations), or one that
            builds an engine: `tensorrt-rtx`, of which `tensorrt-rtx:sm86,sm89` names the GPUs,
            `tensorrt`, `mlir-tensorrt`.
        output: Where to write the executable; nowhere by default.
        sizes: Sizes to put in the place of the specification's own.
        shapes: Dynamic sizes to compile ahead of time, beside the `opt` of each range.
        timeout: Seconds that a compiler may take.
        registry: The folder of a registry with operators and modules that the specification calls,
            or several; it can name some itself.
        weights: A safetensors file, an index of shards or a folder with either, in the place of
            what the specification names.
        config: A file of JSON or its values, in the place of the configuration that the
            specification has; by default the `config.json` in the folder of `weights`.
        buckets: The sizes that programs of `cpu:xla` are for, by the names of dynamic sizes:
            `{"S": [16, 64, 256]}`, or `{"S": "powers"}` of two. Those between are padded.

    Returns:
        A callable: arrays by input name in, arrays by output name out. A model of several entries
        is called by their names: `executable.encode(...)`.

    Raises:
        DiagnosticError: With everything that is wrong.
    """
    from contextlib import nullcontext  # noqa: PLC0415 - `import tripybuild` is for free
    from pathlib import Path  # noqa: PLC0415 - the same

    from tripybuild.artifact.draft import Draft  # noqa: PLC0415 - the same
    from tripybuild.compiler.session import compile_spec  # noqa: PLC0415 - the same
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415 - the same

    draft = None if output is None else Draft(Path(output))

    def compile_file(path: Path) -> Executable:
        return compile_spec(
            path,
            target=target,
            sizes=sizes,
            shapes=shapes,
            timeout=timeout,
            homes=model_libraries(registry, path),
            weights=None if weights is None else Path(weights),
            config=Path(config) if isinstance(config, str) else config,
            buckets=buckets,
            draft=draft,
        )

    if isinstance(spec, (str, Path)) and (args or kwargs or dynamic):
        _refuse_arguments()
    with draft or nullcontext():
        if isinstance(spec, (str, Path)):
            executable = compile_file(Path(spec))
        else:
            from tripybuild.importer.session import (  # noqa: PLC0415 - the same
                ImportRequest,
                compile_foreign,
                read_object,
            )

            request = ImportRequest(registry, kwargs or {}, dynamic or {}, args=args)
            executable = compile_foreign(*read_object(spec, request), request, compile_file)
        if output is not None:
            executable.save(output, draft)
    return executable


def _refuse_arguments() -> None:
    from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError  # noqa: PLC0415

    message = "`args`, `kwargs` and `dynamic` are for modules; a file declares its inputs"
    raise DiagnosticError(Diagnostic("wrong-value", message))


def emit(
    spec: Path | str,
    kind: str,
    *,
    entry: str | None = None,
    sizes: Mapping[str, object] | None = None,
    shapes: Sequence[Mapping[str, int]] = (),
    registry: Registries = None,
    config: Path | str | Mapping[str, object] | None = None,
) -> str:
    """The text of a model at one stage: `trace`, `stablehlo` or `tensorrt`; `entry` names which."""
    from pathlib import Path  # noqa: PLC0415 - `import tripybuild` is for free

    from tripybuild.compiler import session  # noqa: PLC0415 - the same
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415 - the same

    path = Path(spec)
    return session.emit(
        path,
        kind,
        entry=entry,
        sizes=sizes,
        shapes=shapes,
        homes=model_libraries(registry, path),
        config=Path(config) if isinstance(config, str) else config,
    )


def export(
    spec: Path | str,
    output: Path | str,
    *,
    opset: int = 20,
    entry: str | None = None,
    embed: bool = False,
    sizes: Mapping[str, object] | None = None,
    registry: Registries = None,
    weights: Path | str | None = None,
    config: Path | str | Mapping[str, object] | None = None,
) -> ExportResult:
    """Export a model as a file of ONNX, or several: one for each entry.

    Args:
        spec: The specification's file, or an executable, of which its graph is taken. That takes
            none of `sizes`, `weights` and `config`.
        output: The file to write; of several entries each is in one with its name before the
            suffix.
        opset: The version of ONNX's operators, from 17 to 26.
        entry: The only entry to write, where there are several.
        embed: Whether the weights are in the file. Without it they stay in theirs where ONNX can
            name it, below the folder of the output; else they are in a file beside the output.
        sizes: Sizes to put in the place of the specification's own.
        registry: The folder of a registry with operators and modules that the specification calls,
            or several; it can name some itself.
        weights: A safetensors file, an index of shards or a folder with either, in the place of
            what the specification names.
        config: A file of JSON or its values, in the place of the configuration that the
            specification has; by default the `config.json` in the folder of `weights`.

    Returns:
        The paths of `models` by entry, of `data` beside them, and of the files of `weights` that
        they name.

    Raises:
        DiagnosticError: With everything that is wrong.
    """
    from pathlib import Path  # noqa: PLC0415 - `import tripybuild` is for free

    from tripybuild.compiler.executable import is_executable  # noqa: PLC0415 - the same
    from tripybuild.compiler.export.export import (  # noqa: PLC0415 - the same
        ExportRequest,
        export_executable,
        export_spec,
    )
    from tripybuild.packages.libraries import (  # noqa: PLC0415 - the same
        model_libraries,
        register_packages,
    )

    path = Path(spec)
    request = ExportRequest(Path(output), opset, entry, embed)
    if is_executable(path):
        register_packages(registry)
        options = {"sizes": sizes, "weights": weights, "config": config}
        return export_executable(path, request, options)
    return export_spec(
        path,
        request,
        sizes=sizes,
        homes=model_libraries(registry, path),
        weights=None if weights is None else Path(weights),
        config=Path(config) if isinstance(config, str) else config,
    )


def generate(
    executable: Executable,
    prompts: Sequence[Sequence[int]],
    *,
    max_tokens: int | None = None,
    temperature: float = 0.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    seed: int = 0,
    stop: Sequence[int] = (),
    inputs: Mapping[str, object] | None = None,
    entry: str | None = None,
    prefill: str | None = None,
    context: int | None = None,
    tokens: str | None = None,
    position: str | None = None,
    scores: str | None = None,
) -> Generation:
    """Generate tokens with a decoder whose cache is its state.

    Args:
        executable: The decoder.
        prompts: Tokens to go on from, a list for each sequence of the batch.
        max_tokens: The most tokens to add to each; by default 128, or what the state has room for.
        temperature: 0 takes the token of the highest score; above it, tokens are drawn from the
            softmax of scores / temperature.
        top_k: Draw from so many tokens of the highest scores; None is all.
        top_p: Draw from the fewest tokens that together have this probability.
        seed: Where the random numbers begin.
        stop: Tokens that end a sequence; they are given, too.
        inputs: Further inputs of the decoder, the same in each call.
        entry: The entry that is called for each token, where there are several.
        prefill: The entry that is called for the prompts; by default `entry`.
        context: How many tokens the state has room for; by default the most that a call takes.
        tokens: The input that takes tokens `[B, S]`, where its type does not tell.
        position: The input that takes the position of the first of them, `[B]` or `[()]`.
        scores: The output with the scores of what follows, `[B, S, V]` or `[B, V]`.

    Returns:
        What gives, step by step, a list with the next token of each sequence, or None for each
        that has ended.

    Raises:
        DiagnosticError: The executable is no such decoder, or a prompt does not fit.
    """
    from tripybuild.compiler.generation import (  # noqa: PLC0415 - `import tripybuild` is for free
        Generation,
        Request,
        Roles,
    )
    from tripybuild.compiler.sampling import Sampling  # noqa: PLC0415 - the same

    sampling, roles = Sampling(temperature, top_k, top_p, seed), Roles(tokens, position, scores)
    request = Request(
        prompts, max_tokens, sampling, stop, inputs or {}, entry, prefill, context, roles
    )
    return Generation(executable, request)


def load(
    path: Path | str,
    *,
    registry: Registries = None,
    rebuild: bool = False,
    verify: Path | str | None = None,
) -> Executable:
    """Read an executable; every byte of it is checked against its digest.

    An executable holds native code, and a digest does not tell its origin: load what you trust,
    have its signature verified, or have it rebuilt.

    Args:
        path: The file.
        registry: The folder of the registry, or several, that its specification was compiled with:
            more sizes are compiled from its operators.
        rebuild: Whether to compile its programs anew, from the StableHLO that it holds, and to load
            none of its native code. Engines cannot be rebuilt.
        verify: A public key or a root certificate, as a PEM file: the signature beside the file
            must hold for it, before anything of the file is used.

    Raises:
        DiagnosticError: The file is no executable, is not signed with the key, or cannot be
            rebuilt, or something is wrong with the registry.
    """
    from tripybuild.compiler import executable  # noqa: PLC0415 - `import tripybuild` is for free

    if registry is not None:
        from tripybuild.packages.libraries import register_packages  # noqa: PLC0415 - the same

        register_packages(registry)
    return executable.load(path, rebuild=rebuild, verify=verify)

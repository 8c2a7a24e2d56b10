"""`tripybuild generate`: text from a decoder with state, token by token as it comes."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.cli.command import CommandResult, Json, command
from tripybuild.cli.commands.run import read_inputs
from tripybuild.cli.console import json_text
from tripybuild.cli.interrupts import native_call
from tripybuild.cli.options import InputFile, Rebuild, Registries, source
from tripybuild.cli.prompts import SequencePrinter, read_prompts
from tripybuild.process.phases import begin_phase, end_phase

if TYPE_CHECKING:
    from tripybuild.artifact.array_bytes import Array
    from tripybuild.compiler.executable import ExecutableEntry


@command
def generate_tokens(
    executable: Annotated[Path, typer.Argument(metavar="EXE", help="An executable with state.")],
    *,
    prompt_ids: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Tokens to go on from: .npy, .json, or text with a prompt on each line.",
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A text to go on from; needs --tokenizer."),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A tokenizer.json, to read and to print text."),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(metavar="N", help="The most tokens to generate.", show_default="128"),
    ] = None,
    temperature: Annotated[
        float, typer.Option(help="0 takes the best token; higher is more random.")
    ] = 0.0,
    top_k: Annotated[
        int | None, typer.Option(metavar="N", help="Choose among the N best tokens.")
    ] = None,
    top_p: Annotated[
        float, typer.Option(help="Choose among the best tokens of this probability together.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Where random numbers begin.")] = 0,
    stop: Annotated[
        list[int] | None, typer.Option(metavar="ID", help="A token that ends a text; repeatable.")
    ] = None,
    inputs: Annotated[
        list[InputFile] | None,
        typer.Option(
            "--input",
            metavar="NAME=FILE",
            parser=source,
            help="A further input of the decoder, the same in each call.",
        ),
    ] = None,
    entry: Annotated[
        str | None, typer.Option(metavar="NAME", help="The entry to call for each token.")
    ] = None,
    prefill: Annotated[
        str | None, typer.Option(metavar="NAME", help="The entry to call for the prompt.")
    ] = None,
    context: Annotated[
        int | None, typer.Option(metavar="N", help="How many tokens the state has room for.")
    ] = None,
    tokens: Annotated[
        str | None, typer.Option(metavar="NAME", help="The input that takes tokens.")
    ] = None,
    position: Annotated[
        str | None, typer.Option(metavar="NAME", help="The input that takes their position.")
    ] = None,
    scores: Annotated[
        str | None, typer.Option(metavar="NAME", help="The output with scores of what follows.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the new tokens as JSON.")
    ] = None,
    registry: Registries = None,
    rebuild: Rebuild = False,
    json: Json = False,
) -> CommandResult:
    """Generate tokens from a prompt, and print them as they come."""
    from tripybuild.compiler.executable import load  # noqa: PLC0415
    from tripybuild.compiler.generation import Generation, Request, Roles  # noqa: PLC0415
    from tripybuild.compiler.sampling import Sampling  # noqa: PLC0415

    if registry:
        from tripybuild.packages.libraries import register_packages  # noqa: PLC0415

        register_packages(registry)
    sampling = Sampling(temperature, top_k, top_p, seed)
    prompts, codec = read_prompts(prompt_ids, prompt or [], tokenizer)
    begin_phase("load the executable")
    loaded = load(executable, rebuild=rebuild)
    request = Request(
        prompts=prompts,
        max_tokens=max_tokens,
        sampling=sampling,
        stop=stop or (),
        inputs=_read(inputs or [], loaded.entry(entry), loaded.entry(prefill or entry)),
        entry=entry,
        prefill=prefill,
        context=context,
        roles=Roles(tokens, position, scores),
    )
    printer = SequencePrinter(len(prompts), codec, silent=json)
    times = [time.perf_counter()]
    with native_call():
        begin_phase("read the prompts")
        for step in Generation(loaded, request):
            end_phase()
            printer.add(step)
            times.append(time.perf_counter())
    printer.close()
    return _answer(prompts, printer, times, output)


def _read(
    sources: Sequence[InputFile], decode: "ExecutableEntry", prefill: "ExecutableEntry"
) -> dict[str, "Array"]:
    """The inputs of both entries; each is read as the one declares it that takes it."""
    first = [each for each in sources if each.name in {*prefill.inputs} - {*decode.inputs}]
    others = [each for each in sources if each not in first]
    return read_inputs(first, prefill) | read_inputs(others, decode)


def _answer(
    prompts: Sequence[Sequence[int]],
    printer: SequencePrinter,
    times: Sequence[float],
    output: Path | None,
) -> CommandResult:
    """What was generated, as data and in a sentence; written to a file, if there is one."""
    data: dict[str, object] = {
        "sequences": printer.sequences,
        "texts": printer.texts(),
        "prompt_seconds": round(times[1] - times[0], 6),
        "tokens_per_second": _rate(printer.sequences, times),
    }
    if output is not None:
        from tripybuild.process.atomic_write import atomic_write  # noqa: PLC0415

        with atomic_write(output) as stream:
            stream.write(f"{json_text(data)}\n".encode())
        data["path"] = output.as_posix()
    return CommandResult(remark=_remark(prompts, printer.sequences, times, output), data=data)


def _rate(sequences: Sequence[Sequence[int]], times: Sequence[float]) -> float | None:
    """Tokens in a second behind the first step, which reads the prompts."""
    later = sum(len(each) - 1 for each in sequences)
    return round(later / (times[-1] - times[1]), 3) if later else None


def _remark(
    prompts: Sequence[Sequence[int]],
    sequences: Sequence[Sequence[int]],
    times: Sequence[float],
    output: Path | None,
) -> str:
    made, read = sum(map(len, sequences)), sum(map(len, prompts))
    text = f"Generated {made} tokens: {read} of the prompt in {times[1] - times[0]:.2f} s"
    if (rate := _rate(sequences, times)) is not None:
        text += f", then {rate:.1f} tokens/s"
    return text if output is None else f"{text}\nWrote `{output}`"

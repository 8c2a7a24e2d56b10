"""`tripybuild trace`: prints the graph of a Python function."""

from pathlib import Path
from typing import Annotated

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.commands.compile import FORMS, form, write_stage_text
from tripybuild.cli.options import Inputs
from tripybuild.cli.usage_errors import wrong_argument


@command
def trace_function(
    function: Annotated[
        str,
        typer.Argument(
            metavar="FILE.py:FUNCTION", help="The file, and a function or a module in it."
        ),
    ],
    *,
    inputs: Inputs = None,
    emit: Annotated[
        str, typer.Option(parser=form, metavar=FORMS, help="The form to print.")
    ] = "trace",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Output file."),
    ] = None,
) -> CommandResult:
    """Print the graph of a Python function.

    This runs the Python file, with all that it does: trace only files that you would run.

    What the function takes is said by --input, by annotations (`x: "float32[2,3]"`, or an
    InputInfo), or by `args` and `kwargs` in the file.
    """
    from tripybuild.cli.function_reference import program, record_program  # noqa: PLC0415
    from tripybuild.compiler import session  # noqa: PLC0415

    asked = program(function)
    if asked is None:
        message = f"`{function}` names no function of a Python file"
        hint = "write `model.py:forward`; `tripybuild compile --emit trace` shows specs"
        raise wrong_argument(message, hint)
    text = session.emit_graph(record_program(asked, inputs or []).compiler_input, emit)
    return write_stage_text(text, emit, output)

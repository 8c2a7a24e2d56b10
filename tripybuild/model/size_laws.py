"""Laws about the sizes of a file: `requires:` at the top of a model, and of a file that it uses."""

import ast
from collections.abc import Mapping

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.checks.messages import law_message
from tripybuild.language.names import free_names
from tripybuild.language.records import Record
from tripybuild.language.syntax import walk
from tripybuild.model.context import BuildContext, NonterminationError
from tripybuild.schema.operator.operator import Requirement, Snippet
from tripybuild.symbolic.conditions import Condition
from tripybuild.trace.operation import Law
from tripybuild.types.dtypes import BY_NAME


def check_size_laws(
    context: BuildContext,
    owner: str,
    laws: Mapping[str, Requirement],
    names: Mapping[str, object],
) -> None:
    """Hold the sizes of a file against its laws; what is broken is kept in the context.

    Args:
        context: The build.
        owner: The file, as the codes of its laws name it.
        laws: The laws by name.
        names: The sizes and dtypes.
    """
    known = {**BY_NAME, **names}
    for law in laws.values():
        try:
            with context.at(law.that, law.name):
                holds = context.evaluate(law.that, known)
        except NonterminationError:
            raise
        except DiagnosticError as error:
            context.report(error)
            continue
        if isinstance(holds, Condition):
            message = f"whether `{law.that.text}` holds is known only when the model runs"
            hint = "`ranges:` says what a dynamic size can be, such as `{multiple_of: 8}`"
            found = Diagnostic("undecided-size", message, law.that.span(), hint=hint)
            context.report(DiagnosticError(found))
        elif not isinstance(holds, bool):
            message = f"`{law.that.text}` must be true or false, but is {holds!r}"
            context.report(DiagnosticError(Diagnostic("wrong-type", message, law.that.span())))
        elif not holds:
            spoken = Law(law.that.text, law.message)
            message, label = law_message(owner, spoken, read_values(law.that, known))
            found = Diagnostic(
                f"{owner}/{law.name}", message, law.that.span(), label, hint=law.hint
            )
            context.report(DiagnosticError(found))


def read_values(snippet: Snippet, names: Mapping[str, object]) -> dict[str, object]:
    """What an expression reads, and its value: `text.width`, and not the whole of a record."""
    found: dict[str, object] = {}
    free = set(free_names(snippet.program))
    for node in walk(snippet.program.result):
        path, value = _read(node, free, names)
        if path and not isinstance(value, Record):
            found[path] = value
    return found


def _read(node: ast.AST, free: set[str], names: Mapping[str, object]) -> tuple[str | None, object]:
    """The path and the value of a name, or of what is in a record; no path for all else."""
    if isinstance(node, ast.Name) and node.id in free and node.id in names:
        return node.id, names[node.id]
    if isinstance(node, ast.Attribute):
        path, value = _read(node.value, free, names)
        if path and isinstance(value, Record) and node.attr in value:
            return f"{path}.{node.attr}", value[node.attr]
    return None, None

"""Scopes of used files: their sizes and dtypes, and those that the using file hands over.

Invariant: a used file that is handed something over has a scope for that use alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.language.records import Record
from tripybuild.model.config import CONFIG, ConfigChoice, plain_values, read_config
from tripybuild.model.context import BuildContext, FileScope, NonterminationError
from tripybuild.model.size_laws import check_size_laws
from tripybuild.model.size_types import SizeTypeError, fit_size
from tripybuild.model.size_values import read_sizes
from tripybuild.schema.model.model import DEFAULT_VARIABLE, Definitions
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import ValuePattern


def type_variables(types: Mapping[str, str]) -> dict[str, dtype]:
    """The type variables of a file."""
    given = {DEFAULT_VARIABLE: "float32", **types}
    return {name: BY_NAME[text] for name, text in given.items()}


def open_file(context: BuildContext, file: Definitions) -> None:
    """Give a used file its sizes and dtypes; what is wrong with them is kept in the context."""
    types, sizes = type_variables(file.types), dict[str, Any]()
    scope = FileScope(sizes, types, {**file.define, **file.includes})
    context.open_scope(file.document, scope)
    if file.bound and context.found:  # what is handed over may be what has no value
        return
    try:
        chosen = _bound_values(context, file, types)
        given = chosen.pop(CONFIG, None) if file.config is not None else None
        choice = ConfigChoice(plain_values(given) if isinstance(given, Record) else None)
        if found := read_config(file.document, file.config, choice):
            sizes[CONFIG] = found.record
    except NonterminationError:
        raise
    except DiagnosticError as error:
        context.report(error)
        return
    problems = len(context.found)
    user = (f"used by {file.user.span(file.use, key=True)}",) if file.user else ()
    read_sizes(context, file.document, file.sizes, types, sizes, chosen)
    if problems == len(context.found):
        owner = Path(file.name).stem
        check_size_laws(context, owner, file.laws, {**types, **sizes})
    new = context.found[problems:]
    context.found[problems:] = [replace(each, notes=(*each.notes, *user)) for each in new]


def add_reach_hints(
    error: DiagnosticError, files: Sequence[Definitions], chosen: Iterable[str]
) -> DiagnosticError:
    """Say of dtypes that do not fit that a caller's choice did not reach the files that are used.

    Args:
        error: What is wrong with a model.
        files: What it uses.
        chosen: The sizes and type variables that the caller chose.
    """
    for name in chosen:
        left = [f.name for f in files if name in type_variables(f.types) and name not in f.bound]
        if left:
            reached = f"`--set {name}=...` does not reach `{left[0]}`"
            hint = f"{reached}: hand it over by `with: {{{name}: {name}}}`"
            found = [
                replace(each, hint=hint) if each.code == "dtype-mismatch" else each
                for each in error.diagnostics
            ]
            return DiagnosticError(*found)
    return error


def _bound_values(
    context: BuildContext, file: Definitions, types: dict[str, dtype]
) -> dict[str, object]:
    """The sizes that are handed over; dtypes take their places among the file's.

    Raises:
        DiagnosticError: With all that cannot be handed over.
    """
    if file.user is None:
        return {}
    outer = context.file_scope(file.user)
    known = {**BY_NAME, **outer.types, **outer.sizes}
    own_names = [*file.sizes, *([CONFIG] if file.config is not None else [])]
    sizes: dict[str, object] = {}
    found: list[Diagnostic] = []
    for name, snippet in file.bound.items():
        place = file.user.span((*file.use, "with", name), key=True)
        if name not in types and name not in own_names:
            near = suggest(name, [*own_names, *types])
            own = ", ".join(f"`{each}`" for each in (*own_names, *types))
            hint = f"did you mean `{near}`?" if near else f"it has {own}"
            message = f"`{file.name}` has no size and no dtype `{name}`"
            found.append(Diagnostic("unknown-size", message, place, hint=hint))
            continue
        try:
            with context.at(snippet, name):
                value = context.evaluate(snippet, known)
            if name in types:
                types[name] = fit_size(ValuePattern("dtype"), value)
            elif name == CONFIG:
                sizes[name] = fit_size(ValuePattern("record"), value)
            else:
                sizes[name] = value
        except NonterminationError:
            raise
        except SizeTypeError as error:
            message = f"`{name}` of `{file.name}` {error}"
            found.append(Diagnostic("wrong-value", message, snippet.span(), hint=error.hint))
        except DiagnosticError as error:
            found += error.diagnostics
    if found:
        raise DiagnosticError(*found)
    return sizes

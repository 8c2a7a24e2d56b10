"""Entries of a model: their names, and which of them is meant.

An entry is a function of a model. A model without `entries:` has one, which has no name.
"""

from collections.abc import Mapping
from typing import TypeVar

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest

UNNAMED = ""  # the entry of a model without `entries:`
# The public attributes of executables and of their sessions: there, `.NAME` would not be the entry.
ATTRIBUTES = frozenset(
    {
        *("add_members", "constants", "entries", "entry", "entry_type", "inputs", "manifest"),
        *("measured", "member", "members", "of", "outputs", "read", "record", "run", "save"),
        *("signature", "start", "state", "target", "warnings", "weights"),
    }
)

Found = TypeVar("Found")


def find_entry(entries: Mapping[str, Found], name: str | None, model: str) -> Found:
    """The entry of a name, or for None the only one.

    Raises:
        DiagnosticError: There is no such entry, or several of which none is named.
    """
    if name is None and len(entries) == 1:
        return next(iter(entries.values()))
    if name is not None and name in entries:
        return entries[name]
    names = [each for each in entries if each != UNNAMED]
    listed = ", ".join(f"`{each}`" for each in names)
    if name is None:
        message = f"`{model}` has the entries {listed}: say which of them"
        hint = f"in Python `executable.{names[0]}(...)`, in the command line `--entry {names[0]}`"
    elif not names:
        message, hint = f"`{model}` has no entry `{name}`", "it has one, which has no name"
    else:
        near = suggest(name, names)
        message = f"`{model}` has no entry `{name}`"
        hint = f"did you mean `{near}`?" if near else f"the entries are {listed}"
    raise DiagnosticError(Diagnostic("unknown-entry", message, hint=hint))


def entry_label(model: str, name: str) -> str:
    """What messages call an entry: `whisper.decode`."""
    return f"{model}.{name}" if name else model

"""Entries of a model: their names, and which of them is meant.

An entry is a function of a model. A model without `entries:` has one, which has no name.
"""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.schema.files import ModelFile

UNNAMED = ""  # the entry of a model without `entries:`
# What an entry has for itself, and a file without `entries:` says at its top.
OWN_KEYS = ("inputs", "steps", "next", "outputs")
# The public attributes of `compiler.executable.Executable`: `exe.NAME` would not be the entry.
ATTRIBUTES = frozenset(
    {
        *("constants", "entries", "entry", "entry_type", "inputs", "manifest", "measured"),
        *("member", "members", "of", "outputs", "save", "signature", "start", "state", "target"),
        *("warnings", "weights"),
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


def missing_keys(document: Document) -> Iterator[Diagnostic]:
    """What a model's file lacks that has no entries."""
    data = document.data if isinstance(document.data, dict) else {}
    if "model" in data and "entries" not in data:
        for key in ("inputs", "outputs"):
            if key not in data:
                message, label = f"`{key}` is missing", f"needs `{key}`"
                yield Diagnostic("missing-key", message, document.span(()), label)


def check_entries(file: ModelFile, document: Document) -> Iterator[Diagnostic]:
    """What is wrong with the entries of a model's file, but for what stands in them."""
    if not file.entries:
        return
    for key in OWN_KEYS:
        if key in file.model_fields_set:
            message = f"`{key}` stands beside `entries`, which have their own"
            hint = "write it below an entry"
            yield Diagnostic("unknown-key", message, document.span((key,), key=True), hint=hint)
    folded: dict[str, str] = {}
    for name, entry in file.entries.items():
        span = document.span(("entries", name), key=True)
        if name in ATTRIBUTES:
            message = f"`{name}` cannot be the name of an entry: executables have an attribute"
            yield Diagnostic("bad-name", f"{message} of this name", span)
        other = folded.setdefault(name.lower(), name)
        if other != name:
            message = f"`{name}` cannot be the name of an entry beside `{other}`"
            hint = "not all file systems tell capital letters from small ones"
            yield Diagnostic("bad-name", message, span, hint=hint)
        if not entry.outputs and not entry.next:
            message = f"the entry `{name}` has no outputs"
            yield Diagnostic("missing-key", message, span, hint="it gives nothing: add `outputs`")

"""Checks of a model's entries: their names, and what stands beside them."""

from collections.abc import Iterator

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.schema.files import ModelFile
from tripybuild.schema.model.entry_points import ATTRIBUTES

# What an entry has for itself, and a file without `entries:` says at its top.
OWN_KEYS = ("inputs", "steps", "next", "outputs")


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

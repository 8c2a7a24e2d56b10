"""Pages of error codes: what each means, an example of it, and its repair."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from textwrap import indent
from typing import Any

from tripybuild.errors.codes import CODES

FILE, HEAD = "tiny.yaml", "tripybuild: 1\nmodel: tiny\n"
OPERATOR_FILE = "mine/double.yaml"
OPERATOR_HEAD = """\
tripybuild: 1
op: double
doc: Double each value.
types: {T: [float32, int32]}
inputs:
  input: {type: "T[*S]", doc: The values.}
outputs:
  output: {type: "T[*S]", doc: The results.}
"""
# Where a text stands that has no name, and what is above it, by its key and that of its repair.
HEADS = {
    ("spec", "right"): (FILE, HEAD),
    ("op", "right"): (OPERATOR_FILE, OPERATOR_HEAD),
    ("python", "right"): ("tiny.py", ""),
}
CHECK = "tripybuild check {}"
PLAIN = 'inputs: {x: "float32[B, 4]"}\noutputs: {y: relu(x)}\nranges: {B: {min: 1, max: 8}}\n'


@dataclass(frozen=True, slots=True)
class CodePage:
    """What is known of a code.

    Args:
        code: The code.
        meaning: What it means, in a sentence.
        repair: How its cause is mended.
        cause: How it comes about, where no file and no command bring it about everywhere.
        command: A command that fails with it, maybe behind others and `&&`.
        files: The files that the command needs, by name.
        repaired: What stands in them when it is mended, where they change.
        then: A command that has it no more; without one, the example is not mended in files.
    """

    code: str
    meaning: str
    repair: str
    cause: str | None = None
    command: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    repaired: dict[str, str] = field(default_factory=dict)
    then: str | None = None

    def lines(self) -> Iterator[str]:
        """The page for a terminal."""
        yield from (self.code, "", f"  {self.meaning}", "", "repair", f"  {self.repair}")
        if self.cause is not None:
            yield from ("", "cause", f"  {self.cause}")
        if self.command is not None:
            yield from ("", "example", *_texts(self.files), f"  $ {self.command}")
        if self.then is not None:
            yield from ("", "repaired", *_texts(self.repaired), f"  $ {self.then}")


def read_page(code: str) -> CodePage:
    """The page of a code."""
    from tripybuild.documents.document import parse  # noqa: PLC0415 - PyYAML

    place = resources.files("tripybuild.errors") / "examples.yaml"
    document, _ = parse(place.read_text(encoding="utf-8"), "examples.yaml")
    entries: Any = document.data if document else {}
    entry: dict[str, Any] = entries[code]
    if "cause" in entry or len(entry) == 1:
        return CodePage(code, CODES[code], entry["repair"], entry.get("cause"))
    files, repaired, main = dict(entry.get("files", {})), dict(entry.get("repaired", {})), FILE
    for (wrong, right), (name, head) in HEADS.items():
        if wrong in entry:
            files[name], main = head + entry[wrong], name
            repaired |= {name: head + entry[right]} if right in entry else {}
    files = files or {FILE: HEAD + PLAIN}
    command = entry.get("command", CHECK.format(main))
    then = entry.get("then", command if repaired else None)
    return CodePage(code, CODES[code], entry["repair"], None, command, files, repaired, then)


def _texts(files: dict[str, str]) -> Iterator[str]:
    for name, text in files.items():
        yield f"  {Path(name)}:"
        yield indent(text.rstrip("\n"), "    ")

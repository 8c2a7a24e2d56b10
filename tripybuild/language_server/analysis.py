"""Analysis of one text: what it declares, its names and its keys, also where it does not parse.

It takes milliseconds and builds nothing; what only a build tells is in `findings`. A text that is
no YAML is read without the lines that the reader stumbles over.
"""

import re
from functools import cached_property, lru_cache
from pathlib import Path

from tripybuild.documents.document import LARGEST_FILE, Document, parse
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.errors.limits import within_budget
from tripybuild.language_server.occurrences import NameIndex
from tripybuild.language_server.source_text import SourceText
from tripybuild.schema.kinds import DEFINE, KINDS, REGISTRY_KINDS, TARGETS

HEADER = re.compile(r"^(?:tripybuild|op)[ ]*:", re.MULTILINE)
SCHEMA = re.compile(r"^#[ ]*yaml-language-server:[ ]*\$schema=(\S+)", re.MULTILINE)
SCHEMA_NAMES = {"operator": "op", "definitions": DEFINE}
TOP_KEY = re.compile(r"^([A-Za-z_]+)[ ]*:", re.MULTILINE)
MOST_REPAIRS = 12


def kind_of_text(text: str) -> str | None:
    """What a file declares, a key of `KINDS`, or None where it is none of ours.

    A file is ours by its key `tripybuild:` or `op:`, or by the schema that its comment names.
    """
    named = SCHEMA.search(text)
    stem = Path(named[1]).stem if named and "schemas" in named[1] else ""
    stem = SCHEMA_NAMES.get(stem, stem)
    if not HEADER.search(text) and stem not in KINDS:
        return None
    keys = TOP_KEY.findall(text)
    declared = [kind for kind in KINDS if kind in keys and kind not in (TARGETS, DEFINE)]
    weak = [kind for kind in (TARGETS, DEFINE) if kind in keys]
    return next(iter([*declared, *([stem] if stem in KINDS else []), *weak]), "model")


class Analysis:
    """What one version of a file says by itself.

    Args:
        path: The file, as the documents of its build have it.
        text: Its text.
        encoding: What the client counts in.
    """

    def __init__(self, path: Path, text: str, encoding: str = "utf-16") -> None:
        self.path, self.text = path, text
        self.source = SourceText(text, encoding)
        self.kind = kind_of_text(text)

    @property
    def is_declaration(self) -> bool:
        """Whether it is a file of a registry, not a spec."""
        return self.kind in REGISTRY_KINDS

    @cached_property
    def parsed(self) -> tuple[Document | None, list[Diagnostic]]:
        """The document of exactly this text, and what is wrong with it."""
        with within_budget():
            return parse(self.text, self.path.as_posix())

    @cached_property
    def document(self) -> Document:
        """The document, without the lines that make the text no YAML."""
        document, problems = self.parsed
        text = self.text.removeprefix("\ufeff")
        lines = list(self.source.lines)
        for _ in range(MOST_REPAIRS):
            if document is not None and document.data is not None:
                break
            rows = sorted({each.span.line - 1 for each in problems if each.span})
            if not rows or len(text) > LARGEST_FILE:
                break
            row = min(rows[0], len(lines) - 1)
            while row >= 0 and not lines[row].strip():
                row -= 1
            if row < 0:
                break
            lines[row] = ""
            with within_budget():
                document, problems = parse("\n".join(lines), self.path.as_posix())
        if document is None:
            document, _ = parse("", self.path.as_posix())
            assert document is not None
        return document

    @cached_property
    def names(self) -> NameIndex:
        """The names of the file."""
        return NameIndex(self.document, self.kind or "model")


@lru_cache(maxsize=64)
def analyze(path: Path, text: str, encoding: str = "utf-16") -> Analysis:
    """The analysis of a text, made once."""
    return Analysis(path, text, encoding)

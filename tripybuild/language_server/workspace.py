"""Workspace: the open files of a client, what was found out about each, and what all share.

The thread of the protocol changes texts and reads findings; one other thread builds. A build is of
the texts as they were when it began, and its findings are kept for the version that it read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tripybuild.documents.composer import Location
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.language_server.analysis import Analysis, analyze
from tripybuild.language_server.catalog import Catalog, catalog_of
from tripybuild.language_server.findings import Findings, find, type_text, variables_at
from tripybuild.language_server.names import entries
from tripybuild.process.memory import is_out_of_memory
from tripybuild.schema.files import WeightsEntry
from tripybuild.schema.model.file_references import is_inside
from tripybuild.weights.files import CheckpointFiles, open_checkpoint

MOST_WEIGHTS = 100_000


def path_of(uri: str) -> Path | None:
    """The file of a URI; what is of another scheme, as an unnamed buffer, has none."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return None
    text = unquote(parts.path)
    return Path(text[1:] if text[2:3] == ":" else text)  # `/C:/...` of Windows


def uri_of(path: Path) -> str:
    """The URI of a file."""
    return path.absolute().as_uri()


@dataclass
class EditedFile:
    """A file that a client has open.

    Args:
        uri: What the client calls it.
        path: Where it is.
        analysis: Its text.
        version: The client's number of that text.
        findings: Of the last build; None before the first.
        last_types: Of the last build that came to steps.
    """

    uri: str
    path: Path
    analysis: Analysis
    version: int = 0
    findings: Findings | None = None
    last_types: Findings | None = None

    def values(self, location: Location) -> list[object]:
        """What a build said of a place: of the newest one that came so far."""
        for each in (self.findings, self.last_types):
            if each is not None and (found := each.seen(self.path, location)):
                return found
        return []

    def types(self, location: Location) -> list[str]:
        """The types that a place has, each as the file would write it."""
        variables = variables_at(self.analysis.document, location)
        found = (each for each in self.values(location) if not isinstance(each, str))
        return list(dict.fromkeys(type_text(each, variables) for each in found))

    def is_current(self) -> bool:
        """Whether the findings are of the text that is shown."""
        return self.findings is not None and self.findings.text == self.analysis.text


@dataclass
class Workspace:
    """All open files."""

    encoding: str = "utf-16"
    files: dict[str, EditedFile] = field(default_factory=dict)

    def set_text(self, uri: str, text: str, version: int) -> EditedFile | None:
        """Take a new text of a file; None where it is no file of ours."""
        path = path_of(uri)
        if path is None:
            return None
        analysis = analyze(path, text, self.encoding)
        file = self.files.get(uri)
        if file is None:
            file = self.files[uri] = EditedFile(uri, path, analysis, version)
        file.analysis, file.version = analysis, version
        return file

    def close(self, uri: str) -> None:
        """Forget a file."""
        self.files.pop(uri, None)

    def get(self, uri: str) -> EditedFile | None:
        """An open file of ours."""
        file = self.files.get(uri)
        return file if file is not None and file.analysis.kind is not None else None

    def texts(self) -> dict[Path, str]:
        """The texts of the open files."""
        return {each.path: each.analysis.text for each in self.files.values()}

    def users_of(self, path: Path) -> Iterator[EditedFile]:
        """The open files that may depend on another one: specs, which use files and registries."""
        for file in self.files.values():
            if file.path != path and not file.analysis.is_declaration and file.analysis.kind:
                yield file

    def keep(self, uri: str, findings: Findings) -> EditedFile | None:
        """Keep what a build found; None where the file is closed."""
        file = self.files.get(uri)
        if file is not None:
            file.findings = findings
            if findings.values:
                file.last_types = findings
        return file


def analysis_findings(analysis: Analysis, texts: dict[Path, str]) -> Findings:
    """What a build finds; where memory ends, that is not known."""
    try:
        return find(analysis, texts)
    except (MemoryError, RecursionError) as error:
        if not is_out_of_memory(error) and not isinstance(error, RecursionError):
            raise
        return Findings(analysis.text)


def catalog_for(analysis: Analysis) -> Catalog:
    """The operators that a file can call."""
    named = entries(analysis.document.data).get("registry")
    names = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    here = analysis.path.parent
    folders = [here / each for each in names if isinstance(each, str)]
    return catalog_of([each for each in folders if each.is_dir() and is_inside(each, here)])


@lru_cache(maxsize=16)
def _open(entry: str, folder: Path, _state: int) -> CheckpointFiles | None:
    parsed = WeightsEntry.model_validate_json(entry)
    document = analyze(folder, "").document
    try:
        return open_checkpoint(parsed, folder, document.span(()))
    except DiagnosticError:
        return None


def checkpoint_of(analysis: Analysis) -> tuple[WeightsEntry, CheckpointFiles] | None:
    """The files of weights that a spec names, by their headers; None where they are not there."""
    named = entries(analysis.document.data).get("weights")
    data = {"file": named} if isinstance(named, (str, list)) else named
    if not isinstance(data, dict):
        return None
    try:
        wanted = {k: data[k] for k in ("file", "package", "prefix", "rename") if k in data}
        entry = WeightsEntry.model_validate(wanted)
    except ValueError:
        return None
    first = entry.file if isinstance(entry.file, str) else entry.file[0]
    path = analysis.path.parent / first
    try:
        state = path.stat().st_mtime_ns
    except (OSError, ValueError):
        state = 0
    found = _open(entry.model_dump_json(), analysis.path.parent, state)
    return None if found is None else (entry, found)

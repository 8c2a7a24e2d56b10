"""`tripybuild.yaml`: found above the current folder, read, and its specs by name.

Invariant: what a workspace names is in its folder or below. No path of it, and no link, leads
anywhere else.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tripybuild.documents.document import Document, Reader, read
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.errors.limits import first_problems
from tripybuild.schema.model.file_references import (
    escape_reason,
    outside_diagnostic,
    path_exists,
)
from tripybuild.schema.validate import validate
from tripybuild.schema.workspace_files import WorkspaceFile

FILE = "tripybuild.yaml"
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
PATTERN = re.compile(r"[*?\[]")
MOST_SPECS = 10_000


@dataclass(frozen=True, slots=True)
class SpecPlace:
    """A spec of a workspace: its path below the folder, and where the workspace names it."""

    path: str
    span: Span


@dataclass(frozen=True, slots=True)
class BuildWorkspace:
    """A workspace that was read.

    Args:
        root: Its folder.
        document: Its file.
        file: What that says.
        specs: The specs by name, in order.
    """

    root: Path
    document: Document
    file: WorkspaceFile
    specs: Mapping[str, SpecPlace]


def find_workspace(start: Path) -> Path:
    """The workspace's file in a folder or the nearest above it; a file is itself.

    Raises:
        DiagnosticError: There is none.
    """
    if path_exists(start):
        return start
    if not path_exists(start, folder=True):
        message = f"there is no folder `{start}`"
        raise DiagnosticError(Diagnostic("workspace-not-found", message))
    here = Path(os.path.abspath(start))  # noqa: PTH100 - a link's own parents count
    for folder in (here, *here.parents):
        if path_exists(folder / FILE):
            return Path(os.path.relpath(folder / FILE))
    message = f"there is no `{FILE}` in `{start}`, or in a folder above it"
    hint = "write one, as docs/workspace.md shows, or name its folder by `-C`"
    raise DiagnosticError(Diagnostic("workspace-not-found", message, hint=hint))


def read_workspace(path: Path, reader: Reader = read) -> BuildWorkspace:
    """Read a workspace's file, and find its specs.

    Args:
        path: The file.
        reader: Gives its document.

    Raises:
        DiagnosticError: With all that is wrong with it.
    """
    document, found = reader(path)
    if document is None or found:
        raise DiagnosticError(*first_problems(found))
    file, found = validate(document, WorkspaceFile)
    if file is None or found:
        raise DiagnosticError(*first_problems(found))
    problems: list[Diagnostic] = []
    root = path.parent
    if (how := escape_reason(root, file.outputs)) is not None:
        message = f"`{file.outputs}` {how} the folder of this file"
        problems.append(outside_diagnostic(message, document.span(("outputs",)), folder=True))
    specs = _find_specs(document, file, root, problems)
    if problems:
        raise DiagnosticError(*first_problems(problems))
    return BuildWorkspace(root, document, file, specs)


def _find_specs(
    document: Document, file: WorkspaceFile, root: Path, problems: list[Diagnostic]
) -> Mapping[str, SpecPlace]:
    found: dict[str, SpecPlace] = {}
    if isinstance(file.specs, dict):
        for name, path in file.specs.items():
            span = document.span(("specs", name))
            problems += _problems_of(root, path, span)
            found[name] = SpecPlace(Path(path).as_posix(), span)
        return found
    for index, pattern in enumerate(file.specs):
        span = document.span(("specs", index))
        for path in _matches(root, pattern, span, problems):
            name = Path(path).stem
            before = found.setdefault(name, SpecPlace(path, span))
            if before.path != path:
                message = f"`{before.path}` and `{path}` are both called `{name}`"
                hint = f"give them names of their own: `specs: {{{name}: {before.path}, ...}}`"
                problems.append(Diagnostic("given-twice", message, span, hint=hint))
            elif LABEL.fullmatch(name) is None:
                message = f"`{name}` cannot be the name of a spec"
                hint = f"give `{path}` a name: `specs: {{NAME: {path}}}`"
                problems.append(Diagnostic("bad-name", message, span, hint=hint))
    return dict(sorted(found.items()))


def _matches(root: Path, pattern: str, span: Span, problems: list[Diagnostic]) -> Iterator[str]:
    """The paths that a pattern is of; what is wrong with it is kept."""
    if PATTERN.search(pattern) is None:
        problems += _problems_of(root, pattern, span)
        yield Path(pattern).as_posix()
        return
    given = Path(pattern)
    if given.is_absolute() or ".." in given.parts:
        message = f"`{pattern}` leads out of the folder of this file"
        problems.append(outside_diagnostic(message, span))
        return
    if any("**" in each and each != "**" for each in given.parts):  # Pythons differ in it
        message = f"`{pattern}` is no pattern: `**` stands alone between two `/`"
        hint = "`specs/**/*.yaml` is all files below `specs`"
        problems.append(Diagnostic("wrong-value", message, span, hint=hint))
        return
    paths = sorted(each for each in root.glob(pattern) if path_exists(each))
    if not paths:
        hint = f"it is looked for below `{root}`"
        problems.append(Diagnostic("file-not-found", f"no file is `{pattern}`", span, hint=hint))
    if len(paths) > MOST_SPECS:
        message = f"`{pattern}` is {len(paths):,} files, and a workspace has at most {MOST_SPECS:,}"
        problems.append(Diagnostic("yaml-too-large", message, span))
        return
    for path in paths:
        name = path.relative_to(root).as_posix()
        if (how := escape_reason(root, name)) is None:
            yield name
        else:
            message = f"`{name}` {how} the folder of this file"
            problems.append(outside_diagnostic(message, span))


def _problems_of(
    root: Path, name: str, span: Span, *, folder: bool | None = False
) -> Iterator[Diagnostic]:
    """What is wrong with a path that a workspace names; `folder` of None is either."""
    if (how := escape_reason(root, name)) is not None:
        message = f"`{name}` {how} the folder of this file"
        yield outside_diagnostic(message, span, folder=bool(folder))
        return
    kinds = (False, True) if folder is None else (folder,)
    if not any(path_exists(root / name, folder=each) for each in kinds):
        what = {False: "file", True: "folder", None: "file or folder"}[folder]
        yield Diagnostic("file-not-found", f"there is no {what} `{name}`", span)


def check_paths(workspace: BuildWorkspace) -> list[Diagnostic]:
    """What is wrong with the paths that builds name."""
    found: list[Diagnostic] = []
    for name, entry in workspace.file.builds.items():
        named = [("weights", entry.weights, None), ("config", entry.config, False)]
        for key, path, folder in named:
            if path is not None:
                span = workspace.document.span(("builds", name, key))
                found += _problems_of(workspace.root, path, span, folder=folder)
        for index, path in enumerate(entry.registry):
            span = workspace.document.span(("builds", name, "registry", index))
            found += _problems_of(workspace.root, path, span, folder=True)
    return found


def has_test(path: Path) -> bool:
    """Whether a spec says how it is tested."""
    document, _ = read(path)
    return document is not None and isinstance(document.data, dict) and "test" in document.data

"""The matrix of a workspace: each combination of spec, sizes, dtype and target, and its output."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from string import Formatter
from typing import Any

from tripybuild.documents.composer import Location
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.errors.limits import first_problems
from tripybuild.schema.model.file_references import escape_reason, outside_diagnostic
from tripybuild.schema.workspace_files import ExclusionEntry, SpecTestsEntry, WorkspaceBuildEntry
from tripybuild.targets.table import DEFAULT, SUFFIX, parse_target
from tripybuild.workspace.jobs import Action
from tripybuild.workspace.workspace_file import BuildWorkspace, check_paths

FIELDS = ("build", "spec", "sizes", "dtype", "target")
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
MOST = 100_000


@dataclass(frozen=True, slots=True)
class Combination:
    """What one job is for.

    Args:
        name: Unique; of a build, its output below the workspace's outputs, without the suffix.
        action: What is done.
        build: The build, or the entry of `tests:`.
        spec: The name of the spec.
        sizes: The set of sizes; None is the spec's own.
        dtype: The dtype of `F`; None is the spec's own.
        target: The target.
        output: The path of the executable below the workspace's folder; of a test, none.
        span: Where the workspace says it.
    """

    name: str
    action: Action
    build: str
    spec: str
    sizes: str | None
    dtype: str | None
    target: str
    output: str
    span: Span

    def is_named(self, pattern: str) -> bool:
        """Whether a user's word is for it: a build, a spec or a whole name; `*` is any letters."""
        return any(fnmatchcase(each, pattern) for each in (self.name, self.build, self.spec))


def all_builds(workspace: BuildWorkspace) -> list[Combination]:
    """What a workspace builds, in the order of its file.

    Raises:
        DiagnosticError: With all names that are unknown, outputs that two share or that are
            elsewhere, and builds that need each other.
    """
    found = check_paths(workspace)
    found += _cycles(workspace)
    made: list[Combination] = []
    for name, entry in workspace.file.builds.items():
        made += _combinations(workspace, name, entry, found)
    if len(made) > MOST:
        message = f"the workspace has {len(made):,} combinations, and may have {MOST:,}"
        found.append(Diagnostic("yaml-too-large", message, workspace.document.span(("builds",))))
    found += _shared_outputs(made)
    if found:
        raise DiagnosticError(*first_problems(found))
    return made


def all_tests(workspace: BuildWorkspace, tested: Sequence[str]) -> list[Combination]:
    """What a workspace tests.

    Args:
        workspace: The workspace.
        tested: The specs that have a `test:`.

    Raises:
        DiagnosticError: With all names that are unknown.
    """
    declared = workspace.file.tests
    entries = declared or {}
    if declared is None:
        targets = [each for e in workspace.file.builds.values() for each in e.targets or [DEFAULT]]
        entries = {"tests": SpecTestsEntry(targets=list(dict.fromkeys(targets)) or None)}
    found: list[Diagnostic] = []
    made: dict[str, Combination] = {}
    for name, entry in entries.items():
        for each in _combinations(workspace, name, entry, found):
            if each.spec in tested:
                made.setdefault(each.name, each)
    if found:
        raise DiagnosticError(*first_problems(found))
    return list(made.values())


def select(
    made: Sequence[Combination], names: Sequence[str], workspace: BuildWorkspace
) -> list[Combination]:
    """Those that a user names, and all that they need; without names, all.

    Raises:
        DiagnosticError: A name is of none.
    """
    found = []
    for name in names:
        if not any(each.is_named(name) for each in made):
            known = sorted({n for each in made for n in (each.build, each.spec, each.name)})
            near = suggest(name, known)
            builds = ", ".join(f"`{each}`" for each in dict.fromkeys(e.build for e in made))
            hint = f"did you mean `{near}`?" if near else f"there are {builds}"
            message = f"nothing of the workspace is called `{name}`"
            found.append(Diagnostic("unknown-build", message, hint=hint))
    if found:
        raise DiagnosticError(*found)
    wanted = {e.name for e in made if not names or any(e.is_named(name) for name in names)}
    needed = {b for e in made if e.name in wanted for b in needed_builds(workspace, e.build)}
    return [each for each in made if each.name in wanted or each.build in needed]


def shard(made: Sequence[Combination], index: int, count: int) -> list[Combination]:
    """The part of a machine, of so many that each do one: the same wherever it is computed.

    Combinations of one spec, set of sizes and dtype share what is read, and are in one part. The
    largest of these groups are given out first, each to the part that has least.
    """
    groups: dict[tuple[Any, ...], list[str]] = {}
    for each in made:
        shared = (each.build, each.spec, each.sizes or "", each.dtype or "")
        groups.setdefault(shared, []).append(each.name)
    parts: list[list[str]] = [[] for _ in range(count)]
    for _, names in sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])):
        min(parts, key=len).extend(names)
    own = set(parts[index - 1])
    return [each for each in made if each.name in own]


def needed_builds(workspace: BuildWorkspace, name: str) -> list[str]:
    """The builds that one needs, and those that they need."""
    found: list[str] = []
    waiting = [name]
    while waiting:
        entry = workspace.file.builds.get(waiting.pop())
        new = [each for each in (entry.needs if entry else ()) if each not in found]
        found += new
        waiting += new
    return found


def _combinations(
    workspace: BuildWorkspace,
    name: str,
    entry: WorkspaceBuildEntry | SpecTestsEntry,
    found: list[Diagnostic],
) -> Iterator[Combination]:
    """The combinations of one entry; what is wrong is kept."""
    build = entry if isinstance(entry, WorkspaceBuildEntry) else None
    at: Location = ("tests" if build is None else "builds", name)
    document = workspace.document
    specs = _named(entry.specs, workspace.specs, document.span, (*at, "specs"), "spec", found)
    sets: Sequence[str | None] = (None,)
    dtypes: Sequence[str | None] = entry.dtypes or (None,)
    if build is not None and build.sizes is not None:
        known = workspace.file.sizes
        sets = _named(build.sizes, known, document.span, (*at, "sizes"), "set of sizes", found)
    targets = [
        str(target)
        for index, text in enumerate(entry.targets or [DEFAULT])
        if (target := _target(text, document.span((*at, "targets", index)), found)) is not None
    ]
    pattern = _pattern(name, entry) if build is None or build.output is None else build.output
    span = document.span((*at, "output")) if build and build.output else document.span(at, key=True)
    if not _is_pattern(pattern, span, found):
        return
    for spec in specs:
        for sizes in sets:
            for dtype in dtypes:
                for target in targets:
                    values = dict(zip(FIELDS, (name, spec, sizes, dtype, target), strict=True))
                    if build is not None and _is_excluded(build.exclude, values):
                        continue
                    called = pattern.format(**{k: _file_name(v) for k, v in values.items()})
                    action: Action = "test" if build is None else "compile"
                    output = "" if build is None else _output(workspace, called, span, found)
                    yield Combination(
                        called, action, name, spec, sizes, dtype, target, output, span
                    )


def _pattern(name: str, entry: WorkspaceBuildEntry | SpecTestsEntry) -> str:
    """How outputs are called that the workspace does not say: by all that the entry lists."""
    has_sizes = isinstance(entry, WorkspaceBuildEntry) and entry.sizes is not None
    listed = {"sizes": has_sizes, "dtype": entry.dtypes, "target": entry.targets}
    parts = [f"{{{key}}}" for key, value in listed.items() if value]
    return f"{name}/" + "-".join(["{spec}", *parts])


def _is_pattern(pattern: str, span: Span, found: list[Diagnostic]) -> bool:
    """Whether a pattern has names of fields alone."""
    try:
        fields = [(name, spec, how) for _, name, spec, how in Formatter().parse(pattern)]
    except ValueError as error:
        message = f"`{pattern}` is no pattern: {error}"
        found.append(Diagnostic("wrong-value", message, span))
        return False
    for name, spec, how in fields:
        if name is not None and (name not in FIELDS or spec or how):
            near = suggest(name, FIELDS)
            known = ", ".join(f"`{{{each}}}`" for each in FIELDS)
            hint = f"did you mean `{{{near}}}`?" if near else f"there are {known}"
            message = f"`{{{name}}}` is nothing that an output can be named by"
            found.append(Diagnostic("unbound-name", message, span, hint=hint))
            return False
    return True


def _named(
    patterns: Sequence[str],
    known: Mapping[str, Any],
    span: Any,
    at: Location,
    what: str,
    found: list[Diagnostic],
) -> list[str]:
    """The names that some patterns are of, in their order."""
    names: dict[str, bool] = {}
    for index, pattern in enumerate(patterns):
        matches = [each for each in known if fnmatchcase(each, pattern)]
        names |= dict.fromkeys(matches, True)
        if not matches:
            near = suggest(pattern, known)
            listed = ", ".join(f"`{each}`" for each in list(known)[:10])
            hint = f"did you mean `{near}`?" if near else f"there are {listed}" if listed else None
            message = f"there is no {what} `{pattern}`"
            found.append(Diagnostic("unbound-name", message, span((*at, index)), hint=hint))
    return list(names)


def _target(text: str, span: Span, found: list[Diagnostic]) -> Any:
    try:
        return parse_target(text)
    except DiagnosticError as error:
        said = error.diagnostics[0]
        found.append(Diagnostic(said.code, said.message, span, hint=said.hint))
        return None


def _is_excluded(exclude: Sequence[ExclusionEntry], values: Mapping[str, str | None]) -> bool:
    for entry in exclude:
        said = {name: value for name, value in entry if value is not None}
        if said and all(fnmatchcase(values[name] or "", each) for name, each in said.items()):
            return True
    return False


def _file_name(value: str | None) -> str:
    """A value as a part of a file's name."""
    return UNSAFE.sub("-", value or "default").strip("-")


def _output(workspace: BuildWorkspace, name: str, span: Span, found: list[Diagnostic]) -> str:
    folder = workspace.root / workspace.file.outputs
    if (how := escape_reason(folder, f"{name}{SUFFIX}")) is not None:
        message = f"`{name}{SUFFIX}` {how} the folder of outputs"
        found.append(outside_diagnostic(message, span))
    return (Path(workspace.file.outputs) / f"{name}{SUFFIX}").as_posix()


def _shared_outputs(made: Sequence[Combination]) -> Iterator[Diagnostic]:
    """Outputs that two combinations have, each once; case is nothing to some file systems."""
    first: dict[str, Combination] = {}
    said: set[str] = set()
    for each in made:
        before = first.setdefault(each.output.casefold(), each)
        if before is not each and each.output not in said:
            said.add(each.output)
            message = f"`{each.output}` is the output of two jobs: {_label(before)}, {_label(each)}"
            notes = () if before.span == each.span else (f"first by {before.span}",)
            differs = [f"{{{n}}}" for n in FIELDS if getattr(before, n) != getattr(each, n)]
            hint = f"have `{'` or `'.join(differs)}` in `output:`" if differs else None
            yield Diagnostic("output-shared", message, each.span, notes=notes, hint=hint)


def _label(one: Combination) -> str:
    parts = (one.spec, one.sizes, one.dtype, one.target)
    return f"`{one.build}` of {' '.join(each for each in parts if each)}"


def _cycles(workspace: BuildWorkspace) -> Iterator[Diagnostic]:
    """Builds that need each other, or one that is not there."""
    builds, document = workspace.file.builds, workspace.document
    for name, entry in builds.items():
        for index, each in enumerate(entry.needs):
            if each not in builds:
                near = suggest(each, builds)
                hint = f"did you mean `{near}`?" if near else None
                span = document.span(("builds", name, "needs", index))
                yield Diagnostic("unbound-name", f"there is no build `{each}`", span, hint=hint)
    try:
        TopologicalSorter({name: entry.needs for name, entry in builds.items()}).prepare()
    except CycleError as error:
        way = list(reversed(error.args[1]))
        span = document.span(("builds", way[0], "needs"))
        message = "builds need each other: " + " needs ".join(f"`{each}`" for each in way)
        hint = "remove one of these from a `needs:`"
        yield Diagnostic("build-cycle", message, span, hint=hint)

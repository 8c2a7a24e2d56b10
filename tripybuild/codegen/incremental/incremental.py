"""Incremental update: only fragments of changed declarations are rebuilt."""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from pathlib import Path

from tripybuild.codegen.incremental import registries
from tripybuild.codegen.incremental.fragment_records import (
    FAMILY,
    FragmentRecord,
    FragmentStore,
    laws_hold,
    make_records,
)
from tripybuild.codegen.incremental.parallel import make_in_parallel
from tripybuild.codegen.package.fragment import PackageFragment
from tripybuild.codegen.package.package_paths import BUILT_IN
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.operator.places import TARGETS, sources


def update_records(
    kept: FragmentStore, digests: Mapping[str, str], added: Sequence[Path], package: str
) -> FragmentStore:
    """The parts of declarations that have these digests: what is kept, where nothing changed.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    if not all(root.is_dir() for root in added):
        return make_serially(digests, added, package)  # which says so
    if digests and {path: part.digest for path, part in kept.by_path.items()} == digests:
        return kept
    some = _update_some(kept, digests, added, package) if kept.by_path else None
    return some or _make_all(digests, added, package)


def _make_all(digests: Mapping[str, str], added: Sequence[Path], package: str) -> FragmentStore:
    return make_in_parallel(digests, added, package) or make_serially(digests, added, package)


def make_serially(digests: Mapping[str, str], added: Sequence[Path], package: str) -> FragmentStore:
    """The parts of all declarations, or all that is wrong with them."""
    from tripybuild.codegen.operators.operator_calls import CallResolver  # noqa: PLC0415
    from tripybuild.codegen.package.schemas import schema_files  # noqa: PLC0415
    from tripybuild.codegen.snippets.composition_check import check_snippets  # noqa: PLC0415

    declared = registries.load(added)
    if found := check_snippets(declared, declared.operators):
        raise DiagnosticError(*found)
    calls = CallResolver(declared.operators, declared.own, package, frozenset(declared.modules))
    parts = make_records(declared, digests, calls)
    return FragmentStore(parts, schema_files() if package == BUILT_IN else {})


def _update_some(
    kept: FragmentStore, digests: Mapping[str, str], added: Sequence[Path], package: str
) -> FragmentStore | None:
    """The parts with those of changed files anew, or None where all files must be read again.

    That is so where anything is wrong, since one run reports all problems of all files; where a new
    operator has a name that snippets may use already; where there is a new family or module; and
    where the facts changed that all operators share.
    """
    from tripybuild.codegen.operators.operator_calls import CallResolver  # noqa: PLC0415
    from tripybuild.codegen.snippets.composition_check import check_snippets  # noqa: PLC0415
    from tripybuild.schema.load import FileSubset, load  # noqa: PLC0415
    from tripybuild.schema.snippets.vocabularies import SHAPE  # noqa: PLC0415

    stay = _unchanged_records(kept.by_path, digests)
    if any(Path(path).name == TARGETS for path in kept.by_path.keys() - stay.keys()):
        return None
    others = {part.given.name: part.given for part in stay.values() if part.given}
    operators = {name: each for name, each in others.items() if not each.is_module}
    modules = frozenset(others) - frozenset(operators)
    read = digests.keys() - stay.keys()
    read |= _mentioned_families(
        (path for path, part in stay.items() if part.kind == FAMILY), read, added
    )
    declared, found = load(registries.roots(added), FileSubset(read, frozenset(operators)))
    if found or check_snippets(declared, declared.operators.keys() | operators.keys()):
        return None
    names = declared.operators.keys() | declared.modules.keys()
    before = {each.name for each in kept.fragments}
    gone = before - names - others.keys()
    if names & others.keys() or (names - before) & SHAPE or _has_uses(gone, others.values()):
        return None
    own = declared.own | {name for name, each in others.items() if each.files}
    calls = CallResolver(
        declared.operators.keys() | operators.keys(), own, package, modules | set(declared.modules)
    )
    anew = make_records(declared, {path: digests[path] for path in read}, calls)
    if any(part.given is None for path, part in anew.items() if path not in kept.by_path):
        return None
    parts = FragmentStore({**stay, **anew}, kept.schemas)
    return parts if laws_hold(parts.fragments) else None


def _mentioned_families(
    families: Iterable[str], paths: AbstractSet[str], added: Sequence[Path]
) -> set[str]:
    """The families of which some files and such families speak, and the facts that all share.

    A family has the name of its file; one that is missed is a problem, and then all are read.
    """
    places = {n: p for root in registries.roots(added) for n, p in sources(root).items()}
    rest = set(families)
    found = {path for path in rest if Path(path).name == TARGETS}
    wanted: AbstractSet[str] = paths
    while wanted:
        contents = (registries.contents(path) for shown, path in places.items() if shown in wanted)
        text = b"\n".join(contents).decode("utf-8", errors="replace")
        wanted = {path for path in rest - found if Path(path).stem in text}
        found |= wanted
    return found


def _unchanged_records(
    kept: Mapping[str, FragmentRecord], digests: Mapping[str, str]
) -> dict[str, FragmentRecord]:
    """The parts whose file and family are as they were."""
    same = {path: part for path, part in kept.items() if digests.get(path) == part.digest}
    return {path: p for path, p in same.items() if same.keys() >= set(p.families)}


def _has_uses(names: AbstractSet[str], contributions: Iterable[PackageFragment]) -> bool:
    return any(names & set(each.uses) for each in contributions)

"""Fragment update: all fragments, or only those of changed declarations, are rebuilt."""

import re
from collections.abc import Mapping, Sequence, Set as AbstractSet
from pathlib import Path

from tripybuild.codegen.incremental.fragment_store import FragmentRecord, FragmentStore
from tripybuild.codegen.package.fragment import PackageFragment
from tripybuild.codegen.package.plan import fragments
from tripybuild.codegen.snippets.call_check import CallRecord, find_mismatch
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.load import load, load_registries
from tripybuild.schema.operator.checks import cycle
from tripybuild.schema.registry_files import FileSubset
from tripybuild.schema.registry_folders import TARGETS, contents, roots, sources
from tripybuild.schema.snippets.vocabularies import SHAPE

_EXTENDED = re.compile(r"^extends: *[\"']?(\w+)", re.MULTILINE)


def all_fragments(added: Sequence[Path], package: str) -> FragmentStore:
    """The fragments of all declarations.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    return fragments(load_registries(added), FragmentStore(), package)


def changed_fragments(
    kept: FragmentStore, digests: Mapping[str, str], added: Sequence[Path], package: str
) -> FragmentStore | None:
    """The fragments with those of changed files anew, or None where all files must be read again.

    That is so where anything is wrong, since one run reports all problems of all files; where a new
    operator has a name that snippets may use already; where one is gone, of which others may speak;
    where there is a new family; and where the facts changed that all operators share.
    """
    stay = _unchanged_records(kept.records, digests)
    if any(Path(path).name == TARGETS for path in kept.records.keys() - stay.keys()):
        return None
    read = digests.keys() - stay.keys()
    families = {path for path, each in stay.items() if each.fragment is None}
    modules = {path for path, each in stay.items() if each.fragment and each.fragment.is_module}
    read |= _mentioned_families(families, modules, read, added)
    stay = {path: each for path, each in stay.items() if path not in read}
    others = {each.fragment.name: each.fragment for each in stay.values() if each.fragment}
    operators = frozenset(name for name, each in others.items() if not each.is_module)
    registry, found = load(roots(added), FileSubset(read, operators))
    names = registry.operators.keys() | registry.modules.keys()
    before = {each.name for each in kept.fragments}
    gone = before - names - others.keys()
    if found or names & others.keys() or (names - before) & SHAPE or gone:
        return None
    try:
        store = fragments(registry, FragmentStore(stay, kept.schemas), package)
    except DiagnosticError:
        return None
    new = (each for path, each in store.records.items() if path not in kept.records)
    if any(each.fragment is None for each in new) or not _are_consistent(store.fragments):
        return None
    return store


def _unchanged_records(
    kept: Mapping[str, FragmentRecord], digests: Mapping[str, str]
) -> dict[str, FragmentRecord]:
    """The records whose file and families are as they were."""
    same = {path: each for path, each in kept.items() if digests.get(path) == each.digest}
    return {path: each for path, each in same.items() if same.keys() >= set(each.families)}


def _mentioned_families(
    families: AbstractSet[str],
    modules: AbstractSet[str],
    paths: AbstractSet[str],
    added: Sequence[Path],
) -> set[str]:
    """The families and extended modules of which some files speak, and the facts that all share.

    They have the names of their files; one that is missed is a problem, and then all are read.
    """
    places = {shown: path for root in roots(added) for shown, path in sources(root).items()}
    found = {path for path in families if Path(path).name == TARGETS}
    wanted: AbstractSet[str] = paths
    while wanted:
        texts = (contents(path) for shown, path in places.items() if shown in wanted)
        text = b"\n".join(texts).decode("utf-8", errors="replace")
        wanted = {path for path in families - found if Path(path).stem in text}
        extended = {name.lower() for name in _EXTENDED.findall(text)}
        wanted |= {path for path in modules - found if Path(path).stem.lower() in extended}
        found |= wanted
    return found


def _are_consistent(fragments: Sequence[PackageFragment]) -> bool:
    """Whether the laws between declarations hold."""
    uses = {each.name: each.uses for each in fragments}
    methods = [name for each in fragments for name in each.methods]
    ways = {name: way for each in fragments for name, way in each.takes.items()}
    calls = (CallRecord(*call) for each in fragments for call in each.calls)
    return (
        len(uses) == len(fragments)
        and len(set(methods)) == len(methods)
        and not any(cycle(name, uses) for name in uses)
        and not any(call.name in ways and find_mismatch(call, ways[call.name]) for call in calls)
    )

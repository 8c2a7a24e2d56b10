"""Generated files of registries, assembled from cached and rebuilt fragments.

Invariant: what is kept is used only where all that it depends on is the same: our own code, Python,
the package, and the declaration with its families. After any change the files are those that `plan`
gives for all declarations. What the built-in declarations give to a package of others is the same
for all of those, and kept once.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tripybuild.cache.keys import CacheKey, key
from tripybuild.cache.store import Cache
from tripybuild.codegen.incremental.fragment_store import FragmentStore
from tripybuild.codegen.package.package import assemble_package
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.process import paths
from tripybuild.process.gc_pause import pause_gc
from tripybuild.schema.registry_folders import content_digest, contents, root_name, sources


@dataclass(frozen=True, slots=True)
class PackageFiles:
    """The text of each generated file by its path, and what `tripybuild fmt` would change."""

    files: Mapping[str, str]
    unformatted: Sequence[str]


@pause_gc()
def package_files(added: Sequence[Path], package: str) -> PackageFiles:
    """The package of some registries.

    Args:
        added: The folders of the registries beside the built-in one.
        package: The name of the package.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    folders = [paths.registry(), *added]
    digests = _digests(folders)
    cache, place = Cache(), _key([root_name(root) for root in folders], package)
    stored = cache.get(place)
    shared = _key([root_name(folders[0])], "")
    seed = cache.get(shared) if added and stored is None else None
    known = stored or seed
    kept = FragmentStore.from_bytes(known) if known else FragmentStore()
    store = _current_store(kept, digests, added, package)
    new = "declarations changed" if kept.records else "no plan of these registries is kept"
    how = f"miss: {new}" if store is not kept else "hit: no declaration changed"
    logger.verbose(f"cache {how}")
    if store is not kept:
        cache.put(place, store.to_bytes())
        if added and stored is None:
            built_in = sources(folders[0])
            part = {path: each for path, each in store.records.items() if path in built_in}
            found = FragmentStore(part).to_bytes()
            if found != seed:
                cache.put(shared, found)
    files = assemble_package(store.fragments, store.schemas, package, store.records)
    return PackageFiles(files, store.unformatted)


def _current_store(
    kept: FragmentStore, digests: Mapping[str, str], added: Sequence[Path], package: str
) -> FragmentStore:
    """The fragments of declarations that have these digests: what is kept, where nothing changed.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    there = all(root.is_dir() for root in added)  # else the reader says which one is not
    if there and digests and kept.digests == digests:
        return kept
    from tripybuild.codegen.incremental import update  # noqa: PLC0415 - most runs make nothing

    known = there and kept.records  # without any, all files are changed ones
    store = update.changed_fragments(kept, digests, added, package) if known else None
    return store or update.all_fragments(added, package)


def _digests(folders: Sequence[Path]) -> dict[str, str]:
    """The digest of each declaration; of one that cannot be read, the reader makes a diagnostic."""
    files = {shown: path for root in folders for shown, path in sources(root).items()}
    if wrong := [
        _encoding_diagnostic(path) for shown, path in files.items() if not _is_text(shown)
    ]:
        raise DiagnosticError(*wrong)
    return {shown: content_digest(contents(path)) for shown, path in files.items()}


def _is_text(name: str) -> bool:
    """Whether the name of a file is text: it is written into files that are."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _encoding_diagnostic(path: Path) -> Diagnostic:
    shown = str(path).encode(errors="surrogateescape").decode(errors="backslashreplace")
    message = f"the name of the file `{shown}`, or of a folder above it, is not UTF-8 text"
    return Diagnostic("bad-name", message, hint="rename it: folders become Python packages")


def _key(names: Sequence[str], package: str) -> CacheKey:
    """Where the store is kept: all that it depends on, but for the declarations."""
    code = sha256()
    for path in paths.list_files(paths.PACKAGE, ".py"):
        text = paths.read_or_none(f"{paths.PACKAGE}/{path}") or b""
        code.update(f"{path!r} {len(text)}\n".encode())
        code.update(text)
    roots_text = json.dumps(names)
    parts: dict[str, str | bytes] = {
        "what": "generated package",
        "package": package,
        "python": sys.version,
        "code": code.digest(),
        "roots": roots_text,
    }
    return key(parts)

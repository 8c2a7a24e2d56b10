"""Generated files of registries, assembled from cached and rebuilt fragments.

Invariant: what is kept is used only where all that it depends on is the same: our own code, Python,
the package, and the declaration with its family (`codegen.incremental.fragment_records` says which
of them are). What the built-in declarations give to a package of others is the same for all of
those, and kept once.
"""

import json
import sys
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tripybuild.artifact.cache import Cache, key
from tripybuild.codegen.incremental import registries
from tripybuild.codegen.incremental.fragment_records import FragmentStore
from tripybuild.codegen.incremental.incremental import update_records
from tripybuild.codegen.package.assembly import assemble_package
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.gc_pause import pause_gc
from tripybuild.process.paths import PACKAGE, list_files, read_or_none
from tripybuild.schema.operator.places import root_name, sources


@dataclass(frozen=True, slots=True)
class Plan:
    """The text of each generated file by its path, and what `tripybuild fmt` would change."""

    files: Mapping[str, str]
    unformatted: Sequence[str]


def package_files(added: Sequence[Path], package: str) -> Plan:
    """Give the package of some registries.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    with pause_gc():
        roots = [registries.builtin_root(), *added]
        digests = _digests(roots)
        cache, place = Cache(), _key([root_name(root) for root in roots], package)
        stored = cache.get(place)
        shared = _key([root_name(roots[0])], "")
        seed = cache.get(shared) if added and stored is None else None
        known = stored or seed
        kept = FragmentStore.from_bytes(known) if known else FragmentStore({}, {})
        parts = update_records(kept, digests, added, package)
        if parts is not kept:
            cache.put(place, parts.to_bytes())
            if added and stored is None:
                found = _builtin_records(parts, sources(roots[0])).to_bytes()
                if found != seed:
                    cache.put(shared, found)
        unformatted = [path for path, part in parts.by_path.items() if not part.is_formatted]
        return Plan(assemble_package(parts.fragments, parts.schemas, package), unformatted)


def _builtin_records(parts: FragmentStore, paths: Container[str]) -> FragmentStore:
    """What the built-in declarations give to any package that others are added to."""
    return FragmentStore({path: part for path, part in parts.by_path.items() if path in paths}, {})


def _digests(roots: Sequence[Path]) -> dict[str, str]:
    """Give a digest of each declaration; what cannot be read fails in the plan."""
    files = {shown: path for root in roots for shown, path in sources(root).items()}
    if wrong := [
        _encoding_diagnostic(path) for shown, path in files.items() if not _is_text(shown)
    ]:
        raise DiagnosticError(*wrong)
    return {shown: sha256(registries.contents(path)).hexdigest() for shown, path in files.items()}


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


def _key(roots: Sequence[str], package: str) -> str:
    """Where the parts are kept: all that they depend on, but for the declarations."""
    code = sha256()
    for path in list_files(PACKAGE, ".py"):
        text = read_or_none(f"{PACKAGE}/{path}") or b""
        code.update(f"{path!r} {len(text)}\n".encode())
        code.update(text)
    roots_text = json.dumps(roots)
    return key(
        {"package": package, "python": sys.version, "code": code.digest(), "roots": roots_text}
    )

"""The generated files of registries, planned once for each content of them.

Law: the key holds all that the plan depends on: the declarations, the package and our own code.
"""

import json
import sys
import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from tripybuild.build.cache import Cache, key
from tripybuild.cli import registry
from tripybuild.diagnostics import DiagnosticError
from tripybuild.garbage import uncollected
from tripybuild.project import PACKAGE

FASTEST = 1  # zlib's level; the texts shrink to a sixth all the same


def planned(added: Sequence[Path], package: str) -> Mapping[str, str]:
    """Give the text of each generated file, by its path.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    roots = [registry.built_in(), *added]
    parts = {"package": package, "python": sys.version, "code": _digest(PACKAGE, "py")}
    parts |= {f"registry {at}": _digest(root, "yaml") for at, root in enumerate(roots)}
    outcome = Cache().get_or_make(key(parts), lambda: _encode(_plan(added, package)))
    return _decode(outcome.content)


def _plan(added: Sequence[Path], package: str) -> Mapping[str, str]:
    from tripybuild.codegen.builders import check_builders  # noqa: PLC0415
    from tripybuild.codegen.plan import plan  # noqa: PLC0415

    with uncollected():
        declared = registry.load(added)
        if found := check_builders(declared):
            raise DiagnosticError(*found)
        return plan(declared, package)


def _digest(root: Path, suffix: str) -> str:
    """Give a digest of a folder's name and its files; what cannot be read fails in the plan."""
    digest = sha256(repr(root.name).encode())
    for path in sorted(root.rglob(f"*.{suffix}")):
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{path.relative_to(root).as_posix()!r} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _encode(files: Mapping[str, str]) -> bytes:
    return zlib.compress(json.dumps(files).encode(), FASTEST)


def _decode(content: bytes) -> Mapping[str, str]:
    files: Mapping[str, str] = json.loads(zlib.decompress(content))
    return files

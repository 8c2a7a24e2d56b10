"""What ONNX Runtime makes of models, in the user's cache: files that later sessions map.

Where convolutions are, it multiplies their weights by what follows, puts them into the order of its
kernels, and touches four times their memory for it, each time that a session begins. What it makes
is kept here (`onnx_runtime.optimized_file`), under a digest of all that it depends on.

Invariant: what is read here was stored here by the same user, never taken from an executable; it is
hashed before native code parses it. Files of the cache are never written to once they have their
names, so that they can be mapped.
"""

import contextlib
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.members import NotRegularError, OpenFile
from tripybuild.cache.files import PlanCache, read_seal
from tripybuild.cache.records import MAPPED, new_record
from tripybuild.cache.store import PARTIAL, damage_warning, is_recorded, seal_digest, seal_path
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import sweep_temporaries, temporary_path
from tripybuild.process.hashing import ALGORITHMS, algorithm


class OptimizedModels(PlanCache):
    """The cache, for files that are mapped from their first byte on."""

    warnings: tuple[Diagnostic, ...] = ()

    def find(self, key: str) -> mmap.mmap | None:
        """The file of a key, mapped, or None where there is none that is whole."""
        place, content = self.entry_path(key), None
        try:
            size, expected = read_seal(seal_path(place))
            content = _map(OpenFile(place), size)
            whole = seal_digest(key, _digest(content)) == expected
        except (NotRegularError, ValueError):
            whole = False
        except OSError:
            return None
        if not whole:
            self.quarantine(place)
            self.warnings = (damage_warning(place),)
            return None
        with contextlib.suppress(OSError):
            os.utime(seal_path(place))  # the sweep takes the least recently used
        return content

    @contextlib.contextmanager
    def place(self, key: str) -> Iterator[Path | None]:
        """Where the file of a key is to be written within the block; None where that cannot be.

        What is there when the block ends becomes the entry, and is not missed where it does not.
        """
        partial = temporary_path(self.folder / PARTIAL, key)
        try:
            self.make_folder(self.entry_path(key).parent)
            sweep_temporaries(self.partial_folder())
            partial.touch(mode=0o600, exist_ok=False)
        except OSError:
            yield None
            return
        try:
            yield partial
            with contextlib.suppress(OSError, DiagnosticError):
                self._publish_partial(key, partial)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()

    def _publish_partial(self, key: str, partial: Path) -> None:
        """Make an entry of what was written, where no other process was faster.

        So the seal of an entry that is read is never that of another file.
        """
        size = partial.stat().st_size
        if not 0 < size <= self.limit:
            return
        file = OpenFile(partial)
        with _map(file, size) as content:
            member = MemberRecord(size, _digest(content), 0)
        with self.lock(key):
            if self.find(key) is None:
                record = None
                if is_recorded(key):
                    record = new_record(key, member.size, member.digest, form=MAPPED)
                self.publish(key, file, member, record)


def _map(file: OpenFile, size: int) -> mmap.mmap:
    """The content of a file that has so many bytes: what is hashed is what is used.

    Raises:
        ValueError: It has others.
        OSError: It cannot be mapped.
    """
    if os.fstat(file.fileno()).st_size != size:
        raise ValueError(size)
    return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)


def _digest(content: mmap.mmap) -> str:
    digest = ALGORITHMS[algorithm(len(content))]()
    digest.update(content)
    return digest.hexdigest()

"""Portable paths: no folder of this machine is written into output."""

import os
import sys
from functools import lru_cache
from pathlib import Path


def portable_path(path: str, folder: Path | None) -> str:
    r"""The path of a file, relative to a model's folder, however both are spelled.

    What lies elsewhere, as the modules of a Python program do, is called as Python would import it:
    relative to the folder on its path that holds it. What is in none keeps its name only. Without
    a folder, the path stays as it is. A byte that is no UTF-8, which neither MLIR nor TensorRT
    takes, is written `\xff`.
    """
    if folder is not None and not path.startswith("<"):  # as what was typed at a prompt does
        path = _relative(path, folder, Path.cwd())
    if path.isascii():
        return path
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")


@lru_cache(maxsize=1024)
def _relative(path: str, folder: Path, current: Path) -> str:
    def whole(each: str | Path) -> Path:  # links stay as they are
        return Path(os.path.normpath(current / each))

    file = whole(path)
    imported = sorted(map(whole, sys.path), key=lambda each: len(each.parts), reverse=True)
    for each in (whole(folder), *imported):
        if file.is_relative_to(each):
            return file.relative_to(each).as_posix()
    return file.name

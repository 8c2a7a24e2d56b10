"""The folder of a reduction: it holds the smallest part that fails, whatever is tried meanwhile.

A trial is written into a folder in it. One that fails takes the place of what is there by renames
alone, so that whatever ends the process, a part is left that was seen to fail.
"""

import shutil
from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.session import SPEC

INPUTS, REPORT = "inputs.npz", "REPORT.md"
STAGE = ".trial"
_OWN = frozenset({SPEC, INPUTS, REPORT, STAGE})


class PartFolder:
    """A folder with the smallest part, and a stage for trials.

    Args:
        path: Where it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stage = path / STAGE
        self._names: list[str] = []  # of files that take their place

    def check(self, spec: Path, *, force: bool) -> None:
        """Refuse to replace what is there.

        Args:
            spec: What is to be reduced, which is not replaced by its parts.
            force: Whether another reduction may be replaced.

        Raises:
            DiagnosticError: It is a file, or not empty; by force, it has files of something else.
        """
        if self.path.exists() and not self.path.is_dir():
            message = f"`{self.path}` cannot be written: a file has this name"
            hint = "name another folder with `-o`"
            raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))
        if spec.resolve().is_relative_to(self.path.resolve()):
            message = f"`{self.path}` holds `{spec}`, which is to be reduced"
            hint = "name another folder with `-o`"
            raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))
        names = [each.name for each in self.path.iterdir()] if self.path.is_dir() else []
        if names and not force:
            message = f"`{self.path}` already exists"
            hint = "`--force` replaces it, and `-o` names another folder"
            raise DiagnosticError(Diagnostic("file-exists", message, hint=hint))
        others = [each for each in names if each not in _OWN and not each.endswith(".safetensors")]
        if others:
            message = f"`{self.path}` has files that no reduction wrote, such as `{others[0]}`"
            hint = "name another folder with `-o`"
            raise DiagnosticError(Diagnostic("file-exists", message, hint=hint))

    def clear(self) -> None:
        """Make it an empty folder."""
        if self.path.exists():
            shutil.rmtree(self.path)
        self.path.mkdir(parents=True)

    def new_stage(self) -> Path:
        """Make the stage an empty folder."""
        shutil.rmtree(self.stage, ignore_errors=True)
        self.stage.mkdir()
        return self.stage

    def keep(self) -> None:
        """Let what is on the stage take the place of what was kept before."""
        self._names = [each.name for each in self.stage.iterdir()]
        self._move()

    def close(self) -> None:
        """Leave what was kept last, and nothing else."""
        self._move()  # it may have been interrupted
        shutil.rmtree(self.stage, ignore_errors=True)

    def _move(self) -> None:
        if not self._names:
            return
        for name in self._names:
            if (self.stage / name).exists():
                (self.stage / name).replace(self.path / name)
        for each in self.path.iterdir():
            if each.is_file() and each.name not in self._names:
                each.unlink()
        self._names = []

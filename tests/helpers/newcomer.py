"""What the journeys share: an environment, and commands in a folder outside of the repository.

By default the present environment; with `--full` a fresh one, which has the wheel, and this one's
dependencies.
"""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Newcomer:
    """A person in a folder of their own.

    Args:
        folder: The folder.
        python: The interpreter of the environment.
        path: What `PYTHONPATH` names beside the folder's packages; nothing with a wheel.
    """

    folder: Path
    python: Path
    path: str

    def run(self, *words, code=0, paths=(), **variables):
        """What a command prints, which is `tripybuild` or starts with `python`."""
        words = [str(each) for each in words]
        first = [str(self.python)] if words[0] == "python" else [str(self.python), "-m", words[0]]
        search = os.pathsep.join(filter(None, [*map(str, paths), self.path]))
        done = subprocess.run(
            [*first, *words[1:]],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": search, "COLUMNS": "120", **variables},
            check=False,
            capture_output=True,
            text=True,
        )
        printed = done.stdout + done.stderr
        assert done.returncode == code, f"{' '.join(words)}\n{printed}"
        assert "Traceback" not in printed, printed
        return printed

    def write(self, name, text):
        """Write a file of the folder, as it stands."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path


def present(folder):
    """A newcomer in the present environment."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "generated")])
    return Newcomer(folder, Path(sys.executable), path)


def fresh(folder):
    """A newcomer in a fresh environment, in which the wheel is installed."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    home = folder.parent / f"{folder.name}-environment"
    for words in (
        [*pip, "wheel", "--no-deps", "--wheel-dir", home / "wheel", ROOT],
        [sys.executable, "-m", "venv", "--without-pip", home / "venv"],
    ):
        subprocess.run(list(map(str, words)), cwd=folder, check=True)
    (wheel,) = (home / "wheel").glob("*.whl")
    python = home / "venv" / "bin" / "python"
    words = [*pip, "--python", python, "install", "--no-deps", "--no-index", wheel]
    subprocess.run(list(map(str, words)), cwd=folder, check=True)
    (packages,) = (home / "venv" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return Newcomer(folder, python, "")

"""Who watches: what a process does while a stranger's registry is read, generated and run.

Law: what is not on a list is an event, is noted, and does not happen.
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LIBRARIES = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
OURS = tuple(str(ROOT / name) for name in ("tripybuild", "generated", "ops_registry", "tests"))
# Places in the code of others at which Python's own tools make code: of dataclasses and of trees.
MAKERS = ("dataclasses.py", "ast.py", "enum.py", "typing.py", "collections/__init__.py")
# What a module may be imported from while a case runs; all others were imported before.
IMPORTED = ("tripybuild", "tripyapi", "encodings", "numpy", "ml_dtypes", "jaxlib", "xdsl")
# What happens all the time and reaches nothing.
QUIET = frozenset(
    {
        "builtins.id",
        "code.__new__",
        "gc.get_objects",
        "object.__getattr__",
        "object.__setattr__",
        "sys._getframe",
        "sys._current_frames",
        "time.sleep",
    }
)
# What reads a folder or a file's state, where that is allowed.
LOOKS = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "pathlib.Path.glob"})
LOOKS |= {"pathlib.Path.rglob"}
# What makes and removes files, where that is allowed.
MADE = frozenset({"open", "os.mkdir", "os.remove", "os.rmdir", "os.scandir", "shutil.rmtree"})
MADE |= {"tempfile.mkdtemp", "tempfile.mkstemp", "os.chmod"}
# What Python and our messages look for where a text has no file.
NO_FILES = frozenset({"<unknown>", "<string>", "<stdin>"})
# How much memory there is: who runs out of it is told.
MEMORY = ("/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup/")
SHUTIL = shutil.__file__
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Caught(BaseException):
    """Something that a stranger's registry may not do; nobody who catches errors takes it."""


class Watch:
    """Notes events while it is armed.

    Args:
        marker: What the names of the files of generated code begin with.
        temporary: Where the project's own code may write.
    """

    def __init__(self, marker: str, temporary: Path) -> None:
        self.marker, self.temporary = marker, str(temporary)
        self.readable: tuple[str, ...] = (*LIBRARIES, *OURS)
        self.events: list[str] = []
        self._armed = False
        sys.addaudithook(self._hook)

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Note what happens in a block."""
        self._armed = True
        try:
            yield
        finally:
            self._armed = False

    def _hook(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._armed:
            return
        self._armed = False  # what is done here is no event
        try:
            if not self._is_allowed(event, arguments):
                shown = f"{event} {', '.join(_shown(each) for each in arguments)}"
                self.events.append(f"{shown[:300]} (from {self._place()})")
                raise Caught(event)
        finally:
            self._armed = True

    def _is_allowed(self, event: str, arguments: tuple[object, ...]) -> bool:
        nearest = sys._getframe(2).f_code.co_filename
        match event, arguments:
            case "import", (str() as name, *_):
                return name.startswith((self.marker.strip("<>"), *IMPORTED))
            case ("exec", (code,)):
                return self._is_code(getattr(code, "co_filename", ""), nearest)
            case ("compile", (_, name)):
                return self._is_code(name, nearest)
            case "marshal.loads", _:
                return True  # of a module that `import` allowed
            case _ if nearest.startswith(self.marker):
                return False
            case (("open" | "os.remove" | "os.rmdir" | "os.scandir"), _) if nearest == SHUTIL:
                return True  # of a folder that `shutil.rmtree` was allowed to remove
            case "os.listdir", _ if nearest.startswith("<frozen importlib"):
                return True  # where it looks for a module that `import` allowed
            case _, (str() as name, *_) if event in MADE and name.startswith(self.temporary):
                return True
            case "open", (name, _, int() as flags):
                return not flags & WRITING and self._is_readable(name)
            case (_, (name, *_)) if event in LOOKS:
                return self._is_readable(name)
        return event in QUIET

    def _is_code(self, name: object, nearest: str) -> bool:
        if nearest.startswith(LIBRARIES) and nearest.endswith(MAKERS):
            return True
        return isinstance(name, str) and name.startswith((self.marker, *LIBRARIES, *OURS))

    def _is_readable(self, name: object) -> bool:
        if (
            isinstance(name, int)
            or name in {*NO_FILES, MEMORY}
            or str(name).startswith(self.marker)
        ):
            return True
        try:
            path = os.path.realpath(os.fsdecode(name))  # type: ignore[arg-type]
        except TypeError:
            return False
        return path.startswith(self.readable) or str(name).startswith(MEMORY)

    def _place(self) -> str:
        frame, places = sys._getframe(3), []
        while frame is not None and len(places) < 6:
            places.append(f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}")
            frame = frame.f_back
        return " < ".join(places)


def _shown(value: object) -> str:
    return repr(value)[:120]

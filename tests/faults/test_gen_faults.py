"""What becomes of a generated package when `gen` is killed, is not alone, or may not write.

A child process does what `gen` does with a plan of a few files, as `fork` makes it: a hundred
deaths take a second.
"""

import os
import resource
import shutil
import signal
import sys
from pathlib import Path

import built_in
import pytest

from tripybuild.codegen.package.fragment import PackageFragment
from tripybuild.codegen.package.package import front_door
from tripybuild.codegen.package.sync import LOCK, differences, write
from tripybuild.codegen.python.file_text import header
from tripybuild.errors.diagnostics import DiagnosticError

PACKAGE = "mine"
HEADER = header("mine/math/double.yaml")
TOUCHING = frozenset({"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.scandir"})
DONE, REFUSED = 0, 3


def files(word):
    """A plan: several folders, and texts with a word in them."""
    paths = ["ops/__init__.py", "ops/math/double.py", "ops/math/twice.py"]
    plans = {f"{PACKAGE}/{path}": f"{HEADER}word = {word!r}\n" for path in paths}
    part = PackageFragment(word, "math", "", f"{PACKAGE}.ops.math.{word}", (), {}, {}, {})
    plans[f"{PACKAGE}/__init__.py"] = front_door(PACKAGE, [part])
    return plans | {f"suites/math/test_{word}.py": HEADER, f"{PACKAGE}/py.typed": ""}


def tree(root):
    """All files below a folder with what they hold, but for what begins with a point."""
    found = [path for path in root.rglob("*") if path.is_file() or path.is_symlink()]
    return {path.relative_to(root).as_posix(): path.read_text() for path in found}


def child(work):
    """Start a process that does something; gives its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        work()
        code = DONE
    except DiagnosticError:
        code = REFUSED
    finally:
        os._exit(code)


def ends(pid):
    """How a process ended: its code, or the negative number of a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def killed_at(step, root, plans):
    """Write a plan in a process that dies at a certain look at the disk; gives how it ended."""

    def work():
        seen = []

        def look(event, arguments):
            if event in TOUCHING:
                seen.append(event)
                if len(seen) == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(look)
        write(root, plans, PACKAGE)

    return ends(child(work))


def test_after_a_kill_at_any_moment_the_next_run_works(tmp_path):
    """The files are the old or the new ones, whole, and the next run leaves nothing else."""
    old, new = files("old"), files("new")
    whole = set(old.values()) | set(new.values())
    step, ended = 0, -signal.SIGKILL
    while ended:
        step += 1
        root = tmp_path / str(step)
        write(root, old, PACKAGE)
        ended = killed_at(step, root, new)
        assert ended in {0, -signal.SIGKILL}
        placed = {path: text for path, text in tree(root).items() if not path.startswith(".")}
        assert set(placed.values()) <= whole

        write(root, new, PACKAGE)

        assert tree(root) == new
        shutil.rmtree(root)
    assert step > 40


def test_several_at_once_all_end_well(tmp_path):
    """Runs at once, from whatever was there, leave what one of them leaves."""
    for round in range(4):
        before, plans = files(f"before{round}"), files(f"after{round}")
        write(tmp_path, before, PACKAGE)
        running = [child(lambda plans=plans: write(tmp_path, plans, PACKAGE)) for _ in range(6)]
        assert [ends(pid) for pid in running] == [DONE] * 6
        assert tree(tmp_path) == plans


def test_a_lock_of_a_process_that_died_holds_nobody(tmp_path):
    """The system gives it back, and the file that is left is removed."""
    (tmp_path / LOCK).write_text("")
    write(tmp_path, files("new"), PACKAGE)
    assert tree(tmp_path) == files("new")


def test_a_full_disk_changes_nothing(tmp_path):
    """There is a diagnostic, all files are the old ones, and nothing is left."""
    old = files("old")
    new = files("new") | {f"{PACKAGE}/zone.py": HEADER + "x = 1\n" * 10_000}
    write(tmp_path, old, PACKAGE)

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        write(tmp_path, new, PACKAGE)

    assert ends(child(work)) == REFUSED
    assert tree(tmp_path) == old


@pytest.mark.parametrize("kind", ["a file", "below a file", "a loop", "not to be made"])
def test_a_place_that_cannot_be_a_folder_is_refused(kind, tmp_path):
    """Whatever the reason, it is said in words."""
    (tmp_path / "file").write_text("somebody's")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    places = {
        "a file": tmp_path / "file",
        "below a file": tmp_path / "file" / "out",
        "a loop": tmp_path / "loop",
        "not to be made": Path("/proc/nowhere"),
    }
    with pytest.raises(DiagnosticError) as caught:
        write(places[kind], files("new"), PACKAGE)
    assert caught.value.diagnostics[0].code in {"output-unwritable", "file-unreadable"}
    if kind.endswith("a file"):
        assert "name a" in caught.value.diagnostics[0].hint
    assert (tmp_path / "file").read_text() == "somebody's"


def refused(root, plans):
    """The messages that a plan is refused with."""
    with pytest.raises(DiagnosticError) as caught:
        write(root, plans, PACKAGE)
    assert {each.code for each in caught.value.diagnostics} == {"not-generated"}
    return [each.message for each in caught.value.diagnostics]


@pytest.mark.parametrize("folder", [PACKAGE, f"{PACKAGE}/ops", f"{PACKAGE}/ops/math", "suites"])
def test_no_linked_folder_is_written_into(folder, tmp_path):
    """It may lead out: nothing behind it is written, removed or read."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    for name in ("double.py", "math/double.py", "ops/math/gone.py"):
        (outside / name).parent.mkdir(parents=True, exist_ok=True)
        (outside / name).write_text(HEADER)
    before = tree(outside)
    (root / folder).parent.mkdir(parents=True)
    (root / folder).symlink_to(outside)

    assert refused(root, files("new")) == [f"`{root / folder}` is a link, and stays as it is"]
    assert tree(outside) == before
    assert (root / folder).is_symlink()


@pytest.mark.parametrize("there", [True, False], ids=["a file", "nothing"])
def test_no_link_is_written_through(there, tmp_path):
    """A link where a file would be stays, with what it leads to."""
    victim, root = tmp_path / "victim.py", tmp_path / "root"
    if there:
        victim.write_text(HEADER)
    place = root / PACKAGE / "ops/math/double.py"
    place.parent.mkdir(parents=True)
    place.symlink_to(victim)

    assert refused(root, files("new")) == [f"`{place}` is a link, and stays as it is"]
    assert victim.exists() == there
    assert not there or victim.read_text() == HEADER


def test_links_beside_the_files_are_left_alone(tmp_path):
    """Those that a killed run of an older version might have left, the lock's, and stale ones."""
    victim, root = tmp_path / "victim.py", tmp_path / "root"
    victim.write_text(HEADER)
    names = [".double.py.new", ".double.py.0123456789abcdef.part", "stale.py"]
    for name in names:
        place = root / PACKAGE / "ops/math" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(victim)
    stage = root / ".stage.0123456789abcdef.part"
    stage.symlink_to(tmp_path)

    write(root, files("new"), PACKAGE)

    assert all((root / PACKAGE / "ops/math" / name).is_symlink() for name in names)
    assert stage.is_symlink()
    assert victim.read_text() == HEADER


def test_a_linked_lock_is_not_opened(tmp_path):
    """As root, that would make or empty any file."""
    root = tmp_path / "root"
    root.mkdir()
    (root / LOCK).symlink_to(tmp_path / "victim")
    with pytest.raises(DiagnosticError):
        write(root, files("new"), PACKAGE)
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_file_is_not_replaced(make, tmp_path):
    """A pipe is not opened, which might wait for ever, and a folder stays."""
    place = tmp_path / PACKAGE / "ops/math/double.py"
    place.parent.mkdir(parents=True)
    make(place)
    assert refused(tmp_path, files("new"))
    assert place.exists()


def test_what_is_ones_own_is_never_removed(tmp_path):
    """Files that speak of `gen`, empty ones, and a user's packages among generated ones."""
    own = {
        f"{PACKAGE}/notes.md": "# Notes\n\nGenerated by `tripybuild gen`: all but this.\n",
        f"{PACKAGE}/todo.md": f"Not {HEADER}",
        f"{PACKAGE}/empty.py": "",
        f"{PACKAGE}/own/__init__.py": "",
        f"{PACKAGE}/own/deep/__init__.py": "",
        f"{PACKAGE}/own/deep/work.py": "work = True\n",
        "suites/conftest.py": "",
        "docs/guide.md": "Generated by `tripybuild gen` from nothing. Do not edit.\n",
        "other/thing.py": "thing = 1\n",
    }
    stale = [f"{PACKAGE}/old/gone.py", f"{PACKAGE}/old/__init__.py", f"{PACKAGE}/own/gone.py"]
    for path, text in {**own, **dict.fromkeys(stale, HEADER), stale[1]: ""}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    found = write(tmp_path, files("new"), PACKAGE)

    assert sorted(each.path for each in found if each.kind == "stale") == sorted(stale)
    assert tree(tmp_path) == files("new") | own
    assert not (tmp_path / PACKAGE / "old").exists()


def test_what_python_compiled_goes_with_its_folder_and_nothing_else(tmp_path):
    """A linked or used `__pycache__` keeps its folder."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "work.cpython-311.pyc").write_text("somebody's")
    root = tmp_path / "root"
    for name in ("plain", "linked", "used"):
        folder = root / PACKAGE / name
        folder.mkdir(parents=True)
        (folder / "gone.py").write_text(HEADER)
        if name == "linked":
            (folder / "__pycache__").symlink_to(outside)
        else:
            (folder / "__pycache__").mkdir()
            (folder / "__pycache__/gone.cpython-311.pyc").write_text("compiled")
    (root / PACKAGE / "used/__pycache__/notes.txt").write_text("somebody's")

    write(root, files("new"), PACKAGE)

    left = sorted(path.name for path in (root / PACKAGE).iterdir() if path.is_dir())
    assert left == ["linked", "ops", "used"]
    assert (root / PACKAGE / "used/__pycache__/notes.txt").exists()
    assert (outside / "work.cpython-311.pyc").exists()


def test_all_that_is_planned_says_that_it_was_generated(tmp_path):
    """Else a second run would take its own files for somebody else's."""
    plans = built_in.files()
    write(tmp_path, plans, "tripyapi")
    for path, text in plans.items():
        (tmp_path / path).write_text(text + "\n# more\n" if text else "")
    assert {each.kind for each in differences(tmp_path, plans, "tripyapi")} == {"different"}
    assert {each.kind for each in differences(tmp_path, {}, "tripyapi")} == {"stale"}

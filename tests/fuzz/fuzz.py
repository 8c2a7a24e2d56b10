"""Fuzz the readers of all files that a stranger may write.

    python tests/fuzz/fuzz.py                           # each target for a minute
    python tests/fuzz/fuzz.py mlir specs --seconds 300  # these
    python tests/fuzz/fuzz.py mlir --only FILE          # one input again, with its traceback

A finding is a file in `out/fuzz/TARGET/`. Each target runs in a process of its own, which is
started again where an input has killed it.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for each in (HERE, ROOT, ROOT / "generated"):
    sys.path.insert(0, str(each))
OUT = ROOT / "out" / "fuzz"
# The targets, and what atheris looks at: the readers, since all else takes minutes to instrument.
NAMES = {
    "operators": ("schema", "documents", "language"),
    "specs": ("schema", "documents", "language", "model"),
    "workspaces": ("schema", "documents", "workspace"),
    "snippets": ("language",),
    "mlir": ("tensorrt.mlir", "tensorrt.passes"),
    "containers": ("artifact",),
    "manifests": ("artifact", "trace"),
    "safetensors": ("weights", "documents"),
    "onnx": ("importer", "onnx"),
    "pt2": ("importer",),
}
SILENCE = 30  # seconds of processor time without an account: it hangs in native code
PREPARATION = 600  # until the first one
ADDRESSES = 6 << 30  # bytes beside those of the beginning, so that the machine survives


def main() -> int:
    """Run what is asked for, and print a row for each target."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*", choices=(*NAMES, *[[]]), metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=("atheris", "own"), default=_best_engine())
    parser.add_argument("--only", type=Path, metavar="FILE", help="try one input again")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    names = given.targets or [*NAMES]
    if given.only:
        return _again(names[0], given.only)
    if given.child:
        _child(names[0], given)
        return 0
    rows = [_fuzzed(name, given) for name in names]
    _say(f"\n{'target':12} {'trials':>9} {'accepted':>9} {'refused':>9} {'defects':>8} "
          f"{'hangs':>6} {'deaths':>7} {'slowest':>8} {'memory':>8}")  # fmt: skip
    for row in rows:
        _say(row)
    _say(f"engine: {given.engine}, {given.seconds:.0f} s each, seed {given.seed}")
    return int(any((OUT / name).glob("finding-*") for name in names))


def _best_engine() -> str:
    return "atheris" if importlib.util.find_spec("atheris") else "own"


def _fuzzed(name: str, given: argparse.Namespace) -> str:
    """Run a target for its time, in as many processes as it takes."""
    folder, total, kinds = OUT / name, Counter[str](), Counter[str]()
    findings: dict[str, str] = {}
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    for old in folder.glob("finding-*"):
        old.unlink()
    deaths, left, slowest, memory = 0, given.seconds, 0.0, 0
    while left > min(2, given.seconds / 2):
        (folder / "account.json").unlink(missing_ok=True)
        how = _process(name, folder, left, given, given.seed + deaths)
        account = _account(folder)
        left -= account["seconds"]
        total["trials"] += account["trials"]
        kinds.update(account["kinds"])
        findings.update(account["findings"])
        slowest, memory = max(slowest, account["slowest"]), max(memory, account["memory"])
        if how:
            deaths += 1
            path = _dead_input(folder, how)
            findings[f"died {how}"] = path.name
            _say(f"{name}: the process {how}")
        if not account["trials"]:
            break
    for kind, file in findings.items():
        path = (folder / file).relative_to(ROOT)
        _say(f"{kind}\n    python tests/fuzz/fuzz.py {name} --only {path}")
    defects = sum(1 for kind in findings if not kind.startswith("hung"))
    return (
        f"{name:12} {total['trials']:9,} {kinds['accepted']:9,} {kinds['refused']:9,} "
        f"{defects:8} {kinds['hung']:6} {deaths:7} {slowest:7.2f}s {memory >> 20:5} MB"
    )


def _process(
    name: str, folder: Path, seconds: float, given: argparse.Namespace, seed: int
) -> str | None:
    """Run a child, and say how it died, if it did."""
    words = [sys.executable, __file__, name, "--child", str(folder), "--engine", given.engine]
    words += ["--seconds", str(seconds), "--seed", str(seed)]
    with (folder / "errors.txt").open("wb") as errors:
        child = subprocess.Popen(words, stderr=errors, env=_environment())
    account, told, used = folder / "account.json", 0.0, 0.0
    while child.poll() is None:
        time.sleep(0.2)
        at = account.stat().st_mtime if account.exists() else 0.0
        if at != told:
            told, used = at, _processor_seconds(child.pid)
        if _processor_seconds(child.pid) - used > (SILENCE if told else PREPARATION):
            child.kill()
            child.wait()
            return "hung"
    if child.returncode == 0:
        return None
    said = (folder / "errors.txt").read_text(errors="replace")
    _say(said[-1500:])
    with contextlib.suppress(ValueError):
        return f"got {signal.Signals(-child.returncode).name}"
    return f"ended with {child.returncode}"


def _processor_seconds(process: int) -> float:
    """What a process has used; a machine that is busy with others is no hang."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _environment() -> dict[str, str]:
    cache = str(OUT / "cache")
    return {**os.environ, "TRIPYBUILD_CACHE_DIR": cache, "PYTHONHASHSEED": "0"}


def _account(folder: Path) -> dict:
    with contextlib.suppress(OSError, ValueError):
        return json.loads((folder / "account.json").read_text())
    return {"trials": 0, "kinds": {}, "findings": {}, "slowest": 0.0, "memory": 0, "seconds": 0.0}


def _dead_input(folder: Path, how: str) -> Path:
    content = (folder / "current").read_bytes() if (folder / "current").exists() else b"\0" * 8
    path = folder / f"finding-died-{how.replace(' ', '-')}"
    path.write_bytes(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return path


def _child(name: str, given: argparse.Namespace) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if given.engine == "atheris":
        import atheris  # noqa: PLC0415 - an extra

        with atheris.instrument_imports(include=[f"tripybuild.{each}" for each in NAMES[name]]):
            _feed(name, given)
    else:
        _feed(name, given)


def _feed(name: str, given: argparse.Namespace) -> None:
    from fuzzing.engines import ENGINES, Trial  # noqa: PLC0415 - after the instruments
    from fuzzing.harness import check  # noqa: PLC0415
    from fuzzing.targets import TARGETS  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        target = TARGETS[name](Path(folder))
        for data in target.seeds().values():  # imports all that is needed
            check(target, data, 60)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES, used + ADDRESSES))
        ENGINES[given.engine](Trial(target, given.child), given.seconds, given.seed)


def _again(name: str, path: Path) -> int:
    """Try one input, let what it raises through, and print what became of it."""
    from fuzzing.harness import check  # noqa: PLC0415
    from fuzzing.targets import TARGETS  # noqa: PLC0415

    os.environ.update(_environment())
    with tempfile.TemporaryDirectory() as folder:
        target = TARGETS[name](Path(folder))
        verdict = check(target, path.read_bytes())
        _say(str(verdict))
        if verdict.kind == "raised":
            target.read(path.read_bytes())
        return int(verdict.is_finding)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n".encode(errors="backslashreplace").decode())
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

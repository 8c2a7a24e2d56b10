"""Registries of a stranger, by the thousand: nothing that they say may run code or touch a file.

    python tests/security/fuzz_registry.py --cases 20000 --seed 0

Each case is a right registry with hostile texts and snippets in it. It is read, generated, imported
and run in a process that notes what it does; what is not on a list is an event. A case that fails
is printed with its seed, and tried again alone by `--only SEED:NUMBER`.
"""

import argparse
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
for each in (HERE, HERE.parents[1], HERE.parents[1] / "generated"):
    sys.path.insert(0, str(each))

BATCH = 1000  # cases of one process, which keeps some of what it has seen
SECONDS = 5  # of processor time for a case
PATIENCE = 120.0  # seconds without a word
MEMORY = 3 << 30  # bytes more than the process has when it begins
FINE = frozenset({"refused", "late", "ran"})


class _TooLong(BaseException):
    """A case has had its time."""


def main() -> int:
    """Run the cases, and say what became of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", metavar="SEED:NUMBER", help="one case, with all that is known")
    parser.add_argument("--show", metavar="KIND", help="print the cases of a kind, such as `late`")
    parser.add_argument("--reader-alone", action="store_true", help="without the closed grammar")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        given.seed, given.first = map(int, given.only.split(":"))
        given.cases = 1
    if given.child:
        return _child(given)
    return _report(given)


def _report(given: argparse.Namespace) -> int:
    start, kinds, details, bad = time.monotonic(), Counter(), Counter(), 0
    for number, verdict in _verdicts(given):
        kinds[verdict["kind"]] += 1
        if verdict["kind"] in {"refused", "late"}:
            details[verdict["detail"]] += 1
        details.update({f"  {name}": count for name, count in verdict.get("ran", {}).items()})
        if verdict["kind"] not in FINE or given.only or verdict["kind"] == given.show:
            bad += verdict["kind"] not in FINE
            _say(f"{verdict['kind'].upper()}: {verdict['detail']}\n{_shown(given.seed, number)}\n")
    for name, count in details.most_common(200 if given.only else 60):
        _say(f"{count:8} {name}")
    took = time.monotonic() - start
    _say(f"{sum(kinds.values())} cases in {took:.0f}s, seed {given.seed}: {dict(kinds)}")
    _say(f"{kinds['event']} events, {bad} failures")
    return bool(bad)


def _shown(seed: int, number: int) -> str:
    from hostile.cases import case  # noqa: PLC0415 - the children need it, and seldom the parent

    return case(seed, number).shown()


def _verdicts(given: argparse.Namespace) -> Iterator[tuple[int, dict]]:
    """What the children say of each case; one that dies or says nothing is followed by another."""
    number, last = given.first, given.first + given.cases
    while number < last:
        count = min(BATCH, last - number)
        words = [sys.executable, __file__, "--child", "--seed", str(given.seed)]
        words += ["--first", str(number), "--cases", str(count)]
        words += ["--reader-alone"] if given.reader_alone else []
        before = number
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors)
            for line in _lines(child):
                yield number, json.loads(line)
                number += 1
            try:
                child.wait(PATIENCE / 20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            errors.seek(0)
            said = errors.read().decode(errors="replace")[-1500:]
        if number < before + count:
            how = "hung" if child.returncode == -signal.SIGKILL else f"ended {child.returncode}"
            yield number, {"kind": "died", "detail": f"{how}: {said}"}
            number += 1


def _lines(child: subprocess.Popen) -> Iterator[bytes]:
    """The lines of a child, as long as it says something."""
    assert child.stdout is not None
    buffer = b""
    while select.select([child.stdout], [], [], PATIENCE)[0]:
        read = os.read(child.stdout.fileno(), 1 << 16)
        if not read:
            return
        *whole, buffer = (buffer + read).split(b"\n")
        yield from whole


def _child(given: argparse.Namespace) -> int:
    """Try some cases, and write a line for each."""
    from hostile.cases import case  # noqa: PLC0415
    from hostile.trial import Laboratory, Verdict  # noqa: PLC0415

    out = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder), late=not given.reader_alone)
        warm_up(laboratory)
        _limit()
        for number in range(given.first, given.first + given.cases):
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            try:
                verdict = laboratory.tried(case(given.seed, number))
            except _TooLong:
                verdict = Verdict("endless", f"more than {SECONDS} seconds")
            except MemoryError:
                verdict = Verdict("greedy", f"more than {MEMORY >> 30} GiB")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            out.write(json.dumps(vars(verdict)).encode() + b"\n")
    return 0


def warm_up(laboratory) -> None:
    """Run right registries first, so that all modules that are ever needed are imported."""
    from hostile.cases import Case, right  # noqa: PLC0415

    for number, files in enumerate(right()):
        given = Case(f"right {number}", "mine", files)
        laboratory.tried(given, watched=False)
        verdict = laboratory.tried(given)
        assert verdict.kind == "ran", f"{verdict}\n{given.shown()}"
        assert not any("AttributeError" in each for each in verdict.ran), verdict


def _limit() -> None:
    def stop(*_: object) -> None:
        raise _TooLong

    signal.signal(signal.SIGPROF, stop)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n".encode(errors="backslashreplace").decode())
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

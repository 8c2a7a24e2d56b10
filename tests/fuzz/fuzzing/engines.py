"""Engines: what feeds a target for some time. Both call the same `Trial`, which keeps the account.

Invariant: the input that is tried stands in a file before it is tried, so that what kills the
process can be tried again.
"""

import json
import mmap
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fuzzing.edits import LONGEST
from fuzzing.harness import Target, Verdict, check, file_name

REPORT = 1.0  # seconds between two accounts
HEAD = 8  # bytes that hold the length of the current input


@dataclass
class Account:
    """What became of the inputs of a process."""

    trials: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    findings: dict[str, str] = field(default_factory=dict)
    slowest: float = 0.0
    memory: int = 0
    seconds: float = 0.0


class Trial:
    """A target, its findings and its account, in a folder.

    Args:
        target: The target.
        folder: Where `account.json`, `current` and the findings are.
    """

    def __init__(self, target: Target, folder: Path) -> None:
        self.target, self.folder = target, folder
        self.account, self.outcomes = Account(), set[str]()
        self._began = time.monotonic()
        self.tell()
        with (folder / "current").open("w+b") as current:
            current.truncate(HEAD + LONGEST)
            self._current = mmap.mmap(current.fileno(), HEAD + LONGEST)

    def __call__(self, data: bytes) -> bool:
        """Try an input, and tell whether its outcome is a new one."""
        if len(data) > LONGEST:
            return False
        self._current[: HEAD + len(data)] = len(data).to_bytes(HEAD, "little") + data
        verdict = check(self.target, data)
        self._count(verdict, data)
        outcome = f"{verdict.kind} {verdict.detail}"
        is_new = outcome not in self.outcomes
        self.outcomes.add(outcome)
        return is_new

    def _count(self, verdict: Verdict, data: bytes) -> None:
        account = self.account
        account.trials += 1
        account.kinds[verdict.kind] += 1
        account.slowest = max(account.slowest, verdict.seconds)
        account.memory = max(account.memory, verdict.memory)
        kind = f"{verdict.kind} {verdict.detail.partition(': ')[0]}"
        if verdict.is_finding and kind not in account.findings:
            path = self.folder / f"finding-{file_name(kind.encode())}{self.target.suffix}"
            path.write_bytes(data)
            account.findings[kind] = path.name
            say(f"{self.target.name}: {verdict.kind} {verdict.detail}")
        if time.monotonic() - self._told > REPORT:
            self.tell()

    def tell(self) -> None:
        """Write the account."""
        self.account.seconds = time.monotonic() - self._began
        (self.folder / "account.json").write_text(json.dumps(vars(self.account)))
        self._told = time.monotonic()


def current_input(folder: Path) -> bytes:
    """The input that was tried last, by whatever process."""
    content = (folder / "current").read_bytes()
    return content[HEAD : HEAD + int.from_bytes(content[:HEAD], "little")]


def own_loop(trial: Trial, seconds: float, seed: int) -> None:
    """Mutate what has led to an outcome that no other input had."""
    pick, end = random.Random(seed), time.monotonic() + seconds
    known = list(trial.target.seeds().values()) or [b""]
    for data in known:
        trial(data)
    while time.monotonic() < end:
        data = trial.target.mutate(pick.choice(known), pick.choice(known), pick)
        if trial(data) and len(data) < LONGEST // 4:
            known.append(data)
            keep(trial, data)
    trial.tell()


def keep(trial: Trial, data: bytes) -> None:
    """Write an input that is worth mutating again."""
    (trial.folder / "corpus" / f"{file_name(data)}{trial.target.suffix}").write_bytes(data)


def atheris_loop(trial: Trial, seconds: float, seed: int) -> None:
    """Let libFuzzer choose by coverage; half of the mutations are its own."""
    import atheris  # noqa: PLC0415 - an extra

    seeds = trial.folder / "seeds"
    seeds.mkdir(exist_ok=True)
    known = list(trial.target.seeds().values()) or [b""]
    for data in known:
        (seeds / f"{file_name(data)}{trial.target.suffix}").write_bytes(data)

    def mutated(data: bytes, most: int, number: int) -> bytes:
        pick = random.Random(number)
        if pick.random() < 0.3:
            return atheris.Mutate(data, most)
        return trial.target.mutate(data, pick.choice(known), pick)[:most]

    def tried(data: bytes) -> None:
        if trial(data):
            keep(trial, data)

    limits = [f"-max_total_time={int(seconds)}", f"-max_len={LONGEST}", f"-seed={seed + 1}"]
    limits += ["-rss_limit_mb=0", "-timeout=600", "-verbosity=0", "-len_control=0"]
    words = [sys.argv[0], str(trial.folder / "corpus"), str(seeds), *limits]
    atheris.Setup(words, tried, custom_mutator=mutated)
    atheris.Fuzz()


ENGINES: dict[str, Callable[[Trial, float, int], None]] = {"atheris": atheris_loop, "own": own_loop}


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n".encode(errors="backslashreplace").decode())
    sys.stdout.flush()

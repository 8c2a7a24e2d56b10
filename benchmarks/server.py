"""A server of sentence vectors: requests per second where each has a size of its own.

Eight threads answer requests of 20 combinations of batch and length, drawn at random, from JSON to
JSON in one process with MiniLM. HTTP is left out: it costs the same for all. `cold` is the first
process of a machine, `warm` a new one after another has answered each combination once.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import contest
import engine
import model_contestants
import model_jobs
import numpy as np
from contest import PROBLEM, Answer, Ask, Contestant
from model_contestants import OURS, Model
from table import Cell, Table, arguments, machine, median, report

PACKAGES = ("jaxlib", "onnxruntime", "openvino", "torch", "transformers")
PEER = "torch eager"
JOB = "minilm"
BATCHES = (1, 2, 4, 8)
LENGTHS = (16, 32, 64, 128, 256)
COMBINATIONS = [(batch, length) for batch in BATCHES for length in LENGTHS]
THREADS = 8
COLUMNS = ("load s", "first second", "requests/s", "p50 ms", "p99 ms", "peak MB", "off by")
SLOWEST = 600.0  # seconds to answer each combination once
MEMORY = 16 << 30

Handler = Callable[[Mapping[str, Any]], Any]


def body(batch: int, length: int) -> bytes:
    """A request: tokens without padding."""
    tokens = np.random.default_rng(length).integers(1000, 30000, (batch, length))
    return json.dumps({"tokens": tokens.tolist(), "mask": [[1] * length] * batch}).encode()


def ours(model: Model, target: str) -> Handler:
    """Load the executable."""
    entry = engine.load_executable(model_contestants.executable_file(model, target)).entry()
    return lambda given: entry(**given)["embedding"]


def torch_eager(model: Model) -> Handler:
    """Call the peer as it is."""
    program, _ = model.program()
    torch: Any = import_module("torch")

    def call(given: Mapping[str, Any]) -> Any:
        with torch.inference_mode():
            (found,) = program(*(torch.from_numpy(each).long() for each in given.values()))
            return found.numpy()

    return call


def answered(handler: Handler, request: bytes) -> bytes:
    """What the server does with the bytes of a request."""
    given = {name: np.array(rows, np.int32) for name, rows in json.loads(request).items()}
    return json.dumps({"embedding": handler(given).tolist()}).encode()


def serve(handler: Handler, seconds: float) -> Answer:
    """Answer from all threads; what is not finished in time does not count."""
    requests = [body(*each) for each in COMBINATIONS]
    start = time.perf_counter()
    done: list[tuple[float, float]] = []
    errors: list[Exception] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        while time.perf_counter() < start + seconds:
            began = time.perf_counter()
            try:
                answered(handler, draw.choice(requests))
            except Exception as error:  # noqa: BLE001 - what fails is counted, and shown
                errors.append(error)
                return
            done.append((time.perf_counter() - start, time.perf_counter() - began))

    workers = [threading.Thread(target=work, args=(i,), daemon=True) for i in range(THREADS)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(max(0.1, start + seconds - time.perf_counter()))
    if errors:
        raise errors[0]
    within = [(end, took) for end, took in list(done) if end <= seconds]
    took = sorted(each for _, each in within) or [float("nan")]
    half = sum(end > seconds / 2 for end, _ in within)
    return {
        "first second": sum(end <= 1.0 for end, _ in within),
        "requests/s": half / (seconds / 2),
        "p50 ms": median(took) * 1e3,
        "p99 ms": took[min(len(took) - 1, len(took) * 99 // 100)] * 1e3,
    }


def asks(name: str, model: Model) -> Mapping[str, Ask]:
    """What a contestant answers in its process."""
    if name == "torch":
        return {"prepare": lambda _: model_contestants.prepare(model)}
    loaded: list[Handler] = []

    def load(_: Mapping[str, Any]) -> Answer:
        make = (lambda: torch_eager(model)) if name == PEER else (lambda: ours(model, name))
        seconds, handler = contest.timed(make)
        loaded.append(handler)
        return {"load s": None if name == PEER else seconds}

    def visit(_: Mapping[str, Any]) -> Answer:
        for each in COMBINATIONS:
            answered(loaded[0], body(*each))
        return {}

    def compare(_: Mapping[str, Any]) -> Answer:
        found = loaded[0]({name: each.astype(np.int32) for name, each in model.inputs.items()})
        wanted = model.expected()
        return {"off by": import_module("spec_tests").difference({"embedding": found}, wanted)}

    return {
        "compile": lambda _: model_contestants.compile_ours(model, name, sized=False),
        "load": load,
        "visit": visit,
        "compare": compare,
        "serve": lambda question: serve(loaded[0], question["seconds"]),
    }


class Match:
    """All contestants, in a folder."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.rows: list[dict[str, Cell]] = []

    def start(self, name: str, cache: str) -> Contestant:
        """Begin a process with a cache of compiled programs."""
        variables = {engine.CACHE_VARIABLE: str(self.folder / "caches" / cache)}
        words = [name, str(self.folder)]
        threads = self.options.threads
        return Contestant(__file__, words, threads=threads, memory=MEMORY, environment=variables)

    def ask(self, name: str, cache: str, *questions: str) -> Answer:
        """Ask a new process, until something fails."""
        contestant = self.start(name, cache)
        found: Answer = {}
        for question in questions:
            found |= contestant.ask(SLOWEST, ask=question, seconds=self.options.seconds)
            if PROBLEM in found:
                break
        contestant.stop()
        return found

    def play(self) -> None:
        """Measure each, cold and warm."""
        prepared = self.ask("torch", "torch", "prepare")
        for name in self.options.contestants:
            found = prepared if PROBLEM in prepared else {}
            if name in OURS and PROBLEM not in found:
                found = self.ask(name, "unused", "compile")
            own = name.replace(":", "-")
            for cache in ("cold", "warm") if name in OURS else ("cold",):
                if cache == "warm" and PROBLEM not in found:
                    found = self.ask(name, own, "load", "visit")
                if PROBLEM not in found:
                    found = self.ask(name, own, "load", "serve", "compare")
                row: dict[str, Cell] = {"engine": f"{name}, {cache}" if name in OURS else name}
                row |= {column: found.get(column) for column in COLUMNS}
                self.rows.append({**row, "problem": found.get(PROBLEM, "")})


def child(words: list[str]) -> None:
    """Answer for one contestant."""
    name, folder = words
    (job,) = model_jobs.choose(JOB)
    model = Model(job, "usual", Path(folder))
    contest.answer(lambda: asks(name, model))


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    parser = arguments(__doc__)
    parser.add_argument("--contestants", default=",".join((*OURS, PEER)))
    parser.add_argument("--seconds", type=float, default=20, help="of serving")
    parser.add_argument("--threads", type=int, default=2, help="of the engine")
    options = parser.parse_args()
    options.contestants = options.contestants.split(",")
    with tempfile.TemporaryDirectory() as folder:
        match = Match(options, Path(folder))
        match.play()
    title = (
        f"MiniLM for {THREADS} threads and {len(COMBINATIONS)} combinations of sizes, "
        f"{options.seconds:.0f} s"
    )
    notes = [
        "`first second`: answers in the first one; `requests/s`: in the second half of the time;",
        "`off by`: from torch eager, as a part of the root of the mean square.",
    ]
    table = Table(title, ("engine", *COLUMNS, "problem"), match.rows, notes)
    report([table], machine(*PACKAGES), options.json)


if __name__ == "__main__":
    main()

"""Eager tensors beside JAX's, PyTorch's and NumPy's arrays: the first result, new ones, known ones.

Each is measured in a process of its own, on 4 float32 numbers, from a NumPy array to a NumPy array:

- `start ms`: from an interpreter that has loaded NumPy to the first sum, the import included;
- `new ms`: the first call of a function on a shape that it never met, the median of several;
- `known µs`: a sum that was computed before, once more;
- `loop ms`: a sum of a million numbers and another number each time, which compiles once;
  `compile ms` is what its first turn takes beyond the others.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from table import Cell, Table, arguments, machine, median, ratios, report, samples

VALUE = np.arange(4, dtype=np.float32)
LARGE = np.zeros((1024, 1024), np.float32)
FUNCTIONS = ("tanh", "exp", "sin", "cos", "sqrt", "abs")
TURNS = 10
GOAL = 60  # microseconds
AHEAD = 3  # how often our first result is to be there before JAX's
# Where each library's functions are, and what makes its tensor of an array.
PEERS: Mapping[str, tuple[str, str]] = {
    "tripybuild": ("tripyapi", "Tensor"),
    "jax": ("jax.numpy", "asarray"),
    "torch": ("torch", "from_numpy"),
    "numpy": ("numpy", "asarray"),
}


def timed(call: Callable[[], object]) -> float:
    """The seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def timed_function(function: Callable[[Any], Any], x: Any) -> float:
    """The seconds until a function of an array is there."""
    return timed(lambda: np.asarray(function(x)))


def timed_sum(x: Any, number: int) -> float:
    """The seconds until a sum of an array and a number is there."""
    return timed(lambda: np.asarray(x + float(number)))


def new(library: Any, made: Callable[[Any], Any]) -> float:
    """The median of first calls, each of another function on another shape."""
    times = []
    for at, name in enumerate(FUNCTIONS):
        x, function = made(np.ones(5 + at, np.float32)), getattr(library, name)
        times.append(timed_function(function, x))
    return median(times)


def loop(made: Callable[[Any], Any]) -> list[float]:
    """Each turn's seconds."""
    x = made(LARGE)
    return [timed_sum(x, at) for at in range(TURNS)]


def measured(peer: str) -> dict[str, Cell]:
    """All times of one library, in this process."""
    module, maker = PEERS[peer]
    start = time.perf_counter()
    library = import_module(module)
    made = getattr(library, maker)
    x, y = made(VALUE), made(VALUE)
    np.asarray(x + y)
    started = time.perf_counter() - start
    first, *others = loop(made)
    spent, count = time.process_time(), len(known := samples(lambda: np.asarray(x + y)))
    processor = (time.process_time() - spent) / count
    return {
        "one sum": peer,
        "start ms": started * 1e3,
        "new ms": new(library, made) * 1e3,
        "known µs": median(known) * 1e6,
        "best µs": min(known) * 1e6,
        "processor µs": processor * 1e6,
        "loop ms": median(others) * 1e3,
        "compile ms": (first - median(others)) * 1e3,
    }


def asked(peer: str) -> dict[str, Cell]:
    """The times of one library, from a process of its own."""
    words = [sys.executable, str(Path(__file__)), "--peer", peer]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode:
        problem = done.stderr.strip().splitlines()[-1:] or ["no word"]
        return {"one sum": f"{peer}: {problem[0]}"}
    found: dict[str, Cell] = json.loads(done.stdout)
    return found


def rows() -> list[dict[str, Cell]]:
    """One for each library, and how far it is from JAX."""
    found = ratios([asked(peer) for peer in PEERS], "one sum", "jax", "start ms", "new ms")
    found[0]["goal µs"] = GOAL
    return found


def main() -> None:
    """Print the comparison; with `--peer`, the numbers of one library as JSON."""
    parser = arguments(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        print(json.dumps(measured(options.peer)))
        return
    columns = ("one sum", "start ms", "jax / start", "new ms", "jax / new", "known µs", "best µs")
    more = ("processor µs", "goal µs", "loop ms", "compile ms")
    note = f"`jax / start` and `jax / new` are to be {AHEAD} or more for tripybuild"
    table = Table("Eager tensors", (*columns, *more), list(rows()), [note])
    report([table], machine("jaxlib", "jax", "torch", "numpy"), options.json)


if __name__ == "__main__":
    main()

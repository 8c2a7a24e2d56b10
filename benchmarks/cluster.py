"""A matrix of 20 specs by 3 targets on four workers of Dask, one of which is killed.

The cache is empty at first, and shared by the workers. Then the same matrix is built in another
folder, with a cache of its own, from what they share. Each output is run beside the reference.

With `--simulate`, the scheduler is measured with jobs that do nothing, and 1,000 workers with
100,000 jobs are simulated from that.
"""

import argparse
import heapq
import json
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import tripybuild

SPECS, WORKERS = 20, 4
TARGETS = ("cpu:xla", "cpu:onnxruntime", "tensorrt-rtx:sm89")
SPEC = """\
tripybuild: 1
model: perceptron_{number}
inputs:
  x: float32[B, {width}]
ranges:
  B: {{min: 1, opt: 4, max: 16}}
parts:
  up: Linear({width}, {inner})
  norm: LayerNorm({inner})
  down: Linear({inner}, {width})
outputs:
  y: down(gelu(norm(up(x)))) + x
weights: perceptron_{number}.safetensors
"""


def write_workspace(folder: Path) -> None:
    """Twenty specs with weights, and the file that names them."""
    from safetensors.numpy import save_file

    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(SPECS):
        width, inner = 64 + 16 * number, 256 + 32 * number
        text = SPEC.format(number=number, width=width, inner=inner)
        (folder / f"perceptron_{number}.yaml").write_text(text)
        shapes = {"up.weight": (inner, width), "up.bias": (inner,), "norm.weight": (inner,)}
        shapes |= {"norm.bias": (inner,), "down.weight": (width, inner), "down.bias": (width,)}
        weights = {n: rng.normal(0, 0.1, s).astype(np.float32) for n, s in shapes.items()}
        save_file(weights, folder / f"perceptron_{number}.safetensors")
    targets = json.dumps(TARGETS)
    lines = ["tripybuild: 1", "workspace: matrix", "specs: [perceptron_*.yaml]"]
    lines += [f"builds: {{all: {{targets: {targets}}}}}"]
    (folder / "tripybuild.yaml").write_text("\n".join(lines) + "\n")


@contextmanager
def cluster(folder: Path, remote: Path, workers: int) -> Iterator[tuple[Path, list[Any]]]:
    """A scheduler and workers, each with a cache of its own below a folder."""
    file = folder / "scheduler.json"
    started: list[subprocess.Popen[bytes]] = []

    def start(kind: str, name: str, *words: str) -> None:
        own = machine(folder / name, remote)
        command = [sys.executable, "-P", "-m", f"distributed.cli.dask_{kind}", "--no-dashboard"]
        with (folder / f"{name}.log").open("wb") as log:
            command += ["--scheduler-file", str(file), *words]
            started.append(subprocess.Popen(command, env=own, stdout=log, stderr=log))

    start("scheduler", "scheduler", "--host", "127.0.0.1", "--port", "0")
    while not file.exists():
        time.sleep(0.05)
    for number in range(workers):
        place = str(folder / f"worker-{number}")
        own = ("--nthreads", "1", "--no-nanny", "--local-directory", place)
        start("worker", f"machine-{number}", *own, "--resources", "memory=4e9")
    try:
        yield file, started[1:]
    finally:
        for each in started:
            each.kill()
            each.wait()


def machine(folder: Path, remote: Path) -> dict[str, str]:
    """The environment of a machine."""
    own = {"TRIPYBUILD_CACHE_DIR": str(folder), "TRIPYBUILD_REMOTE_CACHE": str(remote)}
    return {**os.environ, **own, "TRIPYBUILD_REMOTE_CACHE_MODE": "read-write"}


def build(folder: Path, environment: dict[str, str], *words: str) -> subprocess.Popen[bytes]:
    """`tripybuild build` in a folder."""
    command = [sys.executable, "-P", "-m", "tripybuild", "build", "-C", str(folder), *words]
    out, wrong = (folder / "answer.json").open("wb"), (folder / "build.log").open("wb")
    return subprocess.Popen([*command, "--json"], env=environment, stdout=out, stderr=wrong)


def answer(folder: Path) -> dict[str, Any]:
    """What a build said."""
    found: dict[str, Any] = json.loads((folder / "answer.json").read_bytes())
    return found


def outcomes(folder: Path) -> Counter[str]:
    """How many jobs ended in which way."""
    return Counter(each["outcome"] for each in answer(folder)["jobs"])


def wrong_outputs(folder: Path) -> int:
    """How many executables for the CPU give something else than the reference, or do not load."""
    wrong = 0
    for number in range(SPECS):
        spec = folder / f"perceptron_{number}.yaml"
        width = 64 + 16 * number
        x = np.random.default_rng(number).normal(size=(4, width)).astype(np.float32)
        expected = tripybuild.compile(spec, target="reference")(x=x)["y"]
        for path in sorted((folder / "build").rglob(f"perceptron_{number}-*.tpb")):
            loaded = tripybuild.load(path)
            if "tensorrt" in path.name:
                continue  # a GPU runs it; its digests were compared as it was loaded
            wrong += not np.allclose(loaded(x=x)["y"], expected, atol=1e-4)
    return wrong


def compiled_twice(folder: Path) -> tuple[int, int]:
    """How many contents the caches of all workers made, and how many of them more than once."""
    made: Counter[str] = Counter()
    for number in range(WORKERS):
        own = {**os.environ, "TRIPYBUILD_CACHE_DIR": str(folder / f"machine-{number}")}
        own.pop("TRIPYBUILD_REMOTE_CACHE", None)
        command = [sys.executable, "-P", "-m", "tripybuild", "cache", "list", "--json"]
        listed = json.loads(
            subprocess.run(command, env=own, capture_output=True, check=True).stdout
        )
        made.update(each["key"] for each in listed["entries"])
    return len(made), sum(count > 1 for count in made.values())


def run_matrix(folder: Path) -> None:
    """Build, kill a worker amid, look at all; then again elsewhere."""
    remote = folder / "remote"
    remote.mkdir()
    write_workspace(folder / "one")
    with cluster(folder, remote, WORKERS) as (file, workers):
        begin = time.perf_counter()
        environment = machine(folder / "client", remote)
        running = build(folder / "one", environment, "--on", str(file))
        while len(list((folder / "one").rglob("*.tpb"))) < 20 and running.poll() is None:
            time.sleep(0.1)
        workers[0].send_signal(signal.SIGKILL)
        status = running.wait()
        took = time.perf_counter() - begin
    made, twice = compiled_twice(folder)
    print(f"{SPECS} specs by {len(TARGETS)} targets on {WORKERS} workers, one killed: {took:.1f} s")
    print(f"exit {status}, {dict(outcomes(folder / 'one'))}, wrong {wrong_outputs(folder / 'one')}")
    print(f"{made} contents in the caches of the workers, {twice} of them in two")
    write_workspace(folder / "two")
    begin = time.perf_counter()
    status = build(folder / "two", machine(folder / "other", remote)).wait()
    took = time.perf_counter() - begin
    print(f"the same elsewhere, from what is shared: {took:.2f} s, exit {status}, ", end="")
    print(f"{dict(outcomes(folder / 'two'))}, wrong {wrong_outputs(folder / 'two')}")


def _answer(number: int, job: dict[str, Any]) -> dict[str, Any]:
    return {"number": number, **job}


def measure_scheduler(count: int) -> tuple[float, float]:
    """Seconds of the scheduler's processor, and bytes through it, for a job that does nothing."""
    import psutil
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    settings = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    settings["silence_logs"] = logging.CRITICAL
    job = {"name": "x" * 40, "files": [{"path": "p" * 40, "digest": "d" * 64, "size": 1}] * 4}
    with LocalCluster(n_workers=2, **settings) as local, Client(local) as client:
        process = psutil.Process()  # the scheduler is in this one, and so is the client
        before, sent = process.cpu_times(), psutil.net_io_counters(pernic=True)["lo"].bytes_sent
        client.gather(client.map(_answer, range(count), job=job, pure=False))
        after, now = process.cpu_times(), psutil.net_io_counters(pernic=True)["lo"].bytes_sent
    seconds = after.user + after.system - before.user - before.system
    return seconds / count, (now - sent) / count


def simulate(workers: int, jobs: int, service: float, seconds: float) -> tuple[float, float]:
    """When all jobs are done, and how busy the scheduler was.

    Each job needs the scheduler for a moment, one after the other, and then a free worker.
    """
    rng = random.Random(0)
    free = [0.0] * workers
    scheduler = 0.0
    for _ in range(jobs):
        start = heapq.heappop(free)
        scheduler = max(scheduler, start) + service
        heapq.heappush(free, scheduler + rng.expovariate(1 / seconds))
    end = max(free)
    return end, jobs * service / end


def run_simulation() -> None:
    """Measure the scheduler, and print what that means for many workers."""
    service, size = measure_scheduler(4000)
    print(
        f"scheduler and client: {service * 1e3:.2f} ms of processor and {size / 1e3:.1f} kB a job"
    )
    print("workers     jobs  seconds a job     hours  as if free  scheduler busy")
    for seconds in (1.0, 10.0, 60.0):
        end, busy = simulate(1000, 100_000, service, seconds)
        ideal = 100_000 * seconds / 1000
        print(
            f"  1,000  100,000  {seconds:13g}  {end / 3600:8.3f}  {ideal / end:9.1%}  {busy:13.1%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder that stays")
    words = parser.parse_args()
    if words.simulate:
        run_simulation()
        return
    folder = words.keep or Path(tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    try:
        run_matrix(folder)
    finally:
        if not words.keep:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

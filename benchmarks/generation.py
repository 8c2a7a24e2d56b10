"""Greedy generation with a Llama-shaped model: tokens per second beside `transformers`.

Both get one checkpoint of random weights (`save_pretrained`), use a cache, and write the same text,
which is compared token by token. Each runs in a process of its own, pinned to the same cores; the
rounds alternate, and the best of each counts.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import engine
from table import Cell, Table, arguments, machine, optional, report

SPEC = Path(__file__).parent.parent / "specs" / "llama.yaml"
PACKAGES = ("jaxlib", "onnxruntime", "torch", "transformers")
TARGETS = ("cpu:xla", "cpu:onnxruntime")
PEER = "transformers"


@dataclass(frozen=True)
class Job:
    """The model, and what it is to write."""

    vocabulary: int
    width: int
    depth: int
    context: int
    batch: int
    prompt: int
    tokens: int
    threads: int

    def config(self) -> dict[str, Any]:
        """The configuration of the checkpoint."""
        return {
            "vocab_size": self.vocabulary,
            "hidden_size": self.width,
            "intermediate_size": self.width * 11 // 4,
            "num_hidden_layers": self.depth,
            "num_attention_heads": self.width // 64,
            "num_key_value_heads": max(1, self.width // 128),
            "max_position_embeddings": self.context,
        }

    def prompts(self) -> list[list[int]]:
        """The prompts, without padding."""
        return [
            [(37 * i + row) % (self.vocabulary - 1) + 1 for i in range(self.prompt)]
            for row in range(self.batch)
        ]


def write_checkpoint(job: Job, folder: Path) -> None:
    """Write random weights as `transformers` does, and compile them with the spec."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(**job.config()))
    for each in model.parameters():
        torch.nn.init.normal_(each, 1.0 if each.ndim == 1 else 0.0, 0.05)
    model.save_pretrained(folder)
    shapes = [{"B": job.batch, "S": job.prompt}, {"B": job.batch, "S": 1}]
    for target in TARGETS:
        engine.compile_decoder(SPEC, folder, shapes, executable_file(folder, target), target)


def executable_file(folder: Path, target: str) -> Path:
    """Where an executable is kept."""
    return folder / f"{target.replace(':', '-')}.tpb"


def ours(job: Job, folder: Path, target: str) -> Callable[[int], Iterable[Sequence[int]]]:
    """Generate with the executable of a target."""
    return engine.generator(executable_file(folder, target), job.prompts())


def transformers(job: Job, folder: Path) -> Callable[[int], Iterable[Sequence[int]]]:
    """Generate with the model's own loop over its cache, without `generate()`'s bookkeeping."""
    import torch
    from transformers import LlamaForCausalLM

    torch.set_num_threads(job.threads)
    model: Any = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32)
    model.eval()
    tokens = torch.tensor(job.prompts())

    def run(count: int) -> Iterable[Sequence[int]]:
        with torch.inference_mode():
            found = model(tokens, use_cache=True)
            for _ in range(count):
                chosen = found.logits[:, -1:].argmax(-1)
                yield chosen[:, 0].tolist()
                found = model(chosen, past_key_values=found.past_key_values, use_cache=True)

    return run


Generate = Callable[[int], Iterable[Sequence[int]]]
CONTESTANTS: Mapping[str, Callable[[Job, Path], Generate]] = {
    **{f"tripybuild {target}": partial(ours, target=target) for target in TARGETS},
    PEER: transformers,
}


def measure(name: str, job: Job, folder: Path) -> dict[str, Any]:
    """Time one contestant in this process: its prompt, and the tokens behind the first."""
    start = time.perf_counter()
    run = CONTESTANTS[name](job, folder)
    loaded = time.perf_counter() - start
    list(run(4))
    start, times, text = time.perf_counter(), [], []
    for step in run(job.tokens):
        times.append(time.perf_counter() - start)
        text.append(list(step))
    return {
        "load s": loaded,
        "prompt ms": times[0] * 1e3,
        "tokens/s": job.batch * (len(times) - 1) / (times[-1] - times[0]),
        "text": text,
    }


def in_child(name: str, job: Job, folder: Path) -> dict[str, Any]:
    """Measure one contestant in a fresh process."""
    command = [sys.executable, __file__, "--child", name, json.dumps(asdict(job)), str(folder)]
    # Some size their pools by these before Python code can say otherwise.
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(job.threads))
    quiet = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    environment = {**os.environ, **threads, **quiet}
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    found: dict[str, Any] = json.loads(ran.stdout.strip().splitlines()[-1])
    return found


def child(words: list[str]) -> None:
    """Measure in this process, pinned to as many cores as there are threads, and print JSON."""
    name, text, folder = words
    job = Job(**json.loads(text))
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job.threads])
    print(json.dumps(measure(name, job, Path(folder))))


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    numbers = {
        "vocabulary": 32000,
        "width": 512,
        "depth": 8,
        "context": 1024,
        "batch": 1,
        "prompt": 32,
    }
    for name, default in (numbers | {"tokens": 96, "threads": 2, "rounds": 3}).items():
        parser.add_argument(f"--{name}", type=int, default=default)
    chosen = vars(parser.parse_args())
    absent = [module for module in ("torch", "transformers") if optional(module) is None]
    if absent:
        print(f"left out: {', '.join(absent)} cannot be imported")
        return
    job = Job(**{name: chosen[name] for name in (*numbers, "tokens", "threads")})
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_checkpoint(job, Path(folder))
        for _ in range(chosen["rounds"]):
            for name in CONTESTANTS:
                new, old = in_child(name, job, Path(folder)), found.get(name)
                if old is None or new["tokens/s"] > old["tokens/s"]:
                    found[name] = new
    columns = ("load s", "prompt ms", "tokens/s")
    rows: list[dict[str, Cell]] = [
        {"contestant": name, **{each: row[each] for each in columns}} for name, row in found.items()
    ]
    for row in rows:
        row["same text"] = str(found[str(row["contestant"])]["text"] == found[PEER]["text"]).lower()
        row["times the peer"] = found[str(row["contestant"])]["tokens/s"] / found[PEER]["tokens/s"]
    size = f"{job.batch} x ({job.prompt} + {job.tokens}) tokens"
    title = f"Greedy generation of {size} on {job.threads} threads"
    table = Table(title, ("contestant", *columns, "same text", "times the peer"), rows)
    report([table], machine(*PACKAGES), chosen["json"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
    else:
        main()

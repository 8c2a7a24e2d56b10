"""Latency of each spec that has a peer: our targets, torch, and runtimes of what torch exports.

Batch 1, one shape for each model, float32. Every contestant runs in a process of its own, pinned to
the same cores; the rounds alternate, and the best round's median counts. All read the same random
weights, take the same NumPy arrays, and are compared with torch.
"""

import argparse
import json
import math
import shutil
import sys
import tempfile
import time
from pathlib import Path

import contest
import engine
import model_contestants
import model_jobs
import model_tables
from contest import PROBLEM, Answer, Contestant
from model_contestants import EXPORTED, IN_TORCH, OURS, PEERS, Model
from model_jobs import Job
from model_tables import LAST, Found
from table import arguments, machine, report

PACKAGES = ("jaxlib", "onnxruntime", "openvino", "torch", "transformers", "diffusers", "onnxscript")
# `cpu:onnxruntime` is `cpu` by the rule: the better of two measurements of one engine is no figure.
OWN = [name for name in OURS if name != "cpu:onnxruntime"]
USUAL = [name for name in (*OWN, *PEERS) if name != "torch.compile"]
# What the processes of one model may have of the machine's memory while they wait for each other.
TOGETHER = 8000  # MB of weights
MEMORY = 18 << 30  # bytes of one process
OLD = ("ours", "cache")  # what our targets leave in a model's folder


class Match:
    """One model and its contestants, in a folder."""

    def __init__(self, job: Job, options: argparse.Namespace, folder: Path) -> None:
        self.job, self.options, self.folder = job, options, folder
        self.found: Found = {name: {} for name in options.contestants}

    def start(self, name: str) -> Contestant:
        """Begin a contestant's process."""
        words = [name, self.job.name, self.options.form, str(self.folder)]
        cache = {engine.CACHE_VARIABLE: str(self.folder / "cache" / name.replace(":", "-"))}
        threads = self.options.threads
        return Contestant(__file__, words, threads=threads, memory=MEMORY, environment=cache)

    def ask(self, contestant: Contestant, name: str, question: str) -> bool:
        """Ask, and keep the answer; the first problem is the last answer."""
        found = contestant.ask(self.options.limit, ask=question, seconds=self.options.seconds)
        kept = self.found[name]
        if question == "measure" and LAST in kept and found.get(LAST, math.inf) > kept[LAST]:
            return PROBLEM not in found
        self.found[name] = {**kept, **found}
        return PROBLEM not in found

    def from_torch(self) -> tuple[Answer, Answer]:
        """Let torch draw the weights and export, unless an earlier run left both."""
        kept = self.folder / "torch.json"
        prepared, exported = json.loads(kept.read_text()) if kept.exists() else ({}, {})
        wanted = any(name in EXPORTED for name in self.found)
        if not prepared or (wanted and not exported and PROBLEM not in prepared):
            torch = self.start("torch")
            prepared = prepared or torch.ask(self.options.limit, ask="prepare")
            if wanted and PROBLEM not in prepared:
                exported = torch.ask(self.options.limit, ask="export")
            torch.stop()
            kept.write_text(json.dumps([prepared, exported]))
        return prepared, exported

    def prepare(self) -> Answer:
        """Make what the contestants read, and let our targets compile."""
        prepared, exported = self.from_torch()
        names = [name for name in self.found if name in EXPORTED]
        for name in self.found:
            if PROBLEM in prepared:
                self.found[name] = {PROBLEM: f"no peer: {prepared[PROBLEM]}"}
            elif name in names:
                self.found[name] = {
                    key: f"no export: {value}" if key == PROBLEM else value
                    for key, value in exported.items()
                }
        for name in OURS:
            if name in self.found and PROBLEM not in self.found[name]:
                contestant = self.start(name)
                self.ask(contestant, name, "compile")
                contestant.stop()
        return prepared

    def play(self) -> None:
        """Measure in rounds: in processes that wait, or, where all are too large, in new ones."""
        weights = self.prepare().get("weights MB", 0.0)
        waits = weights * len(self.found) < TOGETHER
        running: dict[str, Contestant] = {}
        for _ in range(self.options.rounds):
            for name in self.found:
                if PROBLEM in self.found[name]:
                    continue
                if name not in running:
                    running[name] = self.start(name)
                    if not self.ask(running[name], name, "load"):
                        continue
                self.ask(running[name], name, "measure")
                if not waits:
                    running.pop(name).stop()
        for contestant in running.values():
            contestant.stop()
        for name, each in self.found.items():
            if "load s" in each and name in PEERS:
                each["compile s"] = each.get("export s", 0.0) + each["load s"]
            if name in IN_TORCH:  # it has no file; to draw its weights is no compilation
                each.pop("load s", None)
                each.pop("compile s" if name == "torch eager" else "file MB", None)


def measure(job: Job, options: argparse.Namespace) -> Found:
    """Measure one model in a folder of its own; of an old one, only torch's files are used."""
    if options.keep:
        folder = options.keep / f"{job.name}-{options.form}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in OLD:
            shutil.rmtree(folder / name, ignore_errors=True)
    else:
        folder = Path(tempfile.mkdtemp(prefix=f"{job.name}-", dir=options.folder))
    try:
        match = Match(job, options, folder)
        match.play()
    finally:
        for each in [folder / name for name in OLD] if options.keep else [folder]:
            shutil.rmtree(each, ignore_errors=True)
    return match.found


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Add and read this benchmark's own options."""
    parser.add_argument("--models", default="all", help="names with commas: SPEC or SPEC.ENTRY")
    parser.add_argument("--contestants", default=",".join(USUAL), help="; there is torch.compile")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.4, help="of a round of one contestant")
    parser.add_argument("--limit", type=float, default=150, help="seconds of an answer")
    parser.add_argument("--minutes", type=float, default=40, help="after which no model is begun")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="for checkpoints and files, by default in /tmp")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where files of torch stay")
    parser.add_argument("--readme", action="store_true", help="print what README says of speed")
    form = parser.add_mutually_exclusive_group()
    for name, meaning in (("small", "the variants of the tests"), ("full", "as published")):
        form.add_argument(f"--{name}", dest="form", action="store_const", const=name, help=meaning)
    parser.set_defaults(form="usual")
    options = parser.parse_args()
    options.contestants = options.contestants.split(",")
    if unknown := [n for n in options.contestants if n not in (*OURS, *PEERS)]:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join((*OURS, *PEERS))}")
    return options


def child(words: list[str]) -> None:
    """Answer for one contestant."""
    name, job, form, folder = words
    (chosen,) = (each for each in model_jobs.JOBS if each.name == job)
    model = Model(chosen, form, Path(folder))
    contest.answer(lambda: model_contestants.asks(name, model))


def main() -> None:
    """Print the tables."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return
    options = options_of(arguments(__doc__))
    jobs, began = model_jobs.choose(options.models), time.perf_counter()
    matches: dict[str, Found] = {}
    for job in jobs:
        if time.perf_counter() - began > 60 * options.minutes:
            matches[job.name] = {n: {PROBLEM: "no time was left"} for n in options.contestants}
            continue
        matches[job.name] = measure(job, options)
        seconds = time.perf_counter() - began
        shown = model_tables.summary(matches[job.name])
        print(f"{job.name} after {seconds:.0f} s: {shown}", file=sys.stderr)
    if options.readme:
        print(model_tables.readme(matches), end="\n\n")
    tables = [model_tables.latencies(matches, options.contestants), model_tables.details(matches)]
    if options.form != "small":
        tables.append(model_tables.sizes(jobs, options.form))
    tables[0].notes.append(f"{options.threads} threads, {options.rounds} rounds.")
    report(tables, machine(*PACKAGES), options.json)


if __name__ == "__main__":
    main()

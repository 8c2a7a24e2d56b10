"""Models from their specs to executables of TensorRT-RTX, beside what its builder alone takes.

Every compile is a whole one: from the YAML's text to the file on the disk, with an empty folder as
its cache, in a process whose child is warm; the child's start stands apart. The peer is the call of
`build_serialized_network` and nothing else, on the same network, in processes of their own that
have translated the module that the compile makes; each builds it twice, and the second counts. The
two take turns, since others may be at work, and the median of each counts: a processor that is
shared is by a third faster at one time than at another, and the best of many would tell who was
lucky. Processor time says what was ours to spend.

Weights are random, in files beside copies of the specs, in the dtype that the spec is compiled for.
The phases are run once more in one process, one after the other: in a whole compile weights are
measured while the graph is lowered, the module is printed while the engine is built, and most of
the engine is written and measured while TensorRT serialises it, in what is called its build here.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from safetensors.numpy import save_file
from table import Cell, Table, arguments, machine, report

import tripybuild
from tripybuild.artifact import container
from tripybuild.artifact.manifest import MemberRecord
from tripybuild.cache.files import PlanCache
from tripybuild.compiler import session
from tripybuild.compiler.lowering.lower import lower_tensorrt
from tripybuild.model.graph_builder import build
from tripybuild.process.gc_pause import pause_gc
from tripybuild.targets.tensorrt.model import PIPELINE, module_text, profiles
from tripybuild.targets.tensorrt.weights import EngineWeights
from tripybuild.tensorrt.emission import emit_module
from tripybuild.tensorrt.mlir import context, packing, verifier
from tripybuild.tensorrt.mlir.resources import of as resources_of
from tripybuild.tensorrt.passes import pipeline
from tripybuild.tensorrt.runtime import engine, request
from tripybuild.tensorrt.runtime.plan_file import PlanFile
from tripybuild.tensorrt.translation.library import Library
from tripybuild.tensorrt.translation.log import Log
from tripybuild.tensorrt.translation.options import Options
from tripybuild.tensorrt.translation.profiles import add_profiles, ranges_of
from tripybuild.tensorrt.translation.translate import translate
from tripybuild.weights.checkpoint import check_weights
from tripybuild.worker import compiler_process

SPECS = Path(__file__).parent.parent / "specs"
CACHE_VARIABLE = "TRIPYBUILD_CACHE_DIR"
TARGET = "tensorrt-rtx"
BUILDS = 2  # of the same network in a process: the first one warms up
SHARE, CONSTANT = 1.1, 0.3
Times = dict[str, float]


@dataclass(frozen=True)
class Case:
    """A model and the dtype that it is compiled for."""

    model: str
    dtype: str = "float32"

    @property
    def sizes(self) -> dict[str, object]:
        """What `--set` would say."""
        return {} if self.dtype == "float32" else {"F": self.dtype}

    def copy(self, folder: Path) -> Path:
        """Copy the spec into a folder of its own, with random weights unless a package has them."""
        path = folder / f"{self.model}-{self.dtype}" / f"{self.model}.yaml"
        path.parent.mkdir()
        text = (SPECS / path.name).read_text(encoding="utf-8")
        if "\n  package:" not in text:
            save_file(self.random(), path.parent / "model.safetensors")
        path.write_text(text, encoding="utf-8")
        return path

    def random(self) -> dict[str, np.ndarray]:
        """Return weights that no layer makes infinite."""
        random = np.random.default_rng(0)
        found = {}
        for name, value in build(SPECS / f"{self.model}.yaml").graph.weights.items():
            array = random.standard_normal(tuple(value.shape), np.float32) * 0.02
            positive = np.abs(array) + 1 if name.endswith("running_var") else array
            found[name] = positive.astype(self.dtype)
        return found


CASES = (Case("minilm"), Case("resnet50"), Case("gpt2"), Case("gpt2", "float16"))


def seconds() -> tuple[float, float]:
    """The time, and the processor time of this process and of its warm child."""
    return time.perf_counter(), time.process_time() + _of_child()


def _of_child() -> float:
    """Read the processor time of the compiler's process; Linux says it in a file."""
    process = compiler_process.session(TARGET)._child  # noqa: SLF001 - no caller but this benchmark needs it
    if process is None:
        return 0.0
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def ours(case: Case, path: Path) -> tuple[float, float]:
    """Compile once with an empty cache; the seconds and the processor's."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        os.environ[CACHE_VARIABLE] = folder
        start, processor = seconds()
        output = Path(folder) / "model.tpb"
        tripybuild.compile(path, target=TARGET, sizes=case.sizes, output=output)
        end, after = seconds()
        return end - start, after - processor


def started() -> float:
    """The seconds until a child answers; what it is asked for is nothing."""
    process = compiler_process.session(TARGET)
    process.close()
    start = time.perf_counter()
    try:
        process.compile(TARGET, "")
    except tripybuild.errors.diagnostics.DiagnosticError:
        return time.perf_counter() - start
    raise AssertionError("an empty module was compiled")


class Stages:
    """The parts of a compile one after the other, each with its time."""

    def __init__(self, case: Case, path: Path) -> None:
        self.case, self.path = case, path
        self.times: Times = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time one."""
        start = time.process_time()
        yield
        self.times[name] = time.process_time() - start

    def network(self, weights: EngineWeights, built: Any, graph: Any) -> tuple[Any, Any, Any]:
        """From a graph to a builder, its network and its configuration."""
        with self.phase("lower"):
            recorded = lower_tensorrt(graph)
        with self.phase("emit"):
            ranges = profiles(built, built.entry(), ())
            made = emit_module(recorded, graph.name, ranges, self.path.parent)
        with self.phase("pack"):
            content = packing.pack(made.module)
        with self.phase("print"):
            module_text(made)
        with self.phase("parse"):
            module = packing.unpack(content, context.new_context())
        with self.phase("verify"):
            problems = verifier.problems(module)
            assert not problems
        with self.phase("passes"):
            pipeline.run(module, PIPELINE)
        with self.phase("translate"):
            return translated(module, weights.with_arrays(made.resources).files)

    def run(self) -> Times:
        """Run all of them."""
        with self.phase("graph"):
            built = build(self.path, self.case.sizes)
            graph, read = session.prune_weights(built).graph, check_weights(built)
        with self.phase("weights"), EngineWeights(TARGET, read, graph.weights) as measuring:
            measuring.with_arrays({})
        with EngineWeights(TARGET, read, graph.weights) as weights, pause_gc():
            weights.with_arrays({})
            builder, made, config = self.network(weights, built, graph)
            self.stored(builder, made, config)
        return self.times

    def stored(self, builder: Any, made: Any, config: Any) -> None:
        """Build an engine into a file, which becomes a container."""
        library = Library.find(TARGET)

        def write(path: Path, start: int) -> MemberRecord:
            with PlanFile(path, start) as file:
                with self.phase("build"):
                    assert library.build_plan(builder, made.network, config, file.take)
                with self.phase("write"):
                    return MemberRecord(*file.finish())

        with tempfile.TemporaryDirectory(dir=self.path.parent) as folder:
            found = PlanCache(Path(folder) / "cache").get_or_write("0" * 64, write)
            with self.phase("container"):
                members = {"plan": found.part}
                container.write(Path(folder) / "model.tpb", {}, members, {"plan": found.member})


def translated(module: Any, files: Any) -> tuple[Any, Any, Any]:
    """Make a network of a module."""
    named: dict[str, Any] = {}
    for file in files:
        named |= request.map_arrays(file)
    library, log, asked = Library.find(TARGET), Log(), Options.of({})
    builder, function = library.builder(log), engine.select_function(module, None)
    made = translate(library, builder, log, function, named, resources_of(module).array)
    config = builder.create_builder_config()
    asked.apply(library, config, log)
    ranges = ranges_of(made.emission, function, made.inputs)
    add_profiles(made.emission, config, builder, ranges)
    return builder, made, config


def bare(case: Case, path: Path) -> tuple[float, float]:
    """Time the builder alone, in this process: the last of some builds."""
    stages = Stages(case, path)
    built = build(path, case.sizes)
    graph, read = session.prune_weights(built).graph, check_weights(built)
    with EngineWeights(TARGET, read, graph.weights) as weights:
        builder, made, config = stages.network(weights, built, graph)
        for _ in range(BUILDS):
            start, processor = time.perf_counter(), time.process_time()
            assert builder.build_serialized_network(made.network, config) is not None
            found = time.perf_counter() - start, time.process_time() - processor
    return found


def apart(case: Case, path: Path) -> tuple[float, float]:
    """Time the builder alone, in a process of its own."""
    command = (sys.executable, __file__, "--bare", case.model, case.dtype, str(path))
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    wall, processor = json.loads(text)
    return wall, processor


def row(case: Case, path: Path, repeats: int) -> tuple[dict[str, Cell], dict[str, Cell]]:
    """The times of a model and of its phases."""
    ours(case, path)
    pairs = [(apart(case, path), ours(case, path)) for _ in range(repeats)]
    (peer, peer_cpu), (whole, whole_cpu) = (
        (median(each[side][0] for each in pairs), median(each[side][1] for each in pairs))
        for side in (0, 1)
    )
    allowed = peer * SHARE + CONSTANT
    found = [Stages(case, path).run() for _ in range(repeats)]
    name: Mapping[str, Cell] = {"model": f"{case.model}, {case.dtype}"}
    times: dict[str, Cell] = {
        "builder s": peer,
        "whole s": whole,
        "allowed s": allowed,
        "within": "yes" if whole <= allowed else "no",
        "builder CPU s": peer_cpu,
        "whole CPU s": whole_cpu,
    }
    phases: dict[str, Cell] = {key: 1e3 * min(each[key] for each in found) for key in found[0]}
    return {**name, **times}, {**name, **phases}


def main() -> None:
    """Print the comparison."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--models", nargs="*", help="only these")
    parser.add_argument("--bare", nargs=3, help="time one builder, and print it as JSON")
    options = parser.parse_args()
    if options.bare:
        model, dtype, path = options.bare
        print(json.dumps(bare(Case(model, dtype), Path(path))))
        return
    chosen = [case for case in CASES if case.model in (options.models or [case.model])]
    with tempfile.TemporaryDirectory() as folder:
        start = min(started() for _ in range(3))
        rows = [row(case, case.copy(Path(folder)), options.repeats) for case in chosen]
    note = f"The child starts in {start:.2f} s, while the graph of a first compile is built."
    whole = [each for each, _ in rows]
    phases = [each for _, each in rows]
    title = f"Compile time of {TARGET}: allowed is the builder's time and 10 %, and 0.3 s"
    tables = [
        Table(title, tuple(whole[0]), whole, [note]),
        Table("Processor milliseconds of the phases", tuple(phases[0]), phases),
    ]
    report(tables, machine("tensorrt-rtx", "xdsl"), options.json)


if __name__ == "__main__":
    main()

"""Time and memory of imports: whole processes from nothing, beside who else reads the same files.

Each contestant reads its file in a fresh process with an empty cache. PyTorch is hidden from those
of ours that read files. The share of an import in PyTorch's own process is what is beyond
`torch.export.export` and `run_decompositions`. Seconds of the processor, user's and system's, are
steadier on a machine with other work than those of the clock.
"""

import argparse
import importlib.abc
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from table import Cell, Table, arguments, machine, ratios, report

NODES = 2000
OURS, PROGRAM, CHAIN = "tripybuild", "gpt2.pt2", "chain.onnx"
BARE = "Python with NumPy"
PACKAGES = ("tripybuild", "torch", "transformers", "onnx", "onnxruntime", "openvino")
COLUMNS = ("contestant", "best s", "processor s", "MB", "goal s", "kept")
Found = dict[str, Cell]


class Hidden(importlib.abc.MetaPathFinder):
    """Hides PyTorch, as where it is not installed."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Refuse what only an extra has."""
        if fullname.partition(".")[0] in ("torch", "transformers"):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


# --- what a process does; each imports what it needs, and no more ---


def gpt2() -> Callable[[], Any]:
    """What exports GPT-2 of 124 M parameters with random weights, for batches of any length."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)

    class Scores(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lm = GPT2LMHeadModel(GPT2Config())

        def forward(self, input_ids: Any) -> Any:
            return self.lm(input_ids, use_cache=False).logits

    model = Scores().train(mode=False)
    sizes = {0: torch.export.Dim("B", max=64), 1: torch.export.Dim("S", min=2, max=1024)}
    example = torch.zeros(2, 16, dtype=torch.int64)
    return lambda: torch.export.export(model, (example,), dynamic_shapes=(sizes,))


def write_program(folder: Path) -> None:
    """Write GPT-2 as the exported program that needs no PyTorch to be read."""
    import torch

    from tripybuild.importer.pytorch.exported_program import decompose

    torch.export.save(decompose(gpt2()()), folder / PROGRAM)


def write_chain(folder: Path) -> None:
    """Write a model of ONNX with many nodes: residual layers, one behind the other."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random, nodes, weights, x = np.random.default_rng(0), [], [], "x"
    for index in range(NODES // 4):
        names = [f"{name}{index}" for name in ("w", "b", "product", "sum", "relu", "y")]
        w, b, product, total, relu, y = names
        drawn = {w: random.normal(size=(64, 64)) / 64, b: random.normal(size=64)}
        weights += [numpy_helper.from_array(a.astype("f"), name) for name, a in drawn.items()]
        nodes += [
            helper.make_node("MatMul", [x, w], [product]),
            helper.make_node("Add", [product, b], [total]),
            helper.make_node("Relu", [total], [relu]),
            helper.make_node("Add", [x, relu], [y]),
        ]
        x = y
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, ["B", 64]) for n in ("x", x)]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], weights)
    opset = [helper.make_opsetid("", 20)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=10), folder / CHAIN)


def import_file(file: Path) -> None:
    """Import a file with the command, as where PyTorch is not installed."""
    sys.meta_path.insert(0, Hidden())
    from tripybuild.cli.main import main

    with tempfile.TemporaryDirectory() as folder:
        sys.argv = ["tripybuild", "import", str(file), "-o", f"{folder}/spec", "--no-verify"]
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise


def load_program(file: Path) -> None:
    """Load an exported program with PyTorch."""
    import torch

    torch.export.load(file)


def open_session(file: Path) -> None:
    """Read a model with `onnx`, and make a session of ONNX Runtime."""
    import onnx
    import onnxruntime

    onnx.load(file)
    onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])


def compile_openvino(file: Path) -> None:
    """Read a model with OpenVINO, and compile it."""
    import openvino

    core = openvino.Core()
    core.compile_model(core.read_model(file), "CPU")


def nothing(_: Path) -> None:
    """What each has in its process, too."""
    importlib.import_module("numpy")


def in_pytorch(_: Path) -> None:
    """Import GPT-2 from memory; print the seconds of PyTorch's parts and of ours."""
    import torch

    found: dict[str, list[float]] = {}
    program = clocked(found, "torch.export.export", gpt2())
    theirs: dict[str, Any] = {
        "run_decompositions": torch.export.ExportedProgram.run_decompositions,
        "default_decompositions": torch.export.default_decompositions,
    }

    def decompose(*taken: Any) -> Any:
        return clocked(found, "run_decompositions", lambda: theirs["run_decompositions"](*taken))

    def table() -> Any:
        return clocked(found, "default_decompositions", theirs["default_decompositions"])

    torch.export.ExportedProgram.run_decompositions = decompose  # type: ignore[method-assign]
    torch.export.default_decompositions = table
    begin = memory_mb()
    clocked(found, OURS, lambda: import_program(program))
    for name in theirs:
        found[OURS] = [own - other for own, other in zip(found[OURS], found[name], strict=True)]
    print(json.dumps({"seconds": found, "MB": memory_mb("VmHWM") - begin}))


def import_program(program: Any) -> None:
    """Import an exported program, and write what is written."""
    from tripybuild.importer import session

    with tempfile.TemporaryDirectory() as folder:
        request, place = session.ImportRequest(), Path(folder)
        read, registry = session.read_object(program, request)
        session.store_spec(session.write_foreign(read, request, registry, place), place)


def clocked(found: dict[str, list[float]], name: str, call: Callable[[], Any]) -> Any:
    """Call, and note the seconds of the clock and of the processor."""
    start = time.perf_counter(), time.process_time()
    result = call()
    found[name] = [time.perf_counter() - start[0], time.process_time() - start[1]]
    return result


def memory_mb(of: str = "VmRSS") -> float:
    """The memory of this process now, from where on its peak is counted, or that peak, `VmHWM`."""
    if of == "VmRSS":
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    found = dict(line.split(":", 1) for line in lines)
    return int(found[of].split()[0]) / 1024


def is_missing(package: str) -> bool:
    """Whether a package is not installed; it is not imported, since processes inherit memory."""
    return importlib.util.find_spec(package) is None


# --- what is compared ---


@dataclass(frozen=True)
class Contestant:
    """Who reads a file.

    Args:
        name: In the table.
        work: What its process does.
        needs: The packages without which it is left out.
        goal: The seconds that it may take.
    """

    name: str
    work: Callable[[Path], None]
    needs: Sequence[str] = ()
    goal: float | None = None


@dataclass(frozen=True)
class Contest:
    """A file that several read; the first of the peers is the one that is compared with."""

    title: str
    file: str
    make: Callable[[Path], None]
    makers: Sequence[str]
    peers: Sequence[Contestant]
    goal: float
    contestants: Sequence[Contestant] = field(init=False)

    def __post_init__(self) -> None:
        own = Contestant(OURS, import_file, goal=self.goal)
        object.__setattr__(self, "contestants", [*self.peers, own])


ONNX = ("onnx", "onnxruntime")
CONTESTS = (
    Contest(
        "GPT-2 (124 M) of a decomposed .pt2, without PyTorch",
        PROGRAM,
        write_program,
        ("torch", "transformers"),
        [Contestant("torch.export.load", load_program, ("torch",))],
        2.0,
    ),
    Contest(
        f"A model of ONNX with {NODES:,} nodes",
        CHAIN,
        write_chain,
        ("onnx",),
        [
            Contestant("onnx.load + ONNX Runtime", open_session, ONNX),
            Contestant("OpenVINO", compile_openvino, ("openvino",)),
        ],
        2.0,
    ),
)
WORKS = {
    each.__name__: each
    for each in (import_file, load_program, open_session, compile_openvino, nothing, in_pytorch)
} | {each.make.__name__: each.make for each in CONTESTS}


def process(work: Callable[[Path], None], path: Path) -> tuple[Found, str]:
    """Run a work in a process with an empty cache: its seconds, its memory and what it printed."""
    with tempfile.TemporaryDirectory() as cache:
        words = [sys.executable, __file__, "--work", work.__name__, str(path)]
        quiet = {"TRIPYBUILD_CACHE_DIR": cache, "ORT_DISABLE_TELEMETRY": "1"}
        start = time.perf_counter()
        with subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | quiet
        ) as child:
            assert child.stdout is not None
            printed = child.stdout.read().decode()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - start
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, words)
    spent = used.ru_utime + used.ru_stime
    return {"best s": seconds, "processor s": spent, "MB": used.ru_maxrss / 1024}, printed


def best(work: Callable[[Path], None], path: Path, repeats: int) -> Found:
    """The least of each figure of some runs."""
    runs = [process(work, path)[0] for _ in range(repeats)]
    return {name: min(each[name] for each in runs) for name in runs[0]}  # type: ignore[type-var]


def kept(found: Mapping[str, Cell], goal: float | None) -> Cell:
    """Whether a row keeps to its goal."""
    seconds = found.get("best s")
    if goal is None or not isinstance(seconds, float):
        return None
    return "yes" if seconds <= goal else "no"


def contest(found: Contest, folder: Path, repeats: int) -> Table:
    """Run all contestants on one file."""
    peer = found.peers[0].name
    columns = (*COLUMNS, f"{peer} / best", f"{peer} / processor")
    missing = [name for name in found.makers if is_missing(name)]
    if missing:
        return Table(found.title, columns, [], [f"left out: {', '.join(missing)} not installed"])
    process(found.make, folder)
    file = folder / found.file
    bare = best(nothing, file, repeats)
    rows: list[Found] = [{"contestant": BARE, **bare}]
    for each in found.contestants:
        if any(is_missing(name) for name in each.needs):
            rows.append({"contestant": f"{each.name}: not installed"})
            continue
        own = best(each.work, file, repeats)
        rows.append(
            {"contestant": each.name, **own, "goal s": each.goal, "kept": kept(own, each.goal)}
        )
    for row in rows[1:]:
        if isinstance(row.get("MB"), float):
            row["MB"] -= bare["MB"]  # type: ignore[operator]
    size = file.stat().st_size / 2**20
    notes = [f"The file has {size:,.0f} MB. MB are the peak, beyond that of the first row."]
    return Table(found.title, columns, ratios(rows, "contestant", peer, *COLUMNS[1:3]), notes)


def in_one_process(folder: Path, repeats: int) -> Table:
    """GPT-2 in PyTorch's own process: what is ours of the time, and the memory of our part."""
    title = "GPT-2 (124 M) from torch.export, in its process"
    if any(is_missing(name) for name in ("torch", "transformers")):
        return Table(title, COLUMNS, [], ["left out: torch or transformers not installed"])
    runs = [json.loads(process(in_pytorch, folder)[1].splitlines()[-1]) for _ in range(repeats)]
    rows: list[Found] = []
    for name in runs[0]["seconds"]:
        pairs = zip(*(run["seconds"][name] for run in runs), strict=True)
        least = dict(zip(COLUMNS[1:3], map(min, pairs), strict=True))
        rows.append({"contestant": name, **least})
    goal = 1.5
    rows[-1] |= {"MB": min(run["MB"] for run in runs), "goal s": goal, "kept": kept(rows[-1], goal)}
    return Table(title, COLUMNS, rows, ["MB are what the peak grew by after the export."])


def main() -> None:
    """Print the comparison, or be one of its processes."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        name, path = options.work
        WORKS[name](Path(path))
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        tables = [contest(each, folder, options.repeats) for each in CONTESTS]
        tables.append(in_one_process(folder, options.repeats))
    report(tables, machine(*PACKAGES), options.json)


if __name__ == "__main__":
    main()

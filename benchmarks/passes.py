"""Passes over a transformer of the size of GPT-2 in the `tensorrt` dialect: CPU time of each.

The pipeline is what `tripybuild` runs before a network is built; it should take less than 150 ms.
"""

import time

import transformer
from table import Cell, Table, arguments, machine, report
from xdsl.dialects.builtin import ModuleOp

from tripybuild.tensorrt.passes import pipeline

ALLOWED_MS = 150.0


def times(module: ModuleOp) -> tuple[dict[str, float], dict[str, int]]:
    """Run the pipeline once: milliseconds by pass, and how often each was run."""
    spent: dict[str, float] = {}
    runs: dict[str, int] = {}
    for name in pipeline.PIPELINE:
        start = time.process_time()
        pipeline.run(module, [name])
        spent[name] = spent.get(name, 0.0) + 1e3 * (time.process_time() - start)
        runs[name] = runs.get(name, 0) + 1
    return spent, runs


def whole(module: ModuleOp) -> float:
    """Run the pipeline at once, which passes over what would change nothing: milliseconds."""
    start = time.process_time()
    pipeline.run(module, pipeline.PIPELINE)
    return 1e3 * (time.process_time() - start)


def rows(repeats: int) -> tuple[list[dict[str, Cell]], int, int]:
    """The fastest of some runs, and the numbers of ops before and after."""
    original = transformer.module()
    whole(original.clone())
    spent, runs = min(
        (times(original.clone()) for _ in range(repeats)), key=lambda each: sum(each[0].values())
    )
    lines: list[dict[str, Cell]] = [
        {"pass": name, "runs": runs[name], "ms": round(ms, 2)} for name, ms in spent.items()
    ]
    modules = [original.clone() for _ in range(repeats)]
    lines.append({"pass": "the pipeline", "runs": 1, "ms": round(min(map(whole, modules)), 2)})
    return lines, sum(1 for _ in original.walk()), sum(1 for _ in modules[0].walk())


def main() -> None:
    """Print the table."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    lines, before, after = rows(options.repeats)
    note = f"{before} ops before, {after} after; allowed are {ALLOWED_MS:.0f} ms"
    report(
        [Table("Passes", ("pass", "runs", "ms"), list(lines), [note])],
        machine("xdsl"),
        options.json,
    )


if __name__ == "__main__":
    main()

"""GPT-2 in Python to a graph, and on to StableHLO, beside JAX doing the same for the same network.

Both run the model's own code each time; the trace is of sizes that are known only when it runs for
us, and of numbers for JAX. Processor time is shown beside the clock, since that is what others'
work on the machine does not change; ratios are of the clock, and of one run of this script.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax_gpt2
from jax_gpt2 import BATCH, DEPTH, SEQUENCE, SPEC, WIDTH, jax
from table import Cell, Table, arguments, machine, ratios, report

from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.eager.compile.compile import record_function
from tripybuild.model.graph_builder import build
from tripybuild.trace.graph import Graph

sys.path.insert(0, str(SPEC.parent))
import gpt2_module

SIZES = {"B": BATCH, "S": SEQUENCE}
TRACE, WHOLE = "the graph", "StableHLO"
GOALS = {TRACE: 20.0, WHOLE: 50.0}  # milliseconds, from Python, with two cores


def python() -> Callable[[], Graph]:
    """Make the modules once; the call records what they do."""
    model = gpt2_module.GPT2(gpt2_module.Sizes())
    model.initialize_dummy_parameters()
    return lambda: record_function(model, [model.tokens()]).graph


def yaml() -> Callable[[], Graph]:
    """Read the specification's text anew each time."""
    return lambda: build(Path(SPEC)).graph


def timed(call: Callable[[], object], repeats: int) -> dict[str, Cell]:
    """The best time of some calls by the clock, and by the processor."""
    clock, processor = [], []
    for _ in range(repeats):
        start, spent = time.perf_counter(), time.process_time()
        call()
        clock.append(time.perf_counter() - start)
        processor.append(time.process_time() - spent)
    return {"best ms": 1e3 * min(clock), "processor ms": 1e3 * min(processor)}


def ours(name: str, graph: Callable[[], Graph], repeats: int) -> list[dict[str, Cell]]:
    """From a model to its graph, and to StableHLO."""

    def whole() -> Any:
        return lower_stablehlo(graph().substitute(SIZES))

    count = len(graph().operations)
    text = jax_gpt2.operations(whole().text())
    return [
        {"to": TRACE, "from": name, **timed(graph, repeats), "ops": count},
        {"to": WHOLE, "from": name, **timed(whole, repeats), "ops": text},
    ]


def jax_rows(repeats: int) -> list[dict[str, Cell]]:
    """The same of JAX: its jaxpr is its graph."""
    if jax is None:
        return [{"to": TRACE, "from": "jax: not installed"}]
    traced = jax_gpt2.traced()
    count, text = len(traced.jaxpr.eqns), jax_gpt2.operations(traced.lower().as_text())
    return [
        {"to": TRACE, "from": "jax", **timed(jax_gpt2.traced, repeats), "ops": count},
        {"to": WHOLE, "from": "jax", **timed(jax_gpt2.lowered, repeats), "ops": text},
    ]


def rows(repeats: int) -> list[dict[str, Cell]]:
    """All rows: those of one goal stand together."""
    found = [
        *ours("tripybuild, Python", python(), repeats),
        *ours("tripybuild, gpt2.yaml", yaml(), repeats),
        *jax_rows(repeats),
    ]
    for each in found:
        if each["from"] == "tripybuild, Python":
            each["goal ms"] = GOALS[str(each["to"])]
    found.sort(key=lambda each: str(each["to"]) == WHOLE)
    return [
        row
        for kind in (TRACE, WHOLE)
        for row in ratios([each for each in found if each["to"] == kind], "from", "jax", "best ms")
    ]


def main() -> None:
    """Print the comparison."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    columns = ("from", "to", "best ms", "processor ms", "goal ms", "jax / best", "ops")
    title = f"Tracing GPT-2 ({DEPTH} layers, {WIDTH} wide), best of {options.repeats}"
    table = Table(title, columns, list(rows(options.repeats)))
    report([table], machine("jax", "jaxlib"), options.json)


if __name__ == "__main__":
    main()

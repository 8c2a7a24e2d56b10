"""Deep models with a block that is compiled once, beside the same models in one program.

Compiling is processor time, since XLA compiles on all cores; the least of the rounds counts. Calls
of both forms take turns, on the same random weights, and their results are compared.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import engine
import numpy as np
from table import Cell, Table, arguments, machine, median, report

from tripybuild.artifact.array_bytes import aligned_buffer

SPECS = Path(__file__).parent.parent / "specs"
FORMS = {"one program": False, "block once": True}


@dataclass(frozen=True)
class Model:
    """A spec at two depths, and the sizes to compile it for."""

    name: str
    spec: str
    sizes: Mapping[str, int]
    settings: Mapping[str, int] = field(default_factory=dict)
    depths: tuple[int, ...] = (2, 12)


MODELS = (
    Model("GPT-2, 1 token", "gpt2.yaml", {"B": 1, "S": 1}, {"vocab": 5000}),
    Model("GPT-2, 128 tokens", "gpt2.yaml", {"B": 1, "S": 128}, {"vocab": 5000}),
    Model(
        "Llama 768 wide, 1 token",
        "llama.yaml",
        {"B": 1, "S": 1},
        {"vocab": 5000, "width": 768, "heads": 12, "inner": 2048, "context": 512},
    ),
    Model("MiniLM, 16 tokens", "minilm.yaml", {"B": 1, "S": 16}, {"vocab": 5000}),
)


def compile_seconds(compilers: Mapping[str, Callable[[], bytes]], rounds: int) -> dict[str, float]:
    """The least processor time of each compiler; they take turns."""
    found = dict.fromkeys(compilers, float("inf"))
    for _ in range(rounds):
        for name, make in compilers.items():
            start = time.process_time()
            make()
            found[name] = min(found[name], time.process_time() - start)
    return found


def random_arrays(values: Mapping[str, Any], sizes: Mapping[str, int]) -> list[Any]:
    """An array for each input or weight, at an address that needs no copy."""
    random = np.random.default_rng(0)
    found = []
    for value in values.values():
        shape = [size if isinstance(size, int) else sizes[str(size)] for size in value.shape]
        array = aligned_buffer(max(4 * int(np.prod(shape)), 1)).view(np.float32).reshape(shape)
        array[...] = random.standard_normal(shape, np.float32) * 0.02
        found.append(
            array if value.dtype.kind == "float" else np.abs(array).astype(value.dtype.numpy)
        )
    return found


def call_times(
    model: Model, settings: Mapping[str, int], payloads: Mapping[str, bytes], rounds: int
) -> dict[str, list[float]]:
    """The seconds of calls of each form in turns, whose results must be equal."""
    graph = engine.graph_of(SPECS / model.spec, settings)
    weights = random_arrays(graph.weights, model.sizes)
    inputs = random_arrays(graph.inputs, model.sizes)
    calls = {name: engine.load_programs(each, weights) for name, each in payloads.items()}
    first, *others = ([np.copy(each) for each in call(*inputs)] for call in calls.values())
    for other in others:
        for one, two in zip(first, other, strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            call(*inputs)
            found[name].append(time.perf_counter() - start)
    return found


def rows(model: Model, repeats: int, rounds: int) -> list[dict[str, Cell]]:
    """Both forms of a model, at each depth."""
    found: list[dict[str, Cell]] = []
    shallow: dict[str, float] = {}
    for depth in model.depths:
        settings = {**model.settings, "depth": depth}
        compilers = {
            form: engine.compile_programs(
                SPECS / model.spec, settings, model.sizes, outline=outline
            )
            for form, outline in FORMS.items()
        }
        seconds = compile_seconds(compilers, repeats)
        shallow = shallow or seconds
        payloads = {form: make() for form, make in compilers.items()}
        times = call_times(model, settings, payloads, rounds)
        found += [
            {
                "model": model.name,
                "layers": depth,
                "form": form,
                "compile s": seconds[form],
                "of fewest layers": seconds[form] / shallow[form],
                "payload kB": len(payloads[form]) // 1000,
                "best ms": min(times[form]) * 1e3,
                "median ms": median(times[form]) * 1e3,
            }
            for form in FORMS
        ]
    return found


def main() -> None:
    """Print the comparison."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="how often each is compiled")
    parser.add_argument("--rounds", type=int, default=40, help="how often each is called")
    options = parser.parse_args()
    columns = ("model", "layers", "form", "compile s", "of fewest layers", "payload kB")
    found = [row for each in MODELS for row in rows(each, options.repeats, options.rounds)]
    table = Table("Repeated blocks", (*columns, "best ms", "median ms"), found)
    report([table], machine("jaxlib"), options.json)


if __name__ == "__main__":
    main()

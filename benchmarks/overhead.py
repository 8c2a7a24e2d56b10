"""What a call costs beside its work: a model of one addition, ours and the peers'.

All take a NumPy array and give one back, which is what a caller of a loaded executable does.
"""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import engine
import numpy as np
from table import Cell, Table, arguments, machine, median, report, samples

SPEC = """\
tripybuild: 1
model: tiny
doc: Add one.

inputs:
  x: float32[4]

outputs:
  y: x + 1.0
"""
GOAL = 20  # microseconds
TARGETS = ("cpu:xla", "cpu:onnxruntime", "cpu:openvino")
VALUE = np.arange(4, dtype=np.float32)

Call = Callable[[], object]


def ours(folder: Path, target: str) -> Call:
    """Compile the model, load it, and call it by name."""
    spec = folder / "tiny.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    loaded = engine.load(engine.executable(spec, folder / "tiny.tpb", {}, target))
    return lambda: loaded(x=VALUE)["y"]


def jax_call() -> Call:
    """Jit the function, and take the result to NumPy."""
    import jax

    jitted = jax.jit(lambda x: x + 1.0)
    return lambda: np.asarray(jitted(VALUE))


def torch_call() -> Call:
    """Call torch without autograd, from NumPy and back."""
    import torch

    def call() -> object:
        with torch.inference_mode():
            return (torch.from_numpy(VALUE) + 1.0).numpy()

    return call


def row(name: str, make: Callable[[], Call]) -> dict[str, Cell]:
    """Return the microseconds of a call."""
    try:
        times = samples(make(), at_least=2000)
    except (ModuleNotFoundError, engine.Refusal) as problem:
        return {"one addition": f"{name}: {str(problem).splitlines()[0]}"}
    return {"one addition": name, "median µs": median(times) * 1e6, "best µs": min(times) * 1e6}


def main() -> None:
    """Print the comparison."""
    options = arguments(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            *(
                row(f"tripybuild {target}", partial(ours, Path(folder), target)) | {"goal µs": GOAL}
                for target in TARGETS
            ),
            row("jax", jax_call),
            row("torch", torch_call),
        ]
    columns = ("one addition", "median µs", "best µs", "goal µs")
    table = Table("The cost of a call", columns, list(rows))
    report([table], machine("jaxlib", "onnxruntime", "openvino", "jax", "torch"), options.json)


if __name__ == "__main__":
    main()

"""MiniLM from its spec to an executable file, beside handing the same StableHLO to PJRT directly.

Every compile is a fresh one: the cache is an empty folder. The first starts the child process in
which the compiler runs, and the others find it warm; the difference is the child's start.
"""

import os
import tempfile
import time
from pathlib import Path

import engine
from jaxlib import xla_client
from table import Cell, Table, arguments, best, machine, report

SPEC = Path(__file__).parent.parent / "specs" / "minilm.yaml"
SIZES = {"B": 1, "S": 128}
ROW = "MiniLM, batch 1, sequence 128"


def direct(texts: list[str], repeats: int) -> float:
    """Return the seconds that PJRT takes for the modules, in this process, with a warm client."""
    client = xla_client.make_cpu_client()
    devices = xla_client.DeviceList(tuple(client.local_devices()))
    options = xla_client.CompileOptions()
    return best(
        lambda: [client.compile_and_load(text, devices, options) for text in texts], repeats
    )


def ours() -> float:
    """Return the seconds of one whole compile, from the spec's text to the file, uncached."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[engine.CACHE_VARIABLE] = folder
        start = time.perf_counter()
        engine.executable(SPEC, Path(folder) / "minilm.tpb", SIZES)
        return time.perf_counter() - start


def rows(repeats: int) -> list[dict[str, Cell]]:
    """Return the three times and the allowance."""
    # An executable holds the `opt` of the ranges and the sizes that were asked for: two modules.
    texts = [engine.stablehlo(SPEC, {}), engine.stablehlo(SPEC, SIZES)]
    first = ours()
    warm = min(ours() for _ in range(repeats))
    peer = direct(texts, repeats)
    allowed = peer * 1.1 + 0.3
    return [
        {ROW: "PJRT directly", "best s": peer},
        {ROW: "tripybuild, warm child", "best s": warm, "allowed s": allowed},
        {ROW: "tripybuild, first compile", "best s": first},
        {ROW: "of that, the child's start", "best s": first - warm},
    ]


def main() -> None:
    """Print the comparison."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    table = Table("Compile time", (ROW, "best s", "allowed s"), list(rows(options.repeats)))
    report([table], machine("jaxlib"), options.json)


if __name__ == "__main__":
    main()

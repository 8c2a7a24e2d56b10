"""The data of `digits.yaml`: scikit-learn's handwritten digits, every third one held out.

`python specs/digits_data.py write FOLDER` writes the held-out images and their labels there, and
`python specs/digits_data.py score FOLDER OUTPUT.npz` compares an output's `logits` with them.
"""

import sys
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

Images: TypeAlias = NDArray[np.float32]
Labels: TypeAlias = NDArray[np.int64]

IMAGES = "digits_images.npy"
LABELS = "digits_labels.npy"


def _all() -> tuple[Images, Labels]:
    digits = load_digits()
    images = digits.images.astype(np.float32)[:, None] / np.float32(16)
    return np.ascontiguousarray(images), digits.target.astype(np.int64)


def training_part() -> tuple[Images, Labels]:
    """Return the two thirds that the network learns from."""
    images, labels = _all()
    taught = np.arange(len(images)) % 3 != 0
    return images[taught], labels[taught]


def held_out_part() -> tuple[Images, Labels]:
    """Return the third that the network never saw: 599 images `[N, 1, 8, 8]` from 0 to 1."""
    images, labels = _all()
    return images[::3].copy(), labels[::3].copy()


def write(folder: Path) -> str:
    """Write the held-out images and their labels as two `.npy` files."""
    images, labels = held_out_part()
    np.save(folder / IMAGES, images)
    np.save(folder / LABELS, labels)
    return f"wrote {len(images)} images to {folder / IMAGES}"


def score(folder: Path, output: Path) -> str:
    """Say how many of the held-out digits the `logits` of an output file get right."""
    labels = np.load(folder / LABELS)
    with np.load(output) as arrays:
        right = int((arrays["logits"].argmax(1) == labels).sum())
    return f"{right} of {len(labels)} right: {right / len(labels):.1%}"


def main(arguments: list[str]) -> int:
    """Run one of the two commands named in the module's docstring."""
    match arguments:
        case ["write", folder]:
            print(write(Path(folder)))
        case ["score", folder, output]:
            print(score(Path(folder), Path(output)))
        case _:
            print("usage: digits_data.py write FOLDER | score FOLDER OUTPUT.npz", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""A digest of the weights in a file, computed by the compiler's process while it has nothing to do.

The session meanwhile makes a module of the graph, and threads that did both would wait for each
other at Python's lock.
"""

import json
from collections.abc import Mapping
from typing import Any

import blake3
import numpy as np

from tripybuild.targets.tensorrt.request import mapped


def measured(content: bytes, options: Mapping[str, Any]) -> bytes:  # noqa: ARG001 - there are none
    """Digest names, types and bytes of tensors; the path says nothing of them, and is left out.

    Args:
        content: A file as requests have it, in JSON: `{"path": ..., "tensors": ...}`.
        options: None.

    Raises:
        DiagnosticError: The file is not there, or too short.
    """
    file = json.loads(content)
    digest = blake3.blake3(max_threads=blake3.blake3.AUTO)
    for name, array in mapped(file).items():
        digest.update(head(name, file["tensors"][name]))
        digest.update(array.view(np.uint8).data)
    return digest.digest()


def head(name: str, entry: Mapping[str, Any]) -> bytes:
    """What is said of a tensor in front of its bytes, with its own length before it."""
    said = json.dumps([name, entry["dtype"], entry["shape"]]).encode()
    return len(said).to_bytes(8, "little") + said

"""Weight digest: hash of a weight file and suspicious values, computed by the worker.

It has nothing else to do while the session makes a module of the graph, and threads that did both
would wait for each other at Python's lock.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import blake3
import numpy as np

from tripybuild.tensorrt.runtime.request import map_arrays
from tripybuild.types.nonfinite import nonfinite


def digest_weights(content: bytes, options: Mapping[str, Any]) -> bytes:
    """Digest names, types and bytes of tensors; the path says nothing of them, and is left out.

    Args:
        content: A file as requests have it, in JSON: `{"path": ..., "tensors": ...}`.
        options: `{"suspects": true}` also looks for elements that are no finite numbers.

    Returns:
        In JSON, `{"digest": ..., "nonfinite": {name: ...}}`.

    Raises:
        DiagnosticError: The file is not there, or too short.
    """
    file, scan = json.loads(content), bool(options.get("suspects"))
    digest = blake3.blake3(max_threads=blake3.blake3.AUTO)
    found = {}
    for name, array in map_arrays(file).items():
        digest.update(head(name, file["tensors"][name]))
        digest.update(array.view(np.uint8).data)
        if scan and (suspects := nonfinite(array)) is not None:
            found[name] = asdict(suspects)
    return json.dumps({"digest": digest.hexdigest(), "nonfinite": found}).encode()


def head(name: str, entry: Mapping[str, Any]) -> bytes:
    """Header of a tensor in the digest, with a length prefix."""
    said = json.dumps([name, entry["dtype"], entry["shape"]]).encode()
    return len(said).to_bytes(8, "little") + said

"""The properties that OpenVINO is given for the options of a user.

Every property that changes numbers is set, since OpenVINO's own defaults depend on the processor:
it computes float32 in bfloat16 and rounds activations to 8 bits where that is fast.
"""

import os
from collections.abc import Mapping
from typing import Any

Options = Mapping[str, int | str]

# Elements that share a scale where activations are rounded to 8 bits; 0 rounds none.
QUANTIZATION_GROUP = 32
# Takes longer than the number of operations in it squared, where they are fused into one kernel.
FUSION = {"SNIPPETS_MODE": "DISABLE"}


def properties(options: Options) -> dict[str, Any]:
    """What OpenVINO is given: numbers of float32, all processors, unless the options say else.

    No thread is bound to a processor, since on a machine that does other things, too, that makes
    one wait for the other.
    """
    group = QUANTIZATION_GROUP if options.get("activations") == "int8" else 0
    return {
        "INFERENCE_PRECISION_HINT": options.get("precision", "f32"),
        "DYNAMIC_QUANTIZATION_GROUP_SIZE": str(group),
        "ENABLE_CPU_PINNING": False,
        "TBB_PARTITIONER": "AUTO",
        "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": options.get("threads") or default_threads(),
    }


def default_threads() -> int:
    """A thread for each processor that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

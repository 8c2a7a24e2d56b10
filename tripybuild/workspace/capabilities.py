"""Capabilities: what a machine must have to do a job, and what this one lacks of it."""

from collections.abc import Sequence

from tripybuild.targets.table import TARGETS

GPU = "gpu"  # any, or `gpu:sm89` of a compute capability


def missing_capability(wanted: Sequence[str]) -> str | None:
    """Say in words which of these this machine lacks; None where it has all.

    What a target lacks is said by itself, in its own words, when a job asks it.
    """
    for each in wanted:
        kind, _, rest = each.partition(":")
        if each in TARGETS:
            continue
        if kind != GPU:
            return f"`{each}`, which only workers of a cluster can have"
        from tripybuild.tensorrt.runtime.gpu import Absence, find_gpu  # noqa: PLC0415 - seldom

        found = find_gpu()
        if isinstance(found, Absence):
            return f"`{each}`: this machine has {found.what}"
        if rest and rest != found.capability:
            return f"`{each}`: this machine has `{found.capability}`"
    return None

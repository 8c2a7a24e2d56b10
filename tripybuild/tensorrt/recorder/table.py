"""Entry types of the layer table.

Invariant: `gives` names, for each result, a dtype or the parameter whose dtype it has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tripybuild.tensorrt.recorder.argument_kinds import ArgumentKind


@dataclass(frozen=True, slots=True)
class LayerSignature:
    """What a layer takes and gives; a loop or a plugin gives as much as its arguments say."""

    name: str
    parameters: Mapping[str, ArgumentKind]
    gives: tuple[str, ...]


def layer(name: str, gives: str = "input", **parameters: ArgumentKind) -> LayerSignature:
    """An entry of the table."""
    return LayerSignature(name, MappingProxyType(parameters), tuple(gives.split()))

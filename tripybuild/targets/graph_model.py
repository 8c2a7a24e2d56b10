"""Models that keep their graphs: the graphs, their weights, and what is compiled ahead."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tripybuild.artifact.draft import Draft
from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.members import measure
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.targets.compiled_model import CONSTANTS, WEIGHTS, CompiledModel
from tripybuild.targets.executable_file import GRAPH, entry_member
from tripybuild.targets.model_manifest import graph_text
from tripybuild.targets.protocol import CompileRequest
from tripybuild.trace.constants import Data
from tripybuild.trace.values import Value
from tripybuild.types.nonfinite import Nonfinite, nonfinite
from tripybuild.weights import safetensors as weights_file
from tripybuild.weights.source import WeightSource
from tripybuild.weights.warnings import nonfinite_warnings

BATCH = 1 << 26  # bytes of weights that are read at once
# Compiles one thing more, adds it to the members, and returns what is to be warned of.
Ahead = Callable[[dict[str, Any]], list[Diagnostic]]


def graph_model(request: CompileRequest, ahead: Ahead = lambda _: []) -> CompiledModel:
    """The compiled model of graphs, with one copy of what they share.

    Args:
        request: The graphs, with symbols for their dynamic sizes.
        ahead: Compiles ahead, and adds to the members that it is given.

    Raises:
        DiagnosticError: The compiler refuses a graph, or a weight cannot be read.
    """
    declared, members = request.built.declared_weights, dict[str, Any]()
    measured: dict[str, MemberRecord] = {}
    manifest = request.manifest
    constants: dict[str, Any] = {}
    names: dict[Data, str] = {}
    for entry in request.entries:
        text, arrays = graph_text(entry.graph, request.folder, names)
        members[entry_member(GRAPH, entry.name)] = memoryview(text)
        constants |= arrays
    if constants:
        members[CONSTANTS] = weights_file.encode(constants).toreadonly()
    # The weights are read, encoded and hashed while the compiler's process is at work.
    with ThreadPoolExecutor(1) as worker:
        given = declared, request.weights, request.built.prepared, request.draft
        stored = worker.submit(_weights_member, *given)
        warnings = ahead(members)
        if declared:
            found = stored.result()
            members[WEIGHTS], measured[WEIGHTS] = found.content, found.measured
            warnings += nonfinite_warnings(found.suspects, declared, request.weights)
            manifest = manifest | ({"tied": found.tied} if found.tied else {})
    made = CompiledModel(json.loads(json.dumps(manifest)), members, measured)
    made.warnings += dict.fromkeys(warnings)
    return made


@dataclass(frozen=True, slots=True)
class _WeightsMember:
    """The weights that graphs need.

    Args:
        content: A file in memory.
        measured: Its digests.
        suspects: What holds elements that are no finite numbers.
        tied: The weights with the bytes of another one, which alone is in the file.
    """

    content: memoryview
    measured: MemberRecord
    suspects: Mapping[str, Nonfinite]
    tied: Mapping[str, str]


def _weights_member(
    weights: Mapping[str, Value],
    read: WeightSource,
    prepared: Iterable[str],
    draft: Draft | None = None,
) -> _WeightsMember:
    """Read weights some at a time: beside the file of all of them, few are in memory."""
    types = {name: (v.dtype.numpy, v.shape) for name, v in weights.items()}
    encoder = weights_file.Encoder(types, share=True, first=prepared)
    tied: dict[str, str] = {}
    suspects: dict[str, Nonfinite] = {}
    for name, array in read_in_order(encoder.order, weights, read, frozenset(prepared)):
        if (first := encoder.add(name, array)) != name:
            tied[name] = first
        if (found := nonfinite(array)) is not None:
            suspects[name] = found
    content = encoder.content().toreadonly()
    if draft is not None:
        draft.begin(content)
    return _WeightsMember(content, measure(content), suspects, tied)


def read_in_order(
    order: Iterable[str],
    weights: Mapping[str, Value],
    read: WeightSource,
    prepared: frozenset[str],
) -> Iterator[tuple[str, Any]]:
    """Read weights in the order of their file, and compute each of the prepared ones once.

    They begin the file in the order in which they are computed. Only those whose sizes are no
    multiples of the alignment come later, and are held until then.
    """
    order = list(order)
    computed = read.compute([name for name in order if name in prepared])
    held: dict[str, Any] = {}
    for batch in _batches(order, weights):
        arrays = read([name for name in batch if name not in prepared])
        for name in batch:
            while name in prepared and name not in held:
                made, held[made] = next(computed)
            yield name, (held if name in prepared else arrays).pop(name)


def _batches(names: Iterable[str], weights: Mapping[str, Value]) -> Iterator[list[str]]:
    """Names of weights that have some megabytes together, or of one that has more."""
    batch: list[str] = []
    octets = 0
    for name in names:
        size = math.prod(weights[name].shape) * weights[name].dtype.itemsize
        if batch and octets + size > BATCH:
            yield batch
            batch, octets = [], 0
        batch.append(name)
        octets += size
    yield batch

"""Answers of commands in JSON: the source of the schemas that programs read them by.

Sizes that a call tells are names and formulas, such as `B` and `2*B*S`.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TensorAnswer(_Answer):
    """An input or an output."""

    name: str
    dtype: str
    shape: list[int | str]


class SchemaAnswer(_Answer):
    """The answer of `tripybuild schema --json`."""

    schemas: dict[str, str] = Field({}, description="The paths of schemas by the kind of file.")
    answers: dict[str, str] = Field({}, description="Those of answers in JSON, by the command.")


class Quantity(_Answer):
    """A number that depends on sizes."""

    formula: str = Field(description="A polynomial in the dynamic sizes, as Python writes it.")
    number: int = Field(description="Its value for the sizes of the entry.")


class PartAnswer(_Answer):
    """What a part costs, with all that is below it. The first is the whole entry."""

    path: str = Field(description="Names from the outermost part on, `*` for any index.")
    count: int = Field(description="How many parts have this path.")
    parameters: int = Field(description="Elements of its weights that are in files.")
    flops: Quantity
    bytes: Quantity = Field(description="Bytes that its operations read and write, one by one.")
    memory: int = Field(description="The most bytes of activations that are held meanwhile.")
    seconds: float = Field(description="The least time on the device.")
    computing: float = Field(description="The seconds of it that arithmetic, not memory, limits.")


class CornerAnswer(_Answer):
    """The shapes of all outputs for some sizes."""

    sizes: dict[str, int]
    outputs: dict[str, list[int | str]]


class RangeAnswer(_Answer):
    """The range of a dynamic size."""

    min: int
    opt: int
    max: int | None
    multiple_of: int


class MeshAnswer(_Answer):
    """The devices that share the work of an entry."""

    axes: dict[str, int]
    devices: int
    weights: int = Field(description="Bytes of the weights that each device has.")
    flops: int = Field(description="What each computes at least: its share of all.")


class EntryAnswer(_Answer):
    """An entry of the model."""

    name: str
    inputs: list[TensorAnswer]
    outputs: list[TensorAnswer]
    states: list[str]
    ranges: dict[str, RangeAnswer]
    sizes: dict[str, int] = Field(description="The sizes that numbers are for.")
    corners: list[CornerAnswer]
    memory: Quantity = Field(description="Bytes of activations where most are held.")
    mesh: MeshAnswer | None = None
    uncounted: int = Field(
        description="Branches and loops of data: one turn, or the larger branch."
    )
    parts: list[PartAnswer]


class WeightsAnswer(_Answer):
    """The weights that are in files."""

    tensors: int
    parameters: int
    bytes: int
    files: list[str] = Field(description="The files whose headers were compared.")
    compared: bool


class DeviceAnswer(_Answer):
    """What times are of: operations and bytes per second."""

    name: str
    title: str
    flops: dict[str, float]
    bandwidth: float
    measured: bool


class CheckAnswer(_Answer):
    """The answer of `tripybuild check --json`. A model that is refused has `diagnostics` alone.

    A file of a registry has a `kind`, and none of what only models have.
    """

    path: str
    kind: str | None = Field(None, description="What a file of a registry declares.")
    model: str | None = None
    weights: WeightsAnswer | None = None
    device: DeviceAnswer | None = None
    entries: list[EntryAnswer] | None = None
    warnings: list[dict[str, Any]]
    seconds: float = Field(description="What the check took.")


class RatioAnswer(_Answer):
    """How many times as long calls take as those of another contestant."""

    to: str
    value: float
    interval: list[float] = Field(description="The lower and the upper end, for 95 of 100.")


class ContestantAnswer(_Answer):
    """What was measured of an executable, in seconds and bytes."""

    name: str
    target: str
    calls: int
    p50: float
    p90: float
    p99: float
    p50_interval: list[float] = Field(description="Of the mean of the rounds' medians.")
    best: float
    calls_per_second: float
    load: float
    first_call: float
    memory: int | None = Field(description="What the process gained by loading and one call.")
    ratio: RatioAnswer


class RunAnswer(_Answer):
    """The contestants at some sizes."""

    sizes: dict[str, int]
    contestants: list[ContestantAnswer]
    failed: list[str] = Field(description="Those that `diagnostics` say of why they have none.")


class BenchAnswer(_Answer):
    """The answer of `tripybuild bench --json`. If nothing is measured, `diagnostics` are alone."""

    rounds: int
    clients: int = Field(description="Threads that called at the same time.")
    seed: int
    together: bool = Field(description="Whether all were in one process, or each in its own.")
    runs: list[RunAnswer]


class SideAnswer(_Answer):
    """What is compared."""

    name: str
    target: str


class ToleranceAnswer(_Answer):
    """Two elements agree within `absolute + relative * max(|b|, rms)`."""

    absolute: float
    relative: float


class WitnessAnswer(_Answer):
    """The first element beyond the tolerance, in A and in B."""

    index: list[int]
    values: list[float | str] = Field(description="`inf`, `-inf` and `nan` are strings.")


class DifferenceAnswer(_Answer):
    """How an array differs. Pairs are A's and B's; numbers are of elements that are finite."""

    name: str
    shapes: list[list[int]]
    dtypes: list[str]
    agrees: bool
    largest: float
    average: float
    relative: float = Field(
        description="The largest part of an element of B, or of the root mean square if that is "
        "more: what a relative tolerance bounds."
    )
    of_rms: float = Field(description="The largest, as a part of the root mean square of B.")
    cosine: float | None
    ulps: int | None = Field(
        description="Numbers of the coarser dtype between two elements, of those in B that are as "
        "large as the root mean square."
    )
    unequal: int = Field(description="Elements that are not the same.")
    outside: int = Field(description="Elements beyond the tolerance.")
    nan: list[int]
    infinite: list[int]
    first: WitnessAnswer | None


class CallAnswer(_Answer):
    """The outputs of one call."""

    sizes: dict[str, int]
    seed: int
    agrees: bool
    matched_by: str = Field(description="`name`, or `order` where names differ.")
    outputs: list[DifferenceAnswer]


class StepsAnswer(_Answer):
    """What `tripybuild compare --steps` wrote: differences by the ids of operations."""

    file: str
    values: dict[str, float] = Field(description="The largest difference as a part of the rms.")
    count: int = Field(description="How many steps both sides have.")
    cuts: int
    needed: int = Field(description="How many cuts show all steps.")


class CompareAnswer(_Answer):
    """The answer of `tripybuild compare --json`."""

    sides: list[SideAnswer]
    tolerance: ToleranceAnswer
    agrees: bool
    calls: list[CallAnswer]
    steps: StepsAnswer | None


class NodeAnswer(_Answer):
    """An input, a weight or an operation of a graph, and what it reads and gives."""

    id: str = Field(description="Its part, step and operator: the same in all files of a model.")
    kind: str = Field(
        description="`operation`, `input`, `state`, `weight`, `constant`, or `parameter` of a body."
    )
    label: str = Field(description="The operator, the name, or the number that a constant holds.")
    part: str
    step: str
    line: str = Field(description="The file and the line that it comes from.")
    types: list[str] = Field(description="Of its outputs.")
    reads: list[tuple[str, int, str]] = Field(
        description="The id of a node, which of its outputs, and the argument that it is."
    )
    attributes: dict[str, str]
    flops: int
    bytes: int


class DrawingAnswer(_Answer):
    """The graph of an entry. Each node stands behind those that it reads."""

    model: str
    entry: str
    sizes: dict[str, int] = Field(description="The sizes that numbers are for.")
    nodes: list[NodeAnswer]
    outputs: dict[str, tuple[str, int]] = Field(description="The node, and which of its outputs.")


class GraphAnswer(_Answer):
    """The answer of `tripybuild graph --json`. What cannot be read has `diagnostics` alone."""

    path: str
    graphs: list[DrawingAnswer]


class StepAnswer(_Answer):
    """A step, and how it was found."""

    step: str = Field(description="Its path in the spec, or the name of the function.")
    part: str = Field(description="The path of the part; empty for the outermost.")
    operator: str
    path: str = Field(description="The user's file.")
    line: int
    column: int
    position: int = Field(description="Its number among the operations to the output.")
    count: int
    cuts: int = Field(description="How many cuts of the graph were run.")


class PartingAnswer(StepAnswer):
    """The step at which A and B part."""

    verdict: str = Field(description="weights, computes, amplifies, operands or vanishes.")
    operands: list[DifferenceAnswer]
    results: list[DifferenceAnswer]
    alone: list[DifferenceAnswer] = Field(description="What it gives for A's operands alone.")


class OperandAnswer(_Answer):
    """What a step reads: its least and largest finite elements."""

    name: str
    least: float
    most: float
    lost: int = Field(description="Elements that are no finite numbers.")
    there: float | str | None = Field(description="The element at the index of the result.")


class LossAnswer(StepAnswer):
    """The step at which elements stop being finite numbers."""

    kind: str = Field(description="`NaN` or `infinity`.")
    index: list[int]
    value: str
    operands: list[OperandAnswer]


class BisectAnswer(_Answer):
    """The answer of `tripybuild bisect --json`."""

    sides: list[SideAnswer]
    tolerance: ToleranceAnswer
    sizes: dict[str, int]
    seed: int
    outputs: list[DifferenceAnswer]
    parting: PartingAnswer | None
    losses: list[LossAnswer]


class KernelAnswer(_Answer):
    """A kernel of an engine."""

    name: str
    kind: str
    seconds: float = Field(description="In one call: the mean of the faster half.")
    operations: list[str] = Field(description="The ids of what it contains.")


class OperationAnswer(_Answer):
    """An operation, with its share of the kernels that it is in."""

    id: str
    part: str
    operator: str
    line: str
    seconds: float


class ProfileAnswer(_Answer):
    """The answer of `tripybuild profile --json`. What cannot run has `diagnostics` alone."""

    path: str
    target: str
    entry: str
    sizes: dict[str, int]
    rounds: int
    call: float = Field(description="Seconds of a call that nothing measures.")
    measured: float = Field(description="The same while kernels are measured.")
    total: float = Field(description="The seconds of all kernels.")
    own: float = Field(description="Those of kernels that belong to no operation.")
    note: str
    kernels: list[KernelAnswer]
    operations: list[OperationAnswer]


class ReduceAnswer(_Answer):
    """The answer of `tripybuild reduce --json`."""

    folder: str
    outcome: str = Field(description="`refused`, `crashed`, `differs` or `nan`.")
    code: str = Field(description="The code of what refuses it, or ends the process.")
    text: str
    before: int = Field(description="Operations of the spec.")
    after: int = Field(description="Operations of the smallest one.")
    trials: int
    run: str = Field(description="What shows the failure, said in the folder.")
    steps: list[str] = Field(description="What was done, one sentence each.")


ANSWERS: dict[str, type[BaseModel]] = {
    "bench": BenchAnswer,
    "bisect": BisectAnswer,
    "check": CheckAnswer,
    "compare": CompareAnswer,
    "graph": GraphAnswer,
    "profile": ProfileAnswer,
    "reduce": ReduceAnswer,
    "schema": SchemaAnswer,
}

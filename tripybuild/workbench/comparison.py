"""Comparison of two programs on the same inputs, drawn for several sizes and seeds, or given."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from tripybuild.artifact.call_signature import Array, CallSignature
from tripybuild.compiler.check.check import corner_sizes
from tripybuild.compiler.lowering.specialize import sizes_name
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.schema.files import ToleranceEntry
from tripybuild.targets.drawn_inputs import call_sizes, draw_inputs
from tripybuild.types.dtypes import floating, from_numpy
from tripybuild.workbench.differences import (
    ArrayDifference,
    coarsest,
    compare_outputs,
    finest_common,
    match_outputs,
    model_tolerance,
)
from tripybuild.workbench.programs import Outputs, Program

_VALUE_CODES = frozenset({"wrong-value", "engine-failed"})  # what may come of an input's values


@dataclass(frozen=True, slots=True)
class InputChoice:
    """The inputs of a comparison.

    Args:
        shapes: Sizes by name, once for each call; without, the `opt` of each range.
        corners: Whether calls with the least and with the largest sizes are added.
        seeds: Where random numbers begin, once for each call.
        below: Inputs of integers to draw, each from 0 up to this bound.
        given: Arrays by input; all others are drawn.
    """

    shapes: Sequence[Mapping[str, int]] = ({},)
    corners: bool = False
    seeds: Sequence[int] = (0,)
    below: Mapping[str, int] = field(default_factory=dict)
    given: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallInputs:
    """The inputs of one call, with what they were drawn by."""

    sizes: Mapping[str, int]
    seed: int
    arrays: Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class CallDifference:
    """How the outputs of one call differ.

    Args:
        call: The inputs.
        outputs: Each output.
        by_name: Whether outputs were matched by name; else they were by their order.
    """

    call: CallInputs
    outputs: Sequence[ArrayDifference]
    by_name: bool

    @property
    def agrees(self) -> bool:
        """Whether each output is within the tolerance."""
        return all(each.agrees for each in self.outputs)


def pair_tolerance(
    one: Program,
    other: Program,
    absolute: float | None = None,
    relative: float | None = None,
) -> ToleranceEntry:
    """The tolerance for two programs: what the user says, what a spec says, or that of the dtype.

    The dtype is the coarsest in which one of them computes.
    """
    sources = [each.source for each in (one, other) if each.source is not None]
    declared: dict[str, float] = {}
    for source in sources:
        declared |= {k: max(v, declared.get(k, 0.0)) for k, v in source.tolerance.items()}
    kind = coarsest([each.entry.graph for each in sources]) if sources else "float32"
    return model_tolerance(kind, declared, absolute, relative)


def draw_calls(one: Program, other: Program, choice: InputChoice) -> Iterator[CallInputs]:
    """Inputs for both programs: those of the first one that says what it takes.

    Floats have values that the coarser dtype of both has, so that both see the same numbers.

    Raises:
        DiagnosticError: Neither says it and not all are given, or what is asked for does not fit.
    """
    known = next((each.signature for each in (one, other) if each.signature is not None), None)
    if known is None:
        if not choice.given:
            message = f"neither `{one.name}` nor `{other.name}` says what it takes"
            hint = "give arrays by `--input NAME=FILE`"
            raise DiagnosticError(Diagnostic("missing-input", message, hint=hint))
        yield CallInputs({}, 0, choice.given)
        return
    signatures = [e.signature for e in (one, other) if e.signature is not None]
    given = _named(choice.given, known)
    for sizes in _all_sizes(known, choice, given):
        for seed in choice.seeds:
            drawn = draw_inputs(known, sizes, seed, choice.below) | given
            yield CallInputs(sizes, seed, _round_to_all(drawn, signatures))


def compare_call(
    one: Program, other: Program, call: CallInputs, within: ToleranceEntry
) -> CallDifference:
    """Call both, and compare what they give.

    Raises:
        DiagnosticError: One of them cannot be called; it says which, and with what.
    """
    results = [run_side(*side, call) for side in (("A", one), ("B", other))]
    return compare_results(call, results[0], results[1], within)


def run_side(side: str, program: Program, call: CallInputs) -> Outputs:
    """Call one of two programs.

    Raises:
        DiagnosticError: It cannot be called; it says which, and with what.
    """
    try:
        return program.run(call.arrays)
    except DiagnosticError as error:
        sizes = f"{sizes_name(call.sizes)} and " if call.sizes else ""
        note = f"{side} is `{program.name}`, called with {sizes}inputs of the seed {call.seed}"
        found = (replace(each, notes=(*each.notes, note)) for each in error.diagnostics)
        raise DiagnosticError(*map(partial(_hint_below, program), found)) from error


def _hint_below(program: Program, found: Diagnostic) -> Diagnostic:
    """What may be wrong with integers that are drawn, where nothing else is known."""
    if found.hint is not None or program.signature is None or found.code not in _VALUE_CODES:
        return found
    inputs = program.signature.inputs.items()
    name = next((name for name, each in inputs if each.dtype.kind == "integer"), None)
    hint = f"integers are drawn as 1: `--below {name}=N` draws `{name}` from 0 to N - 1"
    return found if name is None else replace(found, hint=hint)


def compare_results(
    call: CallInputs, first: Outputs, second: Outputs, within: ToleranceEntry
) -> CallDifference:
    """Compare what both gave."""
    pairs, by_name = match_outputs(first, second)
    return CallDifference(call, list(compare_outputs(pairs, within)), by_name)


def _named(given: Mapping[str, Array], known: CallSignature) -> dict[str, Array]:
    """The given arrays, if there are such inputs."""
    for name in given:
        if name not in known.inputs:
            names = ", ".join(f"`{each}`" for each in known.inputs)
            message = f"`{known.label}` has no input `{name}`"
            raise DiagnosticError(Diagnostic("unknown-input", message, hint=f"it has {names}"))
    return {n: a.astype(known.inputs[n].dtype.numpy, copy=False) for n, a in given.items()}


def _all_sizes(
    known: CallSignature, choice: InputChoice, given: Mapping[str, Array]
) -> list[dict[str, int]]:
    """The sizes of all calls, each once."""
    found = [call_sizes(known, asked, given) for asked in choice.shapes]
    if choice.corners:
        found += [each for each in corner_sizes(known.ranges, found[0]) if each not in found]
    return found


def _round_to_all(
    arrays: Mapping[str, Array], signatures: Sequence[CallSignature]
) -> dict[str, Array]:
    """Inputs whose floats each program can hold as they are."""
    columns = zip(*(each.inputs.values() for each in signatures), strict=False)
    kinds = {name: [each.dtype for each in row] for name, row in zip(arrays, columns, strict=False)}
    found = {}
    for name, array in arrays.items():
        own = from_numpy(array.dtype)
        if issubclass(own, floating):
            coarse = finest_common([own, *kinds.get(name, ())]).numpy
            array = np.asarray(array.astype(coarse).astype(own.numpy))  # noqa: PLW2901
        found[name] = array
    return found

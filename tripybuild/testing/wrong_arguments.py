"""Negative tests derived from types: one invalid argument at a time in the sample.

Invariant: an argument that its type refuses is refused with its own code, and before any
`requires:`. Axes are asked on both sides: those in range are never refused for being axes.
"""

import ast
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.operator.dtype_combinations import legal_tuples
from tripybuild.schema.operator.operator import Input, Operator
from tripybuild.testing.cases import Function
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.sample import BoundSample, bind
from tripybuild.testing.symbolic import omitted_inputs, record_sample
from tripybuild.trace.location import UnknownLocation, at
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import (
    ChoicePattern,
    Dimension,
    Pattern,
    TensorPattern,
    TensorsPattern,
    ValuePattern,
    options,
    tensors,
)

WORD = "no such value"
# A value of each kind, and those that are none. Booleans are numbers, but no integers.
RIGHT = {"int": 1, "size": 1, "float": 1.5, "number": 1.5, "bool": True, "string": "x"}
RIGHT |= {"dtype": BY_NAME["float32"]}
WRONG: Mapping[str, Sequence[Any]] = {
    "int": (True, 1.5, WORD),
    "size": (True, 1.5, WORD),
    "axis": (True, 1.5, WORD),
    "float": (True, WORD),
    "number": (WORD,),
    "bool": (1, WORD),
    "string": (1,),
    "device": ("tpu", "gpu:1", WORD),
    "dtype": (1, WORD),
    "index": (WORD,),
    "subscripts": (1, WORD),
}


def problems(operator: Operator, function: Function) -> Iterator[str]:
    """The calls that are not refused as they should be, and the axes that are refused wrongly."""
    types = legal_tuples(operator)[0]
    sample = bind(operator, types)
    absent = omitted_inputs(operator, function)
    for name, what, changed in illegal_calls(operator, sample):
        if name not in absent:
            count_check()
            code = _refusal_code(function, changed, absent)
            # What is given also chooses between several signatures.
            other = f"{operator.name}/signature" if len(operator.signatures) > 1 else None
            if code not in {f"{operator.name}/{name}", other} - {None}:
                yield f"`{name}` is {what}: {code or 'accepted'}, want {operator.name}/{name}"
    for name, axis, changed in _legal_axes(operator, sample):
        count_check()
        if _refusal_code(function, changed, absent) == f"{operator.name}/{name}":
            yield f"`{name}` is {axis}, which is a dimension: it is refused"


def _refusal_code(function: Function, bound: BoundSample, absent: frozenset[str]) -> str | None:
    try:
        with at(UnknownLocation()):
            record_sample(function, bound, absent)
    except DiagnosticError as error:
        return error.diagnostics[0].code
    return None


def illegal_calls(
    operator: Operator, sample: BoundSample
) -> Iterator[tuple[str, str, BoundSample]]:
    """The sample with one argument that its type refuses: its name, what it is, and the call."""
    for name in operator.inputs:
        yield name, repr(WORD), _with_value(sample, name, WORD)
    for name, shape in _wrong_shapes(operator, sample):
        yield name, f"of shape {list(shape)}", _with_shape(sample, name, shape)
    for name, attribute in operator.attributes.items():
        if not attribute.keywords:
            for value in _wrong_values(operator, attribute.pattern, sample):
                yield name, repr(value), _with_value(sample, name, value)


def _with_value(sample: BoundSample, name: str, value: Any) -> BoundSample:
    operands = {n: operand for n, operand in sample.operands.items() if n != name}
    return replace(sample, operands=operands, attributes={**sample.attributes, name: value})


def _with_shape(sample: BoundSample, name: str, shape: Sequence[int]) -> BoundSample:
    operand = replace(sample.operands[name], shapes=(tuple(shape),))
    return replace(sample, operands={**sample.operands, name: operand})


# --- shapes ---


def _wrong_shapes(operator: Operator, sample: BoundSample) -> Iterator[tuple[str, Sequence[int]]]:
    """The shapes that the type of one input refuses: other ranks, sizes that others have not."""
    known: set[str] = set()
    for name, input in operator.inputs.items():
        pattern = _single_shape(input)
        if pattern is None or name not in sample.operands:
            continue
        ((_, shape),) = sample.operands[name].numbers
        star = any(dimension.star for dimension in pattern)
        if any(dimension.star and dimension.name not in known for dimension in pattern):
            least = shape[: len(pattern) - star]
            yield from ([(name, least[:-1])] if least else [])
        else:
            yield name, (*shape, 1)
            for index, size in _sizes(pattern, shape, known):
                yield name, (*shape[:index], size + 1, *shape[index + 1 :])
        known |= {d.name for d in pattern if d.name is not None}


def _sizes(
    pattern: Sequence[Dimension], shape: Sequence[int], known: Container[str | None]
) -> Iterator[tuple[int, int]]:
    """The sizes of a shape that are numbers, or that another input has."""
    whole = TensorPattern("any", tuple(pattern))
    found = dict(whole.match(shape) or ())
    for index, (dimension, size) in enumerate(whole.sizes(found.__getitem__)):
        if dimension.name in known or isinstance(dimension.expression, ast.Constant):
            yield index, size


def _single_shape(input: Input) -> tuple[Dimension, ...] | None:
    """The shape of an input that is one tensor and nothing else."""
    each = list(tensors(input.pattern))
    alone = len(options(input.pattern)) == 1 and not isinstance(input.pattern, TensorsPattern)
    return each[0].shape if alone and len(each) == 1 else None


# --- values ---


def _wrong_values(operator: Operator, pattern: Pattern, sample: BoundSample) -> Iterator[Any]:
    forms = options(pattern)
    if isinstance(pattern, ChoicePattern):
        yield from (WORD, 1)
    elif len(forms) == 1 and isinstance(pattern, ValuePattern):
        yield from _wrong_for(operator, pattern, sample)
    elif all(isinstance(form, ValuePattern) for form in forms):
        yield WORD


def _wrong_for(operator: Operator, form: ValuePattern, sample: BoundSample) -> Iterator[Any]:
    if form.fields:
        yield from ([wrong] for wrong in _wrong_records(form.fields))
        return
    values = list(WRONG.get(form.kind, ()))
    if form.kind == "axis":
        rank = _rank(operator, form, sample)
        values += [rank, -rank - 1]
    if form.lengths is None:
        yield from values
        return
    if form.kind == "axis":
        yield from ([value] for value in values)
        yield from ([[0, 0], [0, -rank]] if rank else [])
        return
    # In a list, any number is a number.
    yield from _lists(form.lengths, sample, WRONG["number" if form.kind == "float" else form.kind])


def _lists(lengths: Sequence[ast.expr], sample: BoundSample, wrong: Sequence[Any]) -> Iterator[Any]:
    yield WORD if not lengths else [WORD]
    if not lengths:
        yield from ([value] for value in wrong)
        return
    counts = [sample.names.evaluate(length) for length in lengths]
    for more in range(len(counts)):
        longer = [count + (index == more) for index, count in enumerate(counts)]
        yield _nest(longer, 1)
    if all(counts):
        yield from (_nest(counts, value) for value in wrong)


def _nest(counts: Sequence[int], value: Any) -> Any:
    if not counts:
        return value
    return [_nest(counts[1:], value)] * counts[0]


def _wrong_records(fields: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    right = tuple(RIGHT[field] for field in fields)
    yield (*right, 1)
    for index, field in enumerate(fields):
        yield from ((*right[:index], value, *right[index + 1 :]) for value in WRONG[field])


# --- axes ---


def _legal_axes(operator: Operator, sample: BoundSample) -> Iterator[tuple[str, int, BoundSample]]:
    for name, attribute in operator.attributes.items():
        for form in options(attribute.pattern):
            if isinstance(form, ValuePattern) and form.kind == "axis":
                rank = _rank(operator, form, sample)
                for axis in range(-rank, rank):
                    value = axis if form.lengths is None else [axis]
                    yield name, axis, _with_value(sample, name, value)


def _rank(operator: Operator, form: ValuePattern, sample: BoundSample) -> int:
    """Number of dimensions that an axis refers to: an input's, or a declared number."""
    argument = form.argument
    assert argument is not None
    if isinstance(argument, ast.Name) and argument.id in operator.inputs:
        return len(sample.operands[argument.id].shapes[0])
    return int(sample.names.evaluate(argument))

"""Drawn inputs: arrays to call an entry with where a caller gives none.

Floats are drawn from a normal distribution; integers are 1 and booleans true, so that an index is
in any table of two rows, a mask hides nothing, and loops that count end soon.
"""

from collections.abc import Mapping

import numpy as np

from tripybuild.artifact.call_signature import Array, CallSignature
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.symbolic.dims import Dim
from tripybuild.types.dtypes import dtype


def call_sizes(
    signature: CallSignature,
    asked: Mapping[str, int] | None = None,
    given: Mapping[str, Array] | None = None,
) -> dict[str, int]:
    """The dynamic sizes of a call: asked for, else those of given arrays, else each `opt`.

    Args:
        signature: What the entry takes.
        asked: Sizes by name.
        given: Some of the inputs.

    Raises:
        DiagnosticError: The entry has no such size, or it is out of its range.
    """
    sizes = {name: each.opt for name, each in signature.ranges.items()}
    for name, array in (given or {}).items():
        shape = signature.inputs[name].shape
        if len(shape) == array.ndim:
            pairs = zip(shape, array.shape, strict=True)
            sizes |= {d.name: n for d, n in pairs if isinstance(d, Dim) and d.name in sizes}
    for name, size in (asked or {}).items():
        if name not in signature.ranges:
            near = suggest(name, signature.ranges)
            known = ", ".join(f"`{each}`" for each in signature.ranges)
            hint = f"did you mean `{near}`?" if near else f"it has {known}" if known else None
            message = f"`{signature.label}` has no dynamic size `{name}`"
            raise DiagnosticError(Diagnostic("unknown-size", message, hint=hint))
        signature.ranges[name].check(name, size)
    return sizes | dict(asked or {})


def draw_inputs(
    signature: CallSignature,
    sizes: Mapping[str, int],
    seed: int = 0,
    below: Mapping[str, int] | None = None,
) -> dict[str, Array]:
    """Inputs for sizes, by name; one seed gives the same on each machine.

    Args:
        signature: What the entry takes.
        sizes: All of its dynamic sizes.
        seed: Where the random numbers begin.
        below: Inputs of integers to draw, each from 0 up to this bound, which is not among them.

    Raises:
        DiagnosticError: One of `below` is no input of integers.
    """
    for name, bound in (below or {}).items():
        _check_bound(signature, name, bound)
    random = np.random.default_rng(seed)
    return {
        name: _draw(random, argument.dtype, shape, (below or {}).get(name))
        for (name, argument), (_, shape) in zip(
            signature.inputs.items(), signature.types(sizes), strict=True
        )
    }


def _check_bound(signature: CallSignature, name: str, bound: int) -> None:
    argument = signature.inputs.get(name)
    if argument is None or argument.dtype.kind != "integer":
        message = f"`{signature.label}` has no input `{name}` of integers"
        raise DiagnosticError(Diagnostic("unknown-input", message))
    highest = int(argument.dtype.highest) + 1
    if not 1 <= bound <= highest:
        message = f"`{name}` is {argument.dtype}, and cannot be drawn below {bound}"
        hint = f"a bound is between 1 and {highest}"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))


def _draw(
    random: np.random.Generator, kind: dtype, shape: tuple[int, ...], below: int | None
) -> Array:
    if kind.kind == "float":
        drawn = random.standard_normal(shape, dtype=np.float32)
        return np.asarray(drawn).astype(kind.numpy, copy=False)
    if below is not None:
        return np.asarray(random.integers(0, below, shape)).astype(kind.numpy)
    return np.ones(shape, kind.numpy)

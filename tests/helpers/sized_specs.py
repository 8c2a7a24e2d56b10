"""Specs as data: how they are written, and what NumPy makes of them.

The evaluator knows the scopes of docs/models.md, and nothing of tripybuild. Specs are drawn by
`sized_draws`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LARGEST = 400  # elements of a value
Names = dict[str, Any]


class RefusedError(Exception):
    """The spec has no numbers for these sizes."""


class LargeError(RefusedError):
    """The spec has numbers that a test does not look at: too many, too large, or open to doubt."""


@dataclass(frozen=True)
class Size:
    """A size as a spec writes it, and what it is."""

    text: str
    value: Callable[[Names], int]
    reads: frozenset[str] = frozenset()

    @property
    def name(self) -> str | None:
        """The name that it is, if it is one."""
        return self.text if self.text.isidentifier() else None


Shape = tuple[Size, ...]


@dataclass(frozen=True)
class Step:
    """One step: what it is called, how it is written, and what it gives."""

    name: str
    text: str
    value: Callable[[Names], Any]
    reads: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Made:
    """A part of a part: what it is made of, the sizes that are given, how often it is there."""

    part: "Definition"
    sizes: list[Size]
    count: int | None = None

    @property
    def text(self) -> str:
        """`block(2, S) * 3`."""
        sizes = ", ".join(size.text for size in self.sizes)
        more = ", bias=False" if self.part.name == LINEAR else ""
        called = f"{self.part.name}({sizes}{more})" if sizes else self.part.name
        return called if self.count is None else f"{called} * {self.count}"


@dataclass
class Definition:
    """A part: what it is made with, what it takes, its parts, constants, weights and steps."""

    name: str
    parameters: dict[str, Size | None] = field(default_factory=dict)
    inputs: dict[str, Shape] = field(default_factory=dict)
    optional: str | None = None
    parts: dict[str, Made] = field(default_factory=dict)
    constants: list[Step] = field(default_factory=list)
    weights: dict[str, Shape] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
        """Whether a step can call it."""
        return not (self.parameters or self.parts or self.weights)

    def live(self) -> list[Step]:
        """The steps that the last one needs."""
        needed = {self.steps[-1].name}
        for step in reversed(self.steps):
            if step.name in needed:
                needed |= set(re.findall(r"\bs\d+\b", step.text))
        return [step for step in self.steps if step.name in needed]

    def made_of(self) -> set[str]:
        """The names that are read where it is made."""
        sizes = [size for made in self.parts.values() for size in made.sizes]
        sizes += [size for shape in self.weights.values() for size in shape]
        sizes += filter(None, self.parameters.values())
        read = [each.reads for each in (*sizes, *self.constants)]
        return set().union(*read)

    def bound(self) -> set[str]:
        """The names in the shapes of what it takes."""
        return {d.name for shape in self.inputs.values() for d in shape if d.name is not None}


LINEAR = "Linear"


@dataclass
class Spec:
    """A model, and the definitions that it has, or that another file has."""

    top: Definition
    define: list[Definition]
    used: bool
    fixed: dict[str, int]
    state: str | None = None
    """The input that is state, if one is."""

    @property
    def dynamic(self) -> list[str]:
        """The names of the sizes that no file says."""
        named = [d.name for shape in self.top.inputs.values() for d in shape]
        return [n for n in dict.fromkeys(named) if n is not None and n not in self.fixed]

    def arrays(self, sizes: dict[str, int]) -> dict[str, np.ndarray]:
        """The inputs for these sizes."""
        known = {**self.fixed, **sizes}
        shapes = [tuple(evaluated(d, known) for d in shape) for shape in self.top.inputs.values()]
        pairs = enumerate(zip(self.top.inputs, shapes, strict=True))
        return {name: filling(shape, position) for position, (name, shape) in pairs}

    def wanted(
        self, sizes: dict[str, int], *, lazy: bool = False
    ) -> tuple[Any, dict[str, np.ndarray]]:
        """What NumPy gives for these sizes, and the weights that it is of; None for what is wrong.

        Raises:
            LargeError: It has more than a test can bear.

        Where it is `lazy`, steps that nobody needs are not asked.
        """
        run = Run(self, sizes, lazy=lazy)
        try:
            result = run.run(self.top, "", [], list(self.arrays(sizes).values()))
        except LargeError:
            raise
        except RefusedError:
            result = None
        return result, run.weights


class _LeftOut:
    """What is in the place of an input that nobody gives: NumPy computes nothing of it."""

    __array_ufunc__ = None

    def __array__(self, *_: object, **__: object) -> Any:
        raise TypeError


LEFT_OUT = _LeftOut()


class Run:
    """The evaluation of a spec for given sizes."""

    def __init__(self, spec: Spec, dynamic: dict[str, int], *, lazy: bool = False) -> None:
        self.spec, self.dynamic, self.lazy = spec, dynamic, lazy
        self.weights: dict[str, np.ndarray] = {}

    def scope(self, part: Definition) -> dict[str, int]:
        """What a part sees of its file: a used one has fixed sizes, too, and no dynamic ones."""
        if part is self.spec.top or not self.spec.used:
            return {**self.spec.fixed, **self.dynamic}
        return dict(self.spec.fixed)

    def own(self, part: Definition, sizes: list[int]) -> dict[str, int]:
        """What a part is made with."""
        found = dict(zip(part.parameters, sizes, strict=False))
        for name, default in part.parameters.items():
            if name not in found:
                assert default is not None
                found[name] = evaluated(default, {**self.scope(part), **found})
        return found

    def anew(self, part: Definition, own: dict[str, int]) -> set[str]:
        """The dynamic sizes that mean in a part what comes in."""
        top = part is self.spec.top
        return set() if top else part.bound() & set(self.dynamic) - set(own) - part.made_of()

    def run(self, part: Definition, path: str, sizes: list[int], arrays: list[Any]) -> Any:
        """What a part gives, in the scopes that the documentation says."""
        if part.name == LINEAR:
            return self.linear(path, sizes, arrays)
        own = self.own(part, sizes)
        made: Names = {**self.scope(part), **own}
        members = self.members(part, path, made)
        names = {n: v for n, v in made.items() if n not in self.anew(part, own)}
        given = dict(zip(part.inputs, arrays, strict=False))
        if not set(part.inputs) - set(given) <= {part.optional}:
            raise RefusedError
        for name, array in given.items():
            if len(part.inputs[name]) != array.ndim:
                raise RefusedError
            for dimension, found in zip(part.inputs[name], array.shape, strict=True):
                if dimension.name is not None:
                    names.setdefault(dimension.name, found)
        for name, array in given.items():
            if tuple(evaluated(each, names) for each in part.inputs[name]) != array.shape:
                raise RefusedError
        names |= dict.fromkeys(part.inputs, LEFT_OUT) | given | members
        for step in part.live() if self.lazy else part.steps:
            names[step.name] = kept(step.value, {**names, "": self})
        return names[part.steps[-1].name]

    def linear(self, path: str, sizes: list[int], arrays: list[Any]) -> Any:
        """What a module of the registry gives."""
        weight = self.module(path, sizes)
        if len(arrays) != 1 or arrays[0].ndim == 0 or arrays[0].shape[-1] != sizes[0]:
            raise RefusedError
        return arrays[0] @ weight.T

    def module(self, path: str, sizes: list[int]) -> np.ndarray:
        """The weight of a module."""
        if min(sizes) < 1:
            raise RefusedError
        made = self.weights[f"{path}weight"] = filling((sizes[1], sizes[0]), 5)
        return made

    def members(self, part: Definition, path: str, names: dict[str, int]) -> Names:
        """The parts, weights and constants of a part."""
        found: Names = {}
        for name, made in part.parts.items():
            sizes = [evaluated(each, names) for each in made.sizes]
            several = range(made.count or 0)
            places = (
                [f"{path}{name}."]
                if made.count is None
                else [f"{path}{name}.{i}." for i in several]
            )
            for place in places:  # also of those that nobody calls
                self.make(made.part, place, sizes)
            found[name] = (made.part, places, sizes)
        for name, shape in part.weights.items():
            found[name] = filling(positive(*(evaluated(each, names) for each in shape)), 2)
            self.weights[f"{path}{name}"] = found[name]
        for step in part.constants:
            found[step.name] = kept(step.value, {**names, "": self})
        return found

    def make(self, part: Definition, path: str, sizes: list[int]) -> None:
        """Make a part with all that is in it."""
        if part.name == LINEAR:
            self.module(path, sizes)
        else:
            self.members(part, path, {**self.scope(part), **self.own(part, sizes)})

    def chained(self, member: Any, arrays: list[Any]) -> Any:
        """What a part under `parts:` gives."""
        part, places, sizes = member
        first, *shared = arrays
        for place in places:
            first = self.run(part, place, sizes, [first, *shared])
        return first

    def scanned(self, part: Definition, state: Any, rows: Any) -> Any:
        """What a loop over rows gives at its end."""
        if rows.ndim == 0:
            raise RefusedError
        # It is recorded once, for rows of one type, also where there are none.
        given = self.run(part, "", [], [state, np.zeros(rows.shape[1:], np.float32)])
        if given.shape != state.shape:
            raise RefusedError
        for row in rows:
            state = self.run(part, "", [], [state, row])
        return state


def evaluated(size: Size, names: Names) -> int:
    """A size for given names."""
    try:
        return size.value(names)
    except (KeyError, ZeroDivisionError) as error:
        raise RefusedError from error


def kept(value: Callable[[Names], Any], names: Names) -> Any:
    """What a step gives, if it is of a size that a test can bear."""
    try:
        found = value(names)
    except (ValueError, TypeError, AttributeError, LookupError, ZeroDivisionError) as error:
        raise RefusedError from error
    if found.size > LARGEST or found.ndim > 5 or np.abs(found).max(initial=0) > 1 << 20:
        raise LargeError
    return np.asarray(found, np.float32)


def positive(*sizes: int) -> tuple[int, ...]:
    """Sizes of a shape, of which none has a meaning of its own."""
    if min(sizes, default=0) < 0:
        raise RefusedError
    if np.prod(sizes, dtype=float) > LARGEST:
        raise LargeError
    return sizes


def filling(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Small whole numbers, with which float32 is exact."""
    count = int(np.prod(positive(*shape), dtype=int))
    return ((np.arange(count) * 7 + 3 * seed) % 11 - 3).reshape(shape).astype(np.float32)


# --- writing ---


def spelled(spec: Spec, ranges: dict[str, dict[str, int]]) -> dict[str, str]:
    """The texts of the files: the model's, and the one that it uses."""
    lines, top, files = ["tripybuild: 1", "model: sized"], spec.top, {}
    definitions = [line for part in spec.define for line in _definition(part)]
    sizes = ["sizes:", *(f"  {name}: {value}" for name, value in spec.fixed.items())]
    if spec.used and spec.define:
        head = ["tripybuild: 1", *sizes, "define:"]
        files["used.yaml"] = "\n".join([*head, *definitions, ""])
        lines += ["use:", f"  used.yaml: [{', '.join(part.name for part in spec.define)}]"]
    taken = {name: shape for name, shape in top.inputs.items() if name != spec.state}
    lines += [*sizes, "inputs:", *(f"  {n}: {_type(shape)}" for n, shape in taken.items())]
    if ranges:
        bounds = {n: ", ".join(f"{k}: {v}" for k, v in each.items()) for n, each in ranges.items()}
        lines += ["ranges:", *(f"  {name}: {{{text}}}" for name, text in bounds.items())]
    lines += _held(top, "")
    if spec.state is not None:
        lines += ["state:", f"  {spec.state}: {_type(top.inputs[spec.state])}"]
    lines += ["steps:", *_steps(top.steps, "  ")]
    if spec.state is not None:
        lines += ["next:", f"  {spec.state}: {spec.state} + 1.0"]
    lines += ["outputs:", f"  y: {top.steps[-1].name}", "weights: w.safetensors"]
    if definitions and not spec.used:
        lines += ["define:", *definitions]
    files["sized.yaml"] = "\n".join([*lines, ""])
    return files


def _type(shape: Shape) -> str:
    return f'"F[{", ".join(size.text for size in shape) or "()"}]"'


def _steps(steps: list[Step], indent: str) -> Iterator[str]:
    return (f"{indent}{step.name}: {step.text}" for step in steps)


def _held(part: Definition, indent: str) -> list[str]:
    """The parts and constants."""
    lines = [f"{indent}parts:"] if part.parts else []
    lines += [f"{indent}  {name}: {made.text}" for name, made in part.parts.items()]
    lines += [f"{indent}constants:"] if part.constants else []
    return [*lines, *_steps(part.constants, f"{indent}  ")]


def _definition(part: Definition) -> list[str]:
    lines = [f"  {part.name}:"]
    lines += ["    sizes:"] if part.parameters else []
    for name, default in part.parameters.items():
        said = "{doc: A size.}" if default is None else f'"{default.text}"'
        lines.append(f"      {name}: {said}")
    lines.append("    inputs:")
    for name, shape in part.inputs.items():
        optional = name == part.optional
        text = f"{{type: {_type(shape)}, optional: true}}" if optional else _type(shape)
        lines.append(f"      {name}: {text}")
    lines += _held(part, "    ")
    if part.weights:
        lines += ["    weights:", *(f"      {n}: {_type(s)}" for n, s in part.weights.items())]
    lines += ["    steps:", *_steps(part.steps, "      ")]
    return [*lines, "    outputs:", f"      out: {part.steps[-1].name}"]

"""Random specs whose sizes are drawn, and what NumPy makes of them.

A spec is written from the inside: each step is tried on arrays while it is drawn, so that most of
them mean something. The evaluator knows the scopes of docs/models.md and nothing of tripybuild.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LETTERS = ("S", "R", "N")  # of the model, and of definitions for something else
PARAMETERS = ("n", "k", "R")
FIXED = {"width": 2, "N": 3}
LARGEST = 400
Draw = Callable[[int], int]  # a number below another one


class RefusedError(Exception):
    """The spec has no numbers for these sizes."""


class LargeError(RefusedError):
    """The spec has numbers that are too many, or too large, for a test."""


@dataclass(frozen=True)
class Size:
    """A size as a spec writes it, and what it is."""

    text: str
    value: Callable[[dict[str, Any]], int]
    reads: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Step:
    """One step: what it is called, how it is written, and what it gives."""

    name: str
    text: str
    value: Callable[[dict[str, Any]], Any]


@dataclass
class Definition:
    """A part: what it is made with, what it takes, its parts, weights and steps."""

    name: str
    parameters: list[str] = field(default_factory=list)
    inputs: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    parts: dict[str, tuple["Definition", list[Size], int | None]] = field(default_factory=dict)
    weights: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
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
        sizes = [size for _, given, _ in self.parts.values() for size in given]
        sizes += [size for shape in self.weights.values() for size in shape]
        return {name for size in sizes for name in size.reads}


@dataclass
class Spec:
    """A model, and the definitions that it has, or that another file has."""

    inputs: dict[str, tuple[str | int, ...]]
    top: Definition
    define: list[Definition]
    used: bool
    fixed: dict[str, int]
    state: str | None = None

    @property
    def dynamic(self) -> list[str]:
        """The names of the sizes that no file says."""
        named = [d for shape in self.inputs.values() for d in shape if isinstance(d, str)]
        return [name for name in dict.fromkeys(named) if name not in self.fixed]


# --- what NumPy makes of it ---


class Run:
    """The evaluation of a spec for given sizes and arrays."""

    def __init__(self, spec: Spec, dynamic: dict[str, int], *, lazy: bool = False) -> None:
        self.spec, self.dynamic, self.lazy = spec, dynamic, lazy
        self.weights: dict[str, np.ndarray] = {}

    def scope(self, part: Definition) -> dict[str, int]:
        """What a part sees of its file: a used one has the fixed sizes too, and no dynamic ones."""
        if part is self.spec.top or not self.spec.used:
            return {**self.spec.fixed, **self.dynamic}
        return dict(self.spec.fixed)

    def called(self, part: Definition, path: str, sizes: list[int], arrays: list[Any]) -> Any:
        """What a part gives, in the scopes that the documentation says."""
        own = dict(zip(part.parameters, sizes, strict=True))
        made = {**self.scope(part), **own}
        members = self.members(part, path, made)
        bound = {d.text for shape in part.inputs.values() for d in shape if d.text.isidentifier()}
        anew = bound & set(self.dynamic) - set(own) - part.made_of()
        names: dict[str, Any] = {n: v for n, v in made.items() if n not in anew}
        for shape, array in zip(part.inputs.values(), arrays, strict=True):
            if len(shape) != array.ndim:
                raise RefusedError
            for dimension, found in zip(shape, array.shape, strict=True):
                if dimension.text.isidentifier():
                    names.setdefault(dimension.text, found)
        for shape, array in zip(part.inputs.values(), arrays, strict=True):
            if tuple(evaluated(each, names) for each in shape) != array.shape:
                raise RefusedError
        names |= dict(zip(part.inputs, arrays, strict=True)) | members
        for step in part.live() if self.lazy else part.steps:
            names[step.name] = kept(step.value, {**names, "": self})
        return names[part.steps[-1].name]

    def members(self, part: Definition, path: str, names: dict[str, int]) -> dict[str, Any]:
        """The weights and parts of a part."""
        found: dict[str, Any] = {}
        for name, shape in part.weights.items():
            sizes = tuple(evaluated(each, names) for each in shape)
            if any(size < 0 for size in sizes):
                raise RefusedError
            values = np.arange(np.prod(sizes, dtype=int)) % 5 - 1
            found[name] = self.weights[f"{path}{name}"] = values.reshape(sizes).astype(np.float32)
        for name, (inner, given, count) in part.parts.items():
            sizes = [evaluated(each, names) for each in given]
            places = [f"{path}{name}."]
            if count is not None:
                places = [f"{path}{name}.{i}." for i in range(count)]
            for place in places:  # also of those that nobody calls
                self.members(
                    inner,
                    place,
                    {**self.scope(inner), **dict(zip(inner.parameters, sizes, strict=True))},
                )
            found[name] = (inner, places, sizes)
        return found

    def chained(self, member: Any, arrays: list[Any]) -> Any:
        """What a part under `parts:` gives."""
        inner, places, sizes = member
        first, *shared = arrays
        for place in places:
            first = self.called(inner, place, sizes, [first, *shared])
        return first


def evaluated(size: Size, names: dict[str, Any]) -> int:
    """A size for given names."""
    try:
        return size.value(names)
    except (KeyError, ZeroDivisionError) as error:
        raise RefusedError from error


def kept(value: Callable[[dict[str, Any]], Any], names: dict[str, Any]) -> Any:
    """What a step gives, if it is of a size that a test can bear."""
    try:
        found = value(names)
    except (ValueError, IndexError, KeyError, ZeroDivisionError) as error:
        raise RefusedError from error
    if found.size > LARGEST or found.ndim > 5 or np.abs(found).max(initial=0) > 1 << 20:
        raise LargeError
    return np.asarray(found, np.float32)


# --- drawing ---


class Drawn:
    """A spec that is being drawn, with the run on which its steps are tried."""

    def __init__(self, below: Draw, used: bool, fixed: dict[str, int]) -> None:
        self.below, self.used, self.fixed = below, used, fixed
        self.define: list[Definition] = []

    def one(self, items: Any) -> Any:
        items = list(items)
        return items[self.below(len(items))]

    def chance(self, of: int) -> bool:
        return self.below(of) == of - 1

    def size(self, names: dict[str, Any]) -> Size:
        """A size of the names that are there, or a number."""
        known = sorted(n for n, v in names.items() if isinstance(v, int))
        if not known or self.chance(4):
            number = self.below(4)
            return Size(str(number), lambda _: number)
        a, b, c = self.one(known), self.one(known), self.below(3) + 1
        forms: list[tuple[str, Callable[[Any], int], tuple[str, ...]]] = [
            (a, lambda e: e[a], (a,)),
            (a, lambda e: e[a], (a,)),
            (f"{a} + {c}", lambda e: e[a] + c, (a,)),
            (f"{a} - {c}", lambda e: e[a] - c, (a,)),
            (f"{a} - {b}", lambda e: e[a] - e[b], (a, b)),
            (f"{a} * {b}", lambda e: e[a] * e[b], (a, b)),
            (f"{a} // {c}", lambda e: e[a] // c, (a,)),
            (f"({a} - {b}) // {c}", lambda e: (e[a] - e[b]) // c, (a, b)),
            (f"-(-{a} // {c})", lambda e: -(-e[a] // c), (a,)),
            (f"{a} % {c}", lambda e: e[a] % c, (a,)),
            (f"({a} - {b}) % {c}", lambda e: (e[a] - e[b]) % c, (a, b)),
            (f"{a} // {b}", lambda e: e[a] // e[b], (a, b)),
            (f"max({a} - {c}, 0)", lambda e: max(e[a] - c, 0), (a,)),
            (f"min({a}, {b})", lambda e: min(e[a], e[b]), (a, b)),
        ]
        text, value, reads = self.one(forms)
        return Size(text, value, frozenset(reads))

    def step(self, name: str, names: dict[str, Any], run: Run) -> Step | None:
        """A step that gives something, if one is found soon."""
        for _ in range(6):
            step = self.tried(name, names, run)
            if step is None:
                continue
            try:
                names[name] = kept(step.value, {**names, "": run})
            except RefusedError:
                continue
            return step
        return None

    def tried(self, name: str, names: dict[str, Any], run: Run) -> Step | None:
        arrays = {n: v for n, v in names.items() if isinstance(v, np.ndarray)}
        v, w = self.one(arrays), self.one(arrays)
        rank = names[v].ndim
        i, j, k = self.size(names), self.size(names), self.below(3) + 1
        at = self.below(rank) if rank else 0
        lead = ":, " * at

        def cut(array: Any, *bounds: Any) -> Any:
            return array[(slice(None),) * at + (slice(*bounds),)]

        def expanded(e: Any) -> Any:
            if i.value(e) < 0:
                raise RefusedError
            return np.broadcast_to(e[v], (i.value(e), *e[v].shape))

        forms: list[tuple[str, Callable[[Any], Any]]] = [
            (f"{v} + {w}", lambda e: e[v] + e[w]),
            (f"{v} - {w} * 2.0", lambda e: e[v] - e[w] * 2),
            (f"maximum({v}, {w})", lambda e: np.maximum(e[v], e[w])),
            (
                f"full([{i.text}, {j.text}], 2.0, F)",
                lambda e: np.full((i.value(e), j.value(e)), 2.0),
            ),
            (f"arange({i.text})", lambda e: counted(i.value(e))),
            (f"expand({v}, [{i.text}, *{v}.shape])", expanded),
        ]
        if rank:
            joined = ", ".join(f"{v}.shape[{d}]" for d in range(at + 1, rank))
            rest = f", {joined}" if joined else ""
            before = "".join(f"{v}.shape[{d}], " for d in range(at))
            forms += [
                (f"{v}[{lead}:{i.text}]", lambda e: cut(e[v], i.value(e))),
                (f"{v}[{lead}{i.text}:]", lambda e: cut(e[v], i.value(e), None)),
                (f"{v}[{lead}{i.text}:{j.text}]", lambda e: cut(e[v], i.value(e), j.value(e))),
                (f"{v}[{lead}{i.text}::{k}]", lambda e: cut(e[v], i.value(e), None, k)),
                (f"{v}[{lead}:{i.text}:-{k}]", lambda e: cut(e[v], None, i.value(e), -k)),
                (f"{v}[{lead}{i.text}]", lambda e: e[v][(slice(None),) * at + (i.value(e),)]),
                (f"sum({v}, {at})", lambda e: e[v].sum(at)),
                (f"flip({v}, {at})", lambda e: np.flip(e[v], at)),
                (f"concatenate([{v}, {w}], {at})", lambda e: np.concatenate([e[v], e[w]], at)),
                (f"stack([{v}, {w}], {at})", lambda e: np.stack([e[v], e[w]], at)),
                (f"repeat({v}, {i.text}, {at})", lambda e: np.repeat(e[v], i.value(e), at)),
                (
                    f"reshape({v}, [{before}{i.text}, {j.text}{rest}])",
                    lambda e: e[v].reshape(
                        *e[v].shape[:at], *positive(i.value(e), j.value(e)), *e[v].shape[at + 1 :]
                    ),
                ),
                (f"reshape({v}, [-1])", lambda e: e[v].reshape(-1)),
                (f"reshape({v}, [-1, {k}])", lambda e: e[v].reshape(-1, k)),
                (
                    f"pad({v}, {padding(rank, at, i.text, k)})",
                    lambda e: padded(e[v], at, i.value(e), k),
                ),
                (f"where({v} > {w}, {v}, {w})", lambda e: np.where(e[v] > e[w], e[v], e[w])),
                (f"split({v}, {k}, {at})[0]", lambda e: chunk(e[v], k, at)),
            ]
        if rank >= 2:
            forms += [(f"transpose({v}, 0, {rank - 1})", lambda e: e[v].swapaxes(0, rank - 1))]
        if self.define and self.chance(3):
            return self.call(name, names)
        text, value = self.one(forms)
        return Step(name, text, value)

    def call(self, name: str, names: dict[str, Any]) -> Step | None:
        """A step that calls a definition, or one of the parts."""
        arrays = [n for n, v in names.items() if isinstance(v, np.ndarray)]
        parts = [n for n, v in names.items() if isinstance(v, tuple)]
        functions = [each for each in self.define if each.is_function]
        if not (parts or functions):
            return None
        chosen = self.one([*parts, *functions])
        inner = names[chosen][0] if isinstance(chosen, str) else chosen
        given = [self.one(arrays) for _ in inner.inputs]
        if isinstance(chosen, str):
            text = f"{chosen}({', '.join(given)})"
            return Step(name, text, lambda e: e[""].chained(e[chosen], [e[n] for n in given]))
        text = f"{inner.name}({', '.join(given)})"
        return Step(name, text, lambda e: e[""].called(inner, "", [], [e[n] for n in given]))

    def filled(self, part: Definition, names: dict[str, Any], run: Run) -> bool:
        """Draw the steps of a part for what its names are now."""
        for number in range(1 + self.below(4)):
            step = self.step(f"s{number}", names, run)
            if step is not None:
                part.steps.append(step)
        return bool(part.steps)

    def definition(self, arrays: list[np.ndarray], run: Run) -> None:
        """Draw a definition that takes arrays of these shapes."""
        part = Definition(f"d{len(self.define)}")
        own: dict[str, int] = {}
        if self.chance(2):
            part.parameters = list(
                dict.fromkeys(self.one(PARAMETERS) for _ in range(1 + self.below(2)))
            )
            own = {name: self.below(4) for name in part.parameters}
        seen = {**run.scope(part), **own}
        if self.chance(2):
            part.weights["w"] = tuple(
                self.number({**self.fixed, **own}) for _ in range(self.below(3))
            )
        if part.parameters or part.weights or self.chance(3):
            for inner in self.define[-1:] if self.chance(2) else ():
                given = [
                    self.size(seen if self.chance(3) else {**self.fixed, **own})
                    for _ in inner.parameters
                ]
                part.parts["p"] = (inner, given, self.one([None, 2]))
        letters: dict[str, int] = {}
        for position in range(1 + self.below(2)):
            shape = [self.letter(size, letters, seen) for size in self.one(arrays).shape]
            part.inputs[f"v{position}"] = tuple(shape)
        shapes = self.sample(part, {**seen, **letters})
        if shapes is None:
            return
        bound = {d.text for shape in part.inputs.values() for d in shape if d.text.isidentifier()}
        anew = bound & set(run.dynamic) - set(own) - part.made_of()
        names: dict[str, Any] = {n: v for n, v in seen.items() if n not in anew}
        for name, size in letters.items():
            names.setdefault(name, size)
        try:
            names |= dict(zip(part.inputs, shapes, strict=True)) | run.members(part, "", seen)
        except RefusedError:
            return
        if self.filled(part, names, run):
            self.define.append(part)

    def number(self, names: dict[str, int]) -> Size:
        return self.size(names)

    def letter(self, size: int, letters: dict[str, int], seen: dict[str, int]) -> Size:
        """The name of a dimension: one that fits mostly, else any."""
        if self.chance(12):
            letter = self.one(LETTERS)
            return Size(letter, lambda e: e[letter], frozenset({letter}))
        fits = [n for n, v in letters.items() if v == size]
        free = [n for n in (*LETTERS, "K") if n not in letters and n not in self.fixed]
        fits += [n for n in self.fixed if seen.get(n) == size]
        if self.chance(8):
            return Size(str(size), lambda _: size)
        letter = self.one([*fits, *free] or LETTERS)
        letters.setdefault(letter, size)
        return Size(letter, lambda e: e[letter], frozenset({letter}))

    def sample(self, part: Definition, names: dict[str, int]) -> list[np.ndarray] | None:
        """Arrays of the shapes that a part takes."""
        try:
            shapes = [tuple(evaluated(d, names) for d in shape) for shape in part.inputs.values()]
        except RefusedError:
            return None
        if any(np.prod(shape) > LARGEST for shape in shapes):
            return None
        return [filling(shape, position) for position, shape in enumerate(shapes)]


def positive(*sizes: int) -> tuple[int, ...]:
    """Sizes of a shape, of which none has a meaning of its own."""
    if min(sizes) < 0:
        raise RefusedError
    return sizes


def counted(size: int) -> np.ndarray:
    """The first numbers; `arange` gives some or is refused."""
    if size < 1:
        raise RefusedError
    return np.arange(size)


def padding(rank: int, at: int, text: str, k: int) -> str:
    pairs = [f"[{text}, {k}]" if d == at else "[0, 0]" for d in range(rank)]
    return f"[{', '.join(pairs)}]"


def padded(array: np.ndarray, at: int, before: int, after: int) -> np.ndarray:
    return np.pad(array, [(before, after) if d == at else (0, 0) for d in range(array.ndim)])


def chunk(array: np.ndarray, count: int, at: int) -> np.ndarray:
    """The first of so many chunks."""
    length = -(-array.shape[at] // count)
    return array[(slice(None),) * at + (slice(0, length),)]


def filling(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Small whole numbers, with which float32 is exact."""
    count = int(np.prod(shape, dtype=int))
    return ((np.arange(count) * 7 + 3 * seed) % 11 - 3).reshape(shape).astype(np.float32)


def drawn(below: Draw) -> tuple[Spec, dict[str, int], dict[str, int]]:
    """A spec, the sizes on which it was tried, and others."""
    used, fixed = below(3) == 2, dict(FIXED) if below(2) else {"width": 2}
    work = Drawn(below, used, fixed)
    inputs: dict[str, tuple[str | int, ...]] = {}
    for position in range(1 + below(2)):
        names = ["S", "R", "N", "width", 4]
        inputs[f"x{position}"] = tuple(names[below(len(names))] for _ in range(1 + below(3)))
    top = Definition("model")
    spec = Spec(inputs, top, work.define, used, fixed)
    sizes, others = ({name: below(6) for name in spec.dynamic} for _ in range(2))
    run = Run(spec, sizes)
    arrays = arrays_of(spec, sizes)
    for _ in range(below(4)):
        work.definition(list(arrays.values()), run)
    seen = {**fixed, **sizes}
    for inner in work.define:
        if not inner.is_function or below(3) == 2:
            chosen = [work.size(seen if below(2) else fixed) for _ in inner.parameters]
            top.parts[f"p{inner.name}"] = (inner, chosen, [None, 2, 3][below(3)])
    top.inputs = {n: tuple(named(d) for d in shape) for n, shape in inputs.items()}
    try:
        names = {**seen, **arrays, **run.members(top, "", seen)}
    except RefusedError:
        top.parts.clear()
        names = {**seen, **arrays}
    if not work.filled(top, names, run):
        first = next(iter(inputs))
        top.steps.append(Step("s0", f"{first} + 1.0", lambda e: e[first] + 1))
    return spec, sizes, others


def named(dimension: str | int) -> Size:
    """A dimension of an input of the model."""
    if isinstance(dimension, int):
        return Size(str(dimension), lambda _: dimension)
    return Size(dimension, lambda e: e[dimension], frozenset({dimension}))


def arrays_of(spec: Spec, sizes: dict[str, int]) -> dict[str, np.ndarray]:
    """The inputs of a model for these sizes."""
    known = {**spec.fixed, **sizes}
    shapes = {n: tuple(known.get(d, d) for d in shape) for n, shape in spec.inputs.items()}
    return {n: filling(shape, i) for i, (n, shape) in enumerate(shapes.items())}  # type: ignore[arg-type]


def wanted(
    spec: Spec, sizes: dict[str, int], *, lazy: bool = False
) -> tuple[Any, dict[str, np.ndarray]]:
    """What NumPy gives for these sizes, and the weights that it is of; None where it has nothing.

    Raises:
        LargeError: It has more than a test can bear.

    Where it is `lazy`, steps that nobody needs are not asked.
    """
    run = Run(spec, sizes, lazy=lazy)
    try:
        result = run.called(spec.top, "", [], list(arrays_of(spec, sizes).values()))
    except LargeError:
        raise
    except RefusedError:
        result = None
    return result, run.weights


# --- writing ---


def spelled(spec: Spec, ranges: dict[str, dict[str, int]]) -> dict[str, str]:
    """The texts of the files: the model's, and the one that it uses."""
    lines = ["tripybuild: 1", "model: sized"]
    definitions = [line for part in spec.define for line in _part(part)]
    files = {}
    sizes = ["sizes:", *(f"  {name}: {value}" for name, value in spec.fixed.items())]
    if spec.used and spec.define:
        head = ["tripybuild: 1", *sizes, "define:"]
        files["used.yaml"] = "\n".join([*head, *definitions, ""])
        lines += ["use:", f"  used.yaml: [{', '.join(part.name for part in spec.define)}]"]
    lines += sizes
    lines += ["inputs:", *(f"  {n}: {_type(shape)}" for n, shape in spec.top.inputs.items())]
    if ranges:
        lines.append("ranges:")
        lines += [
            f"  {n}: {{{', '.join(f'{k}: {v}' for k, v in e.items())}}}" for n, e in ranges.items()
        ]
    lines += _parts(spec.top, "")
    lines += ["steps:", *(f"  {step.name}: {step.text}" for step in spec.top.steps)]
    lines += ["outputs:", f"  y: {spec.top.steps[-1].name}", "weights: w.safetensors"]
    if definitions and not spec.used:
        lines += ["define:", *definitions]
    files["sized.yaml"] = "\n".join([*lines, ""])
    return files


def _type(shape: tuple[Size, ...]) -> str:
    return f'"F[{", ".join(size.text for size in shape) or "()"}]"'


def _parts(part: Definition, indent: str) -> list[str]:
    lines = [f"{indent}parts:"] if part.parts else []
    for name, (inner, sizes, count) in part.parts.items():
        made = f"{inner.name}({', '.join(size.text for size in sizes)})" if sizes else inner.name
        lines.append(f"{indent}  {name}: {made}{'' if count is None else f' * {count}'}")
    return lines


def _part(part: Definition) -> list[str]:
    lines = [f"  {part.name}:"]
    if part.parameters:
        lines.append(f"    sizes: [{', '.join(part.parameters)}]")
    lines += ["    inputs:", *(f"      {n}: {_type(shape)}" for n, shape in part.inputs.items())]
    lines += _parts(part, "    ")
    if part.weights:
        lines += ["    weights:", *(f"      {n}: {_type(s)}" for n, s in part.weights.items())]
    lines += ["    steps:", *(f"      {step.name}: {step.text}" for step in part.steps)]
    return [*lines, "    outputs:", f"      out: {part.steps[-1].name}"]

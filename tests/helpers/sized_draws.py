"""Random specs: each step is tried on arrays while it is drawn, so that most of them mean much."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np
from sized_specs import (
    LARGEST,
    LINEAR,
    Definition,
    LargeError,
    Made,
    Names,
    RefusedError,
    Run,
    Size,
    Spec,
    Step,
    evaluated,
    filling,
    kept,
    positive,
)

LETTERS = ("S", "R", "N")  # of the model, and of definitions for something else
PARAMETERS = ("n", "k", "R")
FIXED = {"width": 2, "N": 3}
MODULE = Definition(LINEAR, {"in_features": None, "out_features": None}, {"input": ()})
Draw = Callable[[int], int]  # a number below another one
Item = TypeVar("Item")


def drawn(below: Draw) -> tuple[Spec, dict[str, int], dict[str, int]]:
    """A spec, the sizes on which it was tried, and others."""
    work = _Draws(below)
    spec = work.spec()
    sizes, others = ({name: below(6) for name in spec.dynamic} for _ in range(2))
    work.fill(Run(spec, sizes), spec.arrays(sizes))
    return spec, sizes, others


def letter(name: str) -> Size:
    """A size that is a name."""
    return Size(name, lambda e: e[name], frozenset({name}))


def number(value: int) -> Size:
    """A size that is a number."""
    return Size(str(value), lambda _: value)


class _Draws:
    def __init__(self, below: Draw) -> None:
        self.below = below
        self.fixed = dict(FIXED) if below(2) else {"width": 2}
        self.define: list[Definition] = []

    def one(self, items: Iterable[Item]) -> Item:
        listed = list(items)
        return listed[self.below(len(listed))]

    def chance(self, of: int) -> bool:
        return self.below(of) == of - 1

    # --- the model ---

    def spec(self) -> Spec:
        """A model without steps."""
        top, state = Definition("model"), None
        for position in range(1 + self.below(2)):
            names = [
                letter(self.one(("S", "R", "N", "width", "S", "R")))
                for _ in range(1 + self.below(3))
            ]
            if self.chance(4):
                names[-1] = number(4)
            top.inputs[f"x{position}"] = tuple(names)
        base = next((d.text for d in top.inputs["x0"] if d.name), None)
        if base is not None and self.chance(3):
            double = Size(f"2 * {base}", lambda e: 2 * e[base], frozenset({base}))
            top.inputs["y0"] = (double, number(2))
        if self.chance(3):
            state = "t"
            top.inputs[state] = top.inputs["x0"]
        return Spec(top, self.define, self.chance(3), self.fixed, state)

    def fill(self, run: Run, arrays: dict[str, np.ndarray]) -> None:
        """Draw definitions, and the steps of the model."""
        top = run.spec.top
        for _ in range(self.below(4)):
            self.definition(list(arrays.values()), run)
        seen = run.scope(top)
        for inner in self.define:
            if not inner.is_function or self.chance(3):
                made = Made(inner, self.given(inner, seen), self.one([None, 2, 3]))
                self.added(top, f"p{inner.name}", made, seen, run)
        names = {**seen, **arrays, **run.members(top, "", seen)}
        if not self.steps(top, names, run):
            first = next(iter(arrays))
            top.steps.append(Step("s0", f"{first} + 1.0", lambda e: e[first] + 1))

    def added(self, part: Definition, name: str, made: Made, seen: Names, run: Run) -> None:
        """Give a part another one, where that can be made."""
        part.parts[name] = made
        try:
            run.members(part, "", seen)
        except RefusedError:
            del part.parts[name]

    def given(self, inner: Definition, names: Names) -> list[Size]:
        """The sizes that a part is made with; mostly of the numbers that weights can have."""
        known = names if self.chance(3) else {n: v for n, v in names.items() if n in self.fixed}
        optional = sum(default is not None for default in inner.parameters.values())
        left_out = self.below(optional + 1) if optional else 0
        return [self.size(known) for _ in range(len(inner.parameters) - left_out)]

    # --- definitions ---

    def definition(self, arrays: list[np.ndarray], run: Run) -> None:
        """Draw a definition that takes arrays of these shapes."""
        part = Definition(f"d{len(self.define)}")
        own = self.parameters(part, run)
        seen: Names = {**run.scope(part), **own}
        still = {**self.fixed, **own}
        if self.chance(2):
            part.weights["w"] = tuple(self.size(still) for _ in range(self.below(3)))
        if self.chance(5):
            part.constants.append(self.constant(seen if self.chance(4) else still))
        if self.define and self.chance(3):
            inner = self.one(self.define)
            part.parts["p"] = Made(inner, self.given(inner, seen), self.one([None, 2]))
        letters: dict[str, int] = {}
        for position in range(1 + self.below(2)):
            shape = [self.dimension(size, letters, seen) for size in self.one(arrays).shape]
            part.inputs[f"v{position}"] = tuple(shape)
        try:
            shapes = [
                tuple(evaluated(d, {**letters, **seen, **letters}) for d in shape)
                for shape in part.inputs.values()
            ]
            given = [filling(shape, position) for position, shape in enumerate(shapes)]
            members = run.members(part, "", seen)
        except RefusedError:
            return
        if len(given) == 2 and self.chance(6):
            part.optional = "v1"
        if self.chance(4):
            rows = Made(
                MODULE, [number(given[0].shape[-1]) if given[0].ndim else number(1), number(2)]
            )
            self.added(part, "linear", rows, seen, run)
            members = run.members(part, "", seen)
        names: Names = {n: v for n, v in seen.items() if n not in run.anew(part, own)}
        for name, size in letters.items():
            names.setdefault(name, size)
        names |= dict(zip(part.inputs, given, strict=True)) | members
        if self.steps(part, names, run):
            self.define.append(part)

    def parameters(self, part: Definition, run: Run) -> dict[str, int]:
        """Draw what a definition is made with; the last of it may have a default."""
        own: dict[str, int] = {}
        for _ in range(self.below(3)):
            own.setdefault(self.one(PARAMETERS), self.below(4))
        part.parameters = dict.fromkeys(own)
        if own and self.chance(3):
            *before, last = own
            names = run.scope(part) if self.chance(4) else {**self.fixed}
            part.parameters[last] = self.size({**names, **{n: own[n] for n in before}})
        return own

    def constant(self, names: Names) -> Step:
        size = self.size(names)
        text = f"arange({size.text}) * 2.0"
        return Step("c", text, lambda e: counted(size.value(e)) * 2, size.reads)

    def dimension(self, size: int, letters: dict[str, int], seen: Names) -> Size:
        """The name of a dimension: one that fits mostly, else any."""
        if self.chance(12):
            return letter(self.one(LETTERS))
        if self.chance(8):
            return number(size)
        for name, value in letters.items():
            if 2 * value == size and self.chance(3):
                return Size(f"2 * {name}", lambda e, name=name: 2 * e[name], frozenset({name}))
        fits = [n for n, v in letters.items() if v == size]
        fits += [n for n in self.fixed if seen.get(n) == size]
        free = [n for n in (*LETTERS, "K") if n not in letters and n not in self.fixed]
        chosen = self.one([*fits, *free] or LETTERS)
        letters.setdefault(chosen, size)
        return letter(chosen)

    # --- sizes and steps ---

    def size(self, names: Names) -> Size:
        """A size of the names that are there, or a number."""
        known = sorted(n for n, v in names.items() if isinstance(v, int))
        if not known or self.chance(4):
            return number(self.below(4))
        a, b, c = self.one(known), self.one(known), self.below(3) + 1
        forms: list[tuple[str, Callable[[Names], int]]] = [
            (a, lambda e: e[a]),
            (a, lambda e: e[a]),
            (f"{a} + {c}", lambda e: e[a] + c),
            (f"{a} - {c}", lambda e: e[a] - c),
            (f"{a} - {b}", lambda e: e[a] - e[b]),
            (f"{a} * {b}", lambda e: e[a] * e[b]),
            (f"{a} // {c}", lambda e: e[a] // c),
            (f"({a} - {b}) // {c}", lambda e: (e[a] - e[b]) // c),
            (f"-(-{a} // {c})", lambda e: -(-e[a] // c)),
            (f"{a} % {c}", lambda e: e[a] % c),
            (f"({a} - {b}) % {c}", lambda e: (e[a] - e[b]) % c),
            (f"{a} // max({b}, 1)", lambda e: e[a] // max(e[b], 1)),
            (f"max({a} - {c}, 0)", lambda e: max(e[a] - c, 0)),
            (f"min({a}, {b})", lambda e: min(e[a], e[b])),
        ]
        text, value = self.one(forms)
        return Size(text, value, frozenset(n for n in (a, b) if n in text))

    def steps(self, part: Definition, names: Names, run: Run) -> bool:
        """Draw the steps of a part for what its names are now."""
        for position in range(1 + self.below(4)):
            name = f"s{position}"
            for _ in range(6):
                step = self.tried(name, names)
                try:
                    if step is not None:
                        names[name] = kept(step.value, {**names, "": run})
                        part.steps.append(step)
                        break
                except RefusedError:
                    continue
        return bool(part.steps)

    def tried(self, name: str, names: Names) -> Step | None:
        """A step, which may give nothing."""
        if self.chance(3):
            return self.call(name, names)
        arrays = [n for n, v in names.items() if isinstance(v, np.ndarray)]
        v, w = self.one(arrays), self.one(arrays)
        rank = names[v].ndim
        at = self.below(rank) if rank else 0
        i, j, k = self.size(names), self.size(names), self.below(3) + 1
        forms = [*of_any(v, w, i, j)]
        if rank:
            forms += [*of_bounds(v, at, i, j, k), *of_dimension(v, w, at, rank, i, j, k)]
        text, value = self.one(forms)
        return Step(name, text, value)

    def call(self, name: str, names: Names) -> Step | None:
        """A step that calls a definition, or one of the parts, or a loop over rows."""
        arrays = [n for n, v in names.items() if isinstance(v, np.ndarray)]
        parts = [n for n, v in names.items() if isinstance(v, tuple)]
        functions = [each for each in self.define if each.is_function]
        if not (parts or functions):
            return None
        chosen = self.one([*parts, *functions])
        inner = names[chosen][0] if isinstance(chosen, str) else chosen
        count = len(inner.inputs) - bool(inner.optional and self.chance(2))
        given = [self.one(arrays) for _ in range(count)]
        listed = ", ".join(given)
        if isinstance(chosen, str):
            return Step(
                name,
                f"{chosen}({listed})",
                lambda e: e[""].chained(e[chosen], [e[n] for n in given]),
            )
        if count == 2 and not inner.optional and self.chance(3):
            v, w = given
            text = f"scan({inner.name}, [{v}], [{w}])"
            return Step(name, text, lambda e: e[""].scanned(inner, e[v], e[w]))
        text = f"{inner.name}({listed})"
        return Step(name, text, lambda e: e[""].run(inner, "", [], [e[n] for n in given]))


Form = tuple[str, Callable[[Names], Any]]


def of_any(v: str, w: str, i: Size, j: Size) -> Iterable[Form]:
    """Steps for tensors of any rank."""
    yield f"{v} + {w}", lambda e: e[v] + e[w]
    yield f"{v} - {w} * 2.0", lambda e: e[v] - e[w] * 2
    yield f"maximum({v}, {w})", lambda e: np.maximum(e[v], e[w])
    yield f"where({v} > {w}, {v}, {w})", lambda e: np.where(e[v] > e[w], e[v], e[w])
    yield (
        f"full([{i.text}, {j.text}], 2.0, F)",
        lambda e: np.full(positive(i.value(e), j.value(e)), 2.0),
    )
    yield f"arange({i.text})", lambda e: counted(i.value(e))
    yield (
        f"expand({v}, [{i.text}, *{v}.shape])",
        lambda e: np.broadcast_to(e[v], (*positive(i.value(e)), *e[v].shape)),
    )


def of_bounds(v: str, at: int, i: Size, j: Size, k: int) -> Iterable[Form]:
    """Slices of one dimension."""
    lead = ":, " * at

    def cut(array: Any, *bounds: Any) -> Any:
        return array[(slice(None),) * at + (slice(*bounds),)]

    yield f"{v}[{lead}:{i.text}]", lambda e: cut(e[v], i.value(e))
    yield f"{v}[{lead}{i.text}:]", lambda e: cut(e[v], i.value(e), None)
    yield f"{v}[{lead}{i.text}:{j.text}]", lambda e: cut(e[v], i.value(e), j.value(e))
    yield f"{v}[{lead}{i.text}::{k}]", lambda e: cut(e[v], i.value(e), None, k)
    yield f"{v}[{lead}:{i.text}:-{k}]", lambda e: cut(e[v], None, i.value(e), -k)
    yield f"{v}[{lead}{i.text}:{j.text}:-{k}]", lambda e: cut(e[v], i.value(e), j.value(e), -k)
    yield f"{v}[{lead}{i.text}]", lambda e: e[v][(slice(None),) * at + (i.value(e),)]


def of_dimension(v: str, w: str, at: int, rank: int, i: Size, j: Size, k: int) -> Iterable[Form]:
    """What joins, parts and repeats along one dimension."""
    before = "".join(f"{v}.shape[{d}], " for d in range(at))
    rest = "".join(f", {v}.shape[{d}]" for d in range(at + 1, rank))
    sides = ", ".join(f"[{i.text}, {k}]" if d == at else "[0, 0]" for d in range(rank))
    yield f"sum({v}, {at})", lambda e: e[v].sum(at)
    yield f"flip({v}, {at})", lambda e: np.flip(e[v], at)
    yield f"transpose({v}, 0, {rank - 1})", lambda e: e[v].swapaxes(0, rank - 1)
    yield f"concatenate([{v}, {w}], {at})", lambda e: np.concatenate([e[v], e[w]], at)
    yield f"stack([{v}, {w}], {at})", lambda e: np.stack([e[v], e[w]], at)
    yield f"repeat({v}, {i.text}, {at})", lambda e: np.repeat(e[v], positive(i.value(e)), at)
    yield (
        f"pad({v}, [{sides}])",
        lambda e: np.pad(e[v], [(i.value(e), k) if d == at else (0, 0) for d in range(rank)]),
    )
    yield f"split({v}, {k}, {at})[0]", lambda e: np.split(e[v], [-(-e[v].shape[at] // k)], at)[0]
    yield f"reshape({v}, [-1])", lambda e: e[v].reshape(-1)
    yield f"reshape({v}, [-1, {k}])", lambda e: e[v].reshape(-1, k)
    yield (
        f"reshape({v}, [{before}{i.text}, {j.text}{rest}])",
        lambda e: e[v].reshape(
            *e[v].shape[:at], *said(i.value(e), j.value(e)), *e[v].shape[at + 1 :]
        ),
    )


def said(*sizes: int) -> tuple[int, ...]:
    """Sizes of a shape; -1 means what is left, where it is a number when the model is built."""
    if -1 in sizes:
        raise LargeError
    return positive(*sizes)


def counted(size: int) -> np.ndarray:
    """The first numbers; `arange` gives some or is refused."""
    if size < 1:
        raise RefusedError
    return np.arange(min(size, LARGEST + 1), dtype=np.float32)

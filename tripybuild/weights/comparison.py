"""Comparison of a model's weights with a checkpoint: one diagnostic for each kind of difference.

A report is as long for a thousand weights as for ten: names that differ in numbers or in their
last parts are written as one pattern.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, Span, suggest
from tripybuild.model.weight_origins import WeightOrigin
from tripybuild.schema.files import WeightsEntry
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import BY_NAME
from tripybuild.weights import safetensors
from tripybuild.weights.names import (
    is_unused_name,
    join_names,
    match_name,
    matching_rename,
    name_in_file,
)

MOST = 4  # patterns of names in one message


@dataclass(frozen=True)
class Comparison:
    """A model's weights beside what a checkpoint holds.

    Args:
        declared: The weights by path.
        names: What each is called in the checkpoint.
        index: The dtypes and shapes of the checkpoint's tensors.
        entry: What the model says of its weights.
        span: Where it says so.
        origins: Where the weights are declared.
        rename_span: Where a pattern of `rename:` stands.
        place: What messages call the checkpoint's files.
    """

    declared: Mapping[str, Value]
    names: Mapping[str, str]
    index: safetensors.Index
    entry: WeightsEntry
    span: Span
    origins: Mapping[str, WeightOrigin]
    rename_span: Callable[[str], Span]
    place: str = "the file"

    def differences(self) -> Iterator[Diagnostic]:
        """What is missing, of another shape or dtype, or left over."""
        used = set(self.names.values())
        left = [n for n in self.index if n not in used and not is_unused_name(n, self.entry)]
        missing = [name for name in self.declared if self.names[name] not in self.index]
        prefix_hint = self._prefix_hint(missing) if missing else None
        if missing and prefix_hint is None:
            hint, renamed = self._rename_hint(missing, left)
            left = [name for name in left if name not in renamed]
            yield self._missing(missing, hint)
        elif missing:
            yield replace(self._missing(missing, prefix_hint), span=self.span, notes=())
        yield from self._shapes()
        yield from self._dtypes()
        if left and prefix_hint is None:
            yield self._unused(left)

    def _missing(self, missing: Sequence[str], hint: str | None) -> Diagnostic:
        if len(missing) == 1:
            (name,) = missing
            message = f"the weight `{name}` is not in {self.place}"
            message += "" if self.names[name] == name else f" as `{self.names[name]}`"
        else:
            message = f"{len(missing):,} weights are not in {self.place}: {_list_names(missing)}"
            if any(self.names[name] != name for name in missing):
                message += f", as {_list_names(self.names[name] for name in missing)}"
        span, _, notes = self._where(missing)
        rules = {rule and rule[0] for rule in (matching_rename(n, self.entry) for n in missing)}
        if len(rules) == 1 and (pattern := rules.pop()) is not None:
            span, notes = self.rename_span(pattern), ()
        return Diagnostic("weight-missing", message, span, "", notes, hint)

    def _where(self, names: Sequence[str]) -> tuple[Span, str, tuple[str, ...]]:
        """The line that declares weights, with the sizes that it reads, and in a note the others.

        What all weights have in common is not about one of the lines.
        """
        at: dict[Span, list[str]] = defaultdict(list)
        for name in names:
            if name in self.origins:
                at[self.origins[name].span()].append(name)
        if not at or (len(names) == len(self.declared) and len(at) > 1):
            return self.span, "", ()
        first, *others = at
        told = [f"{_list_names(at[each])} at {each}" for each in others[:MOST]]
        told += [f"{len(others) - MOST:,} more"] if len(others) > MOST else []
        notes = (f"the others are declared elsewhere: {'; '.join(told)}",) if told else ()
        return first, self.origins[at[first][0]].values(), notes

    def _prefix_hint(self, missing: Sequence[str]) -> str | None:
        """What `prefix:` has to be, where one makes all weights be there."""
        own = self.entry.prefix
        bare = [name.removeprefix(own) for name in self.names.values()]
        first = self.names[missing[0]].removeprefix(own)
        if own and all(name in self.index for name in bare):
            return f"no name in {self.place} begins with `{own}`: leave out `prefix:`"
        ends = {n.removesuffix(first) for n in self.index if n.endswith(f".{first}")}
        for prefix in sorted(ends, key=len):
            if all(prefix + name in self.index for name in bare):
                return f"the names in {self.place} begin with `{prefix}`: write `prefix: {prefix}`"
        return None

    def _rename_hint(
        self, missing: Sequence[str], left: Sequence[str]
    ) -> tuple[str | None, AbstractSet[str]]:
        """What `rename:` may lack, and the tensors that are wanted then."""
        path = join_names(missing)[0]
        prefix = self.entry.prefix
        joined = join_names(name.removeprefix(prefix) for name in left)
        if (rule := matching_rename(missing[0], self.entry)) is not None:
            old, target = rule[0], self.entry.rename[rule[0]]
            new = suggest(target, {*joined, *(each.rpartition(".")[0] for each in joined)})
            hint = f"`{old}: {target}` below `rename:` leads there"
            if new and (names := self._renamed(old, new, left)):
                return f"{hint}; did you mean `{old}: {new}`?", names
            near = suggest(self.names[missing[0]], left)
            return hint + (f"; did you mean `{near}`?" if near else ""), frozenset()
        near = suggest(path, joined)
        if near is None:
            return None, frozenset()
        for old, new in ((path.rpartition(".")[0], near.rpartition(".")[0]), (path, near)):
            if names := self._renamed(old, new, left):
                return f"did you mean `{new}`? Write `{old}: {new}` below `rename:`", names
        return f"did you mean `{prefix}{near}`? `rename:` maps paths to names", frozenset()

    def _renamed(self, old: str, new: str, left: Sequence[str]) -> AbstractSet[str]:
        """The tensors that a line of `rename:` leads to, if all of them are left over."""
        if not old:
            return frozenset()
        renamed = WeightsEntry(file="", prefix=self.entry.prefix, rename={old: new})
        covered = (name for name in self.declared if match_name(old, name))
        names = {name_in_file(name, renamed) for name in covered}
        return names if names <= set(left) else frozenset()

    def _shapes(self) -> Iterator[Diagnostic]:
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        transposed = []
        for name, value in self._present():
            wanted, shape = tuple(value.shape), self.index[self.names[name]][1]
            if shape != wanted:
                found[f"{list(wanted)}", f"{list(shape)}"].append(name)
                transposed.append(shape == wanted[::-1])
        if found:
            hint = (
                "the file holds it transposed"
                if len(transposed) == 1
                else "the file holds them transposed"
            )
            message = self._list_pairs("have shape ", found)
            span, label, notes = self._where([name for each in found.values() for name in each])
            said = hint if all(transposed) else None
            yield Diagnostic("weight-shape", message, span, label, notes, said)

    def _dtypes(self) -> Iterator[Diagnostic]:
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        floats = []
        for name, value in self._present():
            dtype, shape = self.index[self.names[name]]
            converts = are_floats(dtype, value)
            same = dtype == value.dtype.numpy or (self.entry.convert and converts)
            if not same and shape == tuple(value.shape):
                known = [each for each in BY_NAME.values() if each.numpy == dtype]
                found[str(value.dtype), str([*known, dtype][0])].append(name)
                floats.append(converts)
        if found:
            hint = (
                "write `convert: true` below `weights:`, or `--set weights.convert=true`"
                if all(floats)
                else "declare the dtype that the file has, and cast in a step"
            )
            hint += ": nothing is converted silently"
            message = self._list_pairs("be ", found)
            span, label, notes = self._where([name for each in found.values() for name in each])
            yield Diagnostic("weight-dtype", message, span, label, notes, hint)

    def _list_pairs(self, verb: str, found: Mapping[tuple[str, str], Sequence[str]]) -> str:
        """A sentence for each pair of what is wanted and what the file has."""
        told = []
        for (wanted, has), names in found.items():
            subject = "the weight" if len(names) == 1 else f"{len(names):,} weights,"
            clause = f"{_list_names(names)}{',' if len(names) > 1 else ''} must {verb}{wanted}"
            told.append(f"{subject} {clause}, but {self.place} has {has}")
        more = [f"and {len(told) - MOST:,} more"] if len(told) > MOST else []
        return "; ".join([*told[:MOST], *more])

    def _present(self) -> Iterator[tuple[str, Value]]:
        return ((n, value) for n, value in self.declared.items() if self.names[n] in self.index)

    def _unused(self, left: Sequence[str]) -> Diagnostic:
        hint = "list it under `unused:` if the model does not need it"
        if len(left) == 1:
            message = f"{self.place} holds `{left[0]}`, which the model does not use"
        else:
            message = (
                f"the model does not use {len(left):,} tensors of {self.place}: {_list_names(left)}"
            )
            hint = "list under `unused:` what the model does not need; a name covers all below it"
        return Diagnostic("weight-unused", message, self.span, hint=hint)


def are_floats(dtype: Any, value: Value) -> bool:
    """Whether a stored dtype and a weight's are floats of 16 bits and more."""
    stored = [each for each in BY_NAME.values() if each.numpy == dtype]
    return all(each.kind == "float" and each.bits >= 16 for each in (value.dtype, *stored))


def _list_names(names: Iterable[str]) -> str:
    patterns = [f"`{each}`" for each in join_names(names)]
    more = [f"and {len(patterns) - MOST:,} more"] if len(patterns) > MOST else []
    return ", ".join([*patterns[:MOST], *more])

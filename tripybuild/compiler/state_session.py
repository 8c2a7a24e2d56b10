"""Sessions: an executable whose state is kept from call to call.

Invariant: a state is an array of the type that the entries declare, all for one set of sizes. It
stays in the target's memory, where the next call may overwrite it, and is copied when it is read.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.artifact.call_signature import (
    RANGES_HINT,
    Argument,
    Array,
    CallSignature,
    division_message,
)
from tripybuild.artifact.graph_json import decode_value
from tripybuild.artifact.manifest_schema import manifest_error
from tripybuild.compiler.state_view import StateView
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.process import memory
from tripybuild.symbolic import dims
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.graph import next_name
from tripybuild.types.size_range import SizeRange
from tripybuild.weights.names import join_names

if TYPE_CHECKING:  # which starts the sessions
    from tripybuild.compiler.executable import Executable, ExecutableEntry


class Session:
    """A model that keeps its state. Call it, or one of its entries, with the other inputs.

    Sessions are made by `Executable.start`. One call runs at a time.
    """

    def __init__(self, model: "Executable", arrays: dict[str, Any]) -> None:
        self._model, self._arrays = model, arrays
        self._entries = {n: SessionEntry(self._run, e) for n, e in model.entries.items()}
        self._lock, self._is_whole = Lock(), True

    def __call__(self, /, **arrays: Any) -> dict[str, Array]:
        """Run the only entry with its inputs but for the state; give its outputs but for `.next`.

        Raises:
            DiagnosticError: Where an input is missing, unknown, or of another dtype or shape than
                declared, or where a law does not hold for its sizes. The state stays as it was.
        """
        return self.entry()(**arrays)

    def entry(self, name: str | None = None) -> "SessionEntry":
        """The entry of a name, or the only one.

        Raises:
            DiagnosticError: There is no such entry, or several of which none is named.
        """
        return self._entries[self._model.entry(name).name]

    def __getattr__(self, name: str) -> "SessionEntry":
        """The entry of a name: `session.decode`."""
        entries: dict[str, SessionEntry] = self.__dict__.get("_entries", {})
        if name in entries:
            return entries[name]
        message = f"a session has no attribute `{name}`"
        if near := suggest(name, entries):
            message += f"; did you mean the entry `{near}`?"
        raise AttributeError(message, name=name, obj=self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(None, self._entries)})

    def __repr__(self) -> str:
        kept = ", ".join(f"{n}: {a.dtype}{list(a.shape)}" for n, a in self._arrays.items())
        return f"<Session of {self._model.manifest['model']}: {kept}>"

    @property
    def state(self) -> StateView:
        """The state by name. Each array is a copy, made when it is read.

        Where another thread calls the session, `state.copy()` is all of it between two calls.
        """
        return StateView(self._arrays, self._read)

    # Methods have no public names, which entries of a model could have.

    def _read(self, names: Iterable[str]) -> dict[str, Array]:
        """Copies of some states, all of one moment, which later calls leave as they are."""
        with self._lock:
            self._check_kept()
            found = {name: self._arrays[name] for name in names}
            return {
                name: each.read_kept() if hasattr(each, "read_kept") else each.copy()
                for name, each in found.items()
            }

    def _run(
        self, entry: "ExecutableEntry", given: Mapping[str, Any], kept: frozenset[int]
    ) -> dict[str, Array]:
        """Run an entry, whose outputs of these numbers are the next state."""
        for name in given:
            if name in self._arrays:
                message = f"`{name}` is state, which the session keeps"
                hint = "leave it out; `start(state=...)` begins with other state"
                raise DiagnosticError(Diagnostic("unknown-input", message, hint=hint))
        with self._lock:
            self._check_kept()
            inputs = entry.signature.inputs
            taken = {name: self._arrays[name] for name in entry.states if name in inputs}
            # A call that is stopped at any line leaves this: its program may have taken the memory
            # of the state already.
            self._is_whole = False
            results = entry.run({**given, **taken}, kept)
            updated = {n: results.pop(u) for n in entry.states if (u := next_name(n)) in results}
            self._arrays.update(updated)  # all of them or none: nothing stops it in between
            self._is_whole = True
        return results

    def _check_kept(self) -> None:
        """Check that the memory of the state was not given away by a call that was stopped."""
        if self._is_whole:
            return
        self._is_whole = not any(getattr(a, "is_given_away", False) for a in self._arrays.values())
        if not self._is_whole:
            message = f"the state of `{self._model.manifest['model']}` is lost: a call was stopped"
            hint = "start a new session"
            raise DiagnosticError(Diagnostic("state-lost", message, hint=hint))


class SessionEntry:
    """One entry of a session."""

    def __init__(self, run: Callable[..., dict[str, Array]], entry: "ExecutableEntry") -> None:
        self._run, self._entry = run, entry
        updated = {next_name(name) for name in entry.states}
        self._kept = frozenset(i for i, name in enumerate(entry.outputs) if name in updated)

    def __call__(self, /, **arrays: Any) -> dict[str, Array]:
        """Run the entry with its inputs but for the state; give its outputs but for `.next`."""
        return self._run(self._entry, arrays, self._kept)

    def __repr__(self) -> str:
        return f"<Entry {self._entry.label} of a session>"


@dataclass(frozen=True, slots=True)
class StateDeclaration:
    """What the entries of an executable say of its state.

    Args:
        tensors: Each state as the manifest has inputs: name, dtype, shape.
        ranges: The dynamic sizes in the shapes.
        first: The numbers that states begin as.
    """

    tensors: Mapping[str, Mapping[str, Any]]
    ranges: Mapping[str, Mapping[str, Any]]
    first: Mapping[str, float]

    def signature(self, label: str, names: list[str]) -> CallSignature:
        """Some of the states as inputs that can be checked."""
        tensors = [self.tensors[name] for name in names]
        manifest = {"inputs": tensors, "ranges": self.ranges, "laws": []}
        return CallSignature(label, manifest)

    def symbols(self, label: str) -> list[str]:
        """The names of the dynamic sizes that the states have."""
        shapes = self.signature(label, list(self.tensors)).inputs.values()
        dynamic = [size for each in shapes for size in each.shape if isinstance(size, Dim)]
        return sorted({symbol for size in dynamic for symbol in size.symbols})


def declared_state(model: "Executable") -> StateDeclaration:
    """The state of all entries of an executable."""
    tensors: dict[str, Any] = {}
    ranges: dict[str, Any] = {}
    first: dict[str, Any] = {}
    for entry in model.entries.values():
        for name in entry.states:
            found = entry.inputs.get(name) or entry.outputs.get(next_name(name))
            if found is None:
                raise manifest_error("its `state` cannot be understood")
            tensors.setdefault(name, {**found, "name": name})
        ranges |= entry.manifest["ranges"]
        first |= entry.manifest.get("first", {})
    numbers = {name: decode_value(number, {}) for name, number in first.items()}
    return StateDeclaration(tensors, ranges, numbers)


def start_session(
    model: "Executable", state: Mapping[str, Any] | None, sizes: Mapping[str, int]
) -> Session:
    """A session that begins with arrays, or with what `first:` says.

    Args:
        model: The executable.
        state: Arrays in the place of what the states begin as.
        sizes: The dynamic sizes of the states that no array tells.

    Raises:
        DiagnosticError: A state or a size is missing, unknown, or does not fit.
    """
    given = state.copy() if isinstance(state, StateView) else dict(state or {})
    declared = declared_state(model)
    begun, shapes = check_state(model, given, sizes)
    every = declared.signature(model.manifest["model"], list(declared.tensors)).inputs
    arrays = {
        name: _copied(begun[name]) if name in begun else _filled(each, shapes[name], declared.first)
        for name, each in every.items()
    }
    keep = model.target.keep_state
    return Session(model, {name: keep(each, every[name].dtype) for name, each in arrays.items()})


def check_state(
    model: "Executable", given: Mapping[str, Any], sizes: Mapping[str, int]
) -> tuple[dict[str, Array], dict[str, list[int]]]:
    """Arrays that can begin a session, and the shapes of all states. No element is read.

    Raises:
        DiagnosticError: A state or a size is missing, unknown, or does not fit.
    """
    label, declared = model.manifest["model"], declared_state(model)
    if not declared.tensors:
        message = f"`{label}` has no state, so there is nothing to keep"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint="call it as it is"))
    _check_names(label, given, declared)
    signature = declared.signature(label, list(given))
    arrays = signature.arrays(given)
    known = _bind_sizes(label, declared, signature, arrays, sizes)
    return dict(zip(given, arrays, strict=True)), _shapes(label, declared, known)


def start_for_inputs(
    model: "Executable", entry: "ExecutableEntry", given: Mapping[str, Any]
) -> Session:
    """A session whose sizes are those of the inputs with which an entry will be called.

    Raises:
        DiagnosticError: An input does not fit, or a state has no number that it begins as.
    """
    return start_session(model, None, sizes_of_inputs(model, entry, given))


def sizes_of_inputs(
    model: "Executable",
    entry: "ExecutableEntry",
    given: Mapping[str, Any],
    states: Iterable[str] = (),
) -> dict[str, int]:
    """The sizes of states, by the inputs of a call, but for those that some states tell.

    Raises:
        DiagnosticError: An input does not fit.
    """
    label, declared = model.manifest["model"], declared_state(model)
    told = declared.signature(label, [name for name in states if name in declared.tensors])
    named = {getattr(size, "name", None) for each in told.inputs.values() for size in each.shape}
    wanted = [name for name in declared.symbols(label) if name not in named]
    if not wanted and declared.tensors:
        return {}
    inputs = [each for name, each in entry.inputs.items() if name not in declared.tensors]
    manifest = {"inputs": inputs, "ranges": entry.manifest["ranges"], "laws": []}
    signature = CallSignature(entry.label, manifest)
    sizes = signature.bind(signature.arrays(given), {})  # the call checks what is open here
    return {name: size for name, size in sizes.items() if name in wanted}


def _check_names(label: str, given: Mapping[str, Any], declared: StateDeclaration) -> None:
    found = []
    for name in given:
        if name not in declared.tensors:
            near = suggest(name, declared.tensors)
            listed = ", ".join(f"`{each}`" for each in declared.tensors)
            hint = f"did you mean `{near}`?" if near else f"its state is {listed}"
            message = f"`{label}` has no state `{name}`"
            found.append(Diagnostic("unknown-input", message, hint=hint))
    open_states = [n for n in declared.tensors if n not in given and n not in declared.first]
    for name in join_names(open_states):
        message = f"the state `{name}` of `{label}` has no `first`, so it is needed to start"
        hint = "give it: `start(state={...})`, or write `first: 0.0` where it is declared"
        found.append(Diagnostic("missing-input", message, hint=hint))
    if found:
        raise DiagnosticError(*found)


def _bind_sizes(
    label: str,
    declared: StateDeclaration,
    signature: CallSignature,
    arrays: list[Array],
    sizes: Mapping[str, int],
) -> dict[str, int]:
    """The sizes of all states, by what the given ones have and by what was asked for."""
    wanted, found = declared.symbols(label), []
    for name, size in sizes.items():
        if name not in wanted:
            near = suggest(name, wanted)
            hint = f"did you mean `{near}`?" if near else _listed(wanted)
            message = f"the state of `{label}` has no size `{name}`"
            found.append(Diagnostic("unknown-size", message, hint=hint))
            continue
        text = SizeRange.from_json(declared.ranges[name]).violation(name, size)
        if not isinstance(size, int) or isinstance(size, bool):
            text = f"`{name}` must be an integer, but is {size!r}"
        if text is not None:
            found.append(Diagnostic("size-out-of-range", text))
    if found:
        raise DiagnosticError(*found)
    known = signature.bind(arrays, sizes)
    for name in wanted:
        if name not in known:
            message = f"`{label}` needs the size `{name}` to make its state"
            found.append(Diagnostic("missing-size", message, hint=_start_hint(name, declared)))
        elif sizes.get(name, known[name]) != known[name]:
            text = f"`{name}` is {sizes[name]}, but {known[name]} in the state that begins"
            found.append(Diagnostic("size-out-of-range", text))
    if found:
        raise DiagnosticError(*found)
    return known


def _shapes(
    label: str, declared: StateDeclaration, sizes: Mapping[str, int]
) -> dict[str, list[int]]:
    """The shapes of all states for these sizes.

    Raises:
        DiagnosticError: One is below zero, divided by zero, or beyond what memory has addresses.
    """
    found, shapes = [], {}
    told = ", ".join(f"{name} = {size}" for name, size in sizes.items())
    for state in declared.signature(label, list(declared.tensors)).inputs.values():
        where, shape = f"dimension {{}} of the state `{state.name}`", []
        for position, size in enumerate(state.shape):
            try:
                shape.append(dims.evaluate(size, sizes))
            except ZeroDivisionError:
                assert isinstance(size, Dim)  # a number is divided by nothing
                found.append(division_message(where.format(position), size, sizes))
                continue
            if shape[-1] < 0:
                found.append(f"{where.format(position)} is {size} = {shape[-1]} for {told}")
        if math.prod(max(size, 1) for size in shape) * state.dtype.numpy.itemsize > sys.maxsize:
            found.append(f"the state `{state.name}` is too large: {state} for {told}")
        shapes[state.name] = shape
    if found:
        raise DiagnosticError(
            *(Diagnostic("size-out-of-range", t, hint=RANGES_HINT) for t in found)
        )
    return shapes


def _listed(names: list[str]) -> str:
    return f"its sizes are {', '.join(f'`{each}`' for each in names)}" if names else "none is open"


def _start_hint(name: str, declared: StateDeclaration) -> str:
    limits = SizeRange.from_json(declared.ranges[name])
    bounds = f"{limits.min} or more" if limits.max is None else f"{limits.min} to {limits.max}"
    return f"`start({name}={limits.opt})`: it is {bounds}"


def _copied(array: Array) -> Array:
    """An array that its giver cannot change."""
    return np.array(array, order="C")


def _filled(state: Argument, shape: list[int], first: Mapping[str, float]) -> Array:
    try:
        return np.full(shape, first[state.name], state.dtype.numpy)
    except (OverflowError, ValueError) as error:  # which the compiler has refused
        raise manifest_error("its `first` cannot be understood") from error
    except MemoryError as error:
        message = f"the state `{state.name}` needs more memory than available"
        found = [f"it is {state.dtype}[{', '.join(map(str, shape))}]"]
        raise memory.memory_error(message, found, error) from error

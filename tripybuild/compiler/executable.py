"""Executable: a model callable with arrays, compiled in memory or loaded from a file.

A call is checked against the signature once for each combination of shapes; then it is a look-up
and a run.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from tripybuild.artifact import container, signatures
from tripybuild.artifact.call_signature import Array, CallSignature
from tripybuild.artifact.draft import Draft
from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.manifest_schema import manifest_error, tensor_text
from tripybuild.artifact.members import Content
from tripybuild.compiler.lowering.specialize import sizes_name
from tripybuild.compiler.state_session import Session, start_session
from tripybuild.errors.budget import Budget
from tripybuild.errors.diagnostics import DiagnosticError, suggest
from tripybuild.errors.limits import within_budget
from tripybuild.process import memory
from tripybuild.process.gc_pause import pause_gc
from tripybuild.process.hashing import LARGE
from tripybuild.process.per_process import process_lock
from tripybuild.schema.model.entry_points import find_entry
from tripybuild.targets.compiled_model import WEIGHTS, CompiledEntry, CompiledModel
from tripybuild.targets.executable_file import check_manifest
from tripybuild.targets.protocol import Loader, Run
from tripybuild.targets.table import SUFFIX
from tripybuild.trace.notebook_html import entry_html

# Programs in memory, which take megabytes each, and sizes that they are known to serve. Those that
# were there longest are read again from the cache when they are asked for.
MOST_LOADED = 128
MOST_SIZES = 4096

SPECS = frozenset({".yaml", ".yml"})


def is_executable(path: Path) -> bool:
    """Whether a path names an executable, by its end or by what is in the file."""
    if path.suffix == SUFFIX:
        return True
    return path.suffix not in SPECS and path.is_file() and container.looks_like_container(path)


class ExecutableEntry(CompiledEntry):
    """One entry of an executable. Call it with arrays by the names of its inputs."""

    def __init__(self, model: CompiledModel, manifest: Mapping[str, Any]) -> None:
        super().__init__(model, manifest)
        self._outputs = tuple(each["name"] for each in manifest["outputs"])
        # By what a call is given, and by sizes: threads read them at any time.
        self._prepared: dict[object, Run] = {}
        self._by_sizes: dict[str, Run] = {}
        self._keys: dict[str, set[object]] = {}
        self._loader: Loader | None = None
        self._keep = model.target.run_keeping
        self.signature.exchange = model.target.import_array

    def __repr__(self) -> str:
        return f"<Entry {self.label} for {self.model.target}: {self.types()}>"

    def types(self) -> str:
        """What it takes and gives: `(x: float32[B, 4]) -> (y: float32[B])`."""
        takes = ", ".join(f"{name}: {each}" for name, each in self.signature.inputs.items())
        gives = ", ".join(f"{name}: {tensor_text(each)}" for name, each in self.outputs.items())
        return f"({takes}) -> ({gives})"

    def _repr_html_(self) -> str:
        """What a notebook shows: a table of inputs and outputs."""
        return entry_html(repr(self).partition(":")[0].strip("<"), self.manifest)

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs by name, each with dtype and shape."""
        return {entry["name"]: entry for entry in self.manifest["inputs"]}

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The outputs by name, each with dtype and shape."""
        return {entry["name"]: entry for entry in self.manifest["outputs"]}

    @property
    def states(self) -> tuple[str, ...]:
        """The states that it reads or updates: inputs `NAME`, and outputs `NAME.next`."""
        return tuple(self.manifest["state"])

    def __call__(self, /, **arrays: Any) -> dict[str, Array]:
        """Run the entry.

        Args:
            arrays: Each input by name: a NumPy array, or anything with DLPack.

        Returns:
            The outputs by name; they own their memory.

        Raises:
            DiagnosticError: Where an input is missing, unknown, or of another dtype or shape than
                declared, or where a law does not hold for its sizes.
        """
        return self.run(arrays)

    def run(self, arrays: Mapping[str, Any], kept: frozenset[int] | None = None) -> dict[str, Any]:
        """Run the entry with its inputs by name, as a call does.

        Args:
            arrays: The inputs.
            kept: The numbers of outputs that stay where they are computed, for a later call.
        """
        try:
            given = [arrays[name] for name in self.signature.inputs]
            key: object = tuple([(a.shape, a.dtype, a.__class__) for a in given])
            run = self._prepared[key] if len(arrays) == len(given) else None
        except (KeyError, AttributeError, TypeError):
            run = None
        if run is None:
            given = self.signature.arrays(arrays)
            key = tuple([(a.shape, a.dtype, a.__class__) for a in given])
            run = self._prepared.get(key) or self._prepare(key, given)
        try:
            results = run(given) if kept is None else self._keep(run, given, kept)
        except MemoryError as error:
            message = f"`{self.label}` needs more memory than available"
            named = zip(self.signature.inputs, given, strict=True)
            taken = ", ".join(f"{name}: {each.dtype}{list(each.shape)}" for name, each in named)
            raise memory.memory_error(message, [f"it got {taken}"], error) from error
        return dict(zip(self._outputs, results, strict=True))

    def _prepare(self, key: object, given: list[Array]) -> Run:
        sizes = self.signature.bind(given)
        name = sizes_name(sizes)
        run = self._by_sizes.get(name) or self._load(sizes)
        with process_lock("sizes"):
            run = self._by_sizes.setdefault(name, run)
            self._keys.setdefault(name, set()).add(key)
            self._prepared[key] = run
            while len(self._by_sizes) > MOST_SIZES or self._programs() > MOST_LOADED:
                self._evict(next(iter(self._by_sizes)))
        return run

    def _programs(self) -> int:
        """How many programs are in memory: some serve many sizes."""
        return len(set(map(id, self._by_sizes.values())))

    def _evict(self, name: str) -> None:
        """Forget the program for sizes, and by which calls it was run."""
        self._by_sizes.pop(name, None)
        for key in self._keys.pop(name, ()):
            self._prepared.pop(key, None)

    def _load(self, sizes: Mapping[str, int]) -> Run:
        """What its target runs for sizes; native code is not read before the first call."""
        if self._loader is None:
            with process_lock("load"):
                self._loader = self._loader or self.model.target.load(self)
        return self._loader(sizes)


class Executable(CompiledModel):
    """A compiled model. Call an entry of it, or the model itself where it has one alone."""

    entry_type = ExecutableEntry
    entries: Mapping[str, ExecutableEntry]

    def __init__(
        self,
        manifest: Mapping[str, Any],
        members: Mapping[str, Content],
        measured: Mapping[str, MemberRecord] | None = None,
    ) -> None:
        super().__init__(manifest, members, measured)
        # What a call of the model itself runs: the look-up would take as long as a small model.
        self._call = next(iter(self.entries.values())) if len(self.entries) == 1 else None

    @classmethod
    def of(cls, model: CompiledModel) -> Self:
        """What calls a model that a target compiled."""
        made = cls(model.manifest, model.members, model.measured)
        made.warnings += model.warnings
        return made

    def __repr__(self) -> str:
        entries = ", ".join(f"{name}{each.types()}" for name, each in self.entries.items())
        return f"<Executable {self.manifest['model']} for {self.manifest['target']}: {entries}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the inputs and outputs of each entry."""
        about = f"{self.manifest['model']} for {self.manifest['target']}"
        named = ((f"{about}: {name}" if name else about, e) for name, e in self.entries.items())
        return "".join(entry_html(label, each.manifest) for label, each in named)

    def __getattr__(self, name: str) -> ExecutableEntry:
        """The entry of a name: `executable.encode`."""
        entries = self.__dict__.get("entries", {})
        if name in entries:
            return entries[name]  # type: ignore[no-any-return]
        message = f"an executable has no attribute `{name}`"
        if near := suggest(name, entries):
            message += f"; did you mean the entry `{near}`?"
        raise AttributeError(message, name=name, obj=self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *filter(None, self.entries)})

    def entry(self, name: str | None = None) -> ExecutableEntry:
        """The entry of a name, or the only one.

        Raises:
            DiagnosticError: There is no such entry, or several of which none is named.
        """
        return find_entry(self.entries, name, self.manifest["model"])

    @property
    def signature(self) -> CallSignature:
        """What the only entry takes."""
        return self.entry().signature

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs of the only entry by name, each with dtype and shape."""
        return self.entry().inputs

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The outputs of the only entry by name, each with dtype and shape."""
        return self.entry().outputs

    def start(self, *, state: Mapping[str, Any] | None = None, **sizes: int) -> Session:
        """Begin a session, which keeps the state of the model from call to call.

        Args:
            state: Arrays that states begin as, in the place of the number that fills them.
            sizes: The dynamic sizes of the states, such as `B=2`.

        Raises:
            DiagnosticError: The model has no state, or a state or a size is missing, unknown, or
                does not fit.
        """
        return start_session(self, state, sizes)

    def save(self, path: Path | str, draft: Draft | None = None) -> None:
        """Write the executable to a file, whole or not at all.

        Args:
            path: The file.
            draft: The beginning of it, which was written meanwhile.
        """
        members = self._members if draft is None else draft.members(self._members)
        container.write(Path(path), self.manifest, members, self.measured)

    def __call__(self, /, **arrays: Any) -> dict[str, Array]:
        """Run the only entry: see `ExecutableEntry`."""
        return (self._call or self.entry()).run(arrays)


@pause_gc()
def load(
    path: Path | str, *, rebuild: bool = False, verify: Path | str | None = None
) -> Executable:
    """Read an executable file; every byte of it is checked against its digest.

    Args:
        path: The file.
        rebuild: Whether its programs are compiled anew, and none of its native code is loaded.
        verify: A public key or a root certificate, by which the signature beside the file must
            hold. Nothing of the file is used before.

    Raises:
        DiagnosticError: It is no executable, or is not signed with the key.
    """
    file = Path(path)
    identity = None if verify is None else signatures.verify(file, Path(verify))
    found = read_executable(file, prepare=not rebuild and identity is None)
    if identity is not None:
        signatures.check_same(file, identity)
    return Executable.of(found.target.rebuild(found)) if rebuild else found


def read_executable(path: Path, *, prepare: bool = False) -> Executable:
    """Read an executable. Members are checked against their digests before they are used.

    Args:
        path: Its file.
        prepare: Whether its target begins with what a call needs, while weights are read.
    """
    with container.open(path) as file, ThreadPoolExecutor(1) as worker:
        records, content = file.manifest.members, file.manifest.content
        late = {each for each in (WEIGHTS,) if each in records and records[each].size >= LARGE}
        waits = {name: worker.submit(file.read, name) for name in late}
        members = {name: file.read(name) for name in records if name not in late}
        with within_budget(budget=Budget()):
            check_manifest(content, records)
            try:
                made = Executable(content, members, records)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise manifest_error(str(error)) from error
        if prepare:
            for entry in made.entries.values():
                with suppress(DiagnosticError):  # a call says it
                    made.target.prepare(entry)
        made.add_members({name: each.result() for name, each in waits.items()})
    return made

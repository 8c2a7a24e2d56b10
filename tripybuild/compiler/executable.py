"""Executable: a model callable with arrays, compiled in memory or loaded from a file.

A call is checked against the signature once for each combination of shapes; then it is a look-up
and a run.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from tripybuild.artifact import container
from tripybuild.artifact.call_signature import Array
from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.manifest_schema import manifest_error, tensor_text
from tripybuild.artifact.members import Content
from tripybuild.compiler.lowering.specialize import sizes_name
from tripybuild.errors.budget import Budget
from tripybuild.errors.limits import within_budget
from tripybuild.process import memory
from tripybuild.targets.compiled_model import CompiledModel
from tripybuild.targets.executable_file import check_manifest
from tripybuild.targets.protocol import Loader, Run

# Sizes whose programs are in memory, which take megabytes each. Those that were there longest are
# read again from the cache when they are asked for.
MOST_LOADED = 128


class Executable(CompiledModel):
    """A compiled model. Call it with arrays by the names of its inputs."""

    def __init__(
        self,
        manifest: Mapping[str, Any],
        members: Mapping[str, Content],
        measured: Mapping[str, MemberRecord] | None = None,
    ) -> None:
        super().__init__(manifest, members, measured)
        self._outputs = tuple(entry["name"] for entry in manifest["outputs"])
        self._prepared: dict[object, Run] = {}
        self._by_sizes: dict[str, Run] = {}
        self.signature.exchange = self.target.import_array

    @classmethod
    def of(cls, model: CompiledModel) -> Self:
        """What calls a model that a target compiled."""
        made = cls(model.manifest, model.members, model.measured)
        made.warnings += model.warnings
        return made

    def __repr__(self) -> str:
        takes = ", ".join(f"{name}: {each}" for name, each in self.signature.inputs.items())
        gives = ", ".join(f"{name}: {tensor_text(each)}" for name, each in self.outputs.items())
        what = f"{self.manifest['model']} for {self.manifest['target']}"
        return f"<Executable {what}: ({takes}) -> ({gives})>"

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs by name, each with dtype and shape."""
        return {entry["name"]: entry for entry in self.manifest["inputs"]}

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The outputs by name, each with dtype and shape."""
        return {entry["name"]: entry for entry in self.manifest["outputs"]}

    def save(self, path: Path | str) -> None:
        """Write the executable to a file, whole or not at all."""
        container.write(Path(path), self.manifest, self._members, self.measured)

    def __call__(self, /, **arrays: Any) -> dict[str, Array]:
        """Run the model.

        Args:
            arrays: Each input by name: a NumPy array, or anything with DLPack.

        Returns:
            The outputs by name; they own their memory.

        Raises:
            DiagnosticError: Where an input is missing, unknown, or of another dtype or shape than
                declared, or where a law does not hold for its sizes.
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
            results = run(given)
        except MemoryError as error:
            message = f"`{self.manifest['model']}` needs more memory than available"
            named = zip(self.signature.inputs, given, strict=True)
            taken = ", ".join(f"{name}: {each.dtype}{list(each.shape)}" for name, each in named)
            raise memory.memory_error(message, [f"it got {taken}"], error) from error
        return dict(zip(self._outputs, results, strict=True))

    def _prepare(self, key: object, given: list[Array]) -> Run:
        sizes = self.signature.bind(given)
        name = sizes_name(sizes)
        run = self._by_sizes.get(name)
        if run is None:
            if len(self._by_sizes) >= MOST_LOADED:
                self._evict(self._by_sizes.pop(next(iter(self._by_sizes)), None))
            run = self._by_sizes[name] = self._load(sizes)
        self._prepared[key] = run
        return run

    def _evict(self, run: Run | None) -> None:
        """Forget by which calls a program was run."""
        self._prepared = {key: each for key, each in self._prepared.items() if each is not run}

    @cached_property
    def _load(self) -> Loader:
        """What its target runs for sizes; native code is not read before the first call."""
        return self.target.load(self)


def read_executable(path: Path) -> Executable:
    """Read an executable. Members are checked against their digests before they are used."""
    with container.open(path) as file:
        members = {name: file.read(name) for name in file.manifest.members}
        content = file.manifest.content
    with within_budget(budget=Budget()):
        check_manifest(content, members)
        try:
            return Executable(content, members)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise manifest_error(str(error)) from error

"""`Target`: what compiles a model and runs it, behind one face for the session and the commands.

A subclass says what is its own; what most have in common stands here. What reads a file of the
target without running it is an `ExecutableFile`, and what compiles in the compiler's process is a
function of its own, so that neither loads what this imports.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Protocol

from tripybuild.artifact.call_signature import import_array
from tripybuild.artifact.draft import Draft
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.targets.compiled_model import CompiledEntry, CompiledModel
from tripybuild.targets.options import Value
from tripybuild.targets.table import TARGETS, TargetRegistration, engines, find_target
from tripybuild.trace.graph import Graph
from tripybuild.types.dtypes import dtype
from tripybuild.weights.source import WeightSource

Shapes = Sequence[Mapping[str, int]]
Run = Callable[[list[Any]], list[Any]]
Loader = Callable[[Mapping[str, int]], Run]
Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EntryRequest:
    """One entry to compile, whose laws hold for the sizes.

    Args:
        name: Its name.
        built: Its graph, with the weights that its outputs need, and its ranges.
        shapes: The sizes to compile for; the first are each `opt`.
        manifest: What the executable says of it, to which the target adds what is its own.
    """

    name: str
    built: EntryGraph
    shapes: Shapes
    manifest: dict[str, Any]

    @property
    def graph(self) -> Graph:
        """What it does."""
        return self.built.graph


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """A model to compile.

    Args:
        built: The model; its graphs have the weights that their outputs need.
        weights: Where its weights are.
        manifest: What the executable says of itself, to which the target adds what is its own.
        tell: Told the name of each phase.
        timeout: Seconds that the compiler may take.
        options: How the compiler builds, for targets that take options.
        draft: Where weights are written while they are compiled.
    """

    built: ModelGraph
    weights: WeightSource
    manifest: dict[str, Any]
    tell: Callable[[str], None]
    timeout: float | None = None
    options: Mapping[str, Any] | None = None
    draft: Draft | None = None

    @property
    def entries(self) -> list[EntryRequest]:
        """Its entries."""
        return [
            EntryRequest(said["name"], self.built.entries[said["name"]], said["shapes"], said)
            for said in self.manifest["entries"]
        ]

    @property
    def folder(self) -> Path:
        """The folder of the user's files, to which places are relative."""
        return Path(self.built.document.path).parent


def installed_version(distribution: str) -> str:
    """The version of a package, which is not loaded for it; `none` where it is not there."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow, and no load needs it

    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"


class Trial(Protocol):
    """A small model with which `tripybuild doctor` tries a target."""

    def compile(self) -> CompiledModel:
        """Compile the model; nothing is taken from the cache."""

    def run(self) -> None:
        """Compile and run it, and compare what it computes."""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """A kernel, as its engine calls it.

    Args:
        name: Its name, which has that of the place of one operation in it.
        kind: What it computes.
        seconds: What it took in one call.
        is_first: Whether that operation is the first one in it, not the last.
    """

    name: str
    kind: str
    seconds: float
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class EngineTimes:
    """What an engine measured.

    Args:
        calls: The kernels of each call.
        seconds: What the calls took while it measured.
        note: What the user should know of the figures.
    """

    calls: Sequence[Sequence[KernelTime]]
    seconds: Sequence[float]
    note: str = ""


class Target(ABC):
    """What compiles and runs models; `str` gives back the text that it was found by."""

    # The Python package that compiles or computes.
    distribution: ClassVar[str]
    # Whether it can pad sizes to those that programs are for; others have one program for all.
    takes_buckets: ClassVar[bool] = False
    # Whether it computes over the devices of a mesh, or what it computes is the same without.
    takes_mesh: ClassVar[bool] = False

    def __init__(self, name: str, options: Mapping[str, Value] = MappingProxyType({})) -> None:
        self.name, self.options = name, options

    def __str__(self) -> str:
        return ",".join([self.name, *(f"{name}={each}" for name, each in self.options.items())])

    @property
    def entry(self) -> TargetRegistration:
        """Its line of the table."""
        return TARGETS[self.name]

    def with_options(self, options: Mapping[str, Value]) -> "Target":
        """The target with options of its line of the table."""
        ordered = {name: options[name] for name in self.entry.options if name in options}
        return type(self)(self.name, ordered) if ordered else self

    def for_gpus(self, text: str) -> "Target":
        """The target for the compute capabilities `sm86,sm89` alone.

        Raises:
            DiagnosticError: It builds for the machine that it is on.
        """
        message = f"`{self}` is built for the machine that it is on, and takes no `:{text}`"
        others = [name for name, entry in TARGETS.items() if entry.portable]
        hint = f"`{others[0]}:{text}` is built for GPUs that need not be there" if others else None
        raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))

    def check_mesh(self, built: ModelGraph) -> None:
        """Refuse a model whose mesh the target would not heed.

        Raises:
            DiagnosticError: It computes on one device.
        """
        for entry in built.entries.values() if not self.takes_mesh else ():
            if (mesh := entry.graph.mesh) is not None:
                able = next(name for name in TARGETS if find_target(name).takes_mesh)
                message = (
                    f"`{self}` computes on one device, and the model has a mesh of {mesh.devices}"
                )
                hint = f"`--target {able}` computes over a mesh; one whose axes are all 1 is none"
                span = built.document.span(("mesh",), key=True)
                raise DiagnosticError(
                    Diagnostic("target-unfit", message, span, str(mesh), hint=hint)
                )

    def start(self) -> None:  # noqa: B027 - most have nothing to start
        """Begin early what compiling needs, such as a process."""

    @abstractmethod
    def compile(self, request: CompileRequest) -> CompiledModel:
        """Compile each entry of a model.

        Raises:
            DiagnosticError: The compiler refuses it, or a weight cannot be read.
        """

    def prepare(self, entry: CompiledEntry) -> None:  # noqa: B027 - most have nothing to prepare
        """Do early what `load` needs; the weights are not there yet.

        Raises:
            DiagnosticError: As `load` does.
        """

    @abstractmethod
    def load(self, entry: CompiledEntry) -> Loader:
        """What gives a function from inputs to outputs for sizes; it is asked once for each.

        Raises:
            DiagnosticError: The model cannot run on this machine.
        """

    def keep_state(self, array: Any, type: dtype) -> Any:
        """An array that is a session's alone as a state of it, to be an argument of its calls.

        Here it is a NumPy array, as all results.
        """
        del type
        return array

    def run_keeping(self, run: Run, arrays: list[Any], kept: frozenset[int]) -> list[Any]:
        """Run what `load` gave, and leave the results of these numbers where they are computed.

        They are arguments of later calls. Here they are NumPy arrays, as all results.
        """
        del kept
        return run(arrays)

    def measure_kernels(
        self, entry: CompiledEntry, graph: Graph, arrays: Sequence[Any], rounds: int
    ) -> "EngineTimes":
        """The time of each kernel in calls of another form of an entry's graph.

        Args:
            entry: The entry, whose weights the graph has.
            graph: Its graph with places and outputs that have other names.
            arrays: The inputs in order.
            rounds: How often it is called.

        Raises:
            DiagnosticError: The engine does not tell.
        """
        del graph, arrays, rounds
        message = f"`{self}`, which runs `{entry.label}`, does not tell how long its kernels take"
        own = Target.measure_kernels
        able = [
            name
            for name in TARGETS
            if type(find_target(name)).measure_kernels is not own and not engines(name)
        ]
        hint = f"profile the spec by one that does: `--target {'`, `'.join(able)}`"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))

    @abstractmethod
    def emit(self, built: ModelGraph, entry: EntryGraph, shapes: Shapes) -> str:
        """The text of what is compiled of an entry, whose laws have not been checked.

        Raises:
            DiagnosticError: A law does not hold for the sizes, or the graph has no such form.
        """

    def compile_module(
        self,
        path: Path,
        timeout: float | None,
        tell: Callable[[str, float], None],
        function: str | None,
    ) -> CompiledModel:
        """Compile a file of MLIR's text.

        Raises:
            DiagnosticError: It is wrong, or in no dialect of this target's.
        """
        del timeout, tell, function
        refused = f"which the target `{self}` does not run"
        raise self._mlir_refusal(path, refused, "build an engine of it: `--target {name}`")

    def emit_module(self, path: Path) -> str:
        """The text of a file of MLIR as it is compiled.

        Raises:
            DiagnosticError: It is wrong, or has no such form.
        """
        refused = f"and has no form `{self.entry.form}`"
        raise self._mlir_refusal(path, refused, "`--emit {form}`")

    def _mlir_refusal(self, path: Path, reason: str, hint: str) -> DiagnosticError:
        """The refusal of a file of MLIR, with a hint about the first target that takes them."""
        for name, entry in TARGETS.items():
            if entry.takes_mlir:
                message = f"`{path}` is in the {entry.form} dialect, {reason}"
                hint = hint.format(name=name, form=entry.form)
                return DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
        return DiagnosticError(Diagnostic("target-unfit", f"`{path}` is MLIR, {reason}"))

    def rebuild(self, model: CompiledModel, timeout: float | None = None) -> CompiledModel:
        """The same model with native code of this machine's compiler only; most have none.

        Raises:
            DiagnosticError: It cannot be rebuilt, or a program in it does more than compute.
        """
        del timeout
        return model

    def works(self, trial: Trial) -> Facts:
        """What is known of the target on this machine, after a model was compiled for it.

        Raises:
            DiagnosticError: It does not work here.
        """
        from importlib.metadata import version  # noqa: PLC0415 - slow, and no load needs it

        trial.run()
        return {self.distribution: version(self.distribution)}

    def toolchain(self) -> dict[str, str]:
        """What compiles for it, and what else of this machine its executables depend on."""
        return {self.distribution: installed_version(self.distribution)}

    @property
    def is_installed(self) -> bool:
        """Whether what compiles for it can be found, which says nothing of whether it works."""
        return find_spec(self.distribution.replace("-", "_")) is not None

    def check_gpu(self, trial: Trial, facts: Facts) -> None:
        """Run an executable on the GPU that it is for; the facts are kept where that fails.

        Raises:
            DiagnosticError: There is no GPU, or it does not work.
        """
        facts |= self.works(trial)

    def import_array(self, name: str, value: Any) -> Any:
        """An array of another library, as the input of this name."""
        return import_array(name, value)

"""`Target`: what compiles a model and runs it, behind one face for the session and the commands.

A subclass says what is its own; what most have in common stands here. Its module is imported by
commands that print what a file holds and by the compiler's process, so it imports what is heavy
where it is used.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from tripybuild.model.graph_builder import ModelGraph
    from tripybuild.targets.compiled_model import CompiledModel
    from tripybuild.trace.graph import Graph
    from tripybuild.weights.checkpoint import WeightSource

GRAPH = "trace.json"  # the member that holds the graph
Shapes = Sequence[Mapping[str, int]]
Run = Callable[[list[Any]], list[Any]]
Loader = Callable[[Mapping[str, int]], Run]
Compile = Callable[[bytes, Mapping[str, Any]], bytes]
Facts = dict[str, Any]
Table = tuple[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """A graph to compile, whose laws hold for the sizes.

    Args:
        built: What the graph does not say of the model.
        graph: The graph, with the weights that its outputs need.
        weights: Where its weights are.
        shapes: The sizes to compile for; the first are each `opt`.
        manifest: What the executable says of itself, to which the target adds what is its own.
        tell: Told the name of each phase.
        timeout: Seconds that the compiler may take.
        options: How the compiler builds, for targets that take options.
    """

    built: "ModelGraph"
    graph: "Graph"
    weights: "WeightSource"
    shapes: Shapes
    manifest: dict[str, Any]
    tell: Callable[[str], None]
    timeout: float | None = None
    options: Mapping[str, Any] | None = None

    @property
    def folder(self) -> Path:
        """The folder of the user's files, to which places are relative."""
        return Path(self.built.document.path).parent


@dataclass(frozen=True, slots=True)
class Description:
    """What a target says of an executable beyond its manifest.

    Args:
        data: For programs.
        tables: For people: titles and rows.
        hidden: The keys of the manifest that the tables say better.
    """

    data: Mapping[str, Any]
    tables: Sequence[Table] = ()
    hidden: Sequence[str] = ()


class Trial(Protocol):
    """A small model with which `tripybuild doctor` tries a target."""

    def compile(self) -> "CompiledModel":
        """Compile the model; nothing is taken from the cache."""

    def run(self) -> None:
        """Compile and run it, and compare what it computes."""


class Target(ABC):
    """What compiles and runs models; `str` gives back the text that it was found by."""

    # What `emit` calls the text of what is compiled.
    form: ClassVar[str]
    # The Python package that compiles or computes.
    distribution: ClassVar[str]

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def for_gpus(self, text: str) -> "Target":
        """The target for the compute capabilities `sm86,sm89` alone.

        Raises:
            DiagnosticError: It builds for the machine that it is on.
        """
        message = f"`{self}` is built for the machine that it is on, and takes no `:{text}`"
        hint = "`tensorrt-rtx:sm89` is built for GPUs that need not be there"
        raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))

    def start(self) -> None:  # noqa: B027 - most have nothing to start
        """Begin early what compiling needs, such as a process."""

    @abstractmethod
    def compile(self, request: CompileRequest) -> "CompiledModel":
        """Compile a graph.

        Raises:
            DiagnosticError: The compiler refuses it, or a weight cannot be read.
        """

    @abstractmethod
    def load(self, model: "CompiledModel") -> Loader:
        """What gives a function from inputs to outputs for sizes; it is asked once for each.

        Raises:
            DiagnosticError: The model cannot run on this machine.
        """

    @abstractmethod
    def emit(self, built: "ModelGraph", graph: "Graph", shapes: Shapes) -> str:
        """The text of what is compiled of a graph, whose laws have not been checked.

        Raises:
            DiagnosticError: A law does not hold for the sizes, or the graph has no such form.
        """

    def compile_module(
        self,
        path: Path,
        timeout: float | None,
        tell: Callable[[str, float], None],
        function: str | None,
    ) -> "CompiledModel":
        """Compile a file of MLIR's text.

        Raises:
            DiagnosticError: It is wrong, or in no dialect of this target's.
        """
        del timeout, tell, function
        message = f"`{path}` is in the tensorrt dialect, which the target `{self}` does not run"
        hint = "build an engine of it: `--target tensorrt-rtx`"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))

    def emit_module(self, path: Path) -> str:
        """The text of a file of MLIR as it is compiled.

        Raises:
            DiagnosticError: It is wrong, or has no such form.
        """
        message = f"`{path}` is in the tensorrt dialect, and has no form `{self.form}`"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint="`--emit tensorrt`"))

    def rebuild(self, model: "CompiledModel", timeout: float | None = None) -> "CompiledModel":
        """The same model with native code of this machine's compiler only; most have none.

        Raises:
            DiagnosticError: It cannot be rebuilt, or a program in it does more than compute.
        """
        del timeout
        return model

    def required_members(self, manifest: Mapping[str, Any]) -> Sequence[str]:
        """The members of a file that the target runs.

        Raises:
            DiagnosticError: The manifest does not name them as it should.
        """
        entries = manifest["specialisations"]
        return [GRAPH, *(each[key] for each in entries for key in ("stablehlo", "payload"))]

    def describe(
        self,
        manifest: Mapping[str, Any],
        read: Callable[[str], memoryview],
        *,
        layers: bool,  # noqa: ARG002 - for those that have layers
    ) -> Description:
        """What `inspect` shows of an executable, without running any of it.

        Raises:
            DiagnosticError: A member is malformed.
        """
        del manifest, read
        return Description({})

    def works(self, trial: Trial) -> Facts:
        """What is known of the target on this machine, after a model was compiled for it.

        Raises:
            DiagnosticError: It does not work here.
        """
        trial.run()
        return {self.distribution: version(self.distribution)}

    def import_array(self, name: str, value: Any) -> Any:
        """An array of another library, as the input of this name."""
        from tripybuild.artifact.call_signature import import_array  # noqa: PLC0415 - loads NumPy

        return import_array(name, value)

    def prepare_compiler(self) -> Compile:
        """Load, in the compiler's process, what compiles there.

        Raises:
            DiagnosticError: Nothing does, or it cannot be used here.
        """
        message = f"the target `{self}` compiles in no process of its own"
        raise DiagnosticError(Diagnostic("compiler-failed", message))

"""The targets by name, one line for each: what each is, and where its parts are.

This module imports none of them, so that the names, `--help` and the schema cost nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.targets.options import Number, TargetOption, WordChoice, read_options

if TYPE_CHECKING:
    from tripybuild.targets.executable_file import ExecutableFile
    from tripybuild.targets.protocol import Target

# Compiles a request in the compiler's process: a module and options to a payload.
Compile = Callable[[bytes, Mapping[str, Any]], bytes]


@dataclass(frozen=True, slots=True)
class TargetRegistration:
    """A target's parts as `module:name`, each imported by the process that needs it, and its kind.

    Args:
        form: The text that `--emit` prints of what it compiles; below `targets:`, operators say
            under this name what is true of all targets with the form.
        target: Its `targets.protocol.Target`: for sessions, which compile and run.
        compiler: A function of the target's name that loads what compiles, and returns it: for the
            compiler's process. A target that compiles in the session has none.
        file: Its `targets.executable_file.ExecutableFile`: for readers of a file that run none.
        portable: Whether it builds for GPUs that need not be here, and takes a list of them.
        takes_mlir: Whether it compiles files of its form, too, and not only graphs.
        gpu: Whether its executables run on a GPU.
        chooses: Whether it compiles by other engines, so that no file names it.
        facts: Its own name below `targets:` of operators, by default its name.
        options: What a user may say of it behind commas, by name.
    """

    form: str
    target: str
    compiler: str | None = None
    file: str = "tripybuild.targets.executable_file:ExecutableFile"
    portable: bool = False
    takes_mlir: bool = False
    gpu: bool = False
    chooses: bool = False
    facts: str = ""
    options: Mapping[str, TargetOption] = field(default_factory=dict)


def _engine(kind: str, compiler: str, *, portable: bool = False) -> TargetRegistration:
    target, file = f"{_ENGINES}.target:{kind}", f"{_ENGINES}.record:EngineFile"
    return TargetRegistration(
        "tensorrt", target, compiler, file, portable, takes_mlir=True, gpu=True
    )


_ENGINES = "tripybuild.targets.tensorrt"
_MLIR_TENSORRT = "tripybuild.tensorrt.mlir_tensorrt"
_BUILDER = "tripybuild.tensorrt.runtime.request:prepare"
_XLA = "tripybuild.targets.xla.pjrt:prepare"

# An engine of several that a target has is `TARGET:ENGINE`. The target alone chooses one of them:
# the first one, unless something speaks against that.
TARGETS = {
    "cpu": TargetRegistration("stablehlo", "tripybuild.targets.cpu.target:Cpu", _XLA),
    "cpu:onnxruntime": TargetRegistration(
        "onnx",
        "tripybuild.targets.cpu.onnx_runtime:OnnxRuntime",
        facts="onnxruntime",
        options={"threads": Number(1, 1024)},
    ),
    "cpu:xla": TargetRegistration("stablehlo", "tripybuild.targets.cpu.xla:Xla", _XLA, facts="cpu"),
    "cpu:openvino": TargetRegistration(
        "onnx",
        "tripybuild.targets.cpu.openvino:Openvino",
        facts="openvino",
        options={
            "precision": WordChoice(("f32", "bf16", "f16")),
            "activations": WordChoice(("exact", "int8")),
            "threads": Number(1, 1024),
        },
    ),
    "cpu:fastest": TargetRegistration(
        "stablehlo", "tripybuild.targets.cpu.fastest:Fastest", _XLA, chooses=True, facts="cpu"
    ),
    "reference": TargetRegistration("trace", "tripybuild.targets.reference:Reference"),
    "tensorrt-rtx": _engine("TensorrtRtx", _BUILDER, portable=True),
    "tensorrt": _engine("Tensorrt", _BUILDER),
    "mlir-tensorrt": _engine("MlirTensorrt", f"{_MLIR_TENSORRT}.compiler:prepare"),
}
DEFAULT = "cpu"  # the target that needs nothing beside tripybuild
SUFFIX = ".tpb"  # of executables


def find_target(name: str) -> "Target":
    """The target of a name.

    Raises:
        DiagnosticError: There is none.
    """
    check_name(name, tuple(TARGETS), "unknown-target", "target")
    return _make(name, TARGETS[name].target)  # type: ignore[no-any-return]


def find_file(name: str) -> "ExecutableFile":
    """What reads the files of a target."""
    return _make(name, TARGETS[name].file)  # type: ignore[no-any-return]


@cache
def _make(name: str, place: str) -> Any:
    return import_part(place)(name)


def import_part(place: str) -> Any:
    """What `module:name` says, imported now."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def parse_target(text: str) -> "Target":
    """Read `NAME`, `NAME:ENGINE`, either with `,OPTION=VALUE,...`, or `NAME:smXX,...`.

    Raises:
        DiagnosticError: There is no such target, engine or option, or it takes no compute
            capabilities.
    """
    whole, comma, words = text.partition(",")
    if whole in TARGETS:
        target = find_target(whole)
        known = TARGETS[whole].options
        return target.with_options(read_options(whole, known, words)) if comma else target
    name, colon, rest = text.partition(":")
    engines = tuple(each for each in TARGETS if each.startswith(f"{name}:"))
    if colon and engines:
        check_name(whole, engines, "unknown-target", "target")
    target = find_target(name)
    return target.for_gpus(rest) if colon else target


def prepare_compiler(name: str) -> Compile:
    """Load, in the compiler's process, what compiles there for a target.

    Raises:
        DiagnosticError: Nothing does, or it cannot be used here.
    """
    place = TARGETS[name].compiler
    if place is None:
        message = f"the target `{name}` compiles in no process of its own"
        raise DiagnosticError(Diagnostic("compiler-failed", message))
    return import_part(place)(name)  # type: ignore[no-any-return]


def usual_engine(name: str) -> str | None:
    """The engine that a target chooses where nothing speaks against it; most have none."""
    return next((each for each in TARGETS if each.startswith(f"{name}:")), None)


def engines(name: str) -> list[str]:
    """The engines one of which a target chooses, by any means; most choose none."""
    first = name.partition(":")[0]
    if name != first and not TARGETS[name].chooses:
        return []
    known = TARGETS.items()
    return [each for each, entry in known if each.startswith(f"{first}:") and not entry.chooses]


def takes_options(name: str, options: object) -> bool:
    """Whether options are such that the target of a name takes."""
    known = TARGETS[name].options
    return isinstance(options, dict) and all(
        key in known and known[key].accepts(value) for key, value in options.items()
    )


def forms() -> dict[str, str]:
    """What `emit` can print, and the first target that prints it."""
    found: dict[str, str] = {}
    for name, entry in TARGETS.items():
        found.setdefault(entry.form, name)
    return found


def exception_names(name: str) -> tuple[str, str]:
    """The names below `targets:` of an operator that speak of a target: its form, and its own."""
    entry = TARGETS[name]
    return entry.form, entry.facts or name


def is_mlir(path: Path) -> bool:
    """Whether a file is a module of MLIR's text, and no spec."""
    return path.suffix == ".mlir"


def check_name(name: str, names: Sequence[str], code: str, what: str) -> None:
    """Refuse a name that is not among those that there are."""
    if name not in names:
        near = suggest(name, names)
        hint = f"did you mean `{near}`?" if near else None
        message = f"`{name}` is not a {what}; there are {', '.join(f'`{k}`' for k in names)}"
        raise DiagnosticError(Diagnostic(code, message, hint=hint))

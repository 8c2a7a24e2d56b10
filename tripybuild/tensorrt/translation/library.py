"""TensorRT library facade: `tensorrt` 10 and 11, and `tensorrt_rtx`.

What a library has is found by looking, never by its version; no number of an enumeration or of
a flag leaves this module, since the releases number them differently.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.per_process import per_process
from tripybuild.targets.table import TARGETS
from tripybuild.tensorrt.translation.log import Log
from tripybuild.types.dtypes import BY_NAME

MODULES: Mapping[str, str] = {"tensorrt-rtx": "tensorrt_rtx", "tensorrt": "tensorrt"}

# Element types as MLIR writes them, under the names of `DataType`.
DTYPES: Mapping[str, str] = {
    **{each.mlir: each.tensorrt for each in BY_NAME.values() if each.tensorrt},
    "f8E8M0FNU": "E8M0",
}
# Enumerations that were renamed, with the older names after the new one.
RENAMED: Mapping[str, Sequence[str]] = {
    "SampleMode": ("SampleMode", "SliceMode"),
    "InterpolationMode": ("InterpolationMode", "ResizeMode"),
}
# What the dialect calls the default is, since TensorRT 10, called by what it does.
MEMBERS: Mapping[tuple[str, str], Sequence[str]] = {
    ("SampleMode", "DEFAULT"): ("STRICT_BOUNDS", "DEFAULT")
}


class Library:
    """One installed TensorRT library."""

    def __init__(self, name: str, module: Any) -> None:
        self.name = name
        self.module = module
        self.version = str(module.__version__)
        self._members: dict[tuple[str, str], Any] = {}
        flag = getattr(module.NetworkDefinitionCreationFlag, "STRONGLY_TYPED", None)
        if flag is None:
            raise _unavailable(name, f"`{module.__name__}` {self.version} is older than 10")
        self._strongly_typed = 1 << int(flag)

    @staticmethod
    @per_process
    def find(name: str) -> "Library":
        """Import a library by its target's name.

        Raises:
            DiagnosticError: It is not installed, or what is installed cannot be used.
        """
        try:
            return Library(name, import_module(MODULES[name]))
        except (ImportError, OSError, RuntimeError) as error:
            raise _unavailable(name, str(error)) from error

    def builder(self, log: Log) -> Any:
        """Return a builder that says everything to a log."""
        return self.module.Builder(_logger(self.module, log))

    def runtime(self, log: Log) -> Any:
        """Return what reads engines, and says everything to a log."""
        return self.module.Runtime(_logger(self.module, log))

    def network(self, builder: Any) -> Any:
        """Return an empty network in which each layer's types are those of its inputs."""
        return builder.create_network(self._strongly_typed)

    def build_plan(
        self, builder: Any, network: Any, config: Any, take: Callable[[Any], bool]
    ) -> bool:
        """Build an engine and hand its bytes on, in pieces where the library makes pieces.

        Args:
            builder: What builds.
            network: The network.
            config: How to build it.
            take: Told each piece, which it may keep; False ends the building.

        Returns:
            False where the library could not build it, or was told to end.
        """
        if not hasattr(builder, "build_serialized_network_to_stream"):
            plan = builder.build_serialized_network(network, config)
            return plan is not None and take(memoryview(plan).cast("B"))
        writer = _writer(self.module, take)
        return bool(builder.build_serialized_network_to_stream(network, config, writer))

    def has_layer(self, method: str) -> bool:
        """Tell whether networks have this method of adding a layer."""
        return hasattr(self.module.INetworkDefinition, method)

    def dtype(self, element: str) -> Any | None:
        """Return the `DataType` of an element type as MLIR writes it, if the library has it."""
        return self.member("DataType", DTYPES.get(element, ""))

    def member(self, kind: str, name: str) -> Any | None:
        """Return a member of an enumeration, named with or without its `k`, if there is one."""
        found = self._members.get((kind, name))
        if found is None:
            found = self._find_member(kind, name.removeprefix("k"))
            self._members[kind, name] = found
        return found

    def _find_member(self, kind: str, name: str) -> Any | None:
        names = RENAMED.get(kind, (kind,))
        classes = [getattr(self.module, each) for each in names if hasattr(self.module, each)]
        members = MEMBERS.get((kind, name), (name,))
        found = (getattr(each, member, None) for each in classes for member in members)
        return next((each for each in found if each is not None), None)

    @property
    def compute_capabilities(self) -> tuple[str, ...]:
        """The GPU generations that can be built for without one; regular TensorRT names none."""
        kind = getattr(self.module, "ComputeCapability", None)
        names = () if kind is None else kind.__members__
        return tuple(name.lower() for name in names if name.startswith("SM"))


def _logger(module: Any, log: Log) -> Any:
    class LogAdapter(module.ILogger):  # type: ignore[misc]
        """Hands TensorRT's messages to a log of ours."""

        def __init__(self) -> None:
            module.ILogger.__init__(self)

        def log(self, severity: Any, text: str) -> None:
            log.write(int(severity), text)

    return LogAdapter()


def _writer(module: Any, take: Callable[[Any], bool]) -> Any:
    class PieceWriter(module.IStreamWriter):  # type: ignore[misc]
        """Hands TensorRT's pieces on."""

        def __init__(self) -> None:
            module.IStreamWriter.__init__(self)

        def write(self, data: bytes) -> int:
            return len(data) if take(data) else 0

    return PieceWriter()


def _unavailable(name: str, reason: str) -> DiagnosticError:
    message = f"The target `{name}` needs a library that cannot be used here"
    hint = f"install it with `pip install 'tripybuild[{name}]'`"
    others = [other for other, entry in TARGETS.items() if entry.portable]
    if name not in others:
        hint += f"; it needs a GPU even for compiling, and `{others[0]}` does not"
    return DiagnosticError(Diagnostic("target-unavailable", message, notes=(reason,), hint=hint))

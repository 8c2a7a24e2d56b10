"""Engine build options: plain data, validated before anything is built."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.tensorrt.translation.library import MODULES, Library
from tripybuild.tensorrt.translation.log import Log

VERBOSITIES: Mapping[str, str] = {
    "none": "NONE",
    "names": "LAYER_NAMES_ONLY",
    "detailed": "DETAILED",
}
# The highest of each option that is a number.
NUMBERS: Mapping[str, int] = {
    "optimization_level": 5,
    "workspace": 2**63 - 1,
    "timing_iterations": 2**31 - 1,
}


@dataclass(frozen=True)
class Options:
    """How an engine is built.

    Args:
        library: The target: `tensorrt-rtx` or `tensorrt`.
        function: Which function; not needed where there is one, or one called `main`.
        compute_capabilities: The GPUs to build for, such as `sm86`; none means all.
        optimization_level: How much time the builder may take, from 0 to 5.
        workspace: The most bytes of temporary memory that a layer may take.
        timing_iterations: How often a kernel is timed, where kernels are timed.
        verbosity: What the engine knows of its layers: `none`, `names` or `detailed`.
        flags: Names of `BuilderFlag`, such as `TF32`.
    """

    library: str = "tensorrt-rtx"
    function: str | None = None
    compute_capabilities: Sequence[str] = ()
    optimization_level: int | None = None
    workspace: int | None = None
    timing_iterations: int | None = None
    verbosity: str | None = None
    flags: Sequence[str] = ()

    @staticmethod
    def of(given: Mapping[str, Any]) -> "Options":
        """Read options; None stands for what is not given.

        Raises:
            DiagnosticError: There is no such option, or no such value of it.
        """
        known = [each.name for each in fields(Options)]
        for name in given:
            if name not in known:
                raise _refusal("unknown-key", f"there is no option `{name}`", name, known)
        options = Options(**{name: value for name, value in given.items() if value is not None})
        _check_choice("library", options.library, MODULES)
        if options.verbosity is not None:
            _check_choice("verbosity", options.verbosity, VERBOSITIES)
        for name, highest in NUMBERS.items():
            value = getattr(options, name)
            if value is not None and not (type(value) is int and 0 <= value <= highest):
                message = f"`{name}` cannot be `{value}`"
                hint = f"it is a number from 0 to {highest}"
                raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
        return options

    def apply(self, library: Library, config: Any, log: Log) -> None:
        """Give the options to a builder's configuration."""
        self._targets(library, config)
        if self.optimization_level is not None:
            config.builder_optimization_level = self.optimization_level
        if self.workspace is not None:
            pool = library.member("MemoryPoolType", "WORKSPACE")
            config.set_memory_pool_limit(pool, self.workspace)
        if self.timing_iterations is not None:
            config.avg_timing_iterations = self.timing_iterations
        if self.verbosity is not None:
            word = VERBOSITIES[self.verbosity]
            config.profiling_verbosity = library.member("ProfilingVerbosity", word)
        for flag in self.flags:
            found = library.member("BuilderFlag", flag)
            if found is None:
                known = getattr(library.module.BuilderFlag, "__members__", ())
                raise _refusal("wrong-value", f"there is no flag `{flag}`", flag, known)
            config.set_flag(found)
        if said := log.drain():
            message = "TensorRT refuses an option"
            raise DiagnosticError(Diagnostic("wrong-value", message, notes=said))

    def _targets(self, library: Library, config: Any) -> None:
        known = library.compute_capabilities
        if self.compute_capabilities and not known:
            message = f"`{library.name}` builds for the GPU that it runs on, and for no other"
            hint = "leave out `compute_capabilities`, or use `tensorrt-rtx`"
            raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
        for name in self.compute_capabilities:
            if name not in known:
                message = f"`{library.name}` does not build for `{name}`"
                hint = f"it builds for {', '.join(f'`{each}`' for each in known)}"
                raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
        if self.compute_capabilities:
            config.num_compute_capabilities = len(self.compute_capabilities)
        for index, name in enumerate(self.compute_capabilities):
            found = library.member("ComputeCapability", name.upper())
            config.set_compute_capability(found, index)


def _check_choice(option: str, value: Any, known: Mapping[str, Any] | Sequence[str]) -> None:
    if value not in known:
        raise _refusal("wrong-value", f"`{option}` cannot be `{value}`", str(value), known)


def _refusal(
    code: str, message: str, name: str, known: Mapping[str, Any] | Sequence[str]
) -> DiagnosticError:
    near = suggest(name, known)
    hint = f"did you mean `{near}`?" if near else "there are " + ", ".join(f"`{k}`" for k in known)
    return DiagnosticError(Diagnostic(code, message, hint=hint))

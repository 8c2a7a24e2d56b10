"""Pass registry by mlir-tensorrt's names, its pipeline order, and the pass manager.

Invariant: a name, an option or a default differs from mlir-tensorrt's in nothing, since people know
them; `trtx-to-tensorrt` is ours alone. A pass is a module, imported when it runs first, whose `run`
takes the module (a `builtin.module`) and the pass's options as keywords, and gives whether it
changed anything; one that only analyzes gives its report, a string. A pass that asks the TensorRT
library lies a layer above, so that its module is a whole path. A pass that would find what it left
itself is not run again (`run`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module

from xdsl.dialects.builtin import ModuleOp

OptionValue = bool | int | str
Options = Mapping[str, OptionValue]


@dataclass(frozen=True)
class Option:
    """Pass option: its type is its default's (flag, number, or string)."""

    name: str
    default: OptionValue
    why: str

    @property
    def keyword(self) -> str:
        """The option's name as a keyword of the pass's function."""
        return self.name.replace("-", "_")


@dataclass(frozen=True)
class Pass:
    """A rewrite of a module, found by name.

    `anchor` is the op that a pipeline's text nests it in; every pass here is given the whole
    module and finds those ops itself.
    """

    name: str
    why: str
    options: tuple[Option, ...] = ()
    anchor: str | None = None
    module: str | None = None  # where it is not the one of the pass's name

    @cached_property
    def run(self) -> Callable[..., bool | str]:
        """The pass's function; its module is imported now."""
        module = self.module or self.name.removeprefix("tensorrt-").replace("-", "_")
        path = module if module.startswith("tripybuild.") else f"{__package__}.{module}"
        found: Callable[..., bool | str] = import_module(path).run
        return found

    def keywords(self, options: Options) -> dict[str, OptionValue]:
        """The options as keywords, with defaults filled in; `KeyError` for one that is unknown."""
        known = {option.name: option for option in self.options}
        given = {known[name].keyword: value for name, value in options.items()}
        return {option.keyword: option.default for option in self.options} | given


_WAR_OPTIONS = (
    Option("tensorrt-version", "8.5", "TensorRT version in the form MAJOR.MINOR"),
    Option("tensorrt-strongly-typed", False, "whether TensorRT is in its strongly typed mode"),
    Option(
        "force-default-slice-in-bounds",
        False,
        "bound dynamic offsets and sizes of `slice` with min and max: for unknown host inputs",
    ),
)

_INLINE_OPTIONS = (
    Option("default-pipeline", "canonicalize", "what callables are simplified with"),
    Option("op-pipelines", "", "the same for one operation: func.func(PASS,...)"),
    Option("max-iterations", 4, "how often to simplify and inline at most"),
    Option(
        "inlining-threshold",
        2**32 - 1,
        "the most operations of a callee, in percent of its caller's",
    ),
)

_TABLE = (
    Pass("canonicalize", "fold, simplify, and bring ops into their usual form"),
    Pass("cse", "compute what is equal once"),
    Pass("inline", "replace calls by the bodies of callees", _INLINE_OPTIONS),
    Pass(
        "tensorrt-broadcast-elimination",
        "let the ops that use a broadcast do it themselves",
        module="elimination.broadcast_elimination",
    ),
    Pass(
        "tensorrt-transpose-elimination",
        "move transposes to where they are free",
        module="elimination.transpose_elimination",
    ),
    Pass(
        "tensorrt-reshape-elimination",
        "take reshapes from around matrix products",
        module="elimination.reshape_elimination",
    ),
    Pass("tensorrt-transpose-reshape-elimination", "both of these, through einsum"),
    Pass("tensorrt-raise-normalizations", "find `normalization` in the ops that it was made of"),
    Pass(
        "tensorrt-raise-activations",
        "find `activation` in the ops that it was made of",
        (Option("target-tensorrt-version", "10.13", "the TensorRT version that is targeted"),),
    ),
    Pass("tensorrt-apply-wars", "avoid what TensorRT cannot do", _WAR_OPTIONS),
    Pass("tensorrt-expand-ops", "extension ops as TensorRT's own layers"),
    Pass(
        "tensorrt-legalize-int8",
        "int8 as TensorRT takes it, with and without quantization",
        anchor="func.func",
    ),
    Pass(
        "tensorrt-infer-plugin-shapes",
        "ask plugins how the sizes of their results are computed",
        module="tripybuild.tensorrt.translation.plugin_shapes",
    ),
    Pass(
        "test-tensor-kind-analysis",
        "report which tensors are on the host and which on the device",
        (Option("interprocedural", False, "look into callees"),),
        module="tensor_kinds",
    ),
    Pass(
        "test-tensorrt-shape-inference",
        "replace `tensor.dim` of results by the sizes that they are made of",
        module="shape_inference",
    ),
    Pass(
        "trtx-to-tensorrt",
        "layers of ours as ops of NVIDIA's dialect, for tools that know that dialect only",
        module="trtx",
    ),
)

PASSES: Mapping[str, Pass] = {entry.name: entry for entry in _TABLE}

_CLEANUP = ("canonicalize", "cse")

SIMPLIFICATION: tuple[str, ...] = (
    "tensorrt-broadcast-elimination",
    *_CLEANUP,
    "tensorrt-transpose-elimination",
    *_CLEANUP,
    "tensorrt-reshape-elimination",
    *_CLEANUP,
    "tensorrt-raise-normalizations",
    *_CLEANUP,
)

# Ops are expanded twice: `canonicalize` may make extension ops again, and `shuffle` wants it.
PIPELINE: tuple[str, ...] = (
    *SIMPLIFICATION,
    "tensorrt-apply-wars",
    *_CLEANUP,
    "tensorrt-expand-ops",
    *_CLEANUP,
    "tensorrt-expand-ops",
    "tensorrt-legalize-int8",
)


def run(
    module: ModuleOp, names: Iterable[str], options: Mapping[str, Options] | None = None
) -> None:
    """Run passes in order, in place; `options` are by pass name. `KeyError` for unknown names.

    Passes run to a fixed point, and `canonicalize` and `cse` stand between all others: one that has
    seen the module as it is now is passed over.
    """
    given = options or {}
    settled: set[str] = set()
    for name in names:
        entry = PASSES[name]
        keywords = entry.keywords(given.get(name, {}))
        if name in settled:
            continue
        found = entry.run(module, **keywords)
        if found is not False and not isinstance(found, str):
            settled.clear()
        settled.add(name)

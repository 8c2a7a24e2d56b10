"""Modules of PyTorch as exported programs, with example inputs and the dimensions that vary."""

import copy
import importlib.util
import inspect
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field, replace
from functools import partial
from io import StringIO
from pathlib import PurePath
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from tripybuild.eager.compile.infos import InputInfo, NamedDimension
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.importer.foreign_program import ForeignProgram
from tripybuild.importer.pytorch.exported_program import (
    decompose,
    outputs_of,
    read_exported_program,
)
from tripybuild.process.paths import PACKAGE
from tripybuild.schema.load import Registry
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

_FLOW_HINT = "say control flow that depends on data with `torch.cond` or `torch.while_loop`"
_SIZES_HINT = "say `{'x': ['B', None]}`; tensors within a tuple, a list or a dict have fixed sizes"
EXTRA = "tripybuild[torch]"
_UNSUITABLE = (0, 1)  # sizes of examples that PyTorch takes for constants
_USUAL_EXAMPLE = 7  # a size of examples, since running them takes time
# By input: a name for each dimension that varies, by its number or in order.
Dynamic = Mapping[str, Mapping[int, Any] | Sequence[Any] | None]


def require_torch() -> None:
    """Raise what says how to install PyTorch, if it is not there."""
    if importlib.util.find_spec("torch") is None:
        message = "modules and exported programs are read by PyTorch, which is not installed"
        hint = f"install it: `pip install '{EXTRA}'`"
        raise DiagnosticError(Diagnostic("not-installed", message, hint=hint))


def is_module(value: object) -> bool:
    """Whether something is a module of PyTorch."""
    import torch  # noqa: PLC0415 - heavy, and an extra

    return isinstance(value, torch.nn.Module)


@dataclass(slots=True)
class ModuleInputs:
    """What a module is exported with.

    Attributes:
        args: Tensors, or an `InputInfo` for each, by position.
        kwargs: The same by name.
        dynamic: The dimensions that vary, beside those of infos.
        optional: Whether a dimension that cannot vary is fixed, with a note.
    """

    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    dynamic: Dynamic = field(default_factory=dict)
    optional: bool = False


Export = Callable[["torch.nn.Module", tuple[Any, ...], dict[str, Any], Any], "ExportedProgram"]


def read_module(
    module: "torch.nn.Module",
    request: ModuleInputs,
    registry: Registry,
    *,
    name: str | None = None,
    export: Export | None = None,
) -> ForeignProgram:
    """Export a module in evaluation mode, and read the program.

    Args:
        module: The module; it is as it was afterwards.
        request: Its example inputs, and the dimensions that vary.
        registry: What the program is decomposed into.
        name: For the spec's `model:`.
        export: What exports; by default `torch.export.export`.

    Raises:
        DiagnosticError: It cannot be exported, a dimension cannot vary, or it has what has no
            counterpart in a spec.
    """
    inputs = _Inputs(module, request)
    with _evaluation(module) as notes, _report_failures(), _quiet():
        program, shapes = inputs.export(export or export_without_gradients)
    problems = list(inputs.fixed(shapes))
    if problems and not request.optional:
        raise DiagnosticError(*problems)
    read = read_exported_program(decompose_program(program, registry), name)
    read.ranges = {n: inputs.range(n, range) for n, range in read.ranges.items()}
    read.run = partial(inputs.run, read)
    read.notes += [*notes, *(each.message for each in problems)]
    return read


def export_without_gradients(
    module: "torch.nn.Module", args: tuple[Any, ...], kwargs: dict[str, Any], shapes: Any
) -> "ExportedProgram":
    """Export a module with PyTorch's own exporter."""
    import torch  # noqa: PLC0415 - heavy, and an extra

    with torch.no_grad():
        exported: ExportedProgram = torch.export.export(
            module,
            args,
            kwargs,
            dynamic_shapes=shapes,
            strict=False,
            prefer_deferred_runtime_asserts_over_guards=True,
        )
    return exported


def module_outputs(
    module: "torch.nn.Module", read: ForeignProgram, inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """What a module gives for the inputs of a program that was saved of it, by output.

    Args:
        module: The module.
        read: The program.
        inputs: Arrays: by parameter of `forward` where all of them have such names, or in order.

    Raises:
        DiagnosticError: The module cannot be called with them, or gives another number of results.
    """
    import torch  # noqa: PLC0415 - heavy, and an extra

    tensors = {name: _to_torch(each) for name, each in inputs.items()}
    known = inspect.signature(module.forward).parameters
    by_name = all(name in known for name in tensors)
    args, kwargs = ((), tensors) if by_name else (tuple(tensors.values()), {})
    with _report_failures("run"), _evaluation(module), torch.no_grad(), _quiet():
        return outputs_of(module(*args, **kwargs), read)


def _to_torch(array: Any) -> "torch.Tensor":
    """An array as a tensor, also of a dtype that NumPy itself lacks."""
    import torch  # noqa: PLC0415 - heavy, and an extra

    try:
        return torch.from_numpy(array)
    except TypeError:
        bits = torch.from_numpy(array.view(f"int{8 * array.itemsize}"))
        return bits.view(getattr(torch, array.dtype.name))


def decompose_program(program: "ExportedProgram", registry: Registry) -> "ExportedProgram":
    """Decompose a program; what PyTorch raises is one diagnostic."""
    with _report_failures("decomposed"):
        return decompose(program, registry)


class _Inputs:
    """The example inputs of a module, and the dimensions that vary, by parameter."""

    def __init__(self, module: "torch.nn.Module", request: ModuleInputs) -> None:
        self.module = module
        self.ranges: dict[str, SizeRange] = {}
        self.dims: dict[str, Any] = {}
        self._examples: dict[str, int] = {}
        given = _bind(module, request)
        unknown = [each for each in request.dynamic if each not in given]
        if unknown:
            raise DiagnosticError(*(_unknown_input(each, given) for each in unknown))
        wanted = dict(request.dynamic)
        for name, value in given.items():
            if isinstance(value, InputInfo):
                wanted[name] = _named_sizes(name, value) | _by_number(wanted.get(name))
        self.shapes = {n: self._dimensions(n, each, wanted.get(n)) for n, each in given.items()}
        self.args = tuple(self._example(each) for each in request.args)
        self.kwargs = {name: self._example(each) for name, each in request.kwargs.items()}

    def _dimensions(self, name: str, value: Any, wanted: Any) -> Any:
        """What `torch.export` is told of an input; tensors within a tuple have fixed sizes."""
        if isinstance(value, tuple | list | dict) and not wanted:
            from torch.utils._pytree import tree_map  # noqa: PLC0415 - heavy, and an extra

            return tree_map(lambda _: None, value)
        rank = len(value.ranges) if isinstance(value, InputInfo) else getattr(value, "ndim", 0)
        is_row = isinstance(wanted, Mapping | Sequence | None)
        if not is_row or any(at not in range(rank) for at in _by_number(wanted)):
            message = f"`{name}` has {rank} dimensions, and those that vary are given as `{wanted}`"
            raise DiagnosticError(Diagnostic("wrong-value", message, hint=_SIZES_HINT))
        found = {at: self._dim(name, each) for at, each in _by_number(wanted).items()}
        return {at: each for at, each in found.items() if each is not None} or None

    def _dim(self, owner: str, wanted: Any) -> Any:
        from torch.export import Dim  # noqa: PLC0415 - heavy, and an extra

        match wanted:
            case None | int() | "_":
                return None
            case NamedDimension(name=name, range=range):
                self.ranges.setdefault(name, range)
            case str(name) if name.isidentifier():
                pass
            case str():
                message = f"`{wanted}` is not a name for a dimension of `{owner}`"
                raise DiagnosticError(Diagnostic("bad-name", message))
            case _:
                return wanted  # PyTorch's own
        range = self.ranges.get(name, SizeRange(1, 1, None))
        made = self.dims.get(name) or Dim(name, min=range.min, max=range.max)
        return self.dims.setdefault(name, made)

    def _example(self, given: Any) -> Any:
        """A tensor for an info: its sizes differ from each other where they can."""
        if not isinstance(given, InputInfo):
            return given
        import torch  # noqa: PLC0415 - heavy, and an extra

        shape = []
        for at, range in enumerate(given.ranges):
            name = given.dimension_names.get(at, f"{id(given)}.{at}")
            shape.append(range.min if range.is_static() else self._size(name, range))
        generator = torch.Generator().manual_seed(0)
        kind = getattr(torch, given.dtype.torch or "float32")
        if kind.is_floating_point:
            return torch.randn(shape, generator=generator).to(kind)
        return torch.randint(0, 2, shape, generator=generator).to(kind)

    def _size(self, name: str, range: SizeRange) -> int:
        """A size of the range that no other dimension has and that PyTorch takes for one."""
        if name not in self._examples:
            middle = max(range.min, min(range.opt, _USUAL_EXAMPLE))
            highest = middle + 64 if range.max is None else range.max
            nearest = [*_outward(middle, range.min, highest)]
            taken = {*self._examples.values(), *_UNSUITABLE}
            fitting = (each for each in nearest if each not in taken)
            self._examples[name] = next(fitting, range.opt)
        return self._examples[name]

    def export(self, export: Export) -> "tuple[ExportedProgram, Any]":
        """Export, and again with what PyTorch suggests where dimensions are not free."""
        from torch.export.dynamic_shapes import (  # noqa: PLC0415 - heavy, and an extra
            refine_dynamic_shapes_from_suggested_fixes,
        )

        try:
            return export(self.module, self.args, self.kwargs, self.shapes), self.shapes
        except Exception as error:
            if getattr(getattr(error, "error_type", None), "name", "") != "CONSTRAINT_VIOLATION":
                raise
            said, title, fixes = str(error).partition("Suggested fixes:")
            suggested = said + title + fixes.partition("\n\n")[0]
            shapes = refine_dynamic_shapes_from_suggested_fixes(suggested, self.shapes)
            return export(self.module, self.args, self.kwargs, shapes), shapes

    def run(self, read: ForeignProgram) -> dict[str, Any]:
        """What the module gives for the example inputs."""
        import torch  # noqa: PLC0415 - heavy, and an extra

        with _evaluation(self.module), torch.no_grad(), warnings.catch_warnings(action="ignore"):
            # What `forward` writes to is the state at its start for the spec that is compared.
            buffers = {name: each.clone() for name, each in self.module.named_buffers()}
            given = copy.deepcopy((tuple(self.args), dict(self.kwargs)))
            results = torch.func.functional_call(self.module, buffers, *given)
        return outputs_of(results, read)

    def fixed(self, shapes: Any) -> Iterator[Diagnostic]:
        """The dimensions that should vary and cannot."""
        for name, wanted in self.shapes.items():
            refined = (shapes or {}).get(name) or {}
            flat = wanted if isinstance(wanted, dict) else {}  # others are of tuples and lists
            for at, dim in flat.items() if all(isinstance(each, int) for each in flat) else ():
                now = refined.get(at)
                if isinstance(now, int) or now is None:
                    label = getattr(dim, "__name__", "")
                    size = f": its size is always {now}" if now is not None else ""
                    message = f"the dimension {at} (`{label}`) of `{name}` cannot vary{size}"
                    hint = f"leave `{label}` out of the dimensions that vary"
                    yield Diagnostic("import-static-dimension", message, hint=hint)

    def range(self, name: str, found: SizeRange) -> SizeRange:
        """The range of a size as it was asked for, as far as the program has it."""
        asked = self.ranges.get(name)
        return found if asked is None else replace(found, opt=asked.intersect(found).opt)


def _outward(middle: int, low: int, high: int) -> Iterator[int]:
    """The numbers of a range, those near the middle first."""
    for step in range(high - low + 1):
        yield from (each for each in {middle + step, middle - step} if low <= each <= high)


def _by_number(wanted: Any) -> dict[int, Any]:
    if isinstance(wanted, Mapping):
        return dict(wanted)
    return dict(enumerate(wanted or ()))


def _named_sizes(owner: str, info: InputInfo) -> dict[int, Any]:
    """The ranges of an info, with names for those that have none."""
    return {
        at: NamedDimension(
            info.dimension_names.get(at, f"{owner}_{at}"), range.min, range.opt, range.max or 0
        )
        for at, range in enumerate(info.ranges)
        if not range.is_static()
    }


def _bind(module: "torch.nn.Module", request: ModuleInputs) -> dict[str, Any]:
    """The inputs by parameter of `forward`."""
    try:
        signature = inspect.signature(module.forward)
        bound = signature.bind(*request.args, **request.kwargs)
    except ValueError as error:  # of a function of C
        message = f"`{type(module).__name__}.forward` is no function of Python: {error}"
        raise DiagnosticError(Diagnostic("export-failed", message)) from error
    except TypeError as error:
        message = f"`{type(module).__name__}.forward` cannot be called with these inputs: {error}"
        hint = f"it takes `{signature}`"
        raise DiagnosticError(Diagnostic("missing-input", message, hint=hint)) from error
    given: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
            given |= value
        else:
            given[name] = value
    return given


def _unknown_input(name: str, given: Mapping[str, Any]) -> Diagnostic:
    hint = f"there are {', '.join(f'`{each}`' for each in given)}" if given else None
    return Diagnostic("unknown-input", f"there is no input `{name}` whose size varies", hint=hint)


@contextmanager
def _evaluation(module: "torch.nn.Module") -> Iterator[list[str]]:
    """Put a module into evaluation mode, and back."""
    training = [each for each in module.modules() if each.training]
    notes = ["exported in evaluation mode"] if training else []
    module.eval()
    try:
        yield notes
    finally:
        for each in training:
            each.training = True


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep PyTorch from logging and printing what it raises, and from warning of its own calls.

    What a module prints is printed all the same, where it can be exported.
    """
    printed, before = StringIO(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(action="ignore"), redirect_stderr(printed):
            yield
    finally:
        logging.disable(before)
    sys.stderr.write(printed.getvalue())


@contextmanager
def _report_failures(done: str = "exported") -> Iterator[None]:
    """Make one diagnostic of what PyTorch or the module raises, at the module's own line."""
    try:
        yield
    except (DiagnosticError, KeyboardInterrupt):
        raise
    except Exception as error:
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        message = f"the module cannot be {done}: {type(error).__name__}: {said}".rstrip(": ")
        flow = "data-dependent" in str(error)
        hint = _FLOW_HINT if flow else None
        raise DiagnosticError(
            Diagnostic("export-failed", message, _span(error), hint=hint)
        ) from error


def _span(error: Exception) -> Span | None:
    """The innermost line that is neither PyTorch's nor ours."""
    for frame in reversed(extract_tb(error.__traceback__)):
        path = PurePath(frame.filename)
        ours = path.is_relative_to(PACKAGE) or "torch" in path.parts
        if not ours and not frame.filename.startswith("<") and frame.lineno is not None:
            column, line = (frame.colno or 0) + 1, frame.end_lineno or frame.lineno
            return Span(frame.filename, frame.lineno, column, line, (frame.end_colno or 0) + 1)
    return None

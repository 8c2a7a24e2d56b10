"""Compiled functions: same signature as the original, tensors of any library accepted."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np

from tripybuild.compiler.executable import Executable as Program, read_executable
from tripybuild.eager.compile import results
from tripybuild.eager.compile.argument_errors import INFO
from tripybuild.eager.compile.arguments import match_infos
from tripybuild.eager.compile.call_form import KEY, CallForm, prefix, read_info
from tripybuild.eager.compile.infos import DimensionInputInfo, Info, OutputInfo
from tripybuild.eager.evaluate.error_locations import locate_errors
from tripybuild.eager.evaluate.evaluate import array_of
from tripybuild.eager.settings import config
from tripybuild.eager.tensor.device import Stream, default_stream, on_gpu
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.tensor import PACKAGES, Tensor
from tripybuild.reference.numerics.arrays import Array
from tripybuild.trace.constants import constant
from tripybuild.trace.generated_code import BUILT_IN
from tripybuild.trace.location import caller_location
from tripybuild.trace.printer import text
from tripybuild.types.dtypes import BY_NAME, from_numpy

PYTORCH = "torch."  # before the names of its dtypes


class Executable:
    """A compiled function: it is called as the function was, and is one file when it is saved.

    `tp.compile` and `tp.Executable.load` make them. `input_infos` and `output_infos` say what one
    takes and gives.

    Args:
        program: What runs.
        call: How it is called.
        infos: What it takes, by the inputs' names.
    """

    def __init__(self, program: Program, call: CallForm, infos: Mapping[str, Info]) -> None:
        public = import_module(f"{BUILT_IN}.tensor")  # its Tensor has the operators
        self.program, self.call, self.input_infos = program, call, dict(infos)
        self.__signature__ = call.signature(public.Tensor)
        self._stream: Stream | None = None

    def _repr_html_(self) -> str:
        """What a notebook shows: the inputs and outputs."""
        return self.program._repr_html_()

    @property
    def output_infos(self) -> dict[str, OutputInfo]:
        """What it gives: dtypes and shapes, by the outputs' names."""
        return {
            name: OutputInfo(tuple(each["shape"]), BY_NAME[each["dtype"]])
            for name, each in self.program.outputs.items()
        }

    @property
    def trace(self) -> str:
        """The operations that were recorded, as text: `print(compiled.trace)`."""
        return text(self.program.entry().graph)

    @property
    def stream(self) -> Stream:
        """The stream whose work a call waits for; that of the device unless another is given.

        Raises:
            DiagnosticError: There is no GPU.
        """
        return self._stream or default_stream()

    @stream.setter
    def stream(self, stream: Stream) -> None:
        if not isinstance(stream, Stream):
            message = f"`stream` of an executable is a `Stream`, and no {type(stream).__name__}"
            raise DiagnosticError(caller_diagnostic("wrong-type", message))
        self._stream = stream

    @property
    def serialized_tensorrt_engine(self) -> bytes:
        """The engine's bytes, as TensorRT reads them.

        Raises:
            DiagnosticError: It was compiled for something else.
        """
        engine = self.program.entry().manifest.get("engine")
        if engine is None:
            message = f"this was compiled for `{self.program.target}`, and has no engine"
            hint = 'compile with `target="tensorrt-rtx"`'
            raise DiagnosticError(caller_diagnostic("target-unfit", message, hint))
        return bytes(self.program.member(engine["plan"]))

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the function.

        Args:
            args: A tensor, or anything with DLPack, for each parameter that an info was given for;
                an integer for a `DimensionInputInfo`.
            kwargs: The same by name.

        Returns:
            What the function gave: a tensor, a tuple or a dictionary.

        Raises:
            DiagnosticError: A tensor is missing, or of another dtype or shape than compiled for.
        """
        try:
            given = dict(self._bind_arguments(args, kwargs))
            self._check_dtypes(given)
            arrays = {name: self._array(name, each) for name, each in given.items()}
            if self._stream is not None:
                self._stream.synchronize()
            outputs = self.program(**arrays)
        except DiagnosticError as error:
            raise DiagnosticError(*map(self._add_call_site, error.diagnostics)) from error
        return results.unflatten_results(self.call.gives, lambda name: _tensor(outputs[name]))

    def _bind_arguments(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Iterator[tuple[str, Any]]:
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            message = f"this was compiled for {self._input_description()}: {error}"
            hint = None if self.call.forms else INFO
            raise DiagnosticError(Diagnostic("wrong-type", message, hint=hint)) from error
        for name, form in self.call.forms.items():
            empty: Any = {} if isinstance(form, dict) else ()
            given = bound.arguments.get(name, empty)
            yield from match_infos(prefix(name, self.call.kinds[name]), form, given)

    def _check_dtypes(self, given: Mapping[str, Any]) -> None:
        """Compare the dtypes of tensors, and of PyTorch's; the program compares those of arrays."""
        found = []
        for name, each in given.items():
            wanted = getattr(self.input_infos[name], "dtype", None)
            other = str(getattr(each, "dtype", None))
            if isinstance(each, Tensor):
                hint = f"cast it: `tp.cast({name}, tp.{wanted})`"
            elif other.startswith(PYTORCH):
                other, hint = other[len(PYTORCH) :], f"convert it: `{name}.to({PYTORCH}{wanted})`"
            else:
                continue
            if wanted is not None and other != str(wanted):
                message = f"the input `{name}` must be {wanted}, but this is {other}"
                found.append(Diagnostic("input-dtype", message, hint=hint))
        if found:
            raise DiagnosticError(*found)

    def _array(self, name: str, given: Any) -> Any:
        info = self.input_infos[name]
        if isinstance(info, DimensionInputInfo):
            return np.zeros(_size(name, info, given), np.int32)
        if not isinstance(given, Tensor):
            return given
        if config.nvtripy_devices:
            on_gpu(name, given)
        return array_of(given.value)

    def _add_call_site(self, diagnostic: Diagnostic) -> Diagnostic:
        """A problem of a call, at the caller's line."""
        hint = diagnostic.hint
        if diagnostic.code == "size-out-of-range":
            hint = f"this was compiled for {self._input_description()}"
        return replace(
            diagnostic, span=diagnostic.span or caller_location(PACKAGES).span(), hint=hint
        )

    def _input_description(self) -> str:
        return f"({', '.join(f'{name}: {info}' for name, info in self.input_infos.items())})"

    def save(self, path: Path | str) -> None:
        """Write the executable to a file, whole or not at all."""
        self.program.save(path)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read an executable; every byte of it is checked against its digest.

        Raises:
            DiagnosticError: There is none, it was altered, or it was made from no function.
        """
        with locate_errors((), caller_location(PACKAGES).span(), "loaded"):
            return cls._read(Path(path))

    @classmethod
    def _read(cls, path: Path) -> Self:
        program = read_executable(path)
        data = program.manifest["provenance"].get(KEY)
        if data is None:
            message = f"`{path}` was compiled from a spec, and no function"
            hint = "load it with `tripybuild.load`"
            raise DiagnosticError(Diagnostic("executable-not-recognized", message, hint=hint))
        # An object of JSON has no order, and the inputs of the program have that of the function's.
        infos = {name: read_info(data["infos"][name]) for name in program.signature.inputs}
        return cls(program, CallForm.read(data, infos), infos)

    def __str__(self) -> str:
        gives = ", ".join(f"{name}: {info}" for name, info in self.output_infos.items())
        return f"Executable{self._input_description()} -> ({gives})"

    __repr__ = __str__


def _size(name: str, info: DimensionInputInfo, given: Any) -> int:
    """The integer that is given for a size."""
    found = given
    if isinstance(given, Tensor) or hasattr(given, "__dlpack__"):
        array = array_of(given.value) if isinstance(given, Tensor) else np.from_dlpack(given)
        found = array.item() if array.size == 1 and array.dtype.kind == "i" else given
    if isinstance(found, bool) or not hasattr(found, "__index__") or isinstance(found, Tensor):
        message = f"`{name}` must be an integer, but is a {type(given).__name__}"
        raise DiagnosticError(Diagnostic("wrong-type", message))
    size = int(found.__index__())
    info.range.check(name, size)
    return size


def _tensor(array: Array) -> Tensor:
    return Tensor.of(constant(array, from_numpy(array.dtype)))

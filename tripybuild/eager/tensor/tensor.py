"""Evaluating half of the public Tensor and DimensionSize: data is computed on first access."""

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tripybuild.eager.evaluate.evaluate import array_of
from tripybuild.eager.evaluate.subgraph import UnknownValueError
from tripybuild.eager.module.placeholders import is_placeholder
from tripybuild.eager.settings import config
from tripybuild.eager.tensor.conversions import Conversions
from tripybuild.eager.tensor.device import CPU, GPU, device as Device  # noqa: N812
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, render, text_of
from tripybuild.errors.logger import logger
from tripybuild.frontend.checks.argument_error import (
    argument_error,
    caller_diagnostic,
    dtype_argument,
)
from tripybuild.frontend.checks.call_site import call_at
from tripybuild.frontend.guard import PROTOCOL, missing_member
from tripybuild.frontend.sizes import StaticSize, in_trace, static_sizes
from tripybuild.frontend.tensor import PACKAGES, Tensor as Traced
from tripybuild.trace import notebook_html
from tripybuild.trace.constants import constant
from tripybuild.trace.location import Location, caller_location
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import dtype as DType, from_numpy  # noqa: N812

if TYPE_CHECKING:
    from tripybuild.reference.numerics.arrays import Array

Made = TypeVar("Made", bound=Traced)
CPU_MEMORY = (1, 0)  # DLPack's kDLCPU, and the first one
MOST_SHOWN = 1000  # elements; of more, the ends are shown
# What is public for other modules here, and no completion for a program.
INTERNAL = frozenset({"NOUN", "of", "of_size", "to_device", "trace_tensor", "type", "value"})


class ChangeError(DiagnosticError, TypeError):
    """A tensor never changes."""


class _Kind(type):
    """Metaclass for `isinstance`: all tensors but uninitialized parameters.

    And what it calls a `DimensionSize`: known sizes, too.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        """Whether something is of a class; those of the frontend ask for any tensor."""
        if super().__instancecheck__(instance):
            return cls is not Tensor._kind or not is_placeholder(instance)  # noqa: SLF001 - of this layer
        return isinstance(instance, StaticSize) and cls is Tensor._size_kind  # noqa: SLF001 - too


class Tensor(Conversions, Traced, metaclass=_Kind, of_values=True):
    """Lazily evaluated tensor; the public class documents its arguments."""

    _device: Device | None = None

    def __init__(
        self,
        data: Any,
        dtype: DType | None = None,
        device: Device | str | None = None,
        name: str | None = None,
    ) -> None:
        from tripybuild.eager.tensor.data import DataError, array_of as made  # noqa: PLC0415 - NumPy

        if dtype is not None and not isinstance(dtype, DType):
            dtype = dtype_argument("Tensor", "dtype", dtype)
        if name is not None and not isinstance(name, str):
            raise argument_error("Tensor", "name", "a string", name)
        if device is not None and not isinstance(device, (str, Device)):
            hint = '`tp.device("cpu")` is one'
            raise argument_error("Tensor", "device", "a device or the name of one", device, hint)
        place = caller_location(PACKAGES)
        exchanged = hasattr(data, "__dlpack__")
        if exchanged and device is not None:
            message = "a device can be specified for numbers and lists only"
            raise DiagnosticError(Diagnostic("wrong-value", message, place.span()))
        try:
            array = made(data, dtype)
        except DataError as error:
            message = f"a tensor cannot be made of this {type(data).__name__}: {error}"
            call = None if error.place is None else call_at(place)
            span = call.argument("data", error.place or ()) if call is not None else None
            span = span or place.span()
            found = Diagnostic("wrong-type", message, span, hint=error.hint)
            raise DiagnosticError(found) from error
        self.value = constant(array, from_numpy(array.dtype), place)
        self._device = Device(device) if isinstance(device, str) else device or CPU
        self.value.name = name

    @property
    def name(self) -> str:
        """What it is called where graphs are printed."""
        return self.value.name or f"t{id(self.value)}"

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str):
            raise argument_error("Tensor", "name", "a string", name)
        self.value.name = name

    @property
    def device(self) -> Device:
        """Where it is: on the CPU, unless `config.nvtripy_devices` says what nvtripy would."""
        return self._device or (GPU if config.nvtripy_devices else CPU)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes: integers; where a function is recorded to be compiled, `DimensionSize`s."""
        shape = self.value.type.shape
        return tuple(map(Tensor.of_size, shape)) if in_trace() else static_sizes(shape)

    @property
    def trace_tensor(self) -> Value:
        """The value of the graph that it stands for."""
        return self.value

    def to_device(self, device: str) -> Any:
        """The same tensor, which says that it is somewhere else.

        Args:
            device: The kind and the index, `cpu:0`.
        """
        made: Any = Tensor.of(self.value)
        made._device = Device(device)  # noqa: SLF001 - of another tensor
        return made

    @property
    def stack_info(self) -> Span:
        """The line that made it."""
        return self._place().span()

    def _place(self) -> Location:
        producer = self.value.producer
        return caller_location(PACKAGES) if producer is None else producer.location

    def eval(self) -> Self:
        """Compute the tensor now.

        Returns:
            The tensor itself.

        Raises:
            DiagnosticError: It depends on what is known only when a model runs.
        """
        array_of(self.value)
        self._device = None
        return self

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return array_of(self.value).tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "Array":
        """An array for NumPy; a copy, since a tensor never changes."""
        array = array_of(self.value)
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array if copy is False else array.copy()

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        """The elements for another library, in memory of their own.

        Args:
            stream: Which work they must come before; they are there when this returns.
            options: The others of the protocol.

        Raises:
            BufferError: DLPack has no such elements, as of int4.
        """
        from tripybuild.tensorrt.runtime.dlpack import capsule_of  # noqa: PLC0415 - NumPy

        del stream
        return capsule_of(array_of(self.value).copy(), **options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Where the elements lie: in the processor's memory."""
        return CPU_MEMORY

    if not TYPE_CHECKING:  # a type checker would take any name then

        def __getattr__(self, name: str) -> Any:
            """Error with a hint: most operators are functions, few are methods."""
            if name.startswith(PROTOCOL):  # NumPy asks each tensor for two that are not there
                raise AttributeError(f"a tensor has no attribute `{name}`")
            home = type(self).__module__.partition(".")[0]
            raise missing_member(name, lambda: dir(self), "tp", home)

    def __dir__(self) -> list[str]:
        """What programs use: what graphs are recorded with is left out."""
        return [name for name in super().__dir__() if name not in INTERNAL]

    def __repr__(self) -> str:
        """What it holds; of what is known only when a graph runs, what it is, with a warning."""
        if self.value.producer is None:
            return super().__repr__()
        import numpy as np  # noqa: PLC0415 - when used

        try:
            array = array_of(self.value)
        except UnknownValueError as error:
            logger.warning(render(error.diagnostics[0], text_of, kind="warning"), mode="once")
            return super().__repr__()
        if array.dtype.isbuiltin != 1:  # NumPy would print bfloat16 as whole numbers
            array = array.astype(np.float32 if self.dtype.kind == "float" else np.int8)
        text = np.array2string(array, separator=", ", threshold=MOST_SHOWN)
        about = f"dtype={self.dtype}, loc={self.device}, shape={self.shape}"
        apart = "\n    " if "\n" in text else ""
        body = text.replace("\n", "\n    ").replace("\n    \n", "\n\n")
        return f"tensor({apart}{body},{apart or ' '}{about})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the values, where they are known."""
        try:
            array = array_of(self.value)
        except UnknownValueError:
            return notebook_html.caption(super().__repr__())
        shape = notebook_html.shape_text(array.shape)
        about = notebook_html.caption(f"tensor {self.dtype}{shape} on {self.device}")
        return about + notebook_html.values_table(array)

    def __copy__(self) -> Self:
        """Another tensor that holds the same."""
        return _make(type(self), self.value, vars(self))

    def __deepcopy__(self, memo: object) -> Self:
        """The same as a copy: what cannot change need not be there twice."""
        return copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """What Python keeps of a tensor: what it holds, and not how it was made."""
        return _restore, (type(self), array_of(self.value), self.value.name, vars(self))

    if not TYPE_CHECKING:  # a type checker would let it pass then

        def __setitem__(self, index: object, value: object) -> None:
            """Rejected: tensors are immutable and shared."""
            message = "a tensor never changes, so nothing can be assigned to a part of it"
            hint = "make another: `where` and `masked_fill` choose elements, `concatenate` joins"
            raise ChangeError(caller_diagnostic("wrong-type", message, hint))

        def __delitem__(self, index: object) -> None:
            """Refused, too."""
            self[index] = None


def _restore(
    kind: type[Tensor], array: "Array", name: str | None, members: dict[str, Any]
) -> Tensor:
    value = constant(array, from_numpy(array.dtype))
    value.name = name
    return _make(kind, value, members)


def _make(kind: type[Made], value: Value, members: Mapping[str, Any]) -> Made:
    made = object.__new__(kind)
    vars(made).update(members)
    made.value = value
    return made

"""Call signature of an executable: dtypes, symbolic shapes, ranges, laws checked per call.

All of it is checked before native code sees a byte.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripybuild.artifact.graph_json import read_law
from tripybuild.errors.budget import Budget, spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.errors.limits import within_budget
from tripybuild.frontend.checks.messages import law_message
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import parse
from tripybuild.process.law_lines import law_location
from tripybuild.symbolic import dims
from tripybuild.symbolic.dims import Dim, Size, parse_dim, substitute_size
from tripybuild.trace.operation import DeferredLaw
from tripybuild.types.dtypes import BY_NAME, boolean, dtype
from tripybuild.types.size_range import SizeRange
from tripybuild.types.vocabulary import SHAPE

Array = np.ndarray[Any, Any]
RANGES_HINT = "the model's `ranges:` say which sizes it takes"


@dataclass(frozen=True, slots=True)
class Argument:
    """One input: its dtype, and its shape as numbers and symbols."""

    name: str
    dtype: dtype
    shape: tuple[int | Dim, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape)) or '()'}]"


class CallSignature:
    """The inputs of one entry of an executable, read from what the manifest says of it.

    Args:
        label: What messages call the entry.
        manifest: The entry in the manifest.
    """

    def __init__(self, label: str, manifest: Mapping[str, Any]) -> None:
        self.label = label
        self.ranges = {name: SizeRange.from_json(r) for name, r in manifest["ranges"].items()}
        self.symbols = {name: each.symbol(name) for name, each in self.ranges.items()}
        self.inputs = {
            entry["name"]: Argument(
                entry["name"], BY_NAME[entry["dtype"]], tuple(map(self._size, entry["shape"]))
            )
            for entry in manifest["inputs"]
        }
        self.laws = [read_law(law, self.symbols) for law in manifest["laws"]]
        # What takes the arrays of other libraries; engines take those of GPUs as well.
        self.exchange: Callable[[str, Any], Any] = import_array

    def _size(self, size: int | str) -> int | Dim:
        if isinstance(size, int):
            return size
        spend("characters", len(size))
        return parse_dim(size, self.symbols)

    def arrays(self, given: Mapping[str, Any]) -> list[Array]:
        """The inputs in order, as arrays.

        Raises:
            DiagnosticError: For names that are missing or unknown, and for what is no array.
        """
        found = []
        for name in given:
            if name not in self.inputs:
                near = suggest(name, self.inputs)
                hint = (
                    f"did you mean `{near}`?"
                    if near
                    else f"the inputs are {_join_names(self.inputs)}"
                )
                found.append(
                    Diagnostic("unknown-input", f"`{self.label}` has no input `{name}`", hint=hint)
                )
        for name, argument in self.inputs.items():
            if name not in given:
                message = f"`{self.label}` needs the input `{name}`"
                found.append(Diagnostic("missing-input", message, hint=f"give it as {argument}"))
        if found:
            raise DiagnosticError(*found)
        return [self._array(name, given[name]) for name in self.inputs]

    def _array(self, name: str, value: Any) -> Array:
        if isinstance(value, np.ndarray) or hasattr(value, "read_kept"):  # a result that was kept
            return value  # type: ignore[no-any-return]
        if isinstance(value, np.generic):
            return np.asarray(value)
        if isinstance(value, (int, float)):
            return _number(self.inputs[name], value)
        if hasattr(value, "__dlpack__"):
            return self.exchange(name, value)  # type: ignore[no-any-return]
        message = f"the input `{name}` must be an array, but this is a {type(value).__name__}"
        hint = "a NumPy array, or anything with DLPack"
        raise DiagnosticError(Diagnostic("wrong-type", message, hint=hint))

    def bind(self, arrays: list[Array], known: Mapping[str, int] | None = None) -> dict[str, int]:
        """The sizes of the symbols.

        Args:
            arrays: The inputs in order.
            known: Sizes that something else tells; then a symbol may stay open, and what it is in
                is not checked.

        Raises:
            DiagnosticError: With every dtype, shape, range and law that does not hold.
        """
        found: list[Diagnostic] = []
        sizes: dict[str, int] = {}
        by_whom: dict[str, str] = {}
        for argument, array in zip(self.inputs.values(), arrays, strict=True):
            found += self._bind_argument(argument, array, sizes, by_whom)
        found += [
            Diagnostic("size-out-of-range", text, hint=RANGES_HINT)
            for name, size in sizes.items()
            if (text := self.ranges[name].violation(name, size)) is not None
        ]
        sizes = {**(known or {}), **sizes}
        if not found:
            found += [
                d
                for a, x in zip(self.inputs.values(), arrays, strict=True)
                for d in _expressions(a, x, sizes, can_be_open=known is not None)
            ]
        if not found:
            found += self.law_violations(sizes)
        if found:
            raise DiagnosticError(*found)
        return sizes

    def _bind_argument(
        self, argument: Argument, array: Array, sizes: dict[str, int], by_whom: dict[str, str]
    ) -> list[Diagnostic]:
        name = argument.name
        if array.dtype != argument.dtype.numpy:
            message = (
                f"the input `{name}` must be {argument.dtype}, but this is {_dtype_text(array)}"
            )
            hint = f"convert it: `{name}.astype({_numpy_name(argument.dtype)})`"
            return [Diagnostic("input-dtype", message, hint=hint)]
        if array.ndim != len(argument.shape):
            wanted, this = _shape(argument.shape), _shape(array.shape)
            message = f"the input `{name}` must have shape {wanted}, but this is {this}"
            return [Diagnostic("input-shape", message)]
        found = []
        for position, (declared, size) in enumerate(zip(argument.shape, array.shape, strict=True)):
            if isinstance(declared, int):
                if size != declared:
                    where = f"dimension {position} of the input `{name}`"
                    message = f"{where} must be {declared}, but is {size}"
                    note = f"`{name}` is {argument}, found {_shape(array.shape)}"
                    found.append(Diagnostic("input-shape", message, notes=(note,)))
            elif declared.name is not None:
                symbol = declared.name
                if sizes.setdefault(symbol, size) != size:
                    other = f"{sizes[symbol]} in `{by_whom[symbol]}`"
                    message = f"`{symbol}` is {size} in the input `{name}`, but {other}"
                    found.append(Diagnostic("input-shape", message))
                by_whom.setdefault(symbol, name)
        return found

    def types(self, sizes: Mapping[str, int]) -> list[tuple[Any, tuple[int, ...]]]:
        """The dtype and the shape of each input for these sizes."""
        return [
            (each.dtype.numpy, tuple([dims.evaluate(size, sizes) for size in each.shape]))
            for each in self.inputs.values()
        ]

    def law_violations(self, sizes: Mapping[str, int]) -> list[Diagnostic]:
        """The laws that do not hold for these sizes."""
        with within_budget(budget=Budget()):
            return law_violations(self.laws, sizes)


def law_violations(laws: Iterable[DeferredLaw], sizes: Mapping[str, Size]) -> list[Diagnostic]:
    """The laws, of those that wait for sizes, that do not hold for these.

    Raises:
        UndecidedSize: The sizes have symbols, of which one depends.
    """
    found = []
    for law in laws:
        try:
            names = {name: _evaluate_sizes(value, sizes) for name, value in law.names.items()}
        except ZeroDivisionError:
            found.append(_undefined_law(law, sizes))
            continue
        words = {word: word for word in law.law.words}
        try:
            holds = evaluate(parse(law.law.text), names | words, SHAPE)
        except EvaluationError as error:
            holds, names["problem"] = False, error.message
        if not holds:
            operator = law.code.partition("/")[0]
            message, label = law_message(operator, law.law, names, sizes)
            given = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            notes = (f"this call has {given}, so {label}", *_law_places(law))
            found.append(Diagnostic(law.code, message, notes=notes, hint=law.law.hint))
    return found


def _undefined_law(law: DeferredLaw, sizes: Mapping[str, Size]) -> Diagnostic:
    """A law over a size that is divided by zero."""
    given = ", ".join(f"{name}={size}" for name, size in sizes.items())
    message = f"a size is divided by zero for {given}"
    return Diagnostic("size-out-of-range", message, notes=tuple(_law_places(law)))


def _law_places(law: DeferredLaw) -> Iterator[str]:
    """Where a law is declared, and what it is asked of."""
    yield f"required by {law_location(law.source, law.name, law.law.line)}"
    if law.place is not None:
        yield f"in `{law.place.label}` at {law.place.span()}"


def _number(argument: Argument, value: float) -> Array:
    """A Python number as an array, where the dtype has such a number."""
    type = argument.dtype
    fits = isinstance(value, bool) == (type is boolean)
    if fits and type.kind == "integer":
        fits = isinstance(value, int) and type.lowest <= value <= type.highest
    if not fits:
        message = f"the input `{argument.name}` must be {type}, but this is {value!r}"
        raise DiagnosticError(Diagnostic("input-dtype", message))
    return np.asarray(value).astype(type.numpy)


def import_array(name: str, value: Any, take: Callable[[Any], Any] | None = None) -> Any:
    """The array of another library, without a copy where it is in the memory that is used."""
    try:
        return (take or np.from_dlpack)(value)
    except Exception as error:  # whatever the other library raises
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        message = f"the input `{name}` cannot be taken from {type(value).__module__}: {reason}"
        hint = "give a NumPy array"
        raise DiagnosticError(Diagnostic("wrong-type", message, hint=hint)) from error


def _dtype_text(array: Array) -> str:
    """A dtype's name; one of another byte order looks the same otherwise."""
    return array.dtype.name if array.dtype.isnative else f"{array.dtype.name} in other byte order"


def _evaluate_sizes(value: Any, sizes: Mapping[str, Size]) -> Any:
    if isinstance(value, (list, tuple)):
        return [_evaluate_sizes(item, sizes) for item in value]
    return substitute_size(value, sizes) if isinstance(value, Dim) else value


def _expressions(
    argument: Argument, array: Array, sizes: Mapping[str, int], *, can_be_open: bool
) -> list[Diagnostic]:
    """Dimensions such as `2 * S`, now that symbols are bound."""
    found = []
    for position, (wanted, size) in enumerate(zip(argument.shape, array.shape, strict=True)):
        if not isinstance(wanted, Dim) or wanted.name is not None:
            continue
        if can_be_open and not all(symbol in sizes for symbol in wanted.symbols):
            continue
        where = f"dimension {position} of the input `{argument.name}`"
        try:
            number = dims.evaluate(wanted, sizes)
        except ZeroDivisionError:
            found.append(Diagnostic("size-out-of-range", division_message(where, wanted, sizes)))
            continue
        if number != size:
            message = f"{where} must be {wanted} = {number}, but is {size}"
            found.append(Diagnostic("input-shape", message))
    return found


def division_message(where: str, size: Dim, sizes: Mapping[str, int]) -> str:
    """What is wrong with a size that is divided by zero for these sizes."""
    told = ", ".join(f"{name} = {sizes[name]}" for name in sorted(size.symbols))
    return f"{where} is {size}, which is divided by zero for {told}"


def _shape(shape: tuple[object, ...]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _join_names(names: Mapping[str, object]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _numpy_name(type: dtype) -> str:
    native = type.numpy.isbuiltin == 1
    return f"np.{type.numpy.name}" if native else f"ml_dtypes.{type.numpy.name}"

"""MLIR context: the dialects that a text may use, and what xDSL lacks of `plan` and `quant`.

Invariant: a context has its own `builtin`, so that the resources of one module are no other's.

`!quant.uniform<i8:f32, 0.5>` has one scale; `!quant.uniform<i8:f32:1, {0.5, 0.25:3}>` has one for
each index of axis 1. A number after a scale is the integer that stands for zero.
"""

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects import get_all_dialects
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    Builtin,
    FloatAttr,
    IntAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    StringAttr,
    f64,
)
from xdsl.ir import Attribute, Dialect, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tripybuild.tensorrt.mlir.resources import Resources


@irdl_attr_definition
class MemorySpaceAttr(ParametrizedAttribute):
    """Where an input lives: `#plan.memory_space<host>`."""

    name = "plan.memory_space"
    space: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Read `<host>`."""
        with parser.in_angle_brackets():
            return [StringAttr(parser.parse_identifier(" for a memory space"))]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<host>`."""
        printer.print_string(f"<{self.space.data}>")


Plan = Dialect("plan", [], [MemorySpaceAttr])


_WIDEST = 32


@irdl_attr_definition
class UniformQuantizedType(ParametrizedAttribute, TypeAttribute):
    """Integers of a storage type, each of which stands for `scale * (integer - zero point)`."""

    name = "quant.uniform"

    storage_type: IntegerType
    low: IntAttr
    high: IntAttr
    expressed_type: Attribute
    axis: IntAttr | NoneAttr
    scales: ArrayAttr[FloatAttr]
    zero_points: ArrayAttr[IntAttr]

    @property
    def scale(self) -> float | None:
        """The one scale, or None where each index of an axis has its own."""
        return self.scales.data[0].value.data if isinstance(self.axis, NoneAttr) else None

    def verify(self) -> None:
        """Check what MLIR checks: the storage's width and range, and that scales are positive."""
        width = self.storage_type.bitwidth
        if not 1 < width <= _WIDEST:
            raise VerifyException(f"illegal storage type size: {width}")
        low, high = _range(self.storage_type)
        if not low <= self.low.data < self.high.data <= high:
            bounds = f"({self.low.data}:{self.high.data})"
            raise VerifyException(f"illegal storage min and storage max: {bounds}")
        if not isinstance(self.expressed_type, AnyFloat):
            raise VerifyException("expressed type must be floating point")
        for scale in self.scales:
            if not 0 < scale.value.data < float("inf"):
                raise VerifyException(f"illegal scale: {scale.value.data:.6f}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<i8:f32, 0.5:3>`, `<u8<0:100>:f32, 0.5>` and `<i8:f32:1, {0.5, 0.25}>`."""
        with parser.in_angle_brackets():
            storage, low, high = _storage(parser)
            parser.parse_punctuation(":")
            expressed = parser.parse_type()
            axis: Attribute = NoneAttr()
            if parser.parse_optional_punctuation(":") is not None:
                axis = IntAttr(_axis(parser))
            parser.parse_punctuation(",")
            if isinstance(axis, NoneAttr):
                pairs = [_scale(parser)]
            else:
                braces = parser.Delimiter.BRACES
                pairs = parser.parse_comma_separated_list(braces, lambda: _scale(parser))
        scales = ArrayAttr([FloatAttr(scale, f64) for scale, _ in pairs])
        zeros = ArrayAttr([IntAttr(zero) for _, zero in pairs])
        return [storage, IntAttr(low), IntAttr(high), expressed, axis, scales, zeros]

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        with printer.in_angle_brackets():
            unsigned = self.storage_type.signedness.data is Signedness.UNSIGNED
            printer.print_string(f"{'u' if unsigned else 'i'}{self.storage_type.bitwidth}")
            if (self.low.data, self.high.data) != _range(self.storage_type):
                printer.print_string(f"<{self.low.data}:{self.high.data}>")
            printer.print_string(":")
            printer.print_attribute(self.expressed_type)
            if isinstance(self.axis, NoneAttr):
                printer.print_string(", ")
                self._print_scale(printer, 0)
            else:
                printer.print_string(f":{self.axis.data}, ")
                with printer.in_braces():
                    printer.print_list(
                        range(len(self.scales)), lambda i: self._print_scale(printer, i)
                    )

    def _print_scale(self, printer: Printer, index: int) -> None:
        printer.print_float(self.scales.data[index].value.data, f64)
        if zero := self.zero_points.data[index].data:
            printer.print_string(f":{zero}")


def _range(storage: IntegerType) -> tuple[int, int]:
    if storage.signedness.data is Signedness.UNSIGNED:
        return 0, 2**storage.bitwidth - 1
    return -(2 ** (storage.bitwidth - 1)), 2 ** (storage.bitwidth - 1) - 1


def _storage(parser: AttrParser) -> tuple[IntegerType, int, int]:
    start = parser.pos
    word = parser.parse_identifier(" for a storage type")
    sign, width = word[:1], word[1:]
    if sign not in {"i", "u"} or not width.isdecimal() or not 1 < int(width[:9]) <= _WIDEST:
        parser.raise_error("illegal quantized storage type alias", start, parser.pos)
    signedness = Signedness.UNSIGNED if sign == "u" else Signedness.SIGNLESS
    storage = IntegerType(int(width), signedness)
    low, high = _range(storage)
    if parser.parse_optional_punctuation("<") is not None:
        low = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(":")
        high = parser.parse_integer(allow_boolean=False)
        parser.parse_punctuation(">")
    return storage, low, high


def _axis(parser: AttrParser) -> int:
    if parser.parse_optional_punctuation("{") is not None:
        parser.raise_error("blocks of several axes are not supported")
    return parser.parse_integer(allow_boolean=False, allow_negative=False)


def _scale(parser: AttrParser) -> tuple[float, int]:
    scale, zero = parser.parse_float(), 0
    if parser.parse_optional_punctuation(":") is not None:
        zero = parser.parse_integer(allow_boolean=False)
    return scale, zero


Quant = Dialect("quant", [], [UniformQuantizedType])


def new_context(*, allow_unregistered: bool = False) -> Context:
    """Make a context; a dialect is loaded when a text first uses it.

    Args:
        allow_unregistered: Whether a text may hold unregistered operations and attributes.
    """
    context = Context(allow_unregistered=allow_unregistered)
    context.load_dialect(own_builtin())
    for name, dialect in _dialects().items():
        context.register_dialect(name, dialect)
    return context


def own_builtin() -> Dialect:
    """Make a `builtin` with resources of its own."""
    operations, attributes = list(Builtin.operations), list(Builtin.attributes)
    return Dialect("builtin", operations, attributes, [Resources()])


def _dialects() -> dict[str, Callable[[], Dialect]]:
    known = {name: make for name, make in get_all_dialects().items() if name != "builtin"}
    ours: dict[str, Callable[[], Dialect]] = {
        "quant": lambda: Quant,
        "plan": lambda: Plan,
        "tensorrt": _tensorrt,
        "trtx": _trtx,
    }
    return {**known, **ours}


def _tensorrt() -> Dialect:
    from tripybuild.tensorrt.dialect import Tensorrt  # noqa: PLC0415  # it takes a while

    return Tensorrt


def _trtx() -> Dialect:
    from tripybuild.tensorrt.dialect import Trtx  # noqa: PLC0415  # it takes a while

    return Trtx

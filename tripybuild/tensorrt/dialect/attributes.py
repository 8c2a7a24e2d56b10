"""Attributes of NVIDIA's `tensorrt` dialect: enumerations, and shape profiles.

Invariant: the members of an enumeration stand once, in `tensorrt.recorder.enumerations`; a class is
made of each. In a dictionary a member is printed `#tensorrt.activation_type<kRELU>`, and `<kRELU>`
where an operation's format names the attribute.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tripybuild.tensorrt.recorder.enumerations import ENUMERATIONS, Enumeration

DIALECT = "tensorrt"


class ShapeBounds(NamedTuple):
    """The sizes (or values) of an input in one optimization profile."""

    min: tuple[int, ...]
    opt: tuple[int, ...]
    max: tuple[int, ...]

    def to_json(self) -> dict[str, list[int]]:
        """Give the bounds as the record of an engine holds them."""
        return {key: list(sizes) for key, sizes in self._asdict().items()}


class EnumerationAttribute(Data[str]):
    """A member of an enumeration, in the dialect's spelling (`kSUM`)."""

    enumeration: ClassVar[Enumeration]
    class_name: ClassVar[str]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `<kSUM>`."""
        with parser.in_angle_brackets():
            start = parser.pos
            word = parser.parse_optional_identifier()
            if word is None or word not in cls.enumeration.members:
                parser.raise_error(f"expected {cls.expectation()}", start, parser.pos)
        return word

    @classmethod
    def expectation(cls) -> str:
        """What MLIR says is expected where no member stands."""
        theirs = cls.enumeration.dialect == DIALECT
        subject = f"::mlir::tensorrt::{cls.class_name}" if theirs else cls.name
        return f"{subject} to be one of: " + ", ".join(cls.enumeration.members)

    def print_parameter(self, printer: Printer) -> None:
        """Print `<kSUM>`."""
        printer.print_string(f"<{self.data}>")


# Members that only newer builders have: NVIDIA's dialect cannot say what type their result has.
_NOT_IN_DIALECT = frozenset({"kISINF", "kISNAN"})


def _enumeration_attribute(mnemonic: str) -> type[EnumerationAttribute]:
    recorded = ENUMERATIONS[mnemonic]
    members = tuple(member for member in recorded.members if member not in _NOT_IN_DIALECT)
    class_name = "".join(word.capitalize() for word in mnemonic.split("_"))
    body: dict[str, object] = {
        "__doc__": f"A member of `{mnemonic}`.",
        "__module__": __name__,
        "name": f"{recorded.dialect}.{mnemonic}",
        "enumeration": Enumeration(mnemonic, members, recorded.aliases, recorded.dialect),
        "class_name": class_name,
    }
    return irdl_attr_definition(type(f"{class_name}Attr", (EnumerationAttribute,), body))


ENUMERATION_ATTRIBUTES = {name: _enumeration_attribute(name) for name in ENUMERATIONS}


@irdl_attr_definition
class ShapeProfileAttr(ParametrizedAttribute):
    """The min, opt and max sizes (or values) of an input.

    `#tensorrt.shape_profile<min = [1, 3], opt = [5, 3], max = [10, 3]>`; the lists of a scalar are
    empty.
    """

    name = f"{DIALECT}.shape_profile"

    min: ArrayAttr[IntAttr]
    opt: ArrayAttr[IntAttr]
    max: ArrayAttr[IntAttr]

    @classmethod
    def of(
        cls, minimum: Sequence[int], optimum: Sequence[int], maximum: Sequence[int]
    ) -> "ShapeProfileAttr":
        """Make a profile of three lists of sizes."""
        return cls(*(ArrayAttr(map(IntAttr, sizes)) for sizes in (minimum, optimum, maximum)))

    @property
    def bounds(self) -> ShapeBounds:
        """The three lists as numbers."""
        lists = (self.min, self.opt, self.max)
        return ShapeBounds(*(tuple(each.data for each in sizes) for sizes in lists))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read the three lists."""
        lists: list[Attribute] = []
        with parser.in_angle_brackets():
            for name in ShapeBounds._fields:
                if lists:
                    parser.parse_punctuation(",")
                parser.parse_keyword(name)
                parser.parse_punctuation("=")
                numbers = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, parser.parse_integer
                )
                lists.append(ArrayAttr(map(IntAttr, numbers)))
        return lists

    def print_parameters(self, printer: Printer) -> None:
        """Print the three lists."""
        lists = self.bounds.to_json().items()
        text = ", ".join(f"{name} = {sizes}" for name, sizes in lists)
        printer.print_string(f"<{text}>")

    def verify(self) -> None:
        """Each size is at least the smaller one."""
        if len(set(map(len, self.bounds))) != 1:
            raise VerifyException("shape min/opt/max arrays should have equal size")
        for i, sizes in enumerate(zip(*self.bounds, strict=True)):
            for smaller, larger in pairwise(zip(ShapeBounds._fields, sizes, strict=True)):
                if smaller[1] > larger[1]:
                    raise VerifyException(_disorder(i, smaller, larger))


def _disorder(index: int, smaller: tuple[str, int], larger: tuple[str, int]) -> str:
    return (
        f"profile dimension {index} {smaller[0]}={smaller[1]} should be less than or equal to "
        f"{larger[0]}={larger[1]}"
    )


def attributes_of(dialect: str) -> tuple[type[Any], ...]:
    """The enumerations of a dialect; what is more is NVIDIA's."""
    members = ENUMERATION_ATTRIBUTES.values()
    own = tuple(each for each in members if each.enumeration.dialect == dialect)
    return (*own, ShapeProfileAttr) if dialect == DIALECT else own

"""Operations: frozen records of named operands and normalized attributes.

Generated classes derive from `TraceOp`. `infer` is their one way in: it checks the laws of the
declaration, normalizes the attributes and finds the types of the outputs.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Self
from weakref import ref

from tripybuild.symbolic.dims import Dim
from tripybuild.trace.location import Location
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.naming import CAPTURED

if TYPE_CHECKING:
    from tripybuild.trace.region import Region


@dataclass(frozen=True, slots=True)
class Law:
    """A law as it was declared: its text, and a message of its own if it has one."""

    text: str
    message: str | None = None
    source: str | None = None
    """The file that declares it, where that is a family's and not the operator's own."""
    words: tuple[str, ...] = ()
    """The names in the text that stand for themselves: words that an attribute chooses from."""
    hint: str | None = None
    """What to do where it does not hold."""
    about: str = ""
    """The argument that the law reads, where it is the only one."""
    line: int = 0
    """Where it stands in a model's file; `process.law_lines` finds that of an operator's law."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the generated code keeps of the file that it comes from, for messages."""

    name: str
    source: str
    laws: Mapping[str, Law] = field(default_factory=dict)
    refuses: Mapping[str, str] = field(default_factory=dict)
    """Why a target never takes the operator."""
    moves: bool = False
    """Whether it takes elements elsewhere and computes nothing."""
    reduces: bool = False
    """Whether its work is not one step for each element that it gives, as its `cost` declares."""


@dataclass(frozen=True, slots=True)
class DeferredLaw:
    """A law that no compiler can decide because sizes are dynamic; each call decides it."""

    code: str
    law: Law
    names: Mapping[str, object]
    source: str
    place: Location | None = field(default=None, compare=False)
    """The step of a specification, or the line of a program, that it came up in."""

    @property
    def name(self) -> str:
        """Its name in the file that declares it."""
        return self.code.rpartition("/")[2]

    @property
    def symbols(self) -> frozenset[str]:
        """The sizes that it depends on."""
        return frozenset(symbol_names(tuple(self.names.values())))


def symbol_names(value: object) -> Iterator[str]:
    """The names of the symbols in a size, or in sizes."""
    if isinstance(value, Dim):
        yield from value.symbols
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from symbol_names(each)


_serial = count()


def _dead_reference() -> None:
    """Placeholder for a released tensor."""


_NONE = (_dead_reference,)


class TraceOp:
    """The base of all operations: frozen dataclasses whose fields are their arguments.

    No argument of an operator can be called as something here is (`naming.RESERVED`).
    """

    declaration: ClassVar[Declaration]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    infer: ClassVar[Callable[..., Any]]
    captured: tuple[Value, ...] = ()
    location: Location
    deferred: tuple[DeferredLaw, ...]
    serial: int
    _reads: tuple[Value, ...] | None = None
    _types: tuple[TensorType, ...]
    _outputs: tuple[Callable[[], Value | None], ...]

    def with_types(self, *types: TensorType) -> Self:
        """Attach the types of the outputs, and a number that keeps the order of recording."""
        kept = self.__dict__  # what is frozen are the arguments
        kept["_types"] = types
        kept["_outputs"] = _NONE if len(types) == 1 else _NONE * len(types)
        kept["serial"] = next(_serial)
        return self

    def with_outputs(self, outputs: tuple[Value, ...], serial: int) -> Self:
        """Attach outputs that are there, and when they were recorded."""
        kept = self.__dict__
        kept["_types"] = tuple([value.type for value in outputs])
        kept["_outputs"] = tuple([ref(value) for value in outputs])
        kept["serial"] = serial
        return self

    @property
    def outputs(self) -> tuple[Value, ...]:
        """The tensors that the operation gives.

        They hold it, and it does not hold them: else the data of a whole history would stay in
        memory until the next garbage collection. An output without other references is made anew.
        """
        held = self._outputs
        if len(held) == 1:  # nearly all operations, and all walks of a graph ask
            value = held[0]()
            if value is None:
                value = Value(self._types[0], self)
                self.__dict__["_outputs"] = (ref(value),)
            return (value,)
        found = tuple([each() for each in held])
        return self._restore_outputs() if None in found else found  # type: ignore[return-value]

    def _restore_outputs(self) -> tuple[Value, ...]:
        made = tuple(
            [
                each() or Value(type, self, index)
                for index, (each, type) in enumerate(zip(self._outputs, self._types, strict=True))
            ]
        )
        self.__dict__["_outputs"] = tuple([ref(value) for value in made])
        return made

    def with_location(self, location: Location, deferred: tuple[DeferredLaw, ...] = ()) -> Self:
        """Attach the location, and the undecided laws."""
        kept = self.__dict__
        kept["location"], kept["deferred"] = location, deferred
        return self

    @property
    def operator(self) -> str:
        """The operator's name."""
        return self.declaration.name

    @property
    def number(self) -> float | bool | None:
        """The one number that the operation gives, where it only gives a number."""
        return None

    def arguments(self) -> dict[str, Any]:
        """Operands and attributes by name, in the order of the declaration."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    @cache
    def tensor_fields(cls) -> tuple[str, ...]:
        """The names of the arguments that are tensors, in the order of the fields."""
        fields = cls.__dataclass_fields__.items()
        return tuple(n for n, f in fields if "Value" in str(f.type) and n != CAPTURED)

    @classmethod
    @cache
    def region_fields(cls) -> tuple[str, ...]:
        """The names of the arguments that are graphs."""
        return tuple(n for n, f in cls.__dataclass_fields__.items() if "Region" in str(f.type))

    def bodies(self) -> "Iterator[Region]":
        """The graphs that the operation holds."""
        for name in self.region_fields():
            yield getattr(self, name)

    def reads(self) -> tuple[Value, ...]:
        """All tensors that the operation reads; found once, since all walks of a graph ask."""
        if self._reads is None:
            found: list[Value] = []
            for name in self.__dataclass_fields__:
                argument = getattr(self, name)
                if isinstance(argument, Value):
                    found.append(argument)
                elif isinstance(argument, tuple):
                    found += [item for item in argument if isinstance(item, Value)]
            self.__dict__["_reads"] = tuple(found)
        assert self._reads is not None
        return self._reads

    def rebuild(
        self, change: Callable[[Any], Any], types: Callable[[TensorType], TensorType]
    ) -> Self:
        """The same operation with changed arguments and output types, checked already."""
        copy = type(self)(*[change(getattr(self, name)) for name in self.__dataclass_fields__])
        copy.with_types(*[types(output.type) for output in self.outputs])
        return copy.with_location(self.location, self.deferred)

"""Base class of the dialect's operations: construction, access, verification, inference.

Invariant: an operation declares its operands, attributes and results once, with kinds (`kinds`,
`attribute_kinds`). `problems` gives what MLIR would say, in its words and order: arity, attributes,
operands, results, regions, traits (`CHECKS`), the verifier (`wrong`), and last the inferred types.
MLIR stops at the first that fails; a failed inference is two. xDSL's own checks, which say the same
in other words, are taken out by `operation`.

Declaring an operation:

- `@operation` on a subclass of `TensorrtOperation`, `name`, fields by xDSL's `operand_def` and the
  like with kinds (`VarConstraint("T", kind)` where the format leaves a result's type out);
- `CHECKS: ClassVar[Checks]`: traits that are checked before the verifier, in the order of NVIDIA's
  declaration, and `PARTIALLY_INFERRED` where it infers a part of the types (`checks`);
- `INFERRED: ClassVar[bool]`: whether all types are inferred, and compared after the verifier;
- `READ_WITHOUT_TYPE: ClassVar[bool]`: the text has no type of the result, which is inferred when it
  is read: where it cannot be, MLIR's parser says so, and nothing else;
- `wrong`: the verifier; the first that it yields counts;
- `components`: the inference; it raises `ShapeError`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

from typing_extensions import override
from xdsl.dialects.builtin import DYNAMIC_INDEX, UNKNOWN_LOC, LocationAttr, NoneType, TensorType
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    IRDLOption,
    ParsePropInAttrDict,
    irdl_op_definition,
)
from xdsl.utils.exceptions import VerifyException

from tripybuild.tensorrt.dialect import declaration
from tripybuild.tensorrt.dialect.accessors import install_accessors
from tripybuild.tensorrt.dialect.assembly import assemble
from tripybuild.tensorrt.dialect.problem import OpProblem as OpProblem  # noqa: PLC0414
from tripybuild.tensorrt.shape_rules import ShapeError, Sizes, compatible

SEGMENTED = (ParsePropInAttrDict(), AttrSizedOperandSegments(as_property=True))
_UNKNOWN = NoneType()  # the type of a result until it is inferred


def sizes(of: Attribute | SSAValue) -> tuple[int | None, ...]:
    """Give the sizes of a ranked tensor, or of a value that is one; None is `?`."""
    numbers = [size.data for size in _tensor(of).shape.data]
    return tuple([None if number == DYNAMIC_INDEX else number for number in numbers])


def element(of: Attribute | SSAValue) -> Attribute:
    """Give the element type of a ranked tensor, or of a value that is one."""
    kind: Attribute = _tensor(of).element_type
    return kind


def _tensor(of: Attribute | SSAValue) -> TensorType[Attribute]:
    given = of.type if isinstance(of, SSAValue) else of
    assert type(given) is TensorType
    return given


def tensor_type(shape: Sequence[Any], kind: Attribute) -> TensorType[Attribute]:
    """Give the tensor of these sizes; what is no number is `?`."""
    return _type_of(tuple([s if isinstance(s, int) else DYNAMIC_INDEX for s in shape]), kind)


@cache
def _type_of(shape: tuple[int, ...], kind: Attribute) -> TensorType[Attribute]:
    """A function has few types, and xDSL checks each one that is made."""
    return TensorType(kind, shape)


@dataclass(frozen=True, slots=True)
class Component:
    """What inference knows about a result: its sizes, its element type, or one of them."""

    sizes: Sizes | None
    element: Attribute | None = None

    def fits(self, given: Attribute) -> bool:
        """Tell whether a type is this one, as far as it is known."""
        return (
            type(given) is TensorType
            and (self.element is None or self.element == given.element_type)
            and (self.sizes is None or compatible(self.sizes, sizes(given)))
        )

    def complete(self) -> TensorType[Attribute] | None:
        """Give the type, if all of it is known."""
        if self.sizes is None or self.element is None:
            return None
        return tensor_type(self.sizes, self.element)


class TensorrtOperation(IRDLOperation):
    """An operation of NVIDIA's `tensorrt` dialect."""

    irdl_options: tuple[IRDLOption, ...] = (ParsePropInAttrDict(),)

    CHECKS: ClassVar[tuple[Callable[[Any], OpProblem | None], ...]] = ()
    INFERRED: ClassVar[bool] = False
    READ_WITHOUT_TYPE: ClassVar[bool] = False

    @classmethod
    def make(
        cls,
        *operands: SSAValue | Operation | Sequence[SSAValue | Operation] | None,
        result_types: Sequence[Attribute | Sequence[Attribute] | None] | None = None,
        regions: Sequence[Region | Sequence[Region] | None] = (),
        location: LocationAttr | None = None,
        **attributes: object,
    ) -> Self:
        """Make the operation of operands in their order and of attributes as Python values."""
        properties = _properties(cls, attributes)
        place = UNKNOWN_LOC if location is None else location
        made = None if regions else assemble(cls, operands, result_types, properties, place)
        if made is None:
            made = cls._build_generic(operands, result_types, properties, regions)
            made.location = place
        return made

    @classmethod
    def _build_generic(
        cls,
        operands: Sequence[Any],
        types: Sequence[Any] | None,
        properties: Mapping[str, Attribute],
        regions: Sequence[Any],
    ) -> Self:
        """Make it as xDSL does, which understands more kinds of arguments."""
        definition = cls.get_irdl_definition()
        made = cls(
            operands=[*operands, *[None] * (len(definition.operands) - len(operands))],
            result_types=[_UNKNOWN] * len(definition.results) if types is None else types,
            properties=properties,
            regions=[*regions],
        )
        if types is None:
            made._take_types()
        return made

    def _take_types(self) -> None:
        try:
            inferred = self.infer_types()
        except ShapeError:
            self.drop_all_references()
            raise
        if inferred is None:
            self.drop_all_references()
            raise TypeError(f"the result types of {self.name} cannot be inferred: give them")
        for result, kind in zip(self.results, inferred, strict=True):
            result._type = kind  # noqa: SLF001  # it has no uses yet

    def value(self, name: str) -> Any:
        """Give an attribute, by its Python name, as a Python value; its default if it is absent."""
        prop_name, kind, default = declaration.declaration(type(self)).readers[name]
        given = self.properties.get(prop_name, default)
        return None if given is None else kind.value(given)

    def components(self) -> Sequence[Component] | None:
        """Infer the results; None where nothing can be inferred."""
        return None

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Verify what declarations do not say."""
        yield from ()

    def region_problems(self) -> Iterator[OpProblem]:
        """Give what is wrong with the regions as they are declared."""
        yield from ()

    def infer_types(self) -> list[TensorType[Attribute]] | None:
        """Give the result types, if all is inferred; ShapeError where there are none."""
        found = [each.complete() for each in self.components() or ()]
        types = [each for each in found if each is not None]
        return types if len(types) == len(found) == len(self.results) else None

    def problems(self) -> Iterator[OpProblem]:
        """Give what is wrong, as MLIR would say it."""
        first = next(self._failures(), None)
        if first is not None:
            yield first
        elif self.INFERRED:
            yield from self._mismatches()

    def _failures(self) -> Iterator[OpProblem]:
        if self.READ_WITHOUT_TYPE:
            yield from self._unreadable()
        yield from declaration.problems(self, self.region_problems)
        yield from (found for check in self.CHECKS if (found := check(self)) is not None)
        yield from declaration.trait_problems(self)
        for wrong in self.semantic_problems():
            yield OpProblem(wrong) if isinstance(wrong, str) else wrong

    def _unreadable(self) -> Iterator[OpProblem]:
        slots = declaration.declaration(type(self)).operands
        kinds = [type(each.type) for each in self.operands]
        if kinds != [TensorType] * len(slots):
            return
        try:
            self.components()
        except ShapeError as error:
            yield OpProblem(str(error), op_name_first=False)

    def _mismatches(self) -> Iterator[OpProblem]:
        """MLIR compares as many types as there are on both sides: a region may yield too few."""
        try:
            parts = self.components() or ()
        except ShapeError as error:
            yield OpProblem(str(error), op_name_first=False)
            yield OpProblem("failed to infer returned types")
            return
        given = self.result_types
        if not all(map(Component.fits, parts, given)):
            inferred = [part.complete() for part in parts]
            yield OpProblem(
                f"inferred type(s) {_quote_types(inferred)} are incompatible with return type(s) "
                f"of operation {_quote_types(given)}"
            )
            yield OpProblem("failed to infer returned types")

    @override
    def verify_(self) -> None:
        for problem in self.problems():
            raise VerifyException(problem.text(self.name))


def _quote_types(types: Sequence[Attribute | None]) -> str:
    return ", ".join(f"'{each}'" for each in types)


def _properties(
    cls: type[TensorrtOperation], attributes: Mapping[str, object]
) -> dict[str, Attribute]:
    readers = declaration.declaration(cls).readers
    unknown = attributes.keys() - readers.keys()
    if unknown:
        raise TypeError(f"{cls.name} has no attribute `{min(unknown)}`")
    given = {name: value for name, value in attributes.items() if value is not None}
    return {readers[name][0]: readers[name][1].attribute(value) for name, value in given.items()}


Declared = TypeVar("Declared", bound=TensorrtOperation)


def operation(cls: type[Declared]) -> type[Declared]:
    """Register an operation with xDSL; `problems` is its only verifier."""
    defined = irdl_op_definition(cls)
    type.__setattr__(defined, "verify_", TensorrtOperation.verify_)
    install_accessors(defined)
    return defined


def operations_of(dialect: str, members: Iterable[Any]) -> tuple[type[TensorrtOperation], ...]:
    """The operations of a dialect among the members of a package, by the names of their classes."""
    classes = {each for each in members if isinstance(each, type)}
    found = [each for each in classes if issubclass(each, TensorrtOperation)]
    named = [each for each in found if getattr(each, "name", "").startswith(f"{dialect}.")]
    return tuple(sorted(named, key=lambda each: each.__name__))

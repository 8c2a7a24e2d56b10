"""Base class of the dialect's operations: construction, access, verification, inference.

Invariant: an operation declares its operands, attributes and results once, with kinds (`kinds`,
`attribute_kinds`). `problems` gives what MLIR would say, in its words and order: arity, attributes,
operands, results, regions, traits (`CHECKS`), the verifier (`wrong`), and last the inferred types.
MLIR stops at the first that fails; a failed inference is two. xDSL's own checks, which say the same
in other words, are taken out by `operation`.

Most operations are made of the body of a layer (`layers.operation`), by `define`; those with
regions are classes here.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from xdsl.irdl.operations import BeforeVariadicSingleAccessor, VarIRConstruct
from xdsl.utils.exceptions import VerifyException

from tripybuild.tensorrt.dialect import declaration, types as type_kinds
from tripybuild.tensorrt.dialect.declaration import assemble
from tripybuild.tensorrt.layers.checks import Checks
from tripybuild.tensorrt.layers.operation import (
    Component as Component,  # noqa: PLC0414
    OperationBody,
    OperationField,
    OpProblem as OpProblem,  # noqa: PLC0414
    element as element,  # noqa: PLC0414
    sizes as sizes,  # noqa: PLC0414
    sizes_of_type,
)
from tripybuild.tensorrt.mlir.elements import element_of
from tripybuild.tensorrt.shape_rules import ShapeError, compatible
from tripybuild.types.dtypes import BY_NAME

# xDSL looks up the whole declaration each time a field is read, and passes read millions of them;
# where no variadic field stands before one, its place never changes.


class _OperandAccessor(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        return obj._operands[self.idx]  # noqa: SLF001  # `operands` makes a view first


class _ResultAccessor(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        return tuple.__getitem__(obj.results, self.idx)  # its own `[]` is for slices, too


_QUICK = {VarIRConstruct.OPERAND: _OperandAccessor, VarIRConstruct.RESULT: _ResultAccessor}


def install_accessors(op_class: type[Operation]) -> None:
    """Give a declared class quick fields; xDSL still finds accessors of its own kind there."""
    for name, accessor in list(vars(op_class).items()):
        quick = _QUICK.get(accessor.construct) if _is_plain(accessor) else None
        if quick is not None:
            type.__setattr__(op_class, name, quick(accessor.construct, accessor.idx))


def _is_plain(accessor: object) -> bool:
    return type(accessor) is BeforeVariadicSingleAccessor


SEGMENTED = (ParsePropInAttrDict(), AttrSizedOperandSegments(as_property=True))
_UNKNOWN = NoneType()  # the type of a result until it is inferred


def tensor_type(shape: Sequence[Any], kind: Attribute) -> TensorType[Attribute]:
    """Give the tensor of these sizes; what is no number is `?`."""
    return _type_of(tuple([s if isinstance(s, int) else DYNAMIC_INDEX for s in shape]), kind)


@cache
def _type_of(shape: tuple[int, ...], kind: Attribute) -> TensorType[Attribute]:
    """A function has few types, and xDSL checks each one that is made."""
    return TensorType(kind, shape)


def _fits(part: Component, given: Attribute) -> bool:
    """Tell whether a type is what inference knows, as far as it does."""
    if type(given) is not TensorType:
        return False
    if part.element is not None and part.element != given.element_type:
        return False
    shape = sizes_of_type(given)  # nearly always equal, which is quick to see
    return part.sizes is None or part.sizes == shape or compatible(part.sizes, shape)


def _complete(part: Component) -> TensorType[Attribute] | None:
    """Give the type of a result, if all of it is known."""
    if part.sizes is None or part.element is None:
        return None
    return tensor_type(part.sizes, part.element)


class TensorrtOperation(IRDLOperation):
    """An operation of NVIDIA's `tensorrt` dialect."""

    irdl_options: tuple[IRDLOption, ...] = (ParsePropInAttrDict(),)

    BODY: ClassVar[OperationBody | None] = None
    TRAITS: ClassVar[tuple[str, ...]] = ("Pure",)
    CHECKS: ClassVar[Checks] = ()
    INFERRED: ClassVar[bool] = False
    # The text has no type of the result, which is inferred when it is read: where it cannot be,
    # MLIR's parser says so, and nothing else.
    READ_WITHOUT_TYPE: ClassVar[bool] = False
    # Whether TensorRT's documentation allows it in the bodies of conditions and loops.
    ALLOWED_IN_REGIONS: ClassVar[bool] = True

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
        body = self.BODY
        if body is None or not body.rule_parameters:
            return None
        readers, outputs = _rule_readers(body), body.outputs
        if body.shape_rule is None and len(outputs) == 1:
            return [Component(readers[0](self), self.result_element(outputs[0]))]
        shapes = body.result_shapes([read(self) for read in readers])
        elements = map(self.result_element, outputs)
        return list(map(Component, shapes, elements))

    def result_element(self, result: OperationField) -> Attribute | None:
        """Give the element type of a result; None where an argument of the call says it."""
        assert self.BODY is not None
        found: Attribute | None = _element_reader(self.BODY, result.dtype)(self)
        return found

    @staticmethod
    def element_type(dtype: str) -> Attribute:
        """Give the element type of a dtype."""
        return element_of(BY_NAME[dtype].mlir)

    @staticmethod
    def is_of(value: SSAValue, *elements: str) -> bool:
        """Tell whether a value has one of these element types."""
        given = element(value)
        return any(type_kinds.element_kind(each).accepts(given) for each in elements)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Verify what declarations do not say."""
        yield from ()

    def region_problems(self) -> Iterator[OpProblem]:
        """Give what is wrong with the regions as they are declared."""
        yield from ()

    def infer_types(self) -> list[TensorType[Attribute]] | None:
        """Give the result types, if all is inferred; ShapeError where there are none."""
        found = [_complete(each) for each in self.components() or ()]
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
        if not all(map(_fits, parts, given)):
            inferred = [_complete(part) for part in parts]
            yield OpProblem(
                f"inferred type(s) {_quote_types(inferred)} are incompatible with return type(s) "
                f"of operation {_quote_types(given)}"
            )
            yield OpProblem("failed to infer returned types")

    @override
    def verify_(self) -> None:
        for problem in self.problems():
            raise VerifyException(problem.text(self.name))


Reader = Callable[[TensorrtOperation], Any]


@cache
def _rule_readers(body: OperationBody) -> Sequence[Reader]:
    """What reads the parameters of a shape rule: shapes of operands, values of attributes."""
    return [_rule_reader(body, each) for each in body.rule_parameters]


def _rule_reader(body: OperationBody, parameter: str) -> Reader:
    field = body.field_names[parameter]
    declared = body.fields[field]
    if declared.role == "attribute":
        return lambda op: op.value(field)
    if declared.argument is not None and declared.role == "argument":
        default = declared.argument.default
        return lambda _: default
    if declared.variadic:
        return lambda op: [sizes(each) for each in getattr(op, field)]
    return lambda op: sizes(getattr(op, field))


@cache
def _element_reader(body: OperationBody, source: str) -> Reader:
    """What reads an element type: of an operand, of a dtype, or None for an argument."""
    field = body.field_names.get(source)
    if field is None:
        kind = TensorrtOperation.element_type(source)
        return lambda _: kind
    if body.fields[field].role == "argument":
        return lambda _: None
    if body.fields[field].variadic:
        return lambda op: element(getattr(op, field)[0])
    return lambda op: element(getattr(op, field))


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

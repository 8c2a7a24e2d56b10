"""Module operations: containers of engine functions, and calls of these."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    ShapedType,
    Signedness,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnrankedMemRefType,
    UnrankedTensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface, SymbolTable

from tripybuild.tensorrt.dialect import attribute_kinds as attributes
from tripybuild.tensorrt.dialect.base import (
    SEGMENTED,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.regions import RegionOperation, no_arguments, types_of
from tripybuild.tensorrt.dialect.types import ConstraintKind
from tripybuild.tensorrt.layers.checks import Checks
from tripybuild.tensorrt.shape_rules import compatible

_TENSORS = TensorType | UnrankedTensorType
_RANKED = TensorType | MemRefType
_MEMREFS = MemRefType | UnrankedMemRefType


def _has_shape(given: Attribute) -> bool:
    return isinstance(given, ShapedType | UnrankedTensorType | UnrankedMemRefType)


def _is_number(given: Attribute) -> bool:
    signless = isinstance(given, IntegerType) and given.signedness.data == Signedness.SIGNLESS
    return signless or isinstance(given, IndexType)


_SHAPED = ConstraintKind("shaped of any type values", _has_shape)
_ARGUMENT = ConstraintKind(
    "shaped of any type values or signless integer or index",
    lambda given: _has_shape(given) or _is_number(given),
)
_ALLOCATED = ConstraintKind(
    "memref of any type values or tensor of any type values",
    lambda given: isinstance(given, _TENSORS | _MEMREFS),
)


@dataclass(frozen=True)
class _SymbolName(attributes.AttributeKind, SymbolNameConstraint):  # type: ignore[misc]
    """The name of a symbol: `@name` in the text, a string in the module."""


_SYMBOL_NAME = _SymbolName(
    attributes.STRING.summary,
    attributes.STRING.accepts,
    StringAttr,
    attributes.STRING.make,
    attributes.STRING.read,
)


@operation
class TensorRTModuleOp(RegionOperation):
    """A table of functions; each is to become an engine."""

    name = "tensorrt.module"
    sym_name = prop_def(_SYMBOL_NAME)
    body_region = region_def()
    assembly_format = "$sym_name attr-dict-with-keyword $body_region"
    traits = traits_def(IsolatedFromAbove(), SymbolTable(), SymbolOpInterface(), NoTerminator())
    SINGLE: ClassVar[tuple[tuple[int, str], ...]] = ((0, "bodyRegion"),)
    CHECKS: ClassVar[Checks] = (no_arguments,)

    def problems(self) -> Iterator[OpProblem]:
        """Names that are given twice are shown where the second is."""
        twice = list(self._names_twice()) if len(self.regions[0].blocks) == 1 else []
        yield from twice or super().problems()

    def _names_twice(self) -> Iterator[OpProblem]:
        seen: set[str] = set()
        for each in self.body_region.block.ops:
            found = each.get_attr_or_prop("sym_name")
            if not isinstance(found, StringAttr):
                continue
            if found.data in seen:
                yield OpProblem(
                    f"redefinition of symbol named '{found.data}'", op_name_first=False, at=each
                )
            seen.add(found.data)


class _CallOperation(TensorrtOperation):
    """What calls need: a function, whose types fit."""

    def _target(self) -> FuncOp | None:
        callee = self.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        table: Operation | None = self.parent_op()
        while table is not None and not table.has_trait(SymbolTable):
            table = table.parent_op()
        if table is None:
            return None
        try:
            found = SymbolTable.lookup_symbol(table, callee)
        except ValueError:  # a name inside of what is no table
            return None
        return found if isinstance(found, FuncOp) else None

    def symbol_problems(self, inputs: list[Attribute]) -> Iterator[str | OpProblem]:
        """The function is there, and takes and gives these types."""
        target = self._target()
        if target is None:
            callee = self.properties["callee"]
            yield f"no valid kernel found with symbol name {callee}"
            return
        kind = target.function_type
        if not (_fit(inputs, kind.inputs.data) and len(self.results) == len(kind.outputs.data)):
            yield _incompatible(kind)


def _incompatible(kind: FunctionType) -> str:
    return (
        f"callee has function type '{kind}' which is not compatible with input/result types of call"
    )


def _fit(given: list[Attribute], wanted: tuple[Attribute, ...]) -> bool:
    return len(given) == len(wanted) and all(map(_fits, given, wanted))


def _fits(given: Attribute, wanted: Attribute) -> bool:
    """Memory may stand for a tensor: only sizes and elements are compared."""
    if given == wanted:
        return True
    if not (isinstance(given, _RANKED) and isinstance(wanted, _RANKED)):
        return False
    shapes = [TensorType(each.element_type, each.shape) for each in (given, wanted)]
    return element(shapes[0]) == element(shapes[1]) and compatible(*map(sizes, shapes))


@operation
class CallOp(_CallOperation):
    """A call that writes into `outs`; `outputs` are NVIDIA's `results`, `outs` its `outputs`."""

    name = "tensorrt.call"
    irdl_options = SEGMENTED
    inputs = var_operand_def(_ARGUMENT)
    outs = var_operand_def(_SHAPED)
    callee = prop_def(attributes.SYMBOL)
    arg_attrs = opt_prop_def(attributes.DICTIONARY_ARRAY)
    res_attrs = opt_prop_def(attributes.DICTIONARY_ARRAY)
    outputs = var_result_def(_SHAPED)
    assembly_format = (
        "$callee `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` $outs `:` type($outs) `)`"
        " attr-dict (`->` type($outputs)^)?"
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Each tensor that is written to is a result, and the function fits."""
        yield from self._destinations()
        yield from self.symbol_problems(types_of(self.inputs))

    def _destinations(self) -> Iterator[str]:
        first, written = len(self.inputs), []
        for index, kind in enumerate(types_of(self.outs), start=first):
            if isinstance(kind, _TENSORS):
                written.append((index, kind))
            elif not isinstance(kind, _MEMREFS):
                yield f"expected that operand #{index} is a tensor or a memref"
        if len(self.results) != len(written):
            yield (
                f"expected the number of tensor results ({len(self.results)}) to be equal to the "
                f"number of output tensors ({len(written)})"
            )
        for (index, kind), result in zip(written, self.result_types, strict=False):
            if kind != result:
                yield (
                    f"expected type of operand #{index} ('{kind}') to match type of corresponding "
                    f"result ('{result}')"
                )


@operation
class CallAllocOp(_CallOperation):
    """A call that makes its results; `outputs` are NVIDIA's `results`."""

    name = "tensorrt.call_alloc"
    inputs = var_operand_def(_ARGUMENT)
    callee = prop_def(attributes.SYMBOL)
    arg_attrs = opt_prop_def(attributes.DICTIONARY_ARRAY)
    res_attrs = opt_prop_def(attributes.DICTIONARY_ARRAY)
    outputs = var_result_def(_ALLOCATED)
    assembly_format = (
        "$callee `(` ($inputs^ `:` type($inputs))? `)` attr-dict (`->` type($outputs)^)?"
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The function fits."""
        yield from self.symbol_problems(types_of(self.inputs))

"""Shape operations: layout changes that preserve the elements."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types
from tripybuild.tensorrt.dialect.base import (
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.checks import (
    PARTIALLY_INFERRED,
    SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,
    Checks,
    all_match,
)
from tripybuild.tensorrt.dialect.integer_lists import StaticIndexI64Array
from tripybuild.tensorrt.shape_rules import ShapeError, shapes as rules

_SHAPE_VECTOR = types.tensor(types.I32, ranks=(1,))


def permutation_of(given: AffineMap) -> tuple[int, ...] | None:
    """Give the dimensions of a map that names each of its dimensions once, or None."""
    found = [each.position for each in given.results if isinstance(each, AffineDimExpr)]
    plain = len(found) == len(given.results) and given.num_symbols == 0
    return tuple(found) if plain and rules.is_permutation(found, given.num_dims) else None


@operation
class ShapeOp(TensorrtOperation):
    """The sizes of a tensor."""

    name = "tensorrt.shape"
    input = operand_def(types.TENSOR_OF_EVERY_TYPE)
    result = result_def(_SHAPE_VECTOR)
    assembly_format = "attr-dict $input `:` type($input) `->` type($result)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """A vector of as many sizes as there are dimensions."""
        return [Component((len(sizes(self.input)),), IntegerType(32))]


@operation
class TransposeOp(TensorrtOperation):
    """Dimensions in another order."""

    name = "tensorrt.transpose"
    input = operand_def(types.TENSOR_OF_EVERY_TYPE)
    permutation = prop_def(attributes.AFFINE_MAP)
    result = result_def(types.TENSOR_OF_EVERY_TYPE)
    assembly_format = "attr-dict $input `:` type($input) `to` type($result)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The sizes in the other order."""
        shape = sizes(self.input)
        return [Component(rules.transpose(shape, self._order()), element(self.input))]

    def _order(self) -> tuple[int, ...]:
        order = permutation_of(self.value("permutation"))
        rank = len(sizes(self.input))
        if order is None or len(order) != rank:
            raise ShapeError(f'expected "permutation" to be a permutation of rank {rank}')
        return order

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The map is a permutation of the input's dimensions."""
        try:
            self._order()
        except ShapeError as error:
            yield str(error)


@operation
class ShuffleOp(TensorrtOperation):
    """A transposition, a reshape and a transposition; `dynamic_reshape` are sizes as a tensor."""

    name = "tensorrt.shuffle"
    input = operand_def(types.TENSOR_OF_EVERY_TYPE)
    dynamic_reshape = opt_operand_def(_SHAPE_VECTOR)
    first_transpose = prop_def(attributes.I64_ARRAY)
    reshape = opt_prop_def(attributes.I64_ARRAY)
    second_transpose = prop_def(attributes.I64_ARRAY)
    zero_is_placeholder = prop_def(
        attributes.BOOL, default_value=attributes.BOOL.attribute(value=True)
    )
    result = result_def(types.TENSOR_OF_EVERY_TYPE)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type(results)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (PARTIALLY_INFERRED,)

    def components(self) -> Sequence[Component]:
        """The sizes after the three steps."""
        shape = rules.shuffle(
            sizes(self.input),
            self.value("first_transpose"),
            self._target_shape(),
            self.value("second_transpose"),
            zero_is_placeholder=self.value("zero_is_placeholder"),
        )
        return [Component(shape, element(self.input))]

    def _target_shape(self) -> tuple[int | None, ...] | None:
        static: tuple[int, ...] | None = self.value("reshape")
        if static is not None or self.dynamic_reshape is None:
            return static
        (count,) = sizes(self.dynamic_reshape)
        if not isinstance(count, int):
            raise ShapeError("the size of the dynamic reshape must be static")
        return (None,) * count

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """No element is lost or made."""
        if not rules.same_volume(sizes(self.input), sizes(self.result)):
            yield "operand and output tensor types should have same number of elements"


@operation
class ReshapeOp(TensorrtOperation):
    """Other sizes, as many elements; `shape` are sizes as a tensor."""

    name = "tensorrt.reshape"
    input = operand_def(types.TENSOR_OF_EVERY_TYPE)
    shape = opt_operand_def(_SHAPE_VECTOR)
    result = result_def(types.TENSOR_OF_EVERY_TYPE)
    assembly_format = (
        "$input (`shape` `(` $shape^ `` `:` type($shape) `)`)? attr-dict"
        " `:` type($input) `to` type($result)"
    )
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("element type", "input", "result"),)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The sizes are possible, and known well enough."""
        result = sizes(self.result)
        if not rules.same_volume(sizes(self.input), result):
            yield "input and result tensor types should have the same number of elements"
        if self.shape is None:
            if result.count(None) > 1:
                yield (
                    "result type may have at most one dynamic dimension if the 'shape' operand is "
                    "not provided"
                )
            return
        (count,) = sizes(self.shape)
        if count is None:
            yield "dynamic reshape must be a 1D tensor of known shape"
        elif count != len(result):
            yield (f"reshape tensor size ({count}) does not match result type rank ({len(result)})")


class _UnitDimensions(TensorrtOperation):
    """What inserts or drops dimensions of size one."""

    input = operand_def(types.TENSOR_OF_EVERY_TYPE)
    result = result_def(types.TENSOR_OF_EVERY_TYPE)
    assembly_format = "attr-dict $input `:` type($input) `to` type($result)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)

    def groups(self) -> list[list[int]] | None:
        """Which dimensions of the higher rank belong to each of the lower, or None."""
        ranked = sorted((sizes(self.input), sizes(self.result)), key=len)
        return None if len(ranked[0]) == len(ranked[1]) else rules.groups(ranked[1], ranked[0])


@operation
class ExpandRankOp(_UnitDimensions):
    """Dimensions of size one are inserted."""

    name = "tensorrt.expand_rank"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The result has the input's sizes, and ones between them."""
        wide = sizes(self.result)
        if len(sizes(self.input)) > len(wide):
            yield "result rank should be greater than or equal to input rank"
        groups = self.groups()
        if groups is None or not rules.drops_ones_only(wide, groups):
            yield "the reshape is not a valid rank expansion produced from inserting 1's"


@operation
class CollapseRankOp(_UnitDimensions):
    """Dimensions of size one are dropped."""

    name = "tensorrt.collapse_rank"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The input has the result's sizes, and ones between them."""
        wide = sizes(self.input)
        if len(wide) < len(sizes(self.result)):
            yield "input type rank should be greater than or equal to result type rank"
        groups = self.groups()
        if groups is None:
            yield "failed to compute a reassociation map from input to output type"
        elif not rules.drops_ones_only(wide, groups):
            yield "expected to only drop unit-dims from the shape"


@operation
class BroadcastOp(TensorrtOperation):
    """Sizes of one are repeated; `broadcast_dims` says where each dimension goes."""

    name = "tensorrt.broadcast"
    input = operand_def(types.TENSOR_OF_EVERY_TYPE)
    shape = opt_operand_def(types.SHAPE)
    broadcast_dims = prop_def(attributes.I64_ARRAY)
    result = result_def(types.TENSOR_OF_EVERY_TYPE)
    custom_directives = (StaticIndexI64Array,)
    assembly_format = (
        "$input `broadcast_dims` `<` custom<StaticIndexI64Array>($broadcast_dims) `>`"
        " (`shape` `(` $shape^ `:` type($shape) `)`)? attr-dict"
        " `:` type($input) `to` type($result)"
    )
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (PARTIALLY_INFERRED,)

    def components(self) -> Sequence[Component]:
        """The element type; with sizes as a tensor, the rank."""
        if self.shape is None:
            return [Component(None, element(self.input))]
        (count,) = sizes(self.shape)
        assert isinstance(count, int)
        return [Component((None,) * count, element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Each dimension goes to a place of its own, which is as wide or wider."""
        dims, given, result = self.value("broadcast_dims"), sizes(self.input), sizes(self.result)
        rank = len(result)
        if len(dims) != len(given):
            yield f'expected "broadcast_dims" size to equal input type rank ({len(given)})'
        if not all(0 <= dim < rank for dim in dims):
            yield f'all "broadcast_dims" values must be in the range [0,{rank})'
        if len(set(dims)) != len(dims):
            yield '"broadcast_dims" contains duplicate values'
        if self.shape is None and None in result:
            yield "if the result type has unknown dimensions, a shape operand must be provided"
        for index, dim in enumerate(dims):
            if not rules.broadcasts_to(given[index], result[dim]):
                yield (
                    f"expected input shape dimension {index} ({given[index]}) to be broadcastable "
                    f"to result type dimension {dim} ({result[dim]})"
                )

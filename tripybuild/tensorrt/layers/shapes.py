"""Shape layers: layout changes that keep the elements, and broadcasts."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.symbolic.dims import same
from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.declaration import Arguments, SingleResultLayer, sizes_of
from tripybuild.tensorrt.layers.operation import (
    Component,
    LayerOperation,
    OpProblem,
    attribute,
    element,
    operand,
    optional_attribute,
    optional_operand,
    output,
    sizes,
)
from tripybuild.tensorrt.recorder import argument_kinds as arguments
from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Shape,
    ShapeError,
    Sizes,
    broadcasts_to,
    is_static,
    same_volume,
    volume,
)

if TYPE_CHECKING:
    from xdsl.ir.affine import AffineMap

    from tripybuild.tensorrt.emission.layer_emission import LayerEmission
    from tripybuild.tensorrt.translation.emission import Emission


class ShapeOp(LayerOperation):
    """The sizes of a tensor."""

    name = "tensorrt.shape"
    input = operand(*kinds.EVERY)
    result = output(kinds.I32, ranks=(1,), dtype="int32")
    assembly_format = "attr-dict $input `:` type($input) `->` type($result)"

    @staticmethod
    def result_shape(input: Shape) -> Sizes:
        """A vector of as many sizes as there are dimensions."""
        return (len(input),)

    def translate(self, at: "Emission") -> list[Any]:
        """TensorRT counts in int64 and the dialect in int32; once for each tensor is enough."""
        found = at.shapes.get(self.input)
        if found is None:
            counted = at.add("shape", at.tensor(self.input)).get_output(0)
            found = at.add("cast", counted, at.dtype(self.result)).get_output(0)
            at.shapes[self.input] = found
        return [found]


shape = SingleResultLayer(ShapeOp)


def _is_permutation(order: Sequence[int], rank: int) -> bool:
    return sorted(order) == list(range(rank))


def _permutation_of(given: "AffineMap") -> tuple[int, ...] | None:
    """Give the dimensions of a map that names each of its dimensions once, or None."""
    found = [getattr(each, "position", None) for each in given.results]
    plain = None not in found and given.num_symbols == 0
    named: tuple[int, ...] = tuple(each for each in found if each is not None)
    return named if plain and _is_permutation(named, given.num_dims) else None


def transpose_shape(shape: Shape, permutation: Sequence[int] | None) -> Sizes:
    """The sizes in the order of the permutation."""
    if permutation is None or not _is_permutation(permutation, len(shape)):
        raise ShapeError(f'expected "permutation" to be a permutation of rank {len(shape)}')
    return tuple(shape[dim] for dim in permutation)


class TransposeOp(LayerOperation):
    """Dimensions in another order."""

    name = "tensorrt.transpose"
    input = operand(*kinds.EVERY)
    permutation = attribute(kinds.AFFINE_MAP)
    result = output(*kinds.EVERY, dtype="input")
    assembly_format = "attr-dict $input `:` type($input) `to` type($result)"

    @staticmethod
    def result_shape(input: Shape, permutation: "Sequence[int] | AffineMap") -> Sizes:
        """The sizes in the other order."""
        if not isinstance(permutation, Sequence):
            return transpose_shape(input, _permutation_of(permutation))
        return transpose_shape(input, permutation)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The map is a permutation of the input's dimensions."""
        try:
            self.components()
        except ShapeError as error:
            yield str(error)


def _emit_transpose(place: "LayerEmission") -> Any:
    """The identity needs no operation."""
    order = place.layer.arguments["permutation"]
    if tuple(order) == tuple(range(len(order))):
        return place.argument("input")
    return place.plain()


transpose = SingleResultLayer(TransposeOp, emit=_emit_transpose)


def reshape_shape(shape: Shape, wanted: Shape, *, zero_is_placeholder: bool) -> Sizes:
    """The wanted sizes; 0 may stand for the input's size, and one -1 for what is left."""
    sizes = [
        _resolve_placeholder(shape, i, size, zero_is_placeholder) for i, size in enumerate(wanted)
    ]
    if not any(same(size, -1) for size in wanted):
        return tuple(sizes)
    left = _quotient(volume(shape), volume([size for size in sizes if not same(size, -1)]))
    return tuple(left if same(size, -1) else size for size in sizes)


def _quotient(whole: MaybeSize, part: MaybeSize) -> MaybeSize:
    return None if whole is None or part is None or same(part, 0) else whole // part


def _resolve_placeholder(
    shape: Shape, index: int, size: MaybeSize, zero_is_placeholder: bool
) -> MaybeSize:
    if same(size, 0) and zero_is_placeholder:
        if index >= len(shape):
            raise ShapeError(
                "invalid reshape specification - 0 placeholder maps to out-of-bounds index of "
                "input shape"
            )
        return shape[index]
    if is_static(size) and size < -1:
        raise ShapeError("invalid shape value")
    return size


def shuffle_shape(
    shape: Shape,
    first: Sequence[int],
    wanted: Shape | None,
    second: Sequence[int],
    *,
    zero_is_placeholder: bool = True,
) -> Sizes:
    """A transposition, a reshape if there is one, and another transposition."""
    if not _is_permutation(first, len(shape)):
        raise ShapeError(f"first transpose array is not a permutation of input rank {len(shape)}")
    sizes = transpose_shape(shape, first)
    if wanted is not None:
        _check_reshape(wanted, zero_is_placeholder=zero_is_placeholder)
        sizes = reshape_shape(sizes, wanted, zero_is_placeholder=zero_is_placeholder)
    if not _is_permutation(second, len(sizes)):
        raise ShapeError(
            f"second transpose array is not a permutation of reshaped rank {len(sizes)}"
        )
    return transpose_shape(sizes, second)


def _check_reshape(wanted: Shape, *, zero_is_placeholder: bool) -> None:
    left_over = sum(same(size, -1) for size in wanted)
    if left_over > 1:
        raise ShapeError("invalid reshape specification - at most one '-1' is allowed")
    if not zero_is_placeholder and left_over and any(same(size, 0) for size in wanted):
        raise ShapeError(
            'invalid reshape specification - 0 and -1 cannot be used when not in "zero is '
            'placeholder" mode'
        )


class ShuffleOp(LayerOperation):
    """A transposition, a reshape and a transposition; `dynamic_reshape` are sizes as a tensor."""

    name = "tensorrt.shuffle"
    input = operand(*kinds.EVERY)
    dynamic_reshape = optional_operand(kinds.I32, ranks=(1,))
    first_transpose = attribute(kinds.I64_ARRAY)
    reshape = optional_attribute(kinds.I64_ARRAY)
    second_transpose = attribute(kinds.I64_ARRAY)
    zero_is_placeholder = attribute(kinds.BOOL_ATTR, default=True)
    result = output(*kinds.EVERY, dtype="input")
    INFERRED: ClassVar[bool] = False

    def components(self) -> Sequence[Component]:
        """The sizes after the three steps."""
        found = shuffle_shape(
            sizes(self.input),
            self.value("first_transpose"),
            self._target_shape(),
            self.value("second_transpose"),
            zero_is_placeholder=self.value("zero_is_placeholder"),
        )
        return [Component(found, element(self.input))]

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
        if not same_volume(sizes(self.input), sizes(self.result)):
            yield "operand and output tensor types should have same number of elements"

    def translate(self, at: "Emission") -> Any:
        """Add a shuffle; its second transposition is of the reshaped dimensions."""
        layer = at.add("shuffle", at.tensor(self.input))
        at.set(
            layer,
            zero_is_placeholder=self.value("zero_is_placeholder"),
            first_transpose=self.value("first_transpose"),
        )
        if self.dynamic_reshape is not None:
            layer.set_input(1, at.tensor(self.dynamic_reshape))
        after = self.value("second_transpose")
        return at.set(layer, reshape_dims=self.value("reshape"), second_transpose=after)


def _recorded_shuffle(given: Arguments) -> Sizes:
    before = given["input"].shape
    first, wanted = given["first_transpose"] or tuple(range(len(before))), given["shape"]
    second = given["second_transpose"] or range(len(before if wanted is None else wanted))
    return shuffle_shape(before, first, wanted, tuple(second), zero_is_placeholder=False)


def _emit_shuffle(place: "LayerEmission") -> Any:
    given, result = place.layer.arguments, place.layer.results[0]
    order = given["first_transpose"] or range(given["input"].rank)
    before = [given["input"].shape[axis] for axis in order]
    assert result.shape is not None
    return place.shuffle(
        place.argument("input"),
        before,
        before if given["shape"] is None else given["shape"],
        first_transpose=tuple(order),
        second_transpose=given["second_transpose"] or tuple(range(len(result.shape))),
        result_types=[place.type_of(result)],
    )


shuffle = SingleResultLayer(
    ShuffleOp,
    parameters={
        "input": arguments.tensor,
        "first_transpose": arguments.optional_integers,
        "shape": arguments.sizes.with_default(None),
        "second_transpose": arguments.optional_integers,
    },
    shape=_recorded_shuffle,
    emit=_emit_shuffle,
)


class BroadcastOp(LayerOperation):
    """Sizes of one are repeated; `broadcast_dims` says where each dimension goes."""

    name = "tensorrt.broadcast"
    input = operand(*kinds.EVERY)
    shape = optional_operand(kinds.SHAPE)
    broadcast_dims = attribute(kinds.I64_ARRAY)
    result = output(*kinds.EVERY, dtype="input")
    assembly_format = (
        "$input `broadcast_dims` `<` custom<StaticIndexI64Array>($broadcast_dims) `>`"
        " (`shape` `(` $shape^ `:` type($shape) `)`)? attr-dict"
        " `:` type($input) `to` type($result)"
    )
    INFERRED: ClassVar[bool] = False

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
            if not broadcasts_to(given[index], result[dim]):
                yield (
                    f"expected input shape dimension {index} ({given[index]}) to be broadcastable "
                    f"to result type dimension {dim} ({result[dim]})"
                )


def _emit_broadcast(place: "LayerEmission") -> Any:
    given = place.layer.arguments
    source, shape, dims = (given[name] for name in ("input", "shape", "broadcast_dims"))
    if source.shape is not None and same(tuple(source.shape), tuple(shape)):
        return place.values[source]
    if dims is None:
        dims = range(len(shape) - source.rank, len(shape))
    return place.broadcast(place.values[source], source.dtype, shape, tuple(dims))


broadcast = SingleResultLayer(
    BroadcastOp,
    parameters={
        "input": arguments.tensor,
        "shape": arguments.sizes,
        "broadcast_dims": arguments.optional_integers,
    },
    shape=sizes_of("shape"),
    emit=_emit_broadcast,
)

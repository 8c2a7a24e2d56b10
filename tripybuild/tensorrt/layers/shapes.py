"""Data movement layers: reshape, transpose, slice, concatenate, pad."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.declaration import (
    Arguments,
    SingleResultLayer,
    apply,
    like,
    sizes_of,
)
from tripybuild.tensorrt.recorder.argument_kinds import (
    integer,
    integers,
    one_of,
    optional_integers,
    optional_tensor,
    sizes,
    tensor,
    tensors,
)
from tripybuild.tensorrt.recorder.value import Size
from tripybuild.tensorrt.shape_rules import ShapeError, Sizes, shapes as rules

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission


def _shape(at: "Emission", op: Any) -> list[Any]:
    """TensorRT counts in int64 and the dialect in int32; once for each tensor is enough."""
    found = at.shapes.get(op.input)
    if found is None:
        counted = at.add("shape", at.tensor(op.input)).get_output(0)
        found = at.add("cast", counted, at.dtype(op.result)).get_output(0)
        at.shapes[op.input] = found
    return [found]


shape = SingleResultLayer(
    "shape",
    {"input": tensor},
    results=("int32",),
    shape=lambda given: (len(given["input"].shape),),
    translate=_shape,
)


def _reshape_shape(given: Arguments) -> Sizes:
    before, after = given["input"].shape, tuple(given["shape"])
    if any(isinstance(size, int) and size < 0 for size in after):
        raise ShapeError("sizes are 0 or more")
    if not rules.same_volume(before, after):
        raise ShapeError(f"{_text(before)} and {_text(after)} have not as many elements")
    return after


def _text(sizes: Sequence[Size]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


reshape = SingleResultLayer("reshape", {"input": tensor, "shape": sizes}, shape=_reshape_shape)
expand_rank = SingleResultLayer(
    "expand_rank", {"input": tensor, "shape": sizes}, shape=_reshape_shape
)
collapse_rank = SingleResultLayer(
    "collapse_rank", {"input": tensor, "shape": sizes}, shape=_reshape_shape
)


def _squeeze_shape(given: Arguments) -> Sizes:
    before = given["input"].shape
    axes = _axes(given["axes"], len(before))
    wide = [axis for axis in sorted(axes) if isinstance(before[axis], int) and before[axis] != 1]
    if wide:
        raise ShapeError(f"the size of dimension {wide[0]} is {before[wide[0]]}, and not 1")
    return tuple(size for dim, size in enumerate(before) if dim not in axes)


def _unsqueeze_shape(given: Arguments) -> Sizes:
    rank = len(given["input"].shape) + len(given["axes"])
    axes = _axes(given["axes"], rank)
    rest = iter(given["input"].shape)
    return tuple(1 if dim in axes else next(rest) for dim in range(rank))


def _axes(axes: Sequence[int], rank: int) -> frozenset[int]:
    """Axes that may count from the end."""
    found = frozenset(axis % rank for axis in axes if -rank <= axis < rank)
    if len(found) != len(axes):
        raise ShapeError(f"{list(axes)} are not different dimensions of {rank}")
    return found


squeeze = SingleResultLayer(
    "squeeze",
    {"input": tensor, "axes": integers},
    shape=_squeeze_shape,
    operation="tensorrt.collapse_rank",
)
unsqueeze = SingleResultLayer(
    "unsqueeze",
    {"input": tensor, "axes": integers},
    shape=_unsqueeze_shape,
    operation="tensorrt.expand_rank",
)
transpose = SingleResultLayer(
    "transpose",
    {"input": tensor, "permutation": integers},
    shape=apply(rules.transpose, "input", "permutation"),
)


def _shuffle_shape(given: Arguments) -> Sizes:
    before = given["input"].shape
    first, wanted = given["first_transpose"] or tuple(range(len(before))), given["shape"]
    second = given["second_transpose"] or range(len(before if wanted is None else wanted))
    return rules.shuffle(before, first, wanted, tuple(second), zero_is_placeholder=False)


def _shuffle(at: "Emission", op: Any) -> Any:
    layer = at.add("shuffle", at.tensor(op.input))
    at.set(
        layer,
        zero_is_placeholder=op.value("zero_is_placeholder"),
        first_transpose=op.value("first_transpose"),
    )
    if op.dynamic_reshape is not None:
        layer.set_input(1, at.tensor(op.dynamic_reshape))
    after = op.value("second_transpose")
    return at.set(layer, reshape_dims=op.value("reshape"), second_transpose=after)


shuffle = SingleResultLayer(
    "shuffle",
    {
        "input": tensor,
        "first_transpose": optional_integers,
        "shape": sizes.with_default(None),
        "second_transpose": optional_integers,
    },
    shape=_shuffle_shape,
    translate=_shuffle,
)
broadcast = SingleResultLayer(
    "broadcast",
    {"input": tensor, "shape": sizes, "broadcast_dims": optional_integers},
    shape=sizes_of("shape"),
)


def _concatenation_shape(given: Arguments) -> Sizes:
    return rules.concatenation([value.shape for value in given["tensors"]], given["axis"])


def _concatenation(at: "Emission", op: Any) -> Any:
    layer = at.add("concatenation", [at.tensor(each) for each in op.inputs])
    return at.set(layer, axis=op.value("axis"))


concatenation = SingleResultLayer(
    "concatenation",
    {"tensors": tensors, "axis": integer},
    results=("tensors",),
    shape=_concatenation_shape,
    translate=_concatenation,
)


def _padding(at: "Emission", op: Any) -> Any:
    edges = op.value("pre_padding"), op.value("post_padding")
    return at.add("padding_nd", at.tensor(op.input), *edges)


padding = SingleResultLayer(
    "padding",
    {"input": tensor, "pre_padding": integers, "post_padding": integers},
    shape=apply(rules.padding, "input", "pre_padding", "post_padding"),
    translate=_padding,
)


def _slice(at: "Emission", op: Any) -> Any:
    layer = at.add("slice", at.tensor(op.input), (), (), ())
    at.set(layer, mode=at.member("SampleMode", op.value("mode")))
    at.set(
        layer,
        start=op.value("static_start"),
        shape=op.value("static_size"),
        stride=op.value("static_stride"),
    )
    for index, value in enumerate((op.start, op.size, op.stride, op.fill), 1):
        if value is not None:
            layer.set_input(index, at.tensor(value))
    return layer


slice = SingleResultLayer(
    "slice",
    {
        "input": tensor,
        "start": sizes,
        "size": sizes,
        "step": sizes.with_default(None),
        "fill": optional_tensor,
        "mode": one_of("slice_mode").with_default("kDEFAULT"),
    },
    shape=sizes_of("size"),
    translate=_slice,
)


def _reverse_sequence(at: "Emission", op: Any) -> Any:
    layer = at.add("reverse_sequence", at.tensor(op.input), at.tensor(op.lengths))
    axes = op.value("batch_axis"), op.value("sequence_axis")
    return at.set(layer, batch_axis=axes[0], sequence_axis=axes[1])


reverse_sequence = SingleResultLayer(
    "reverse_sequence",
    {
        "input": tensor,
        "lengths": tensor,
        "batch_axis": integer.with_default(1),
        "sequence_axis": integer.with_default(0),
    },
    shape=like("input"),
    operation="trtx.reverse_sequence",
    translate=_reverse_sequence,
)

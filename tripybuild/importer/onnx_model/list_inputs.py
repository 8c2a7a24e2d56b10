"""Models whose inputs are lists of tensors, for lists of a known length.

A list becomes an input for each of its tensors, and a sequence of those; what is optional is there
or is left out, which the nodes that read it are told by an empty name.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TypeProto

# Types of lists of tensors, whose lengths a program tells.
LISTS = ("sequence_type", "optional_type")
Array = np.ndarray[Any, Any]


def without_lists(model: "ModelProto", lists: Mapping[str, Sequence[Array] | None]) -> "ModelProto":
    """A model that takes the tensors of lists in the place of the lists.

    Args:
        model: The model, which stays as it is.
        lists: What is given for each input that is a list; None for what is not there.
    """
    from onnx import ModelProto, helper  # noqa: PLC0415 - an extra

    made = ModelProto()
    made.CopyFrom(model)
    del made.graph.input[:], made.graph.node[:]
    for each in model.graph.input:
        if each.name not in lists:
            made.graph.input.append(each)
            continue
        names = []
        for index, array in enumerate(lists[each.name] or ()):
            names.append(f"{each.name}_{index}")
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            made.graph.input.append(helper.make_tensor_value_info(names[-1], code, array.shape))
        if lists[each.name] is not None:
            made.graph.node.extend(_nodes(each.name, each.type, names))
    absent = {name for name, given in lists.items() if given is None}
    for node in model.graph.node:
        added = made.graph.node.add()
        added.CopyFrom(node)
        added.input[:] = ["" if name in absent else name for name in node.input]
    return made


def _nodes(name: str, type: "TypeProto", tensors: Sequence[str]) -> Iterator["NodeProto"]:
    """What makes a list of its tensors."""
    from onnx import helper  # noqa: PLC0415 - an extra

    if type.WhichOneof("value") == "optional_type":
        inner = type.optional_type.elem_type
        if inner.WhichOneof("value") in LISTS:
            yield from _nodes(f"{name}_list", inner, tensors)
            tensors = [f"{name}_list"]
        yield helper.make_node("Optional", tensors, [name])
    elif tensors:
        yield helper.make_node("SequenceConstruct", tensors, [name])
    else:
        yield helper.make_node("SequenceEmpty", [], [name])

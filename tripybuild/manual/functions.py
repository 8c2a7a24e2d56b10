"""The functions of snippets: where each may stand, its signature and what it gives.

The tables are those that snippets are checked against; texts are the docstrings of what runs.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from tripybuild.language.vocabulary import NUMPY, NUMPY_CONSTANTS, PYTHON
from tripybuild.schema.snippets import vocabularies

REFERENCES = "in `reference:`"
EVERYWHERE = "in every snippet: laws, `infer:`, types, `decompose:`, lowerings"
LAYER_PLACE, BUILDER_PLACE, NODE_PLACE = (
    f"in `lower: {target}:`" for target in ("tensorrt", "stablehlo", "onnx")
)
DECOMPOSED = "in `decompose:`"
FOREIGN = "in compositions of `foreign/aten.yaml` and `foreign/onnx.yaml`"

# The words of decompositions and compositions, whose meaning depends on what is translated.
WORDS: Mapping[str, tuple[str, str, str]] = {
    "tensor": (DECOMPOSED, "(value, dtype)", "A tensor of rank 0 with a number, or with a size."),
    "dtype_of": (DECOMPOSED, "(value)", "The dtype of a tensor."),
    "at": (FOREIGN, "(dim, entry)", "An index that takes an entry of one dimension."),
    "span": (FOREIGN, "(start, end, step)", "A slice, whose bounds may be None."),
    "known": (FOREIGN, "(input)", "What a tensor holds, as numbers; else the call is refused."),
    "is_known": (FOREIGN, "(input)", "Whether it is known what a tensor holds."),
    "sizes_of": (FOREIGN, "(input)", "The sizes that a tensor of sizes holds, as a list."),
    "reduced_dims": (FOREIGN, "(input, dims)", "The dimensions that a reduction goes over."),
    "counted": (FOREIGN, "(body)", "A turn of a loop with its number."),
    "goes_on": (FOREIGN, "(limit)", "Whether a turn of a loop is run."),
    "each_turn": (FOREIGN, "(body, go)", "A turn of a loop that gives rows."),
    "unrolled": (FOREIGN, "(body, count, go, carried)", "What a loop carries, and its rows."),
    "result_count": (FOREIGN, "(body)", "How many results a graph has."),
    "fold": (FOREIGN, "(function, start, items)", "The last of calls, each with the one before."),
}


class FunctionText(NamedTuple):
    """A function that snippets call: where it may stand, how it is called, what it gives."""

    name: str
    place: str
    signature: str
    doc: str


PLAIN: Mapping[str, str] = {
    **{name: place for name, (place, _, _) in WORDS.items()},
    **dict.fromkeys(sorted(vocabularies.SHAPE - PYTHON.constants.keys()), EVERYWHERE),
    **dict.fromkeys(sorted(vocabularies.REFERENCE - vocabularies.SHAPE), REFERENCES),
}
"""The functions that stand without a namespace, each with the place of its snippets."""


def _behind(space: str) -> tuple[str, Iterable[str]]:
    """The names behind `np.` and the like, and where they stand; engines load when asked for."""
    if space == "np":
        return REFERENCES, NUMPY - NUMPY_CONSTANTS
    if space == "trt":
        from tripybuild.tensorrt import layers  # noqa: PLC0415

        return LAYER_PLACE, [*layers.LAYERS, *layers.HELPERS]
    if space == "hlo":
        from tripybuild import stablehlo  # noqa: PLC0415

        return BUILDER_PLACE, stablehlo.BUILDERS
    from tripybuild.onnx import dialect  # noqa: PLC0415

    return NODE_PLACE, dialect.builders()


SPACES = ("np", "trt", "hlo", "onnx")


@cache
def function_names() -> Mapping[str, str]:
    """All functions, each with the place of its snippets; `np.` and the like stand before names."""
    found = dict(PLAIN)
    for space in SPACES:
        place, names = _behind(space)
        found |= {f"{space}.{name}": place for name in sorted(names)}
    return found


def is_function(name: str) -> bool:
    """Whether snippets can call a function of this name."""
    space, _, short = name.rpartition(".")
    return short in _behind(space)[1] if space in SPACES else name in PLAIN


def function_text(name: str) -> FunctionText:
    """What is known of a function of snippets."""
    space, _, short = name.rpartition(".")
    place = _behind(space)[0] if space else PLAIN[name]
    if name in WORDS:
        _, signature, doc = WORDS[name]
        return FunctionText(name, place, name + signature, doc)
    described = {"trt": _layer, "onnx": _node}.get(space)
    signature, doc = (described or _python)(short, _find(space, short))
    origin = "StableHLO" if space == "hlo" else "Python"
    return FunctionText(name, place, f"{name}{signature}", doc or f"{origin}'s own `{short}`.")


def _find(space: str, name: str) -> Callable[..., Any] | None:
    """What runs for a name, as far as it is a function of Python."""
    if space == "np":
        import numpy as np  # noqa: PLC0415 - most that is asked for needs none

        return getattr(np, name)  # type: ignore[no-any-return]
    if space == "hlo":
        from tripybuild import stablehlo  # noqa: PLC0415

        return stablehlo.BUILDERS[name]
    if space == "trt":
        from tripybuild.tensorrt import layers  # noqa: PLC0415

        return layers.HELPERS.get(name)
    if space == "onnx":
        from tripybuild.onnx import dialect  # noqa: PLC0415

        return dialect.HELPERS.get(name)
    from tripybuild.types.shapes import SHAPE_FUNCTIONS  # noqa: PLC0415

    for module, names in vocabularies.HELPERS.items():
        if name in names and name not in SHAPE_FUNCTIONS:
            found = import_module(f"tripybuild.reference.numerics.{module}")
            return getattr(found, name)  # type: ignore[no-any-return]
    return SHAPE_FUNCTIONS.get(name) or PYTHON.functions[name]


def _python(_name: str, function: Callable[..., Any] | None) -> tuple[str, str]:
    """The signature of a function without annotations, and the first paragraph of its docstring."""
    try:
        signature = inspect.signature(function) if function is not None else None
    except ValueError:  # one of C's without a text
        signature = None
    doc = inspect.getdoc(function) or ""
    paragraphs = [each for each in doc.split("\n\n") if "(" not in each.partition(" ")[0]]
    return _signature_text(signature), " ".join(next(iter(paragraphs), "").split())


def _signature_text(signature: inspect.Signature | None) -> str:
    if signature is None:
        return "(...)"
    refused = vocabularies.WRITING | vocabularies.TYPING
    kept = [
        each.replace(annotation=each.empty)
        for each in signature.parameters.values()
        if each.kind is not each.VAR_KEYWORD
        and not (each.name in refused and each.default is not each.empty)
    ]
    return str(inspect.Signature(kept))


def _layer(name: str, helper: Callable[..., Any] | None) -> tuple[str, str]:
    """A layer of TensorRT: its arguments, and what they can be."""
    if helper is not None:
        return _python(name, helper)
    from tripybuild.tensorrt import layers  # noqa: PLC0415
    from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED  # noqa: PLC0415

    parameters = [
        f"{each}: {kind.enumeration or kind.name}"
        + ("" if kind.default is REQUIRED else f" = {kind.default!r}")
        for each, kind in layers.LAYERS[name].parameters.items()
    ]
    return f"({', '.join(parameters)})", "A layer of TensorRT."


def _node(name: str, helper: Callable[..., Any] | None) -> tuple[str, str]:
    """An operator of ONNX: inputs, attributes, and the opset that it is of."""
    if helper is not None:
        return _python(name, helper)
    from tripybuild.onnx.table import NEWEST, find_operator  # noqa: PLC0415

    operator = find_operator(name, NEWEST)
    if operator is None:
        return "(...)", "An operator of ONNX Runtime's own."
    return (
        f"({', '.join(_node_parameters(operator))})",
        f"An operator of ONNX, since opset {operator.version}.",
    )


def _node_parameters(operator: Any) -> Iterator[str]:
    for each in operator.inputs:
        yield f"{'*' * each.variadic}{each.name}: {each.type}" + (" = None" * each.optional)
    for name, each in operator.attributes.items():
        yield f"{name}: {each.kind}" + ("" if each.required else f" = {each.default!r}")

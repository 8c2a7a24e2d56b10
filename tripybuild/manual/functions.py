"""The functions of snippets: where each may stand, how it is called and what it gives.

The tables are those that snippets are checked against; texts are the docstrings of what runs.
`explain` and the language server both read them here.
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
    "mapped": (
        FOREIGN,
        "(body, first, others)",
        "The lists that a graph gives for the items of lists.",
    ),
    "each_turn": (FOREIGN, "(body, go)", "A turn of a loop that gives rows."),
    "unrolled": (FOREIGN, "(body, count, go, carried)", "What a loop carries, and its rows."),
    "result_count": (FOREIGN, "(body)", "How many results a graph has."),
    "fold": (FOREIGN, "(function, start, items)", "The last of calls, each with the one before."),
}


class FunctionText(NamedTuple):
    """A function that snippets call.

    Args:
        name: What is called, with its namespace.
        place: The snippets that it may stand in.
        written: What stands between the parentheses of its signature: beside parameters, the marks
            `/` and `*` for those that have no name, or need it.
        parameters: Each parameter as it is written there, with what is known of its values.
        doc: What it does, in one paragraph.
        result: What it gives; empty where that is not known.
        details: More of it, as Markdown.
    """

    name: str
    place: str
    written: str
    parameters: tuple[tuple[str, str], ...]
    doc: str
    result: str = ""
    details: str = ""

    @property
    def signature(self) -> str:
        """The signature on one line."""
        result = f" -> {self.result}" if self.result else ""
        return f"{self.name}({self.written}){result}"


PLAIN: Mapping[str, str] = {
    **{name: place for name, (place, _, _) in WORDS.items()},
    **dict.fromkeys(sorted(vocabularies.SHAPE - PYTHON.constants.keys()), EVERYWHERE),
    **dict.fromkeys(sorted(vocabularies.REFERENCE - vocabularies.SHAPE), REFERENCES),
}
"""The functions that stand without a namespace, each with the place of its snippets."""


SPACES = tuple(vocabularies.NAMESPACES.values())


@cache
def names_behind(space: str) -> Mapping[str, str]:
    """The functions behind `np.` and the like, each with the place of its snippets."""
    place, names = _behind(space)
    return dict.fromkeys(sorted(names), place)


def _behind(space: str) -> tuple[str, Iterable[str]]:
    """Engines load when they are asked for."""
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


@cache
def function_names() -> Mapping[str, str]:
    """All functions, each with the place of its snippets; `np.` and the like stand before names."""
    found = dict(PLAIN)
    for space in SPACES:
        found |= {f"{space}.{name}": place for name, place in names_behind(space).items()}
    return found


def is_function(name: str) -> bool:
    """Whether snippets can call a function of this name."""
    space, _, short = name.rpartition(".")
    return short in names_behind(space) if space in SPACES else name in PLAIN


@cache
def function_text(name: str) -> FunctionText:
    """What is known of a function of snippets."""
    space, _, short = name.rpartition(".")
    place = names_behind(space)[short] if space else PLAIN[name]
    if name in WORDS:
        _, signature, doc = WORDS[name]
        return _declared(name, place, [(each, "") for each in signature[1:-1].split(", ")], doc)
    function = _find(space, short)
    if function is None:
        return _layer(name, place) if space == "trt" else _node(name, place)
    found = _python(name, place, function)
    origin = "StableHLO" if space == "hlo" else "Python"
    return found if found.doc else found._replace(doc=f"{origin}'s own `{short}`.")


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


def _python(name: str, place: str, function: Callable[..., Any]) -> FunctionText:
    """The signature of a function without annotations, and its docstring."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    if "(" in paragraphs[0].partition(" ")[0]:  # a signature, before NumPy's texts
        del paragraphs[0]
    doc = " ".join("".join(paragraphs[:1]).split())
    details = "\n\n".join(paragraphs[1:]).strip()
    try:
        kept = _kept(inspect.signature(function))
    except ValueError:  # one of C's without a text
        return FunctionText(name, place, "...", (), doc, details=details)
    written = str(inspect.Signature(kept))[1:-1]
    given = tuple((str(each), "") for each in kept)
    return FunctionText(name, place, written, given, doc, details=details)


def _kept(signature: inspect.Signature) -> list[inspect.Parameter]:
    """The parameters that a snippet can give."""
    refused = vocabularies.WRITING | vocabularies.TYPING
    return [
        each.replace(annotation=each.empty)
        for each in signature.parameters.values()
        if each.kind is not each.VAR_KEYWORD
        and not (each.name in refused and each.default is not each.empty)
    ]


def _declared(
    name: str, place: str, parameters: Iterable[tuple[str, str]], doc: str
) -> FunctionText:
    """A function whose parameters a table has, with what each can be."""
    given = tuple(parameters)
    return FunctionText(name, place, ", ".join(text for text, _ in given), given, doc)


def _layer(name: str, place: str) -> FunctionText:
    """A layer of TensorRT: its arguments, and what they can be."""
    from tripybuild.tensorrt import layers  # noqa: PLC0415
    from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED  # noqa: PLC0415
    from tripybuild.tensorrt.recorder.enumerations import ENUMERATIONS  # noqa: PLC0415

    parameters = []
    for each, kind in layers.LAYERS[name.partition(".")[2]].parameters.items():
        default = "" if kind.default is REQUIRED else f" = {kind.default!r}"
        members = ENUMERATIONS[kind.enumeration].members if kind.enumeration else ()
        written = f"{each}: {kind.enumeration or kind.name}{default}"
        parameters.append((written, ", ".join(members)))
    return _declared(name, place, parameters, "A layer of TensorRT.")


def _node(name: str, place: str) -> FunctionText:
    """An operator of ONNX: inputs, attributes, and the opset that it is of."""
    from tripybuild.onnx.table import NEWEST, find_operator  # noqa: PLC0415

    operator = find_operator(name.partition(".")[2], NEWEST)
    if operator is None:
        return FunctionText(name, place, "...", (), "An operator of ONNX Runtime's own.")
    allowed = {each: ", ".join(sorted(types)) for each, types in operator.types.items()}
    doc = f"An operator of ONNX, since opset {operator.version}."
    inputs = {each.type for each in operator.inputs}
    others = (f"{each}: {types}" for each, types in allowed.items() if each not in inputs)
    return _declared(name, place, _node_parameters(operator, allowed), doc)._replace(
        result=", ".join(f"{each.name}: {each.type}" for each in operator.outputs),
        details="\n".join(others),
    )


def _node_parameters(operator: Any, allowed: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for each in operator.inputs:
        written = f"{'*' * each.variadic}{each.name}: {each.type}" + (" = None" * each.optional)
        yield written, allowed.get(each.type, "")
    for name, each in operator.attributes.items():
        default = "" if each.required else f" = {each.default!r}"
        yield f"{name}: {each.kind}{default}", ""

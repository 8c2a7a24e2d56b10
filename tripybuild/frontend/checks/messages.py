"""Message formatting: values, and the terms of a violated law."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType

from tripybuild.errors.diagnostics import suggest
from tripybuild.errors.user_frames import PACKAGES
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import SnippetError, parse_expression
from tripybuild.language.names import PLACEHOLDER
from tripybuild.language.records import Record
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.operation import Law, symbol_names
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.vocabulary import SHAPE

PYTHON = "tp"  # what the package is called in programs
# What Python has another name for than specifications.
_PYTHON_NAMES = {"tensor": "Tensor"}
# What other libraries call their dtypes, and the ones to take here.
OTHER_DTYPES = {
    **dict.fromkeys(("int16", "uint16", "int"), "int32"),
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "bool_": "bool",
}
_CODE = re.compile(r"`[^`]*`")
# A name that is called, or a dtype; not an attribute, and not in quotation marks.
_FROM_PACKAGE = re.compile(rf"(?<![\w.\"'])(?:\w+(?=\()|(?:{'|'.join(BY_NAME)})\b(?![\w=]))")
_MOST_ITEMS, _MOST_LETTERS = 12, 160


def format_value(value: object) -> str:
    """A value as a person would write it: shapes with brackets, tensors as their types."""
    if isinstance(value, (list, tuple, range)):
        return f"[{', '.join(_items(value))}]"
    if isinstance(value, slice):
        bounds = [value.start, value.stop, *([] if value.step is None else [value.step])]
        return ":".join("" if bound is None else format_value(bound) for bound in bounds)
    if value is ...:
        return "..."
    number = getattr(getattr(value, "value", value), "number", None)
    if isinstance(number, (bool, int, float)):
        return str(number)
    kind = getattr(value, "type", None)
    text = str(kind) if isinstance(kind, TensorType) else _object_text(value)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}..."


def found_text(value: object) -> str:
    """A value where another one is wanted: what kind it is, where that is not to be seen."""
    kinds: Mapping[type, str] = {Dim: "the size ", Record: "the record "}
    return f"{kinds.get(type(value), '')}{format_value(value)}"


def _object_text(value: object) -> str:
    """What is neither a number nor a tensor of ours: classes, arrays, and all else."""
    if isinstance(value, type) and not isinstance(value, dtype):
        return f"the class {_class_text(value)}"
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        kind = _class_text(type(value))
        noun = "an array" if kind == "numpy.ndarray" else f"a {kind}"
        return f"{noun} of shape {format_value(shape)}"
    if isinstance(value, FunctionType):
        return f"the function {value.__name__}"
    return repr(value) if isinstance(value, (str, bytes)) else " ".join(str(value).split())


def _class_text(kind: type) -> str:
    """The name of a class, behind its package where that is neither ours nor Python's."""
    package = kind.__module__.partition(".")[0]
    own = package in {*PACKAGES, "builtins", "__main__"}
    return kind.__name__ if own else f"{package}.{kind.__name__}"


def _items(values: Sequence[object]) -> Iterator[str]:
    """The items of a list, of a long one only the ends."""
    if len(values) <= _MOST_ITEMS:
        yield from map(format_value, values)
        return
    yield from map(format_value, values[:3])
    yield "..."
    yield format_value(values[-1])


def join_alternatives(allowed: Sequence[object]) -> str:
    """What is allowed, in words: `float32, float16 or bfloat16`."""
    names = list(map(str, allowed))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def nearest_dtype(given: object, names: Iterable[str]) -> str | None:
    """The dtype that is meant by its name, by one that is misspelled, or by another library's.

    Args:
        given: A text, a class of NumPy's or of Python's, a dtype of PyTorch's, or anything else.
        names: What there is.
    """
    known = list(names)
    word = getattr(given, "__name__", None) or str(given).rpartition(".")[2]
    meant = OTHER_DTYPES.get(word, word)
    return meant if meant in known else suggest(word, known)


def number_hint(value: Dim | float, type: dtype | None = None) -> str:
    """How a size or a number becomes a tensor, of a dtype where that is known."""
    what = "size" if isinstance(value, Dim) else "number"
    return f"a {what} becomes a tensor by `number({value}, {type or 'F'})`"


def replace_names(text: str, words: Mapping[str, str], *, alone: bool = True) -> str:
    """A text with other words for some names: `rhs` and `cast(rhs, int32)` for what is rewritten.

    Names stand in backticks; all else is prose. Unless they are to be changed, too, those that
    stand there `alone` keep the name of the parameter.
    """
    if not words:
        return text
    longest = sorted(words, key=len, reverse=True)
    name = re.compile(rf"(?<![\w.])({'|'.join(map(re.escape, longest))})(?![\w=])")

    def rewrite_code(code: re.Match[str]) -> str:
        kept = not alone and code[0].strip("`") in words
        return code[0] if kept else name.sub(lambda found: words[found[1]], code[0])

    return _CODE.sub(rewrite_code, text)


def python_hint(text: str) -> str:
    """A hint with its code as a program writes it: `tp.cast(x, tp.int32)` for `cast(x, int32)`.

    What a hint calls are operators. Code stands in backticks; all else is prose.
    """
    return _CODE.sub(lambda code: _FROM_PACKAGE.sub(_qualified_name, code[0]), text)


def _qualified_name(found: re.Match[str]) -> str:
    return f"{PYTHON}.{_PYTHON_NAMES.get(found[0], found[0])}"


def law_message(
    operator: str, law: Law, names: Mapping[str, object], sizes: Iterable[str] = ()
) -> tuple[str, str]:
    """The sentence of a broken law, and the value of each name in it.

    Args:
        operator: What requires it.
        law: The law.
        names: The values of its names.
        sizes: The sizes of a call; where the law uses such a name for something else, it is told.
    """
    taken = {*sizes, *(symbol for value in names.values() for symbol in symbol_names(value))}
    texts = {name: format_value(value) for name, value in names.items()}
    values = ", ".join(
        f"{name} of {operator} = {text}" if name in taken and text != name else f"{name} = {text}"
        for name, text in texts.items()
    )
    if law.message is None:
        return f"`{operator}` requires `{law.text}`", values
    return PLACEHOLDER.sub(lambda found: _placeholder_value(found[1], names), law.message), values


def _placeholder_value(expression: str, names: Mapping[str, object]) -> str:
    """The value of one expression in braces; what cannot be evaluated stays as it was written."""
    try:
        return format_value(evaluate(parse_expression(expression), names, SHAPE))
    except (SnippetError, EvaluationError):
        return f"{{{expression}}}"

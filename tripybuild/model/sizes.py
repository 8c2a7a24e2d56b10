"""Model sizes: fixed by the file, or symbolic until run time.

Fixed sizes are evaluated in order, and a caller can put others in their place. A name in the shape
of an input that is no fixed size becomes a symbol with the range that `ranges:` gives it.
"""

from collections.abc import Iterable, Iterator, Mapping

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.frontend import Tensor
from tripybuild.model.context import BuildContext, NonterminationError
from tripybuild.model.shape_match import pattern_sizes
from tripybuild.model.size_values import read_sizes
from tripybuild.schema.model.model import Model
from tripybuild.schema.operator.operator import Snippet
from tripybuild.schema.operator.part import Part
from tripybuild.symbolic.dims import RESERVED
from tripybuild.trace.values import LARGEST, TensorType, Value
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import TensorPattern
from tripybuild.types.size_range import SizeRange


def fix_sizes(context: BuildContext, model: Model, overrides: Mapping[str, object]) -> None:
    """Give the fixed sizes their values; what is wrong with them is kept in the context."""
    known = {*model.sizes, *_dimension_names(model), *context.sizes}  # the last is `config`
    for name in overrides:
        if name not in known:
            span = model.document.span(("sizes",) if model.sizes else ())
            message = f"`{model.name}` has no size `{name}`"
            listed = ", ".join(f"`{each}`" for each in sorted(known))
            own = f"it has {listed}" if listed else None
            hint = _hand_over_hint(model, name) or _hint(name, known) or own
            context.found.append(Diagnostic("unknown-size", message, span, hint=hint))
    read_sizes(context, model.document, model.sizes, context.types, context.sizes, overrides)


def _hand_over_hint(model: Model, name: str) -> str | None:
    """How a size is set that only a used file has."""
    for file in model.files:
        if name in file.sizes or name in file.types:
            hand_over = f"declare it here, and hand it over: `with: {{{name}: {name}}}`"
            return f"`{file.name}`, which this file uses, has it; {hand_over}"
    return None


def make_symbols(
    context: BuildContext, model: Model, overrides: Mapping[str, object]
) -> dict[str, SizeRange]:
    """Make a symbol of each dynamic dimension, or the number that the caller chose for it.

    What is wrong is kept in the context.
    """
    dynamic = {name: None for name in _dimension_names(model) if name not in context.sizes}
    ranges = {}
    for name in dynamic:
        try:
            ranges[name] = _range(context, model, name)
            if name in overrides:
                span = model.document.span(("ranges", name))
                ranges.pop(name).check(name, overrides[name], span)
                context.sizes[name] = overrides[name]
        except NonterminationError:
            raise
        except DiagnosticError as error:
            context.report(error)
    for name in model.ranges:
        if name not in dynamic:
            span = model.document.span(("ranges", name), key=True)
            message = f"no input has a dimension `{name}`"
            hint = _hint(name, dynamic)
            context.found.append(Diagnostic("unknown-size", message, span, hint=hint))
    context.dynamic, context.symbols = frozenset(dynamic), frozenset(ranges)
    for name, each in ranges.items():
        context.sizes[name] = each.symbol(name)
    return ranges


def make_inputs(context: BuildContext, entry: Part) -> dict[str, Tensor]:
    """The inputs of an entry as tensors; what is wrong with their shapes is kept in the context."""
    inputs = {}
    for name, pattern in _patterns(entry):
        element = context.types.get(pattern.element) or BY_NAME[pattern.element]
        span = entry.document.span((*entry.location, "inputs", name))
        try:
            shape = pattern_sizes(context, pattern, context.sizes, span)
        except DiagnosticError as error:
            context.report(error)
        else:
            inputs[name] = Tensor.of(Value(TensorType(element, shape), name=name))
    return inputs


def _dimension_names(model: Model) -> list[str]:
    """The names in the shapes of inputs, each once."""
    patterns = (pattern for entry in model.entries.values() for _, pattern in _patterns(entry))
    named = [d.name for pattern in patterns for d in pattern.shape or ()]
    return list(dict.fromkeys(name for name in named if name is not None))


def _patterns(entry: Part) -> Iterator[tuple[str, TensorPattern]]:
    for name, pattern in entry.inputs.items():
        if isinstance(pattern, TensorPattern):
            yield name, pattern


def _spans(model: Model, name: str) -> Iterator[Span]:
    """Where the inputs are that have a dimension of this name."""
    for entry in model.entries.values():
        for each, pattern in _patterns(entry):
            if any(dimension.name == name for dimension in pattern.shape or ()):
                yield model.document.span((*entry.location, "inputs", each))


def _range(context: BuildContext, model: Model, name: str) -> SizeRange:
    """The range of a symbol; `min` is the first multiple and `opt` is `max` where left out."""
    given = model.ranges.get(name, {})
    bounds = {key: _evaluate_limit(context, name, key, snippet) for key, snippet in given.items()}
    span = model.document.span(("ranges", name))
    if name in RESERVED:
        span = next(_spans(model, name))
        message = f"`{name}` cannot be the name of a size: it is a function of sizes"
        raise DiagnosticError(Diagnostic("bad-name", message, span))
    step, limit = bounds.get("multiple_of", 1), bounds.get("max")
    first = bounds.get("min", step)
    found = SizeRange(first, bounds.get("opt", first if limit is None else limit), limit, step)
    if text := found.problem(name):
        raise DiagnosticError(Diagnostic("bad-range", text, span))
    return found


def _evaluate_limit(context: BuildContext, name: str, key: str, snippet: Snippet) -> int:
    with context.at(snippet, name):
        value = context.evaluate(snippet, context.sizes)
    if isinstance(value, int) and not isinstance(value, bool):
        if value <= LARGEST:
            return value
        message = f"`{key}` of `{name}` must be at most {LARGEST}, but is {value}"
        raise DiagnosticError(Diagnostic("bad-range", message, snippet.span()))
    message = f"`{key}` of `{name}` must be an integer, but is {value!r}"
    hint = "`//` divides integers" if isinstance(value, float) else None
    raise DiagnosticError(Diagnostic("bad-range", message, snippet.span(), hint=hint))


def _hint(name: str, known: Iterable[str]) -> str | None:
    near = suggest(name, known)
    return f"did you mean `{near}`?" if near else None

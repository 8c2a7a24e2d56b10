"""Consistency checks between the parts of a declaration, and between declarations."""

import keyword
from collections.abc import Container, Iterator, Mapping, Sequence

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.names import called_names, free_names
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.operator.samples import free_sizes, static_size_name
from tripybuild.schema.snippets.snippet_scope import choice_words, shape_names
from tripybuild.schema.snippets.vocabularies import CONSTANTS
from tripybuild.targets.table import TARGETS, exception_names
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.naming import LAYERS, RESERVED, SPOKEN, class_name
from tripybuild.types.patterns import (
    LikePattern,
    Pattern,
    TensorPattern,
    TensorsPattern,
    options,
    tensors,
)
from tripybuild.types.vocabulary import SHAPE

LONGEST_SUMMARY = 88
# The forms that an operator must have, be refused in, or decompose for, and the keys that say each.
ENGINES = {
    "reference": "`reference`",
    "stablehlo": "`lower.stablehlo`",
    "tensorrt": "`lower.tensorrt`",
    "onnx": "`lower.onnx`, an alias `onnx`",
}


def check_operator(operator: Operator) -> Iterator[Diagnostic]:
    """All laws between the parts of one declaration."""
    try:
        free_sizes(operator)
    except DiagnosticError as error:
        yield from error.diagnostics
        return
    yield from _summary(operator)
    yield from _engines(operator)
    yield from _targets(operator)
    yield from _static(operator)
    yield from _check_names(operator)
    yield from _tensors(operator)
    yield from _defaults(operator)
    yield from _examples(operator)


def check_name(document: Document, kind: str, name: str) -> Iterator[Diagnostic]:
    """What is declared stands in a package beside its layers."""
    problem = None
    if name in LAYERS:
        problem = "every generated package has a part of that name"
    elif keyword.iskeyword(class_name(name)) or keyword.iskeyword(name.lower()):
        problem = "its class or its file would be called as a keyword of Python"
    if problem is not None:
        message = f"nothing can be called `{name}`: {problem}"
        yield Diagnostic("bad-name", message, document.span((kind,)))


def check_registry(operators: Mapping[str, Operator]) -> Iterator[Diagnostic]:
    """All laws between declarations."""
    methods: dict[str, str] = {}
    used = {name: uses(operator, operators) for name, operator in operators.items()}
    for operator in operators.values():
        if way := cycle(operator.name, used):
            yield Diagnostic(
                "cyclic-decomposition",
                f"`{operator.name}` decomposes into itself",
                operator.document.span(("decompose",)),
                label=" -> ".join(way),
            )
        for method in tensor_methods(operator):
            if method in methods:
                span = operator.document.span(("aliases",))
                message = f"`{methods[method]}` is the Tensor method `{method}` already"
                yield Diagnostic("declared-twice", message, span)
            methods[method] = operator.name


def _summary(operator: Operator) -> Iterator[Diagnostic]:
    """The first paragraph is the summary of a docstring: one line."""
    summary = " ".join(operator.doc.split("\n\n")[0].split())
    if len(summary) > LONGEST_SUMMARY or not summary.endswith("."):
        yield Diagnostic(
            "doc-summary",
            f"`doc` must begin with one sentence of at most {LONGEST_SUMMARY} characters, "
            "ended by a full stop",
            operator.document.span(("doc",)),
            label=f"{len(summary)} characters",
            hint="put the rest into a second paragraph, behind an empty line",
        )


def tensor_methods(operator: Operator) -> tuple[str, ...]:
    """The Tensor methods that call the operator."""
    tensor = operator.aliases.tensor
    names = [tensor] if isinstance(tensor, str) else tensor or []
    return (*names, *([operator.aliases.reflected] if operator.aliases.reflected else []))


def costs(operator: Operator) -> dict[str, str]:
    """What a call costs, in words where the declaration leaves it to the rule."""
    through = operator.decompose is not None
    usual = {
        "flops": "those of the composition" if through else "one for each element of the results",
        "bytes": "those of its inputs and outputs",
    }
    said = {name: f"`{' '.join(s.text.split())}`" for name, s in operator.cost.items()}
    return {**usual, **said}


def uses(operator: Operator, operators: Container[str]) -> tuple[str, ...]:
    """The operators that the decomposition calls."""
    if operator.decompose is None:
        return ()
    return tuple(name for name in called_names(operator.decompose.program) if name in operators)


def reason(operator: Operator, engine: str) -> str | None:
    """Why an engine never takes the operator, as the declaration says, or None."""
    facts = operator.targets.get(engine)
    entries = facts.refuses.values() if facts is not None else ()
    return next((each.why for each in entries if each.when.text == "True"), None)


def _engines(operator: Operator) -> Iterator[Diagnostic]:
    span = operator.document.span(("op",))
    if operator.inline and operator.decompose is None:
        yield Diagnostic("no-decompose", "an `inline` operator needs a `decompose`", span)
    for engine, keys in ENGINES.items():
        if (
            own_snippet(operator, engine) is None
            and operator.decompose is None
            and reason(operator, engine) is None
        ):
            yield Diagnostic(
                "unreachable-target",
                f"`{operator.name}` has no lowering for `{engine}`",
                span,
                hint=f"add {keys} or `decompose`, or a reason to `targets.{engine}.refuses`",
            )


def own_snippet(operator: Operator, engine: str) -> str | None:
    """What an operator says for an engine of its own: its reference, a lowering, or an alias."""
    own = operator.reference if engine == "reference" else operator.lower.get(engine)
    if own is not None:
        return own.text
    return next((alias.text for alias in operator.foreign if alias.system == engine), None)


def _targets(operator: Operator) -> Iterator[Diagnostic]:
    known = dict.fromkeys(each for name in TARGETS for each in exception_names(name))
    for target in operator.targets:
        if target not in known:
            near = suggest(target, known)
            yield Diagnostic(
                "unknown-target",
                f"`{target}` is not a target",
                operator.document.span(("targets", target), key=True),
                hint=f"did you mean `{near}`?" if near else f"the targets are {', '.join(known)}",
            )


def _static(operator: Operator) -> Iterator[Diagnostic]:
    """What must be a number is a size that the sample gives."""
    known = free_sizes(operator)
    for target, facts in operator.targets.items():
        for at, entry in enumerate(facts.static):
            span = operator.document.span(("targets", target, "static", at))
            name = static_size_name(entry)
            if name is None:
                message = f"`{entry}` is not a size: `C`, `K` and `S[dim]` are"
                yield Diagnostic("wrong-value", message, span)
            elif name not in known:
                near = suggest(name, known)
                yield Diagnostic(
                    "unbound-name",
                    f"the sample of `{operator.name}` has no size `{name}`",
                    span,
                    hint=f"did you mean `{near}`?" if near else None,
                )


def _check_names(operator: Operator) -> Iterator[Diagnostic]:
    """Names become variables of generated functions and fields of an operation, which have some."""
    groups = {
        "types": operator.types,
        "inputs": operator.inputs,
        "attributes": operator.attributes,
        "infer": operator.infer,
    }
    for key, names in groups.items():
        for name in names:
            if (problem := _name_conflict(operator, key, name)) is not None:
                span = operator.document.span((key, name), key=True)
                yield Diagnostic("bad-name", problem, span)
    for name, input in operator.inputs.items():
        for size in sorted(SPOKEN & set(shape_names(input.pattern))):
            span = operator.document.span(("inputs", name, "type"))
            yield Diagnostic("bad-name", _shadow_message(size), span)


def _name_conflict(operator: Operator, key: str, name: str) -> str | None:
    """Why no name of a part of the declaration can be this one, or None."""
    if name in SPOKEN:
        return _shadow_message(name)
    if key not in ("inputs", "attributes"):
        return None
    if name in RESERVED and not operator.inline:
        return f"no argument can be called `{name}`: every operation has that"
    if name in operator.types:
        return f"no argument can be called `{name}`: a type variable is"
    if key == "attributes" and name in operator.inputs:
        return f"no attribute can be called `{name}`: an input is"
    return None


def _shadow_message(name: str) -> str:
    return f"nothing can be called `{name}`: generated functions have that"


def _tensors(operator: Operator) -> Iterator[Diagnostic]:
    """Inputs and outputs must be tensors; output shapes must be declared."""
    for name, input in operator.inputs.items():
        if next(tensors(input.pattern), None) is None:
            message = f"`{name}` is an input, but `{input.pattern}` is not a tensor"
            span = operator.document.span(("inputs", name, "type"))
            hint = "a Python value stands under `attributes:`"
            yield Diagnostic("type-syntax", message, span, hint=hint)
    for name, output in operator.outputs.items():
        if not _says_shapes(options(output.pattern)[-1]):
            message = (
                f"`{name}` is an output, but `{output.pattern}` is not a tensor of a known shape"
            )
            span = operator.document.span(("outputs", name, "type"))
            hint = "write `T[*S]`, `list[T[*S]]` or `like(input)`"
            yield Diagnostic("type-syntax", message, span, hint=hint)
    if not operator.outputs:
        message = f"`{operator.name}` has no `outputs:`"
        yield Diagnostic("missing-key", message, operator.document.span(("op",)))


def _defaults(operator: Operator) -> Iterator[Diagnostic]:
    """A default that reads no argument stands in a signature: it has a value, whatever is given."""
    known: dict[str, object] = {**BY_NAME, **{word: word for word in choice_words(operator)}}
    for attribute in operator.attributes.values():
        snippet = attribute.default
        if snippet is not None and {*known, *CONSTANTS}.issuperset(free_names(snippet.program)):
            try:
                evaluate(snippet.program, known, SHAPE)
            except EvaluationError as error:
                span = snippet.span(error.node)
                yield Diagnostic(error.code, error.message, span)


def _says_shapes(pattern: Pattern) -> bool:
    """Whether a type is one of tensors whose shapes it says."""
    match pattern:
        case LikePattern():
            return True
        case TensorPattern(shape=shape):
            return shape is not None
        case TensorsPattern(each=TensorPattern(shape=shape)):
            return bool(shape)
    return False


def failures(operator: Operator) -> frozenset[str]:
    """What an example can fail with: a law, an argument, or a type variable."""
    return frozenset(
        {*operator.laws, *operator.inputs, *operator.attributes, *operator.types, *operator.outputs}
    )


def _examples(operator: Operator) -> Iterator[Diagnostic]:
    known = failures(operator)
    for example in operator.examples:
        if example.fails is not None and example.fails not in known:
            near = suggest(example.fails, known)
            yield Diagnostic(
                "unknown-law",
                f"`{operator.name}` has no law `{example.fails}`",
                example.call.document.span((*example.call.location[:-1], "fails")),
                hint=f"did you mean `{near}`?" if near else None,
            )


def cycle(start: str, used: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The way from an operator back to itself, along what decompositions use; empty if none."""
    stack: list[tuple[str, tuple[str, ...]]] = [(start, ())]
    seen: set[str] = set()
    while stack:
        name, way = stack.pop()
        if name == start and way:
            return (*way, name)
        if name not in seen:
            seen.add(name)
            stack += [(each, (*way, name)) for each in used[name]]
    return ()

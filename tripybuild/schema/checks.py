"""The laws between the parts of a declaration, and between declarations."""

from collections.abc import Container, Iterator, Mapping, Sequence

from tripybuild.diagnostics import Diagnostic, suggest
from tripybuild.language.names import calls
from tripybuild.schema.operator import Operator
from tripybuild.schema.samples import free_sizes, sized_by
from tripybuild.schema.vocabularies import TARGETS
from tripybuild.source import Document
from tripybuild.types.naming import LAYERS, RESERVED

LONGEST_SUMMARY = 88
# The three engines that an operator must reach, be refused by, or decompose for.
ENGINES = ("reference", "stablehlo", "tensorrt")


def check_operator(operator: Operator) -> Iterator[Diagnostic]:
    """All laws between the parts of one declaration."""
    yield from _summary(operator)
    yield from _engines(operator)
    yield from _targets(operator)
    yield from _static(operator)
    yield from _reserved(operator)
    yield from _examples(operator)


def check_name(document: Document, kind: str, name: str) -> Iterator[Diagnostic]:
    """What is declared stands in a package beside its layers."""
    if name in LAYERS:
        message = f"nothing can be called `{name}`: every generated package has a part of that name"
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
    return {name: said.get(name, words) for name, words in usual.items()}


def uses(operator: Operator, operators: Container[str]) -> tuple[str, ...]:
    """The operators that the decomposition calls."""
    if operator.decompose is None:
        return ()
    return tuple(name for name in calls(operator.decompose.program) if name in operators)


def reason(operator: Operator, engine: str) -> str | None:
    """Why an engine never takes the operator, as the declaration says, or None."""
    facts = operator.targets.get(engine)
    entries = facts.refuses.values() if facts is not None else ()
    return next((each.why for each in entries if each.when.text == "True"), None)


def _engines(operator: Operator) -> Iterator[Diagnostic]:
    span = operator.document.span(("op",))
    if operator.inline and operator.decompose is None:
        yield Diagnostic("no-decompose", "an `inline` operator needs a `decompose`", span)
    for engine in ENGINES:
        direct = operator.reference if engine == "reference" else operator.lower.get(engine)
        if direct is None and operator.decompose is None and reason(operator, engine) is None:
            key = "reference" if engine == "reference" else f"lower.{engine}"
            yield Diagnostic(
                "unreachable-target",
                f"`{operator.name}` has no way to `{engine}`",
                span,
                hint=f"give `{key}` or `decompose`, or say under `targets.{engine}.refuses` why it "
                "is refused",
            )


def _targets(operator: Operator) -> Iterator[Diagnostic]:
    for target in operator.targets:
        if target not in TARGETS:
            near = suggest(target, TARGETS)
            yield Diagnostic(
                "unknown-target",
                f"`{target}` is no target",
                operator.document.span(("targets", target), key=True),
                hint=f"did you mean `{near}`?" if near else f"the targets are {', '.join(TARGETS)}",
            )


def _static(operator: Operator) -> Iterator[Diagnostic]:
    """What must be a number is a size that the sample gives."""
    known = free_sizes(operator)
    for target, facts in operator.targets.items():
        for at, entry in enumerate(facts.static):
            span = operator.document.span(("targets", target, "static", at))
            name = sized_by(entry)
            if name is None:
                message = f"`{entry}` is no size: `C`, `K` and `S[dim]` are"
                yield Diagnostic("wrong-value", message, span)
            elif name not in known:
                near = suggest(name, known)
                yield Diagnostic(
                    "unbound-name",
                    f"the sample of `{operator.name}` gives no size `{name}`",
                    span,
                    hint=f"did you mean `{near}`?" if near else None,
                )


def _reserved(operator: Operator) -> Iterator[Diagnostic]:
    """Arguments become fields of an operation, which has names of its own."""
    for key, names in (("inputs", operator.inputs), ("attributes", operator.attributes)):
        for name in names:
            if name in RESERVED and not operator.inline:
                message = f"no argument can be called `{name}`: every operation has that"
                span = operator.document.span((key, name), key=True)
                yield Diagnostic("bad-name", message, span)


def failures(operator: Operator) -> frozenset[str]:
    """What an example can fail with: a law, an argument, or a type variable."""
    return frozenset(
        {*operator.laws, *operator.inputs, *operator.attributes, *operator.types, *operator.outputs}
    )


def _examples(operator: Operator) -> Iterator[Diagnostic]:
    known = failures(operator)
    for index, example in enumerate(operator.examples):
        if example.fails is not None and example.fails not in known:
            near = suggest(example.fails, known)
            yield Diagnostic(
                "unknown-law",
                f"`{operator.name}` has no law `{example.fails}`",
                operator.document.span(("examples", index, "fails")),
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

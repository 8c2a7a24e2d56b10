"""Composition check: every call of an operator or a builder in a snippet is valid.

Lowerings, decompositions, the steps of modules, and examples are read. A call of an operator is
held against its declaration where that was read, too; others are kept as data
(`codegen.snippets.call_check`).
"""

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripybuild import stablehlo
from tripybuild.codegen.modules.module_forward import follow_step, tensors_of
from tripybuild.codegen.operators.arguments import SignatureParameter, parameters
from tripybuild.codegen.operators.operator_calls import infer_kinds, input_kinds
from tripybuild.codegen.operators.signatures import ways
from tripybuild.codegen.python.file_text import Imports
from tripybuild.codegen.snippets.call_check import (
    ANY,
    ONE,
    REGION,
    SEVERAL,
    VALUE,
    Accepted,
    CallRecord,
    find_mismatch,
    usage_hint,
)
from tripybuild.codegen.snippets.kind_inference import TENSOR_OF, KindInference, OperatorCall
from tripybuild.codegen.snippets.value_kinds import OTHER, TENSOR, ValueKind
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.language.names import free_names
from tripybuild.language.syntax import walk
from tripybuild.onnx import dialect as onnx
from tripybuild.schema.load import Registry
from tripybuild.schema.model.model import load_module
from tripybuild.schema.operator.operator import Attribute, Operator, Snippet
from tripybuild.schema.operator.part import Part
from tripybuild.schema.snippets.vocabularies import ALIASES, DTYPES, SHAPE
from tripybuild.tensorrt import layers
from tripybuild.types.patterns import (
    RegionPattern,
    TensorPattern,
    TensorsPattern,
    ValuePattern,
    options,
)


def check_snippets(registry: Registry, names: Collection[str]) -> list[Diagnostic]:
    """A diagnostic for each call of a builder or an operator that none would take."""
    return [*check_builders(registry), *check_compositions(registry, names)]


def check_compositions(registry: Registry, names: Collection[str]) -> list[Diagnostic]:
    """A diagnostic for each call of an operator that would fail wherever it is run.

    Args:
        registry: What was read.
        names: The names of all operators, also of those that were not read.
    """
    accepted: dict[str, list[list[str]]] = {}
    for operator in registry.operators.values():
        accepted |= call_forms(operator)
    found: list[Diagnostic] = []
    for operator in registry.operators.values():
        for snippet, tensors in _decomposition_kinds(operator, names):
            found += _diagnostics(snippet, tensors, accepted)
        found += _shortcut(operator, names)
        found += _examples(operator, names, accepted)
    for module in registry.modules.values():
        part, problems = load_module(module.document, module.file)
        for snippet, tensors in [] if problems else _steps(part, names):
            found += _diagnostics(snippet, tensors, accepted)
    return found


def call_forms(operator: Operator) -> dict[str, list[list[str]]]:
    """The ways to call an operator, as `arguments_proof` reads them, by its name."""
    chosen = parameters(operator, Imports())
    several = ways(operator, chosen) if len(operator.signatures) > 1 else [chosen]
    return {operator.name: [[_parameter_text(each) for each in way] for way in several]}


def decomposition_calls(operator: Operator, names: Collection[str]) -> list[CallRecord]:
    """The calls in an operator's decomposition."""
    return [
        call_record(call)
        for _, tensors in _decomposition_kinds(operator, names)
        for call in tensors.calls
    ]


def step_calls(part: Part, names: Collection[str]) -> list[CallRecord]:
    """The calls in a module's steps."""
    return [call_record(call) for _, tensors in _steps(part, names) for call in tensors.calls]


def call_record(call: OperatorCall) -> CallRecord:
    """A call as it is held against a declaration."""
    named = {name: _letter(kind) for name, kind in call.named.items()}
    return CallRecord(call.name, "".join(map(_letter, call.given)), named, call.starred)


def _letter(kind: ValueKind) -> str:
    if kind.is_list:
        return SEVERAL
    if kind.function is not None:
        return REGION
    return {TENSOR: ONE, OTHER: VALUE}.get(kind, ANY)


def _parameter_text(parameter: SignatureParameter) -> str:
    """`input:t`, `dim:p?`, `**fields`: a parameter as text."""
    if parameter.keywords:
        return f"**{parameter.name}"
    forms = options(parameter.argument.pattern)
    takes = ANY
    if isinstance(parameter.argument, Attribute):
        takes = ANY if any(map(_is_size, forms)) else VALUE
        takes = REGION if any(isinstance(each, RegionPattern) for each in forms) else takes
    elif all(isinstance(form, TensorPattern) for form in forms):
        takes = ONE
    elif all(isinstance(form, TensorsPattern) for form in forms):
        takes = SEVERAL
    return f"{parameter.name}:{takes}{'' if parameter.default is None else '?'}"


def _is_size(form: object) -> bool:
    """Whether a tensor that is a size may be given."""
    return isinstance(form, ValuePattern) and form.kind == "size"


def _decomposition_kinds(
    operator: Operator, names: Collection[str]
) -> Iterator[tuple[Snippet, KindInference]]:
    if operator.decompose is not None:
        yield operator.decompose, infer_kinds(operator, names)


def _steps(part: Part, names: Collection[str]) -> Iterator[tuple[Snippet, KindInference]]:
    """Each step with what is known there, and with its own calls and faults alone."""
    tensors = tensors_of(part, names)
    for step in (*part.steps, *part.outputs):
        tensors.faults, tensors.calls = [], []
        follow_step(tensors, step)
        yield step.value, tensors


def _diagnostics(
    snippet: Snippet, tensors: KindInference, accepted: Accepted
) -> Iterator[Diagnostic]:
    for fault in tensors.faults:
        yield Diagnostic(fault.code, fault.message, snippet.span(fault.node), hint=fault.hint)
    for call in tensors.calls:
        yield from _mismatch_diagnostic(snippet, call.node, call_record(call), accepted)


def _mismatch_diagnostic(
    snippet: Snippet, node: ast.Call, call: CallRecord, accepted: Accepted
) -> Iterator[Diagnostic]:
    known = accepted.get(call.name)
    found = find_mismatch(call, known) if known is not None else None
    if known is None or found is None:
        return
    place: ast.expr = node
    if isinstance(found.argument, int) and found.argument < len(node.args):
        place = node.args[found.argument]
    elif isinstance(found.argument, str):
        place = next((k.value for k in node.keywords if k.arg == found.argument), node)
    hint = usage_hint(call.name, known)
    yield Diagnostic("operator-arguments", found.message, snippet.span(place), hint=hint)


def _shortcut(operator: Operator, names: Collection[str]) -> Iterator[Diagnostic]:
    """A shortcut gives an input as it is, or None: it decides before anything is recorded."""
    if operator.shortcut is None:
        return
    tensors = KindInference(input_kinds(operator), names)
    tensors.follow(operator.shortcut.program)
    yield from _diagnostics(operator.shortcut, tensors, {})
    for call in tensors.calls:
        message = f"a shortcut records nothing, and `{call.name}` would be recorded"
        hint = "it returns an input unchanged, or None; computation belongs into `decompose`"
        span = operator.shortcut.span(call.node)
        yield Diagnostic("operator-arguments", message, span, hint=hint)


def _examples(
    operator: Operator, names: Collection[str], accepted: Accepted
) -> Iterator[Diagnostic]:
    """Examples call operators by name, also those that share it with a function."""
    for example in operator.examples:
        snippet = example.call
        for node in walk(snippet.result):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            starred = any(isinstance(argument, ast.Starred) for argument in node.args)
            named = {word.arg: ANY for word in node.keywords if word.arg}
            call = CallRecord(node.func.id, ANY * len(node.args), named, starred)
            if call.name in names:
                yield from _mismatch_diagnostic(snippet, node, call, accepted)
        own = operator.inputs if operator.regions() else ()  # what regions are given
        yield from _unbound(snippet, names, [*example.sizes, *own])


def _unbound(snippet: Snippet, names: Collection[str], more: Iterable[str]) -> Iterator[Diagnostic]:
    known = {*SHAPE, *DTYPES, *more, TENSOR_OF}
    for name in free_names(snippet.program):
        if name not in known and name not in names:
            nodes = walk(snippet.result)
            first = next(n for n in nodes if isinstance(n, ast.Name) and n.id == name)
            near = suggest(name, {*known, *names})
            hint = f"did you mean `{near}`?" if near else None
            message = f"an example uses `{name}`"
            label = "nothing binds this name"
            yield Diagnostic("unbound-name", message, snippet.span(first), label, hint=hint)


Literals = Mapping[int | str, object]


@dataclass(frozen=True, slots=True)
class BuilderVocabulary:
    """The builders of a dialect by name, and what says what is wrong with a call."""

    names: Collection[str]
    check: Callable[[str, int | None, Sequence[str], Literals], str | None]


VOCABULARIES = {
    "tensorrt": BuilderVocabulary(
        layers.LAYERS.keys() | layers.HELPERS.keys() | {"Value"}, layers.check_call
    ),
    "stablehlo": BuilderVocabulary(
        stablehlo.BUILDERS,
        lambda name, count, keywords, _: stablehlo.check_call(name, count, keywords),
    ),
    "onnx": BuilderVocabulary(onnx.builders() | {"Value"}, onnx.check_call),
}


def check_builders(registry: Registry) -> list[Diagnostic]:
    """A diagnostic for each call of a lowering whose name or arguments its builder would refuse."""
    return [
        diagnostic
        for operator in registry.operators.values()
        for target, snippet in operator.lower.items()
        for diagnostic in _calls(target, snippet)
    ]


def _calls(target: str, snippet: Snippet) -> Iterator[Diagnostic]:
    alias = ALIASES[target]
    roots = [*(step.value for step in snippet.program.assignments), snippet.program.result]
    called = set()
    for node in (n for root in roots for n in walk(root)):
        if isinstance(node, ast.Call) and _is_builder(node.func, alias):
            called.add(node.func)
            yield from _call(target, snippet, node)
        elif isinstance(node, ast.Attribute) and _is_builder(node, alias) and node not in called:
            yield from _name(target, snippet, node)


def _is_builder(node: ast.expr, alias: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == alias
    )


def _call(target: str, snippet: Snippet, node: ast.Call) -> Iterator[Diagnostic]:
    assert isinstance(node.func, ast.Attribute)
    name = node.func.attr
    starred = any(isinstance(argument, ast.Starred) for argument in node.args)
    count = None if starred else len(node.args)
    keywords = [keyword.arg for keyword in node.keywords if keyword.arg]
    known = VOCABULARIES[target]
    problem = known.check(name, count, keywords, _literals(node, starred=starred))
    if problem is not None:
        near = None if name in known.names else suggest(name, known.names)
        hint = f"did you mean `{ALIASES[target]}.{near}`?" if near else None
        yield Diagnostic("unknown-builder", problem, snippet.span(node), hint=hint)


def _literals(node: ast.Call, *, starred: bool) -> dict[int | str, object]:
    found: dict[int | str, object] = {}
    if not starred:
        found.update((i, a.value) for i, a in enumerate(node.args) if isinstance(a, ast.Constant))
    found.update(
        (k.arg, k.value.value) for k in node.keywords if k.arg and isinstance(k.value, ast.Constant)
    )
    return found


def _name(target: str, snippet: Snippet, node: ast.Attribute) -> Iterator[Diagnostic]:
    """A builder that is handed on instead of being called."""
    known = VOCABULARIES[target].names
    if node.attr not in known:
        near = suggest(node.attr, known)
        alias = ALIASES[target]
        hint = f"did you mean `{alias}.{near}`?" if near else None
        yield Diagnostic(
            "unknown-builder", f"there is no `{alias}.{node.attr}`", snippet.span(node), hint=hint
        )

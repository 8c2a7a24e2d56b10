"""Report of what could not be imported: a diagnostic for each operator, with its places."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import first_problems
from tripybuild.importer.foreign_program import ForeignNode, ForeignProgram, ForeignValue
from tripybuild.importer.translation.nodes import Failure, place_span
from tripybuild.importer.translation.types import are_integers
from tripybuild.schema.foreign import TITLES, signatures

# How a person finds out whether the source or the reading of it is wrong.
_VALID = {"onnx": "if `onnx.checker.check_model(model, full_check=True)` takes the file, "}
_REPORT = "report these lines, or say this in a registry of your own"
PLACES_SHOWN, REASONS_SHOWN = 3, 6


class UnreadProgramError(DiagnosticError):
    """A program could not be said: for each operator a diagnostic, of which `failures` are all."""

    def __init__(
        self, program: ForeignProgram, failures: Sequence[Failure], found: Iterable[Diagnostic]
    ) -> None:
        super().__init__(*found)
        self.program, self.failures = program, failures

    @property
    def operators(self) -> frozenset[str]:
        """The operators of the source whose calls could not be said."""
        return frozenset(each.node.operator for each in self.failures)


def failure_report(program: ForeignProgram, failures: Sequence[Failure]) -> UnreadProgramError:
    """All that could not be said, by operator; the most frequent comes first."""
    groups: dict[tuple[str, bool], list[Failure]] = {}
    for each in failures:
        groups.setdefault((_full_name(each.node), each.disagrees), []).append(each)
    ordered = sorted(groups.values(), key=lambda each: (-len(each), _full_name(each[0].node)))
    found = first_problems(_diagnostic(program, each) for each in ordered)
    return UnreadProgramError(program, failures, found)


def _diagnostic(program: ForeignProgram, failures: Sequence[Failure]) -> Diagnostic:
    """The problem with calls of one operator."""
    first, count = failures[0].node, len(failures)
    title = f"{TITLES[program.system]}'s `{_full_name(first)}`"
    calls = f"this call of {title}" if count == 1 else f"{count} calls of {title}"
    reasons = [*_frequent(reason for each in failures for reason in each.reasons)]
    code, hint = "import-unread", _hint(program, first)
    if failures[0].disagrees:
        code, message = "import-disagreement", f"{calls} would be read as another type"
        hint = _VALID.get(program.system, "no fault of the model: ") + _REPORT
    elif reasons:
        message = f"no operator says {calls}"
        hint = _call_hint(program, first)
    else:
        times = "" if count == 1 else f", which the model calls {count} times"
        message = f"no operator is {title}{times}"
    notes = (*reasons, *_places([each.node for each in failures]))
    span = place_span(first) if first.place.file else None
    return Diagnostic(code, message, span, notes=notes, hint=hint)


def _full_name(node: ForeignNode) -> str:
    return f"{node.domain}.{node.operator}" if node.domain else node.operator


def _hint(program: ForeignProgram, node: ForeignNode) -> str:
    """What would have to stand in a registry."""
    system, name = program.system, node.operator
    signature = signatures(system, program.opset).get(name)
    if node.domain or signature is None:
        title = TITLES[system]
        return f"it is none of {title}'s own operators; export the model without it"
    return f"declare an operator with `aliases: {{{system}: {name}}}`; there, it is `{signature}`"


def _call_hint(program: ForeignProgram, node: ForeignNode) -> str:
    """What helps where an operator is known, and no reading says this call of it."""
    given = (each for value in node.arguments.values() for each in _flat(value))
    if any(isinstance(each, ForeignValue) and each.unsupported for each in given):
        return "a spec has no such dtype: make it another one in the model, and cast it behind that"
    return _constant_hint(program, node) or (
        f"{_VALID.get(program.system, '')}declare an alias or a composition that says it, "
        f"for `{program.system}`"
    )


def _flat(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]


def _constant_hint(program: ForeignProgram, node: ForeignNode) -> str:
    """What binds an input of ONNX that a node wants to know; nothing where it reads none."""
    for each in node.arguments.values() if program.system == "onnx" else ():
        is_input = isinstance(each, ForeignValue) and each in program.graph.inputs
        if is_input and each.type and each.type.rank <= 1 and are_integers(each.type.dtype):
            name = program.input_names.get(each.name, each.name)
            return f"if `{name}` never changes, `--constant {name}=FILE` binds it to an array"
    return ""


def _frequent(reasons: Iterable[str]) -> Iterator[str]:
    counts = Counter(reasons)
    for reason, _ in counts.most_common(REASONS_SHOWN):
        yield reason
    if len(counts) > REASONS_SHOWN:
        yield f"{len(counts) - REASONS_SHOWN} further reasons"


def _places(nodes: Sequence[ForeignNode]) -> Iterator[str]:
    """Where nodes stand: the module's path, and the line."""
    places = dict.fromkeys(map(_place, nodes))
    for place in [*places][:PLACES_SHOWN]:
        yield f"at {place}"
    if len(places) > PLACES_SHOWN:
        yield f"at {len(places) - PLACES_SHOWN} further places"


def _place(node: ForeignNode) -> str:
    module = node.modules[-1] if node.modules else None
    within = f" in `{module.path}` ({module.class_name})" if module and module.path else ""
    return f"{node.place}{within}"

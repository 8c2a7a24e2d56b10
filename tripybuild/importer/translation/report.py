"""Report of what could not be imported: a diagnostic for each operator, with its places."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.foreign_program import ForeignNode, ForeignProgram
from tripybuild.importer.translation.nodes import Failure, place_span
from tripybuild.schema.foreign import TITLES, signatures

PLACES_SHOWN, REASONS_SHOWN = 3, 6


class UnreadProgramError(DiagnosticError):
    """A program could not be said: for each operator a diagnostic, of which `failures` are all."""

    def __init__(
        self, program: ForeignProgram, failures: Sequence[Failure], found: Iterable[Diagnostic]
    ) -> None:
        super().__init__(*found)
        self.program, self.failures = program, failures


def failure_report(program: ForeignProgram, failures: Sequence[Failure]) -> UnreadProgramError:
    """All that could not be said, by operator; the most frequent comes first."""
    groups: dict[str, list[Failure]] = {}
    for each in failures:
        groups.setdefault(each.node.operator, []).append(each)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    found = (_diagnostic(program, name, each) for name, each in ordered)
    return UnreadProgramError(program, failures, found)


def _diagnostic(program: ForeignProgram, name: str, failures: Sequence[Failure]) -> Diagnostic:
    count = len(failures)
    first = failures[0].node
    title = f"{TITLES[program.system]}'s `{_full_name(first)}`"
    times = "" if count == 1 else f", which the model calls {count} times"
    reasons = [*_frequent(reason for each in failures for reason in each.reasons)]
    if reasons:
        message = f"no operator says this call of {title}{times}"
        if count > 1:
            message = f"no operator says {count} calls of {title}"
        hint = f"declare an alias or a composition for it below `foreign: {program.system}`"
    else:
        message = f"no operator is {title}{times}"
        hint = f"declare it: {_declaration(program, name)}"
    notes = (*reasons, *_places([each.node for each in failures]))
    return Diagnostic("import-unread", message, place_span(first), notes=notes, hint=hint)


def _full_name(node: ForeignNode) -> str:
    return f"{node.domain}.{node.operator}" if node.domain else node.operator


def _declaration(program: ForeignProgram, name: str) -> str:
    """What would have to stand in a registry."""
    signature = signatures(program.system, program.opset).get(name)
    takes = "" if signature is None else f", which is `{signature}`"
    return f"`{program.system}: {name}` below the `aliases:` of an operator{takes}"


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

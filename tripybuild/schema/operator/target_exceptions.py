"""Target exceptions: `targets:` of an operator, and shared reasons.

A fact names a case (`when`), and why a target refuses it although it is legal, or builds it
although it is not. What is true of a target for all operators stands once, in `targets.yaml`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.schema.operator.operator import Fact, Facts, Location, Operator, Snippet
from tripybuild.schema.target_files import (
    BuildEntry,
    CommonFactsEntry,
    RefusalEntry,
    StockBuildEntry,
    StockRefusalEntry,
    TargetEntry,
    TargetsFile,
)
from tripybuild.targets.table import exception_names

Common = Mapping[str, CommonFactsEntry]
Read = Callable[[object, Document, Location], Snippet]
# The names of facts about TensorRT as suites ask it: on RTX, which builds without a GPU.
ENGINE = exception_names("tensorrt-rtx")
# Those about models of ONNX, and about the engines that run them.
ONNX_RUNTIME = exception_names("cpu:onnxruntime")
OPENVINO = exception_names("cpu:openvino")
Stock = StockRefusalEntry | StockBuildEntry


def facts(entries: Iterable[tuple[str, TargetEntry, Document]], read: Read) -> dict[str, Facts]:
    """The facts by target; those of a family and of its operator become one.

    Args:
        entries: Each target with what a file says of it.
        read: Makes a snippet of a value at a place of a file.
    """
    found: dict[str, Facts] = {}
    for target, entry, document in entries:
        before = found.get(target, Facts({}, {}))
        place = ("targets", target)
        found[target] = Facts(
            {**before.refuses, **_facts(entry.refuses, document, (*place, "refuses"), read)},
            {**before.builds, **_facts(entry.builds, document, (*place, "builds"), read)},
            (*before.static, *entry.static),
        )
    return found


def _facts(
    entries: Mapping[str, Any], document: Document, place: Location, read: Read
) -> dict[str, Fact]:
    return {name: _fact(name, e, document, (*place, name), read) for name, e in entries.items()}


def _fact(name: str, entry: Any, document: Document, place: Location, read: Read) -> Fact:
    if not isinstance(entry, RefusalEntry | BuildEntry):
        return Fact(name, read(entry, document, place))
    own = {n: read(v, document, (*place, "sample", n)) for n, v in entry.sample.items()}
    found = Fact(name, read(entry.when, document, (*place, "when")), entry.why, sample=own)
    if isinstance(entry, BuildEntry):
        return found
    return replace(found, says=expected_words(entry), silent=entry.silent, gpus=tuple(entry.gpus))


def attach_reasons(operator: Operator, common: Common) -> tuple[Operator, list[Diagnostic]]:
    """An operator with reasons for its exceptions, and those without a reason."""
    targets = {t: _attach_target_reasons(t, f, common) for t, f in operator.targets.items()}
    missing = [
        _missing_reason(operator, target, fact, common)
        for target, facts in targets.items()
        for fact in (*facts.refuses.values(), *facts.builds.values())
        if not fact.why
    ]
    return replace(operator, targets=targets), missing


def _attach_target_reasons(target: str, facts: Facts, common: Common) -> Facts:
    stock = common.get(target, CommonFactsEntry())
    return replace(
        facts,
        refuses={n: _with_reason(f, stock.refuses.get(n)) for n, f in facts.refuses.items()},
        builds={n: _with_reason(f, stock.builds.get(n)) for n, f in facts.builds.items()},
    )


def _with_reason(fact: Fact, stock: Stock | None) -> Fact:
    if fact.why or stock is None:
        return fact
    if isinstance(stock, StockBuildEntry):
        return replace(fact, why=stock.why)
    return replace(fact, why=stock.why, says=expected_words(stock), gpus=tuple(stock.gpus))


def expected_words(refusal: RefusalEntry | StockRefusalEntry) -> tuple[str, ...]:
    """What a target says, of which one is enough."""
    return (refusal.says,) if isinstance(refusal.says, str) else tuple(refusal.says)


def _missing_reason(operator: Operator, target: str, fact: Fact, common: Common) -> Diagnostic:
    stock = common.get(target, CommonFactsEntry())
    known = [*stock.refuses, *stock.builds]
    near = suggest(fact.name, known)
    return Diagnostic(
        "unknown-fact",
        f"`{operator.name}` has no reason for `{fact.name}`, and neither does `targets.yaml`",
        fact.when.span(),
        hint=f"did you mean `{near}`?" if near else "write `when:` and `why:`",
    )


def merge_facts(files: Iterable[tuple[TargetsFile, Document]]) -> tuple[Common, list[Diagnostic]]:
    """The facts of several registries: later ones add to earlier ones, and change nothing."""
    found: dict[str, CommonFactsEntry] = {}
    problems: list[Diagnostic] = []
    for file, document in files:
        for target, entry in file.targets.items():
            before = found.get(target)
            if before is None:
                found[target] = entry
                continue
            problems += _duplicate_facts(target, before, entry, document)
            found[target] = before.model_copy(
                update={
                    "refuses": {**before.refuses, **entry.refuses},
                    "builds": {**before.builds, **entry.builds},
                    "needs": {**before.needs, **entry.needs},
                    "gpus": before.gpus or entry.gpus,
                    "gate": before.gate or entry.gate,
                }
            )
    return found, problems


def _duplicate_facts(
    target: str, before: CommonFactsEntry, entry: CommonFactsEntry, document: Document
) -> Iterator[Diagnostic]:
    for key in ("refuses", "builds", "needs"):
        for name in getattr(entry, key):
            if name in getattr(before, key):
                yield Diagnostic(
                    "declared-twice",
                    f"`targets.{target}.{key}.{name}` is declared already",
                    document.span(("targets", target, key, name), key=True),
                )

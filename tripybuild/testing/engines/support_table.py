"""Support table: outcomes per dtype tuple and target, and their page, printed and parsed back.

An outcome is a row of the table: whether `cpu` agrees with the reference, the opset of ONNX from
which on there is a model, whether ONNX Runtime agrees with the reference, whether OpenVINO does or
the fact why not, what TensorRT says with no GPU named and for each GPU, and the facts that tell
why. Operators with the same rows share them.
The page is data for tests and text for people: what was written is read back exactly. A set of
dtype tuples is written as boxes: products of one set of dtypes for each slot, which together hold
each tuple once.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, product
from pathlib import Path

from tripybuild.schema.operator.dtype_combinations import (
    Tuple,
    illegal_tuples,
    is_host_only,
    legal_tuples,
    mismatched_tuples,
    slots,
)
from tripybuild.schema.operator.operator import Fact, Operator
from tripybuild.schema.target_files import CommonFactsEntry
from tripybuild.testing.cases import Case, sample_case
from tripybuild.testing.engines.build_outcome import BUILDS, BuildOutcome
from tripybuild.testing.engines.conformance import Subject, build_facts, build_reason
from tripybuild.testing.engines.gpu_engines import missing_dtypes
from tripybuild.testing.engines.onnx_answers import OPSETS
from tripybuild.testing.sample import BoundSample, bind
from tripybuild.testing.target_facts import (
    CPU,
    ENGINE,
    ONNX_RUNTIME,
    OPENVINO,
    concerns,
    fact_applies,
    refusals,
    refuses_call,
    stock_entries,
    stock_refusals,
    target_facts,
)
from tripybuild.types.dtypes import BY_NAME

Key = tuple[str, ...]  # a dtype for each slot, or `OTHER` and the input with a dtype of its own
Outcome = tuple[str, ...]  # the cells of a row
Part = Mapping[Key, Outcome]  # what is true of one operator
Choice = tuple[frozenset[str], ...]  # what each cell of a row may be

OTHER = "other"
YES, NO, ILLEGAL, GATE, UNSAID = "yes", "no", "-", "gate", ""
BUILDER = "builder"
LEVELS = (BUILDER, "shape", "build")
Names = tuple[str, ...]  # the dtype of each slot
Box = tuple[frozenset[str], ...]
ALL = frozenset(BY_NAME)
ANY = "any"
BUT = "any but "
# From so many dtypes on, the others are listed.
HALF = len(ALL) // 2

Row = tuple[str, ...]
HEADS = ("operators", "dtypes", "cpu", "onnx", "onnxruntime", "openvino", "any GPU")
# The places of cells in an outcome.
ONNX, OPENVINO_CELL, ANY_GPU = slice(1, 3), 3, 4
ENGINES = slice(ONNX.start, OPENVINO_CELL + 1)  # all that run models of ONNX
OF_OTHER = " of another dtype"
INTRODUCTION = """\
# What is proved

Each row is what compilers said of tuples of dtypes, for every tuple that there is, in the sample's
sizes, in others, and in sizes of one and zero. `make support` asks them all and writes this page,
`make test-full` asks them all again, and `make test` asks for any GPU, and compares the rest with
the declarations.

| said | by `cpu`, `onnxruntime` and `openvino` | by TensorRT-RTX, for any GPU or for one |
|---|---|---|
| `yes` | It computes what the reference computes. | There is an engine, of the declared types. |
| `no` | It refuses what the declaration allows. | |
| `-` | The declaration refuses it: the other cells are with its checks switched off. | |
| `gate` | | The GPU does not have one of the dtypes. |
| `builder` | | There is no such layer, or no such type. |
| `shape` | | A layer refuses the types of its inputs. |
| `build` | | All layers have types, and no engine is built. |

The column `openvino` has `yes`, or the name of the fact for which the target refuses the call or
computes something else; [OpenVINO](../../docs/openvino.md) says what it is.

The column `onnx` has the first opset, from 20 on, in which there is a model, which ONNX's checker
and its inference of types accept. A `no` there, or of `onnxruntime`, that the last column gives no
reason for is a dtype that ONNX's operators, or ONNX Runtime's kernels, do not have.

The last column names the facts that say why; they are on the operators' pages and in
`ops_registry/targets.yaml`. Of what a declaration refuses, GPUs were asked too: each says what is
said for any, but for its gate and for kernels that it alone does not have. Tensors of 4 bits with
an odd number of elements are refused at level `build`.
"""


def key(operator: Operator, types: Tuple) -> Key:
    """A tuple as the table knows it."""
    names = [slot.name for slot in slots(operator)]
    own = [name for name in types if name not in names]
    return (OTHER, own[0]) if own else tuple(str(types[name]) for name in names)


def refused_tuples(operator: Operator) -> Iterator[Tuple]:
    """All tuples that a declaration refuses."""
    yield from (types for types, _ in (*illegal_tuples(operator), *mismatched_tuples(operator)))


def format_cell(found: BuildOutcome, rtx: CommonFactsEntry) -> str:
    """A verdict as the table says it."""
    if found.level == BUILDS:
        return YES
    return GATE if rtx.gate is not None and rtx.gate in found.says else found.level


def for_gpu(level: str, *, lacks: bool) -> frozenset[str]:
    """Outcome for one GPU, derived from the outcome for any.

    Its dtypes are looked at when the engine is built, after some of what else may be wrong then.
    """
    later = {YES: {GATE}, "build": {GATE, "build"}}
    return frozenset(later.get(level, {level}) if lacks else {level})


def allowed_outcomes(subject: Subject) -> dict[Key, list[Choice]]:
    """The outcomes of each tuple that its declaration allows."""
    operator = subject.operator
    found = {}
    for types in legal_tuples(operator):
        found[key(operator, types)] = list(_of_legal(subject, types))
    for types in refused_tuples(operator):
        found[key(operator, types)] = list(_of_illegal(subject, types))
    return found


def fits(outcome: Outcome, choices: Iterable[Choice]) -> bool:
    """Whether an outcome is among those that are allowed."""
    return any(
        len(outcome) == len(choice)
        and all(cell in each for cell, each in zip(outcome, choice, strict=True))
        for choice in choices
    )


def _of_legal(subject: Subject, types: Tuple) -> Iterator[Choice]:
    bound = bind(subject.operator, types)
    case = sample_case(subject.operator, subject.function, types)
    cpu = frozenset({NO if refuses_call(subject.operator, CPU, bound) else YES})
    facts = {gpu: refusals(subject.operator, ENGINE, bound, gpu) for gpu in gpus(subject.rtx)}
    before = cpu, *_onnx_outcomes(subject, types), _openvino_outcomes(subject, types)
    why = frozenset({reasons(subject, types)})
    if is_host_only(types):
        yield (*before, *[frozenset({BUILDER})] * len(facts), why)
        return
    known = {**subject.common.refuses, **subject.rtx.refuses}
    named = [known[name].level for each in facts.values() for name in each if name in known]
    # What is legal meets the dialect's verifier first, as models do.
    for level in dict.fromkeys([*named, BUILDER]) if named else LEVELS:
        cells = [
            _gpu_outcomes(subject, case, gpu, level if each else YES) for gpu, each in facts.items()
        ]
        yield (*before, *cells, why)


def _onnx_outcomes(subject: Subject, types: Tuple) -> tuple[frozenset[str], frozenset[str]]:
    """What may be the opset of a model, and whether ONNX Runtime may compute it."""
    bound = bind(subject.operator, types)
    declared = [refuses_call(subject.operator, (name,), bound) for name in ONNX_RUNTIME]
    known = [subject.onnx.get(name, CommonFactsEntry()) for name in ONNX_RUNTIME]
    stock = [any(stock_refusals(common, types)) for common in known]
    models = frozenset(() if declared[0] else OPSETS)
    unsaid = frozenset({NO} if declared[0] or stock[0] else ())
    computes = frozenset(() if any(declared) or is_silent(subject.operator, bound) else {YES})
    return models | unsaid, computes | frozenset({NO} if not computes or any(stock) else ())


def _openvino_outcomes(subject: Subject, types: Tuple) -> frozenset[str]:
    """What OpenVINO may do: compute, or be refused for a fact of the operator or of all."""
    bound = bind(subject.operator, types)
    facts = target_facts(subject.operator, OPENVINO, "refuses", silent=True)
    own = frozenset(fact.name for fact in facts if fact_applies(fact, bound))
    known = [subject.onnx.get(name, CommonFactsEntry()) for name in OPENVINO]
    stock = frozenset(name for common in known for name in stock_entries(common, types))
    return own or stock | {YES}


def is_silent(operator: Operator, bound: BoundSample) -> bool:
    """Whether a call is declared to compute something else in ONNX Runtime."""
    known = target_facts(operator, ONNX_RUNTIME, "refuses", silent=True)
    return any(fact.silent and fact_applies(fact, bound) for fact in known)


def _gpu_outcomes(subject: Subject, case: Case, gpu: str | None, level: str) -> frozenset[str]:
    return for_gpu(level, lacks=bool(gpu and missing_dtypes(case.graph, subject.rtx, gpu)))


def gpus(rtx: CommonFactsEntry) -> list[str | None]:
    """GPUs to build for: any, then each."""
    return [None, *rtx.gpus]


def reasons(subject: Subject, types: Tuple) -> str:
    """The names of the facts of which a legal tuple is a case."""
    bound = bind(subject.operator, types)
    facts: list[Fact] = [
        *target_facts(subject.operator, (*CPU, *ENGINE), "refuses"),
        *target_facts(subject.operator, ONNX_RUNTIME, "refuses", silent=True),
    ]
    return ", ".join(dict.fromkeys(fact.name for fact in facts if fact_applies(fact, bound)))


def _of_illegal(subject: Subject, types: Tuple) -> Iterator[Choice]:
    for outcome in _outcomes(subject, types):
        yield tuple(frozenset({each}) for each in outcome)


def _outcomes(subject: Subject, types: Tuple) -> Iterator[Outcome]:
    bound = bind(subject.operator, types)
    known = target_facts(subject.operator, ENGINE, "refuses")
    if any(concerns(fact, None) and fact_applies(fact, bound) for fact in known):
        yield from (illegal_row(subject, level) for level in LEVELS)
        return
    why = build_reason(subject, types)
    if why is not None:
        yield illegal_row(subject, YES, why)
    if not build_facts(subject, types):
        stock = stock_refusals(subject.common, types)
        yield from (
            illegal_row(subject, level) for level in dict.fromkeys(level for level, _ in stock)
        )


def illegal_row(subject: Subject, level: str, why: str = UNSAID) -> Outcome:
    """The row of an illegal tuple, which says nothing of single GPUs."""
    return (ILLEGAL, UNSAID, UNSAID, UNSAID, level, *[UNSAID for _ in subject.rtx.gpus], why)


# --- the page ---


def rows(operator: Operator, part: Part) -> list[Row]:
    """The rows of one operator: tuples with the same outcome have one, or one for each box."""
    classes: dict[Outcome, list[Key]] = {}
    for key, outcome in part.items():
        classes.setdefault(outcome, []).append(key)
    names = [slot.name for slot in slots(operator)]
    return [(text, *o) for o, keys in classes.items() for text in _texts(keys, names)]


def _texts(keys: Sequence[Key], names: Sequence[str]) -> Iterator[str]:
    tuples = [key for key in keys if key[:1] != (OTHER,)]
    for box in boxes(tuples):
        yield format_box(box, names)
    others = [f"`{name}`" for marker, *rest in keys if marker == OTHER for name in rest]
    if others:
        yield ", ".join(others) + OF_OTHER


def parse_rows(operator: Operator, found: Sequence[Row]) -> dict[Key, Outcome]:
    """What the rows of an operator say.

    Raises:
        ValueError: A row is of no tuple of the operator, or two are of the same.
    """
    names = [slot.name for slot in slots(operator)]
    part: dict[Key, Outcome] = {}
    for text, *outcome in found:
        for key in _keys(text, names):
            if key in part:
                message = f"`{operator.name}` has two rows of {'-'.join(key)}"
                raise ValueError(message)
            part[key] = tuple(outcome)
    return part


def _keys(text: str, names: Sequence[str]) -> Iterator[Key]:
    if text.endswith(OF_OTHER):
        yield from ((OTHER, n.strip("`")) for n in text.removesuffix(OF_OTHER).split(", "))
    else:
        yield from tuples_of(parse_box(text, names))


def page(
    operators: Mapping[str, Operator], table: Mapping[str, Sequence[Row]], gpus: Sequence[str]
) -> str:
    """The page of all operators that have rows."""
    known = sorted(table, key=lambda name: (operators[name].folder, name))
    blocks = [INTRODUCTION.rstrip("\n")]
    for folder, names in groupby(known, key=lambda name: operators[name].folder):
        blocks += [f"## {folder}", _table(list(names), table, gpus)]
    return "\n\n".join(blocks) + "\n"


def _table(names: Sequence[str], table: Mapping[str, Sequence[Row]], gpus: Sequence[str]) -> str:
    shared: dict[tuple[Row, ...], list[str]] = {}
    for name in names:
        shared.setdefault(tuple(table[name]), []).append(name)
    heads = (*HEADS, *gpus, "why")
    lines = [_line(heads), "|" + "---|" * len(heads)]
    for found, users in shared.items():
        links = ", ".join(f"[{name}](operators/{name}.md)" for name in users)
        starts = [links, *[UNSAID] * (len(found) - 1)]
        lines += [_line((start, *row)) for start, row in zip(starts, found, strict=True)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |".replace("|  ", "| ")


def suite_tables(suite: Path) -> dict[str, list[Row]]:
    """The rows of each operator in the table of a suite's package, which may have none."""
    pages = (folder.parent / "docs" / "support.md" for folder in suite.resolve().parents)
    page = next((page for page in pages if page.is_file()), None)
    return parse_page(page.read_text(encoding="utf-8")) if page is not None else {}


def parse_page(text: str) -> dict[str, list[Row]]:
    """The rows of each operator of a page."""
    found: dict[str, list[Row]] = {}
    users: list[str] = []
    for line in text.partition("\n## ")[2].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells or cells[0] == HEADS[0] or set(cells[0]) == {"-"}:
            continue
        if cells[0]:
            users = [link.partition("]")[0].removeprefix("[") for link in cells[0].split(", ")]
        for name in users:
            found.setdefault(name, []).append(tuple(cells[1:]))
    return found


def boxes(tuples: Iterable[Names]) -> list[Box]:
    """The boxes of a set of tuples: first choices with the same rest share theirs."""
    found = set(tuples)
    if found <= {()}:
        return [()] * len(found)
    rests: dict[str, set[Names]] = {}
    for first, *rest in found:
        rests.setdefault(first, set()).add(tuple(rest))
    shared: dict[frozenset[Names], set[str]] = {}
    for first in (name for name in BY_NAME if name in rests):
        shared.setdefault(frozenset(rests[first]), set()).add(first)
    return [(frozenset(firsts), *box) for rest, firsts in shared.items() for box in boxes(rest)]


def tuples_of(box: Box) -> set[Names]:
    """The tuples of a box."""
    return set(product(*box))


def format_box(box: Box, slots: Sequence[str]) -> str:
    """A box in words; the name of a single slot is left out."""
    if len(slots) == 1:
        return _format_names(box[0])
    pairs = zip(slots, box, strict=True)
    return "; ".join(f"{slot}: {_format_names(names)}" for slot, names in pairs) or ANY


def parse_box(text: str, slots: Sequence[str]) -> Box:
    """The box that `spelled` wrote.

    Raises:
        ValueError: The text is of other slots, or of dtypes that there are not.
    """
    if not slots and text == ANY:
        return ()
    if len(slots) == 1:
        return (_parse_names(text),)
    pairs = [part.partition(": ") for part in text.split("; ")]
    if [name for name, _, _ in pairs] != list(slots):
        message = f"`{text}` is not of {', '.join(slots)}"
        raise ValueError(message)
    return tuple(_parse_names(names) for _, _, names in pairs)


def _format_names(names: frozenset[str]) -> str:
    if names == ALL:
        return ANY
    shown = names if len(names) <= HALF else ALL - names
    return (BUT if shown is not names else "") + ", ".join(n for n in BY_NAME if n in shown)


def _parse_names(text: str) -> frozenset[str]:
    if text == ANY:
        return ALL
    names = frozenset(text.removeprefix(BUT).split(", "))
    if not names <= ALL:
        message = f"`{text}` has no dtypes {', '.join(sorted(names - ALL))}"
        raise ValueError(message)
    return ALL - names if text.startswith(BUT) else names

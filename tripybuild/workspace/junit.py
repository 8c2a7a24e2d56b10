"""JUnit XML: the results of tests as servers of continuous integration read them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from tripybuild.errors.diagnostics import HIDDEN, Diagnostic, render, text_of
from tripybuild.workspace.jobs import JobResult
from tripybuild.workspace.plan import PlannedJob
from tripybuild.workspace.state import JobRecord

ERRORS = ("crashed",)
TITLE = "tripybuild test"
START = 1024  # bytes in which it stands


def is_own_results(path: Path) -> bool:
    """Whether a file holds results that were written here, so that others may replace them."""
    with path.open("rb") as stream:
        return f'<testsuites name="{TITLE}"'.encode() in stream.read(START)


def junit_xml(
    jobs: Sequence[PlannedJob],
    results: Mapping[str, JobResult],
    records: Mapping[str, JobRecord],
    diagnostics: Mapping[str, Sequence[Diagnostic]],
) -> bytes:
    """The document of some tests; one that was up to date has its last result.

    Args:
        jobs: The tests, in their order.
        results: Those of this run.
        records: The last record of each.
        diagnostics: What is wrong with each, with places as the user names them.
    """
    root = ET.Element("testsuites", name=TITLE)
    suites: dict[str, ET.Element] = {}
    for planned in jobs:
        one = planned.combination
        if one.build not in suites:
            suites[one.build] = ET.SubElement(root, "testsuite", name=one.build)
        suite, result = suites[one.build], results.get(one.name)
        record = records.get(one.name)
        seconds = result.seconds if result else record.seconds if record else 0.0
        place = {"classname": planned.job.spec, "name": one.name, "time": f"{seconds:.3f}"}
        case = ET.SubElement(suite, "testcase", place)
        report = result.report if result else record.report if record else {}
        _add_outcome(case, result, str(report.get("skipped") or ""), diagnostics.get(one.name, ()))
        lines = [_line(each) for each in report.get("cases", ())]
        if lines:
            ET.SubElement(case, "system-out").text = _plain("\n".join(lines))
    for element in (*suites.values(), root):
        _count(element)
    ET.indent(root)
    content: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add_outcome(
    case: ET.Element, result: JobResult | None, skipped: str, found: Sequence[Diagnostic]
) -> None:
    """Say why a test did not pass; nothing where it did."""
    if skipped:
        ET.SubElement(case, "skipped", message=_plain(skipped))
        return
    if result is None or result.outcome == "done":
        return
    if result.outcome == "canceled":
        message = found[0].message if found else result.outcome
        ET.SubElement(case, "skipped", message=_plain(message))
        return
    kind = "error" if result.outcome in ERRORS else "failure"
    first = found[0] if found else Diagnostic("internal", result.outcome)
    said = ET.SubElement(case, kind, message=_plain(first.message), type=first.code)
    said.text = _plain("\n\n".join(render(each, text_of) for each in found))


def _line(case: Mapping[str, object]) -> str:
    """A call, for a reader."""
    sizes = case.get("sizes")
    at = ", ".join(f"{n}={v}" for n, v in sizes.items()) if isinstance(sizes, dict) else ""
    name = " ".join(filter(None, [str(case.get("entry") or ""), at])) or "call"
    return f"{name}: differs by {case.get('difference')} of {case.get('tolerance')}"


def _count(element: ET.Element) -> None:
    """Count the cases below an element, as its attributes."""
    cases = list(element.iter("testcase"))
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(each.find(kind) is not None for each in cases)))
    element.set("tests", str(len(cases)))
    element.set("time", f"{sum(float(each.get('time', 0)) for each in cases):.3f}")


def _plain(text: str) -> str:
    """A text without characters that XML cannot have."""
    return HIDDEN.sub("\ufffd", text)

"""What the pages name is there: modules of ours, and files that links lead to."""

import re
from pathlib import Path

import pytest

from tripybuild.onnx import dialect

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tripybuild"
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "generated/docs").rglob("*.md")]
)
ROOMS = {path.name for path in PACKAGE.iterdir() if path.is_dir()}
# Files, an attribute of MLIR, a module of ONNX's package, and what snippets call of its dialect.
OTHERS = re.compile(
    r".*\.(json|yaml|safetensors|onnx|pt2)|tensorrt\.dimension_names|onnx\.(reference|shape_inference)"
    rf"|onnx\.({'|'.join(dialect.builders())})"
)


def missing_module(name):
    """Tell whether a dotted name leads to no module of ours, nor to a name in one."""
    place, parts = PACKAGE, name.split(".")
    for index, part in enumerate(parts):
        if (place / part).is_dir():
            place = place / part
            continue
        file = place / f"{part}.py"
        rest = parts[index + 1 :] if file.exists() else parts[index:]
        file = file if file.exists() else place / "__init__.py"
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        return not all(re.search(rf"\b{re.escape(each)}\b", text) for each in rest)
    return False


def text_of(page):
    """A page without its fenced blocks."""
    return re.sub(
        r"^( *)```.*?^\1```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )


def unquoted(page):
    """A page without code in backticks, either."""
    return re.sub(r"`[^`]*`", "", text_of(page))


@pytest.mark.parametrize(
    "page",
    [ROOT / "ARCHITECTURE.md", ROOT / "README.md", ROOT / "SECURITY.md", ROOT / "docs"],
    ids=lambda p: p.name,
)
def test_modules_that_pages_name_are_there(page):
    """In dots, from the room on: `trace.graph`."""
    pages = sorted(page.rglob("*.md")) if page.is_dir() else [page]
    found = [
        f"{each.relative_to(ROOT)}: {name}"
        for each in pages
        for name in re.findall(r"`(?:tripybuild\.)?((?:\w+\.)+\w+)(?:\([^`]*\))?`", text_of(each))
        if name.partition(".")[0] in ROOMS and not OTHERS.fullmatch(name) and missing_module(name)
    ]
    assert not found


def test_links_lead_to_files():
    """From where the page stands."""
    found = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", unquoted(page))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert not found


def test_tests_that_pages_name_are_there():
    """By their paths; `*` stands for some."""
    names = {name for page in PAGES for name in re.findall(r"`(tests/[\w/.*]+)`", text_of(page))}
    assert len(names) > 30
    assert not [name for name in sorted(names) if not list(ROOT.glob(name))]

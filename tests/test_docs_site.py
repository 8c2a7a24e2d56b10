"""The documentation site: navigation, anchors of links, and with `--full` the site itself."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import sections
import typer
import yaml

from tripybuild.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "generated/docs").rglob("*.md")]
)
CODE = re.compile(r"^( *)(`{3,}).*?^\1\2$", re.MULTILINE | re.DOTALL)
MADE = re.compile(r"generated/docs/api/|docs/decisions/index.md")  # by docs/site/hooks.py


def paths(nav):
    """The pages of a navigation."""
    if isinstance(nav, str):
        return [nav]
    return [
        each for item in (nav.values() if isinstance(nav, dict) else nav) for each in paths(item)
    ]


def anchors(page):
    """The anchors of a page's headings, as forges make them."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.strip().lower()).replace(" ", "-") for each in titles}


def test_the_navigation_leads_to_pages_once():
    """Those of `docs/` that it does not name are among the tools."""
    named = paths(yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"])
    missing = [
        each
        for each in named
        if "*" not in each and not MADE.match(each) and not (ROOT / each).exists()
    ]
    assert not missing
    assert len(named) == len(set(named))
    assert named.count("docs/*.md") == 1


def test_links_lead_to_headings():
    """`page.md#heading` is there, on a forge and on the site."""
    known, found = {}, []
    for page in PAGES:
        text = re.sub(r"`[^`]*`", "", CODE.sub("", page.read_text(encoding="utf-8")))
        for target, anchor in re.findall(r"\]\(([^)#:\s]*)#([^)\s]+)\)", text):
            place = (page.parent / target).resolve() if target else page
            if place not in known:
                known[place] = anchors(place)
            if anchor not in known[place]:
                found.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert len(known) > 5
    assert not found


# Blocks that only show something, and those that need what a test has not: a GPU, an editor, a
# network. Of the latter, the commands and options are checked.
SHOWN = frozenset({"json", "lua", "mlir", "text", "toml"})
UNRUN = frozenset({"bash", "sh"})
RUN = frozenset({"console", "python", "yaml"})


def test_every_block_is_run_or_checked():
    """A page with files or commands is that of a test; other blocks are of kinds known here."""
    tests = [p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("test_*.py")]
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    for page in pages:
        blocks = [each for part in sections.sections(page) for each in part.blocks]
        kinds = {each.language for each in blocks}
        assert kinds <= SHOWN | UNRUN | RUN, page
        if kinds & RUN:
            assert any(f'{page.name}"' in text for text in tests), f"no test follows {page.name}"
        for block in blocks:
            if block.language == "json" and "..." not in block.text:
                json.loads(block.text)
            elif block.language == "toml":
                tomllib.loads(block.text)


def test_commands_of_blocks_that_are_not_run_exist():
    """Each with its options, as the program has them."""
    program = typer.main.get_command(app)
    seen = 0
    for page in (ROOT / "docs").glob("*.md"):
        blocks = [each for part in sections.sections(page) for each in part.blocks]
        for line in "\n".join(b.text for b in blocks if b.language in UNRUN).splitlines():
            words = re.split(r"#|&&|\|", line)[0].replace("$ ", "").split()
            if words[:1] != ["tripybuild"]:
                continue
            command = program.commands[words[1]]
            if words[1] == "new":
                command = command.commands[words[2]]
            known = {each for parameter in command.params for each in parameter.opts}
            for word in words[2:]:
                option = word.partition("=")[0]
                assert not option.startswith("-") or option in known, f"{page.name}: {line}"
            seen += 1
    assert seen >= 5


@pytest.mark.full
def test_the_site_is_built_strictly(tmp_path):
    """No broken link, no page without a way to it, and no Markdown that a reader sees."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed")
    pytest.importorskip("mkdocstrings", reason="mkdocstrings is not installed")
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    broken = []
    for page in tmp_path.rglob("index.html"):
        html = page.read_text(encoding="utf-8")
        for target in re.findall(r'href="([^"#:]+)(?:#[^"]*)?"', html):
            place = page.parent / target
            if not (place / "index.html" if target.endswith(("/", ".")) else place).exists():
                broken.append(f"{page}: {target}")
        article = html[html.find("<article") : html.find("</article>")]
        text = re.sub(r"<(pre|code)\b.*?</\1>", "", article, flags=re.DOTALL)
        broken += [f"{page}: {word}" for word in ("```", "|---", "](", "<p>- ") if word in text]
    assert not broken
    api = (tmp_path / "reference/api/tripybuild/index.html").read_text(encoding="utf-8")
    assert 'id="tripybuild.compile"' in api
    assert (tmp_path / "reference/operators/softmax/index.html").exists()
    index = json.loads((tmp_path / "search/search_index.json").read_text(encoding="utf-8"))
    titles = {each["location"]: each["title"] for each in index["docs"]}
    assert titles["reference/operators/log_softmax/"] == "log_softmax"  # as it is called
    assert not [each for each in titles if each.startswith("source/")]  # files, such as of tests

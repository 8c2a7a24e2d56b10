"""The examples of `docs/guide.md` and of `docs/coming-from-nvtripy.md` print what they say."""

import contextlib
import io
import itertools
import re
from pathlib import Path

import pytest
import sections

import tripyapi as tp

PAGE = Path(__file__).parent.parent / "docs" / "guide.md"
SECTIONS = [*sections.sections(PAGE), *sections.sections(PAGE.with_name("coming-from-nvtripy.md"))]
NEEDED = {"torch": "torch", "tensorrt-rtx:": "tensorrt_rtx"}


def examples(section):
    """Each example of a section, and the block of what it prints."""
    blocks = [*section.blocks, None]
    for block, after in itertools.pairwise(blocks):
        if block.language == "python":
            yield block, after if after is not None and after.language == "text" else None


def printed(code, names, number):
    """What an example prints, on either stream, when it is a program's file."""
    name = f"example{number}.py"
    Path(name).write_text(code, encoding="utf-8")
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        exec(compile(code, name, "exec"), names)  # the guide's own code
    return stream.getvalue()


def pattern(expected):
    return re.compile(re.escape(expected).replace(r"\.\.\.", ".*"), re.DOTALL)


@pytest.mark.parametrize("section", SECTIONS, ids=str)
def test_examples_print_what_the_guide_says(section, tmp_path, monkeypatch, update):
    """`...` stands for anything; what prints nothing has no block behind it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tp.config, "nvtripy_devices", False)
    names = {"__name__": "example"}
    for number, (block, output) in enumerate(examples(section), 1):
        for word, package in NEEDED.items():
            if word in block.text:
                pytest.importorskip(package, reason=f"{package} is not installed")
        lines = printed(block.text, names, number).splitlines()
        found = "".join(f"{line.rstrip()}\n" for line in lines)
        expected = "" if output is None else output.text
        if update and output is not None and not pattern(expected).fullmatch(found):
            sections.rewrite(section, output, found)
        else:
            assert pattern(expected).fullmatch(found), found


def test_the_guide_has_its_sections():
    """A guide that lost its examples would pass."""
    assert len(SECTIONS) >= 15
    assert all(list(examples(section)) for section in SECTIONS)

"""Markdown that is a test: sections of prose, files and commands with what they print.

A path in backticks on a line of its own names the file that the next block holds. A `python` block
is run. A `console` block holds commands behind `$ ` and what they print; all exit with 1, or with
what the block says: `console exit=0`.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAUNCHERS = {
    "tripybuild": "#!{python}\nfrom tripybuild.cli.main import main\n\nmain()\n",
    "python": '#!/bin/sh\nexec {python} "$@"\n',
}
FENCE = re.compile(r"^(`{3,})(\S*)[ ]?(.*)$")
NAMED = re.compile(r"^`([^`]+)`:?$")


@dataclass(frozen=True)
class Block:
    """A fenced block; `name` is the path on the line before it."""

    language: str
    options: str
    text: str
    name: str | None


@dataclass
class Section:
    """A heading and the blocks below it."""

    path: Path
    title: str
    blocks: list[Block] = field(default_factory=list)

    def __str__(self):
        words = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")
        return f"{self.path.stem}-{words}"


def sections(path):
    """Give the sections of a file that hold blocks."""
    found, fence, lines, name = [Section(path, "")], None, [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        if fence is not None:
            if line == fence[1]:
                text = "".join(f"{each}\n" for each in lines)
                found[-1].blocks.append(Block(fence[2], fence[3], text, name))
                fence, lines, name = None, [], None
            else:
                lines.append(line)
        elif FENCE.match(line):
            fence = FENCE.match(line)
        elif line.startswith("#"):
            found.append(Section(path, line.lstrip("# ")))
        elif line.strip():
            named = NAMED.match(line)
            name = named[1] if named else None
    assert fence is None, f"a block of {path} has no end"
    return [section for section in found if section.blocks]


def commands(block):
    """Give the commands of a `console` block, each with what it prints."""
    parts = re.split(r"^\$ (.*)\n", block.text, flags=re.MULTILINE)
    assert not parts[0].strip(), "a console block begins with a command"
    return list(zip(parts[1::2], parts[2::2], strict=True))


def rewrite(section, block, text):
    """Put another text into a block of a section's file."""
    whole = section.path.read_text(encoding="utf-8")
    start = whole.index(f"# {section.title}\n")
    place = whole.index(f"\n{block.text}", start) + 1
    section.path.write_text(
        whole[:place] + text + whole[place + len(block.text) :], encoding="utf-8"
    )


def shell(command, folder, checkout=ROOT, **variables):
    """Run a command of bash in a folder, with `tripybuild` and `python` as they are here."""
    launchers = folder / "bin"
    launchers.mkdir(exist_ok=True)
    for name, text in LAUNCHERS.items():
        (launchers / name).write_text(text.format(python=sys.executable))
        (launchers / name).chmod(0o755)
    path = f"{launchers}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    packages = f"{checkout}:{checkout / 'generated'}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": packages, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def is_printed(expected, printed):
    """Whether a text is what a page says; `...` stands for anything."""
    pattern = ".*?".join(map(re.escape, expected.split("...")))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None

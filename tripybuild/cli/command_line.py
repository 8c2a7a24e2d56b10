"""Words of the command line: a text that diagnostics show, and which option each word is of.

Read a second time, beside typer, which says what is wrong but not at which word. Nothing here
imports typer: the commands' parameters are asked for their names only.
"""

import linecache
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tripybuild.errors.diagnostics import Span

PROGRAM, NAME = "tripybuild", "<command line>"
COMPLETION = f"_{PROGRAM.upper()}_COMPLETE"  # the variable by which a shell asks


class Word(NamedTuple):
    """A word, or what stands in it from a character on: the value of `--set=depth=2`."""

    place: int
    start: int = 0


@dataclass(slots=True)
class ParsedWords:
    """What each word is, by the command that it is for.

    Args:
        path: The commands, each with its word; the program itself has none.
        values: By the name of a parameter, its words: the option, and its value.
        unknown: Options that a command has not, words that are no command, and that command.
        extra: Arguments that the command does not take.
        bare: Options without the value that they need.
        filled: Options with a value that they do not take.
    """

    path: list[tuple[Any, Word | None]]
    values: dict[str, list[tuple[Word, Word]]] = field(default_factory=dict)
    unknown: list[tuple[str, Word, Any]] = field(default_factory=list)
    extra: list[Word] = field(default_factory=list)
    bare: list[tuple[Any, Word]] = field(default_factory=list)
    filled: list[tuple[Any, Word]] = field(default_factory=list)
    missing_command: Word | None = None

    @property
    def command(self) -> Any:
        """The command that the words are for, or the group that lacks one."""
        return self.path[-1][0]


class CommandLine:
    """The words behind the program's name."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = list(words)
        shown = [_shown(word) for word in self.words]
        self.text = " ".join([PROGRAM, *shown])
        self._columns = [len(PROGRAM) + 2]
        for word in shown:
            self._columns.append(self._columns[-1] + len(word) + 1)
        linecache.cache[NAME] = (len(self.text), None, [self.text], NAME)

    def has(self, flag: str) -> bool:
        """Whether a flag stands anywhere, right or wrong."""
        known = self.words[: self.words.index("--")] if "--" in self.words else self.words
        return flag in known

    def span(self, word: Word | None, part: str = "") -> Span:
        """The place of a word, or of a part of it; the place behind all words for None."""
        if word is None:
            column = len(self.text) + 2 if self.words else len(PROGRAM) + 2
            return Span(NAME, 1, column, 1, column)
        text, column = self.words[word.place], self._columns[word.place]
        start, end = word.start, len(text)
        if _shown(text) != text:
            return Span(NAME, 1, column, 1, column + len(_shown(text)))
        if part and text.count(part, start) == 1:
            start = text.index(part, start)
            end = start + len(part)
        return Span(NAME, 1, column + start, 1, column + max(end, start + 1))

    def value(self, word: Word) -> str:
        """What stands at a word."""
        return self.words[word.place][word.start :]

    def parse(self, root: Any) -> ParsedWords:
        """Say what each word is, as click reads them."""
        found = ParsedWords([(root, None)])
        at = 0
        while True:
            command = found.command
            commands: Mapping[str, Any] | None = getattr(command, "commands", None)
            plain = list(_options(self, command, at, found, stops=commands is not None))
            if commands is None:
                _arguments(self, command, plain, found)
                return found
            if not plain:
                found.missing_command = found.path[-1][1]
                return found
            word = plain[0]
            if found.unknown:  # the values of options that a group has not
                behind = range(word.place, len(self.words))
                word = Word(next((n for n in behind if self.words[n] in commands), word.place))
            if self.words[word.place] not in commands:
                found.unknown += [] if found.unknown else [(self.value(word), word, command)]
                return found
            found.path.append((commands[self.words[word.place]], word))
            at = word.place + 1


def _options(
    line: CommandLine, command: Any, at: int, found: ParsedWords, *, stops: bool
) -> Iterator[Word]:
    """Read options, and give the words that are none; a group's end with the first of those."""
    known = {name: each for each in command.params for name in _names(each)}
    known |= dict.fromkeys(("--help", "-h"), None)
    words = line.words
    while at < len(words):
        word, at = words[at], at + 1
        if word == "--":
            yield from map(Word, range(at, len(words)))
            return
        if len(word) < 2 or word[0] != "-":
            yield Word(at - 1)
            if stops:
                return
            continue
        name, equals, _ = word.partition("=")
        if name in known:
            value = Word(at - 1, len(name) + 1) if equals else None
            at += _option(known[name], Word(at - 1), value, at < len(words), found)
        elif word.startswith("--"):
            found.unknown.append((name, Word(at - 1), command))
        else:
            at += _letters(known, command, Word(at - 1), line, found)


def _option(
    option: Any, word: Word, value: Word | None, is_followed: bool, found: ParsedWords
) -> int:
    """Note an option and its value, and give the number of further words that it takes."""
    takes = option is not None and not (option.is_flag or getattr(option, "count", False))
    if not takes:
        if value is not None:
            found.filled.append((option, word))
        return 0
    if value is None and not is_followed:
        found.bare.append((option, word))
        return 0
    found.values.setdefault(option.name, []).append((word, value or Word(word.place + 1)))
    return int(value is None)


def _letters(
    known: Mapping[str, Any], command: Any, word: Word, line: CommandLine, found: ParsedWords
) -> int:
    """Read `-o` with its value in the same word, or several flags in one."""
    text, is_followed = line.words[word.place], word.place + 1 < len(line.words)
    for number, letter in enumerate(text[1:], 1):
        name = f"-{letter}"
        if name not in known:
            found.unknown.append((name, word, command))
            return 0
        option = known[name]
        if option is not None and not option.is_flag:
            rest = Word(word.place, number + 1) if len(text) > number + 1 else None
            return _option(option, word, rest, is_followed, found)
    return 0


def _arguments(line: CommandLine, command: Any, words: Sequence[Word], found: ParsedWords) -> None:
    """Give words to arguments in order; the last of them may take many.

    Where there are more words than arguments, what follows an option that is not known is most
    likely its value.
    """
    wanted = [each for each in command.params if each.param_type_name == "argument"]
    left = list(words)
    unknown = {word.place for _, word, _ in found.unknown if "=" not in line.words[word.place]}
    if all(each.nargs != -1 for each in wanted):
        values = [word for word in left if word.place - 1 in unknown]
        for word in values[: max(0, len(left) - sum(each.nargs for each in wanted))]:
            left.remove(word)
    for each in wanted:
        if left:
            count = len(left) if each.nargs == -1 else each.nargs
            taken, left = left[:count], left[count:]
            found.values[each.name] = [(word, word) for word in taken]
    found.extra += left


def _names(parameter: Any) -> list[str]:
    if parameter.param_type_name == "argument":
        return []
    return [*parameter.opts, *parameter.secondary_opts]


def _shown(word: str) -> str:
    return shlex.quote(word)

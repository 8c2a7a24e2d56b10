"""Usage errors as diagnostics: typer says what is wrong, and the words of the command say where.

Invariant: no word of typer's or pydantic's messages reaches a user.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tripybuild.cli.command_line import PROGRAM, CommandLine, ParsedWords, Word
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest

USAGE = 2  # the exit code
_MOST = 3  # commands that have an option, and are named
CODES = frozenset(
    {
        "unknown-command",
        "unknown-option",
        "missing-argument",
        "extra-argument",
        "argument-value",
        "conflicting-options",
    }
)
# What pydantic calls a mistake, and what it is.
_NUMBERS = {"int": "an integer", "float": "a number", "finite": "a finite number"}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_QUOTED = re.compile(r"`([^`]+)`")
_current: list[tuple[CommandLine, Any]] = []


def set_command_line(line: CommandLine, root: Any) -> None:
    """Remember what this process was called with, and the commands that it has."""
    _current[:] = [(line, root)]


def conflict(message: str, hint: str | None = None, flag: str = "") -> DiagnosticError:
    """Options or arguments that do not go together.

    Args:
        message: What does not fit.
        hint: What mends it.
        flag: The option that is shown.
    """
    return _usage_error("conflicting-options", message, hint, flag)


def wrong_argument(message: str, hint: str | None = None, flag: str = "") -> DiagnosticError:
    """A value that its option or argument does not take."""
    return _usage_error("argument-value", message, hint, flag)


def _usage_error(code: str, message: str, hint: str | None, flag: str) -> DiagnosticError:
    spans = [_place(line, line.parse(root), message, flag, code) for line, root in _current]
    return DiagnosticError(Diagnostic(code, message, spans[0] if spans else None, hint=hint))


def _place(line: CommandLine, read: ParsedWords, message: str, flag: str, code: str) -> Span | None:
    """The option, its value, or the argument that a message names."""
    quoted = _QUOTED.search(message)
    part = quoted[1] if quoted else ""
    for each in read.command.params:
        for option, value in reversed(read.values.get(each.name, [])):
            if flag in each.opts:
                whole = code == "conflicting-options"
                return line.span(option) if whole else line.span(value, part)
            if not flag and line.value(value) == part:
                return line.span(value)
    return line.span(Word(line.words.index(flag))) if flag in line.words else None


def usage_diagnostics(error: Any, line: CommandLine, root: Any) -> tuple[Diagnostic, ...]:
    """What is wrong with the words, all of it at once; else what a parameter says of its value."""
    read = line.parse(root)
    found = tuple(_wrong_words(read, line, root))
    if found:
        return found
    if getattr(error, "param", None) is None:
        message = error.format_message().rstrip(".")
        return (Diagnostic("argument-value", message, line.span(None), hint=_help_hint(read)),)
    value = _wrong_value(error, read, line)
    return (value if value is not None else _missing(error.param, read, line),)


def empty_values(line: CommandLine, root: Any) -> tuple[Diagnostic, ...]:
    """Arguments and targets without a letter: a path would be the current folder."""
    if not any(not each or each.endswith("=") for each in line.words) or line.has("--help"):
        return ()
    read, found = line.parse(root), []
    for each in read.command.params:
        if each.param_type_name != "argument" and "--target" not in each.opts:
            continue
        for _, word in read.values.get(each.name, []):
            if not line.value(word):
                message = f"`{_name(each)}` is empty"
                hint = "a shell writes nothing for a variable that is not set"
                found.append(Diagnostic("argument-value", message, line.span(word), hint=hint))
    return (*_wrong_words(read, line, root), *found) if found else ()


def _wrong_words(read: ParsedWords, line: CommandLine, root: Any) -> Iterator[Diagnostic]:
    """Problems that need no look at any value."""
    commands: Mapping[str, Any] = getattr(read.command, "commands", {})
    called = _called(read)
    for name, word, command in read.unknown:
        owner = _called(read, command)
        if not name.startswith("-"):
            hint = _command_hint(name, commands, owner)
            message = f"`{owner}` has no command `{name}`"
            label = "unknown command"
            yield Diagnostic("unknown-command", message, line.span(word), label, hint=hint)
        else:
            hint = _option_hint(name, command, read, root)
            message = f"`{owner}` has no option `{name}`"
            label = "unknown option"
            yield Diagnostic("unknown-option", message, line.span(word, name), label, hint=hint)
    for option, word in read.bare:
        message = f"`{_name(option)}` needs a value"
        hint = f"write `{_name(option)} {_metavar(option)}`"
        yield Diagnostic("missing-argument", message, line.span(word), hint=hint)
    for option, word in read.filled:
        name = line.words[word.place].partition("=")[0]
        hint = f"leave out what stands behind `{name}`" if option is None else f"write `{name}`"
        yield Diagnostic("argument-value", f"`{name}` takes no value", line.span(word), hint=hint)
    for word in read.extra:
        taken = [each for each in read.command.params if each.param_type_name == "argument"]
        takes = f"takes {_listed(map(_metavar, taken))} alone" if taken else "takes no arguments"
        message = f"`{called}` {takes}"
        label = f"found `{line.value(word)}`"
        yield Diagnostic("extra-argument", message, line.span(word), label, hint=_help_hint(read))
    if commands and not read.unknown:
        message = f"`{called}` needs the name of a command"
        hint = f"there are {_listed(commands)}"
        yield Diagnostic("missing-argument", message, line.span(None), hint=hint)


def _missing(param: Any, read: ParsedWords, line: CommandLine) -> Diagnostic:
    """An argument, or an option, that is not there."""
    called, name = _called(read), _metavar(param)
    if param.param_type_name != "argument":
        name = f"{_name(param)} {name}"
    message = f"`{called}` needs `{name}`"
    about = (getattr(param, "help", None) or "").partition(". ")[0].rstrip(".")
    label = f"needs `{name}`"
    notes = (f"`{name}`: {about}",) if about else ()
    word = read.path[-1][1]
    return Diagnostic("missing-argument", message, line.span(word), label, notes, _help_hint(read))


def _wrong_value(error: Any, read: ParsedWords, line: CommandLine) -> Diagnostic | None:
    """What is wrong with the value of a parameter; None where there is no value."""
    param = error.param
    found = read.values.get(param.name, [])
    if not found or type(error).__name__ == "MissingParameter":
        return None
    cause = error.__cause__
    details = cause.errors()[0] if hasattr(cause, "errors") else {}
    where = next((each for each in details.get("loc", ()) if isinstance(each, int)), -1)
    quoted = _QUOTED.search(str(error.message))
    values = [value for _, value in found]
    word = values[where] if where < len(values) else values[-1]
    if quoted and not details:
        word = next((each for each in values if quoted[1] in line.value(each)), word)
    message, hint = _explain_value(line.value(word), details, param, str(error.message))
    part = quoted[1] if quoted and not details else ""
    label = f"of `{_name(param)}`"
    return Diagnostic("argument-value", message, line.span(word, part), label, hint=hint)


def _explain_value(
    value: str, details: Mapping[str, Any], param: Any, message: str
) -> tuple[str, str | None]:
    """A sentence about a value, and what mends it."""
    kind = str(details.get("type", ""))
    if not value:
        return f"`{_name(param)}` has an empty value", None
    choices = _choices(param)
    if choices and details:
        near = suggest(value, choices)
        hint = f"did you mean `{near}`?" if near else f"there are {_listed(choices)}"
        return f"`{value}` is not one of {_listed(choices)}", hint
    for begin, what in _NUMBERS.items():
        if kind.startswith(begin):
            return f"`{value}` is not {what}", f"write a number: `{_name(param)} {_sample(param)}`"
    if kind in _BOUNDS:
        key, words = _BOUNDS[kind]
        bound = details["ctx"][key]
        return f"`{value}` is not {words} {bound:g}", f"write a number that is {words} {bound:g}"
    if details:
        return f"`{value}` is not a value of `{_name(param)}`", None
    form = re.search(r"is not one of (.+)$", message)
    if form:
        near = suggest(value, [each.strip(" `'") for each in form[1].split(",")])
        return message, f"did you mean `{near}`?" if near else None
    return message, None


def _sample(param: Any) -> str:
    default = getattr(param, "default", None)
    return str(default) if isinstance(default, int | float) else "4"


def _choices(param: Any) -> list[str]:
    """The values that a parameter takes, where they are a few."""
    kind = getattr(param, "type_descriptor", None) or getattr(param, "type", None)
    return [str(getattr(each, "value", each)) for each in getattr(kind, "choices", None) or ()]


def _command_hint(name: str, commands: Mapping[str, Any], called: str) -> str:
    near = suggest(name, commands)
    if Path(name).suffix in {".yaml", ".mlir"} and called == PROGRAM:
        return f"`{PROGRAM} compile {name}` compiles it, and `{PROGRAM} check {name}` checks it"
    if near:
        return f"did you mean `{near}`?"
    return f"there are {_listed(commands)}"


def _option_hint(name: str, command: Any, read: ParsedWords, root: Any) -> str:
    if command is not read.command and name in _options_of(read.command):
        return f"write it behind `{_called(read)}`"
    near = suggest(name, [*_options_of(command), "--help"])
    if near:
        return f"did you mean `{near}`?"
    commands = getattr(root, "commands", {}).items()
    others = [f"{PROGRAM} {other}" for other, each in commands if name in _options_of(each)]
    if 0 < len(others) <= _MOST:
        return f"{_listed(others)} {'has' if len(others) == 1 else 'have'} it"
    return _help_hint(read)


def _options_of(command: Any) -> list[str]:
    """The options of a command by all of their names."""
    found = [each for param in command.params for each in getattr(param, "opts", ())]
    return [each for each in found if each.startswith("-")]


def _help_hint(read: ParsedWords) -> str:
    return f"`{_called(read)} --help` says what it takes"


def _called(read: ParsedWords, last: Any = None) -> str:
    """What was called, or one of the groups on the way there."""
    names = [PROGRAM]
    for command, word in read.path:
        names += [str(command.name)] if word is not None else []
        if command is last:
            break
    return " ".join(names)


def _name(param: Any) -> str:
    """An option by its longest name, an argument by what stands for it in the help."""
    return _metavar(param) if param.param_type_name == "argument" else max(param.opts, key=len)


def _metavar(param: Any) -> str:
    given = getattr(param, "metavar", None)
    return given or str(param.name).upper()


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in names)

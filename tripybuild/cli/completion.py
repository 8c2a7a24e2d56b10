"""Shell completion: typer completes commands and options, and this what stands behind them.

An option is completed by its name, in whatever command it is. Invariant: what goes wrong is silent,
and neither NumPy nor an engine is loaded: a shell waits for the answer.
"""

import json
import os
import shlex
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tripybuild.cli.command_line import COMPLETION as VARIABLE, PROGRAM, CommandLine

TYPED = "_TYPER_COMPLETE_ARGS"  # where typer has zsh and fish put the line
LARGEST = 1 << 22  # bytes of a file that is looked into
SECTIONS = ("requires", "types", "inputs", "attributes", "outputs")  # what `softmax/dim` names
Model = dict[str, dict[str, Any]]


def complete(root: Any) -> int:
    """Answer the shell, or say nothing."""
    is_bash = os.environ[VARIABLE] == "complete_bash"
    try:
        cut = _join_words() if is_bash else 0
        source = _source(root, _words(os.environ["COMP_WORDS" if is_bash else TYPED]))
        for command in _commands(root):
            for param in command.get_params(command.context_class(command)):  # with `--help`
                answer = COMPLETERS.get(_label(param, command))
                if answer is not None:
                    param.shell_complete = partial(_items, partial(answer, source), cut)
                param.process_value = _as_typed
        root.main(prog_name=PROGRAM)
    except SystemExit as end:
        return int(end.code or 0)
    except Exception:  # noqa: BLE001 - a traceback amid a line that is being typed helps nothing
        return 1
    return 0


def _as_typed(_ctx: Any, value: Any) -> Any:
    """A value as it was typed: no answer reads it, and typer's own way to it loads pydantic."""
    return value


def _commands(command: Any) -> Iterator[Any]:
    yield command
    for each in getattr(command, "commands", {}).values():
        yield from _commands(each)


def _label(param: Any, command: Any) -> str:
    """The longest name of an option; for an argument, the command that it is of."""
    return str(command.name if param.param_type_name == "argument" else max(param.opts, key=len))


def _join_words() -> int:
    """Put words together that bash broke at `=` and `:`, and count what it has of the last one.

    Bash replaces what stands behind the last break, so the answer begins there, too.
    """
    words, at = os.environ["COMP_WORDS"].split("\n"), int(os.environ["COMP_CWORD"])
    joined: list[str] = []
    is_open, cut = False, 0
    for number, word in enumerate(words[: at + 1]):
        is_break = bool(word) and not word.strip("=:")
        if joined and number > 1 and (is_break or is_open) and not joined[-1].endswith(" "):
            before = joined.pop()
            cut = len(before) + (len(word) if is_break else 0)
            joined.append(before + word)
        else:
            joined.append(word)
            cut = 0
        is_open = is_break
    quoted = [*joined[:-1], shlex.quote(joined[-1])] if joined[-1] else joined
    os.environ["COMP_WORDS"] = "\n".join(quoted)
    os.environ["COMP_CWORD"] = str(len(joined) - 1)
    return cut


def _words(text: str) -> list[str]:
    """The words of a line that may end amid a quoted one."""
    for ending in ("", "'", '"'):
        with suppress(ValueError):
            return shlex.split(text + ending)[1:]
    return []


def _items(
    answer: Callable[[str], Iterable[tuple[str, str]]], cut: int, ctx: Any, incomplete: str
) -> list[Any]:
    del ctx  # where an option waits for its value, typer has read nothing
    try:
        found = dict(answer(incomplete))
    except Exception:  # noqa: BLE001 - see above
        return []
    return [
        SimpleNamespace(value=value[cut:], type="plain", help=about)
        for value, about in found.items()
        if value.startswith(incomplete)
    ]


def _source(root: Any, words: list[str]) -> Path | None:
    """The first argument that is a file: a model or an executable."""
    line = CommandLine(words)
    read = line.parse(root)
    for param in read.command.params:
        if param.param_type_name == "argument":
            for _, word in read.values.get(param.name, []):
                if Path(line.value(word)).is_file():
                    return Path(line.value(word))
    return None


@cache
def _model(path: Path | None) -> Model:
    """Sections of a spec, or of an executable's manifest: names, and what stands behind each."""
    if path is None or not path.is_file():
        return {}
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as file:
            if file.getinfo("manifest.json").file_size > LARGEST:
                return {}
            entries = json.loads(file.read("manifest.json"))["entries"]
        return {
            "entries": {each["name"]: each for each in entries if each["name"]},
            "inputs": {one["name"]: one["dtype"] for each in entries for one in each["inputs"]},
            "ranges": dict(chain.from_iterable(each["ranges"].items() for each in entries)),
        }
    from tripybuild.documents.document import read  # noqa: PLC0415 - PyYAML

    document, _ = read(path)
    data = document.data if document else None
    found = {
        str(name): each
        for name, each in (data.items() if isinstance(data, dict) else ())
        if isinstance(each, dict)
    }
    for entry in found.get("entries", {}).values():
        if isinstance(entry, dict):
            for name in ("inputs", "ranges"):
                found[name] = {**found.get(name, {}), **(entry.get(name) or {})}
    return found


def _operators(_file: Path | None, incomplete: str) -> Iterator[tuple[str, str]]:
    """Operators, modules and codes; behind `softmax/`, what the file of the operator names."""
    from tripybuild.errors.codes import CODES  # noqa: PLC0415 - all these are for one question
    from tripybuild.process.paths import registry  # noqa: PLC0415

    files = {
        path.stem: path
        for path in registry().rglob("*.yaml")
        if not {"families", "foreign"} & set(path.relative_to(registry()).parts)
    }
    name, slash, _ = incomplete.partition("/")
    if slash:
        sections = _model(files.get(name))
        for each in chain.from_iterable(sections.get(section, {}) for section in SECTIONS):
            yield f"{name}/{each}", ""
        return
    yield from ((each, "") for each in sorted(files) if each != "targets")
    yield from CODES.items()


def _targets(_file: Path | None, incomplete: str) -> Iterator[tuple[str, str]]:
    """Targets; behind a comma, their options."""
    from tripybuild.targets.table import TARGETS  # noqa: PLC0415

    name, comma, rest = incomplete.partition(",")
    if not comma:
        yield from ((each, "") for each in TARGETS)
        return
    before = incomplete[: len(incomplete) - len(rest.rpartition(",")[2])]
    for option, values in TARGETS[name].options.items():
        words = getattr(values, "words", ("",))
        yield from ((f"{before}{option}={word}", str(values)) for word in words)


def _settings(source: Path | None, incomplete: str) -> Iterator[tuple[str, str]]:
    """Sizes and dtypes of a spec; behind `=`, or of the only one, dtypes or the spec's own value.

    Shells put a space behind the only answer, so that `F=` alone would end the word.
    """
    model = _model(source)
    name, equals, _ = incomplete.partition("=")
    names = [*model.get("types", {}), *model.get("sizes", {})]
    if not equals:
        fitting = [each for each in names if each.startswith(name)]
        yield from ((f"{each}=", "") for each in fitting)
        name = fitting[0] if len(fitting) == 1 else ""
    if name in model.get("types", {}):
        yield from ((f"{name}={each}", "") for each in _dtypes())
    elif isinstance(model.get("sizes", {}).get(name), int | float):
        yield f"{name}={model['sizes'][name]}", "as it is in the spec"


def _dtypes() -> Iterable[str]:
    from tripybuild.types.dtypes import BY_NAME  # noqa: PLC0415

    return BY_NAME


def _sizes(source: Path | None, incomplete: str) -> Iterator[tuple[str, str]]:
    """Dynamic sizes of a model; behind `=`, numbers of the range."""
    ranges = _model(source).get("ranges", {})
    begin = incomplete.rpartition(",")[0] + "," * ("," in incomplete)
    name, equals, _ = incomplete[len(begin) :].partition("=")
    if not equals:
        fitting = [each for each in ranges if each.startswith(name)]
        yield from ((f"{begin}{each}=", "") for each in fitting)
        name = fitting[0] if len(fitting) == 1 else ""
    span = ranges.get(name)
    numbers: Mapping[str, Any] = span if isinstance(span, dict) else {}
    for word in ("opt", "min", "max"):
        if isinstance(numbers.get(word), int):
            yield f"{begin}{name}={numbers[word]}", word


def _buckets(source: Path | None, incomplete: str) -> Iterator[tuple[str, str]]:
    name, equals, _ = incomplete.partition("=")
    yield from [(f"{name}=powers", "powers of two")] if equals else _sizes(source, incomplete)


def _inputs(source: Path | None, incomplete: str) -> Iterator[tuple[str, str]]:
    """Names of inputs; the shell completes files behind `=`."""
    if "=" not in incomplete:
        inputs = _model(source).get("inputs", {}).items()
        yield from ((f"{each}=", str(about)) for each, about in inputs)


def _entries(source: Path | None, _: str) -> Iterator[tuple[str, str]]:
    for name, entry in _model(source).get("entries", {}).items():
        yield name, str(entry.get("doc", "")).partition("\n")[0]


def _forms(_file: Path | None, _: str) -> Iterator[tuple[str, str]]:
    from tripybuild.targets.table import forms  # noqa: PLC0415

    yield from ((each, "") for each in forms())


# By the longest name of an option of any command; by its command for an argument.
COMPLETERS: dict[str, Callable[[Path | None, str], Iterable[tuple[str, str]]]] = {
    "explain": _operators,
    "--target": _targets,
    "--set": _settings,
    "--shapes": _sizes,
    "--buckets": _buckets,
    "--below": _inputs,
    "--input": _inputs,
    "--entry": _entries,
    "--prefill": _entries,
    "--emit": _forms,
}

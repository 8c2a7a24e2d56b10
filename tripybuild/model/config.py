"""Configurations: plain data that a model reads as `config.width`, of its own or of a JSON file.

Invariant: what the specification names is in its folder; what a person names may be anywhere.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from tripybuild.documents.document import Document
from tripybuild.documents.plain_json import read_object
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.language.records import Record
from tripybuild.schema.model.file_references import path_exists, resolve_path

CONFIG = "config"
FILE_NAME = "config.json"  # what a checkpoint of the Hugging Face hub has beside its weights
DEEPEST = 64
MOST_SHOWN = 6


@dataclass(frozen=True, slots=True)
class ConfigChoice:
    """What a caller puts in the place of the configuration that a specification has.

    Args:
        given: A file, or the values.
        checkpoint: The folder of a checkpoint, whose own file counts where nothing is given.
    """

    given: Path | Mapping[str, Any] | None = None
    checkpoint: Path | None = None

    def found(self) -> Path | Mapping[str, Any] | None:
        """The file or the values, or None where the specification's own count."""
        if self.given is None and self.checkpoint is not None:
            beside = self.checkpoint / FILE_NAME
            return beside if path_exists(beside) else None
        return self.given


@dataclass(frozen=True, slots=True)
class ConfigOrigin:
    """Where the values are from that the specification does not hold; memory has no path."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Configuration:
    """The values of a configuration, and where they are from.

    Args:
        record: The values.
        origin: Where they are from.
        defaults: What was read so far of the keys that a caller's file lacks, by path.
    """

    record: Record
    origin: ConfigOrigin | None = None
    defaults: dict[str, Any] = field(default_factory=dict)

    def warnings(self, span: Span) -> Iterator[Diagnostic]:
        """What a file does not say of the model, and the specification's own values say instead."""
        if not self.defaults or self.origin is None:
            return
        listed = [f"`{path} = {value!r}`" for path, value in self.defaults.items()]
        more = f" and {len(listed) - MOST_SHOWN} more" if len(listed) > MOST_SHOWN else ""
        message = (
            f"`{self.origin.path}` lacks keys that the model reads, so those of the specification "
            f"count: {', '.join(listed[:MOST_SHOWN])}{more}"
        )
        yield Diagnostic("config-default", message, span)


def read_config(
    document: Document,
    declared: str | Mapping[str, Any] | None,
    choice: ConfigChoice | None = None,
) -> Configuration | None:
    """The configuration of a file; None where it has none.

    The keys that a caller gives stand over those of a mapping, and in the place of a file.

    Raises:
        DiagnosticError: A file is not there, leads out of the folder, or is no object of JSON; the
            values are no plain data; or a configuration is given to a file that reads none.
    """
    span = document.span((CONFIG,))
    given = None if choice is None else choice.found()
    if declared is None:
        if choice is not None and choice.given is not None:
            name = f"`{choice.given}`" if isinstance(choice.given, Path) else "a configuration"
            message = f"`{Path(document.path).name}` has no `config:`, and reads nothing of {name}"
            hint = "leave out `--config`, or add `config: {...}` with the values that it stands for"
            raise DiagnosticError(Diagnostic("wrong-value", message, document.span(()), hint=hint))
        return None
    base: Mapping[str, Any] = {}
    if isinstance(declared, str):
        given = resolve_path(document, declared, span) if given is None else given
    else:
        base = _plain(declared, span)
    if given is None:
        return Configuration(config_record(CONFIG, base, ""))
    if isinstance(given, Path):
        read, content = read_object(given)
        name, source = given.name, given.as_posix()
        found = _plain(read, Span(source, 1, 1, 1, 2))
    else:
        if not isinstance(given, Mapping):
            message = f"a configuration is a file or a mapping, but this is {given!r:.60}"
            raise DiagnosticError(Diagnostic("config-malformed", message))
        found = _plain(given, span)
        name, source, content = "", "memory", json.dumps(found, sort_keys=True).encode()
    reads: dict[str, Any] = {}
    said = found if isinstance(given, Path) and base else None  # a mapping is a part on purpose
    record = config_record(CONFIG, merge_values(base, found), source, said, reads)
    return Configuration(record, ConfigOrigin(name, sha256(content).hexdigest()), reads)


def _plain(data: Mapping[str, Any], span: Span) -> dict[str, Any]:
    try:
        found: dict[str, Any] = plain_data(data, CONFIG)
    except ValueError as error:
        raise DiagnosticError(Diagnostic("config-malformed", str(error), span)) from error
    return found


def plain_data(value: Any, path: str, depth: int = 0) -> Any:
    """A copy of plain data, with the keys that JSON has.

    Raises:
        ValueError: Something in it is no number, boolean, string, None, list or mapping.
    """
    if depth > DEEPEST:
        message = f"`{path[:60]}...` is nested more than {DEEPEST} deep"
        raise ValueError(message)
    if isinstance(value, Mapping):
        for name in value:
            _check_key(name, path)
        return {str(n): plain_data(each, f"{path}.{n}", depth + 1) for n, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(each, f"{path}[{i}]", depth + 1) for i, each in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        message = f"`{path}` is {value}, which is no finite number"
        raise ValueError(message)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    message = f"`{path}` is of the type `{type(value).__name__}`, which is no plain data"
    raise ValueError(message)


def _check_key(name: object, path: str) -> None:
    """An integer becomes the text that JSON has for it."""
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        message = f"the key {name!r} of `{path}` is no string"
        raise ValueError(message)  # noqa: TRY004 - as for all that is no plain data


def merge_values(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """The values of both; where both have a key, that of the second, or a mapping of both."""
    found = dict(base)
    for name, value in over.items():
        before = found.get(name)
        both = isinstance(before, dict) and isinstance(value, dict)
        found[name] = merge_values(found[name], value) if both else value
    return found


def config_record(
    path: str,
    data: Any,
    source: str | None,
    said: Any = None,
    reads: dict[str, Any] | None = None,
) -> Any:
    """Plain data with records for its mappings.

    Args:
        path: How an expression reads it.
        data: The data.
        source: Where it is from.
        said: What of the data the source itself says; None is all.
        reads: Where reads of the rest are noted.
    """
    if isinstance(data, dict):
        own = data if said is None else said if isinstance(said, dict) else {}
        fields = {
            name: config_record(
                f"{path}.{name}", each, source, None if said is None else own.get(name, {}), reads
            )
            for name, each in data.items()
        }
        return Record(path, fields, source, frozenset(data.keys() - own.keys()), reads)
    if isinstance(data, list):
        return [config_record(f"{path}[{i}]", each, source) for i, each in enumerate(data)]
    return data


def plain_values(value: Any) -> Any:
    """The data that a record holds, as a caller gives it."""
    if isinstance(value, Record):
        return {name: plain_values(value[name]) for name in value}
    return [plain_values(each) for each in value] if isinstance(value, (list, tuple)) else value

"""Strict reader of JSON objects that a person wrote: plain data, and where it is wrong.

Invariant: numbers stay what they are, `1` an integer and `1e-5` a float, and all are finite; no
object has a key twice.
"""

import json
import math
from pathlib import Path
from typing import Any, NoReturn

from tripybuild.documents.json_reader import count_entries
from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span

LARGEST_OBJECT = 1024 * 1024
LONGEST_NUMBER = 80  # characters
CONFIGURATION = "a configuration"


def parse_object(content: bytes, path: str, kind: str = CONFIGURATION) -> dict[str, Any]:
    """Read a JSON object.

    Args:
        content: The file.
        path: What messages call it.
        kind: What it should be.

    Raises:
        DiagnosticError: It is too large, no JSON, or no object.
    """
    if len(content) > LARGEST_OBJECT:
        raise _malformed(path, kind, f"it has more than {LARGEST_OBJECT:,} bytes")
    spend("entries", count_entries(content))
    try:
        found = json.loads(
            content.decode(),
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        reason = error.msg[:1].lower() + error.msg[1:]
        raise _malformed(path, kind, reason, error.lineno, error.colno) from error
    except UnicodeDecodeError as error:
        raise _malformed(path, kind, "it is no UTF-8 text") from error
    except RecursionError as error:
        raise _malformed(path, kind, "it is nested too deeply") from error
    except ValueError as error:
        raise _malformed(path, kind, str(error)) from error
    if not isinstance(found, dict):
        raise _malformed(path, kind, "it holds no object: `{...}`")
    return found


def read_object(path: Path, kind: str = CONFIGURATION) -> tuple[dict[str, Any], bytes]:
    """Read a file that holds a JSON object, and give its bytes, too.

    Raises:
        DiagnosticError: The file cannot be read, is too large, no JSON, or no object.
    """
    name = path.as_posix()
    try:
        if not path.is_file():
            is_folder = path.is_dir()
            message = f"`{name}` is a folder" if is_folder else f"there is no file `{name}`"
            hint = "name the file in it" if is_folder else None
            span = Span(name, 1, 1, 1, 1)
            raise DiagnosticError(Diagnostic("file-not-found", message, span, hint=hint))
        with path.open("rb") as file:
            content = file.read(LARGEST_OBJECT + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"`{name}` cannot be read: {reason}"
        raise DiagnosticError(Diagnostic("file-unreadable", message)) from error
    return parse_object(content, name, kind), content


def _malformed(
    path: str, kind: str, reason: str, line: int = 1, column: int = 1
) -> DiagnosticError:
    message = f"`{path}` is not {kind}: {reason}"
    span = Span(path, line, column, line, column + 1)
    code = "config-malformed" if kind == CONFIGURATION else "wrong-value"
    return DiagnosticError(Diagnostic(code, message, span))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                message = f"it has the key `{name[:LONGEST_NUMBER]}` twice"
                raise ValueError(message)
            seen.add(name)
    return found


def _refuse_constant(text: str) -> NoReturn:
    message = f"`{text}` is no number of JSON"
    raise ValueError(message)


def _integer(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        message = f"a number has at most {LONGEST_NUMBER} characters"
        raise ValueError(message)
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        message = f"`{text[:LONGEST_NUMBER]}` is larger than any float"
        raise ValueError(message)
    return number

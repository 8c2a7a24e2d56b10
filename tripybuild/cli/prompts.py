"""Prompts of `tripybuild generate`: files of tokens, texts, and the printing of what follows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tripybuild.cli.console import read_stdin, write_piece
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

STDIN = Path("-")
LINE = re.compile(r"\d{1,18}(?:[\s,]+\d{1,18})*", re.ASCII)
UNFINISHED = "\ufffd"  # what a tokenizer gives for the first bytes of a character


class Codec:
    """Texts to tokens and back, by a `tokenizer.json`.

    Raises:
        DiagnosticError: The library is not installed, or the file is no tokenizer.
    """

    def __init__(self, path: Path) -> None:
        try:
            from tokenizers import Tokenizer  # noqa: PLC0415 - an extra
        except ImportError as error:
            message = "texts need the package `tokenizers`, which is not installed"
            hint = "`pip install 'tripybuild[tokenizers]'`, or give tokens: `--prompt-ids FILE`"
            raise DiagnosticError(Diagnostic("not-installed", message, hint=hint)) from error
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        except Exception as error:  # its own type is `Exception`
            message = f"`{path}` is not a tokenizer: {error}"
            hint = "give the `tokenizer.json` of the checkpoint"
            raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint)) from error

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text."""
        return list(self._tokenizer.encode(text).ids)

    def text(self, tokens: Sequence[int]) -> str:
        """The text of tokens."""
        return str(self._tokenizer.decode(list(tokens)))


def read_prompts(
    path: Path | None, texts: Sequence[str], tokenizer: Path | None
) -> tuple[list[list[int]], Codec | None]:
    """The prompts of a command, and what prints the text of tokens.

    Raises:
        DiagnosticError: There are none, or a file does not hold what it should.
    """
    if texts and tokenizer is None:
        message, hint = "a text needs a tokenizer", "`--tokenizer tokenizer.json`"
        raise DiagnosticError(Diagnostic("missing-input", message, hint=hint))
    codec = None if tokenizer is None else Codec(tokenizer)
    prompts = [] if path is None else _read_tokens(path)
    if codec is not None:
        prompts += [codec.tokens(text) for text in texts]
    if not prompts:
        message = "there is no prompt to go on from"
        hint = "`--prompt-ids FILE`, or `--prompt TEXT --tokenizer tokenizer.json`"
        raise DiagnosticError(Diagnostic("missing-input", message, hint=hint))
    return prompts, codec


def _read_tokens(path: Path) -> list[list[int]]:
    """The prompts of a file: `.npy`, `.json`, or a line of numbers for each."""
    if path.suffix == ".npy":
        from tripybuild.weights.array_files import read  # noqa: PLC0415

        array = read(path, "prompt")
        if array.dtype.kind not in "iu" or array.ndim not in (1, 2) or not array.size:
            found = f"`{path}` holds {array.dtype.name}{list(array.shape)}"
            raise _unreadable(f"{found}, which is no prompt")
        return [[int(n) for n in row] for row in array.reshape(-1, array.shape[-1])]
    if path.suffix == ".json":
        return _read_json(path)
    prompts = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        if not line.strip():
            continue
        if not LINE.fullmatch(line.strip()):
            raise _unreadable(f"line {number} of `{path}` is not a prompt: `{line.strip()[:40]}`")
        prompts.append([int(each) for each in re.split(r"[\s,]+", line.strip())])
    return prompts


def _read_json(path: Path) -> list[list[int]]:
    from tripybuild.documents.json_reader import parse_json  # noqa: PLC0415
    from tripybuild.errors.limits import within_budget  # noqa: PLC0415

    try:
        with within_budget():
            found = parse_json(_text(path).encode())
    except (ValueError, RecursionError) as error:
        raise _unreadable(f"`{path}` is no JSON: {error}") from error
    rows = found if isinstance(found, list) and found and isinstance(found[0], list) else [found]
    for row in rows:
        whole = isinstance(row, list) and all(type(each) is int for each in row)
        if not whole:
            raise _unreadable(f"`{path}` is not a list of tokens, or of such lists")
    return rows


def _text(path: Path) -> str:
    from tripybuild.artifact.file_errors import refuse_pipe, unreadable_error  # noqa: PLC0415

    if path == STDIN:
        return read_stdin()
    try:
        refuse_pipe(path)
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(f"`{path}` is no text in UTF-8") from error
    except OSError as error:
        raise unreadable_error(path, error) from error


def _unreadable(message: str) -> DiagnosticError:
    hint = "a prompt is a line of tokens such as `15496 11 995`; .json and .npy are read, too"
    return DiagnosticError(Diagnostic("array-malformed", message, hint=hint))


class SequencePrinter:
    """Prints one sequence as it comes, and several each when it has ended.

    Args:
        count: How many sequences there are.
        codec: Makes text of tokens; without it, tokens are printed.
        silent: Whether to print nothing.
    """

    def __init__(self, count: int, codec: Codec | None, *, silent: bool) -> None:
        self.sequences: list[list[int]] = [[] for _ in range(count)]
        self._codec, self._silent = codec, silent
        self._shown = ""
        self._open = set(range(count))

    def add(self, step: Sequence[int | None]) -> None:
        """Take the next token of each sequence; None has ended."""
        for number, token in enumerate(step):
            if token is not None:
                self.sequences[number].append(token)
            elif number in self._open:
                self._end(number)
        if len(step) == 1 and not self._silent:
            self._stream()

    def close(self) -> None:
        """End all sequences."""
        for number in sorted(self._open):
            self._end(number)

    def texts(self) -> list[str] | None:
        """The texts of the sequences; None without a tokenizer."""
        return None if self._codec is None else [self._codec.text(each) for each in self.sequences]

    def _stream(self) -> None:
        """Print what has been added, as far as its characters are whole."""
        text = self._text(0)
        if text.startswith(self._shown) and not text.endswith(UNFINISHED):
            write_piece(text[len(self._shown) :])
            self._shown = text

    def _end(self, number: int) -> None:
        self._open.discard(number)
        if self._silent:
            return
        if len(self.sequences) == 1:
            write_piece(self._text(0)[len(self._shown) :] + "\n")
        else:
            write_piece(f"{number}: {self._text(number)}\n")

    def _text(self, number: int) -> str:
        tokens = self.sequences[number]
        return " ".join(map(str, tokens)) if self._codec is None else self._codec.text(tokens)

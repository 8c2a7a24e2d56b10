"""MLIR parser: text to a module.

Invariant: whatever the text, what comes out is a module or diagnostics with a place in the text.
"""

import re
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import MultipleSpansParseError, ParseError

from tripybuild.errors.budget import Budget, BudgetError, use_budget
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.errors.limits import budget_diagnostic
from tripybuild.process.gc_pause import pause_gc
from tripybuild.tensorrt.mlir import resources
from tripybuild.tensorrt.mlir.context import new_context
from tripybuild.tensorrt.mlir.locations import span_of
from tripybuild.tensorrt.mlir.reading.text_reader import TextReader, UnknownOperationError

# What xDSL's parser says of a value that is used with two types.
_TYPE_CLASH = re.compile(
    r"operand is used with type (.*), but has been previously used or defined with type (.*)"
)


def parse(text: str, path: str = "-", context: Context | None = None) -> ModuleOp:
    """Read a module.

    Args:
        text: The module, or operations that stand in one without its being written.
        path: What diagnostics, and locations that are not written, call the text.
        context: What its words mean; a new context otherwise. A context is for one text.

    Raises:
        DiagnosticError: The text is no MLIR, or uses what the context does not know.
    """
    context = new_context() if context is None else context
    reader: TextReader | None = None
    try:
        with pause_gc(), use_budget(Budget()):
            reader = TextReader(context, text, path)
            module = reader.module()
    except DiagnosticError:
        raise
    except BudgetError as error:
        place = Span(path, 1, 1, 1, 1) if reader is None else _span(reader.token, path)
        raise DiagnosticError(budget_diagnostic(error, place)) from None
    except ParseError as error:
        raise DiagnosticError(_diagnostic(error, path, reader)) from None
    except RecursionError:
        raise DiagnosticError(_at_token("the text is nested too deeply", reader, path)) from None
    except Exception as error:  # noqa: BLE001  # parsers of xDSL's dialects raise anything
        words = str(error.args[0] if error.args else "").strip() or type(error).__name__
        raise DiagnosticError(_at_token(words.splitlines()[0], reader, path)) from None
    resources.attach(module, resources.of_context(context))
    return module


def _diagnostic(error: ParseError, path: str, reader: TextReader | None) -> Diagnostic:
    notes: tuple[str, ...] = ()
    if reader is not None and (clash := _TYPE_CLASH.fullmatch(error.msg)):
        return _clash(error, clash, path, reader)
    if isinstance(error, MultipleSpansParseError):
        others = [span for span, _ in error.refs]
        if "missing block" in error.msg:
            message = f"reference to an undefined block '{others[0].text}'"
            return Diagnostic("mlir-syntax", message, _span(others[0], path))
        notes = (f"{error.ref_text or 'see'} {', '.join(str(_span(s, path)) for s in others)}",)
    hint = error.hint if isinstance(error, UnknownOperationError) else None
    message = _sentence(error.msg)
    return Diagnostic("mlir-syntax", message, _span(error.span, path), notes=notes, hint=hint)


def _clash(error: ParseError, found: re.Match[str], path: str, reader: TextReader) -> Diagnostic:
    """Say in MLIR's words that a value has another type, and where it was defined."""
    name, (new, prior) = error.span.text.partition("#")[0], found.groups()
    message = f"use of value '{name}' expects different type than prior uses: '{new}' vs '{prior}'"
    known = reader.ssa_values.get(name.removeprefix("%"), ())
    owners = {value.owner for value in known if isinstance(value.owner, Operation)}
    notes = tuple(f"prior use here: {span_of(each.location)}" for each in owners)
    return Diagnostic("mlir-syntax", message, _span(error.span, path), notes=notes)


def _sentence(message: str) -> str:
    """A message begins with a small letter, unless its first word is a name."""
    return message[:1].lower() + message[1:] if message[1:2].islower() else message


def _span(found: Any, path: str) -> Span:
    """Give the place of a stretch of text; one of several lines ends with its first."""
    before, text = found.input.content[: found.start], found.text.split("\n")[0]
    line, column = before.count("\n") + 1, found.start - (before.rfind("\n") + 1) + 1
    return Span(path, line, column, line, column + max(len(text), 1))


def _at_token(message: str, reader: TextReader | None, path: str) -> Diagnostic:
    span = None if reader is None else _span(reader.token, path)
    return Diagnostic("mlir-syntax", _sentence(message), span)

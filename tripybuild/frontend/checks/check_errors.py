"""Errors of call checks: the argument is underlined, tensor origins are noted."""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Related, Span
from tripybuild.frontend.checks.call_site import CallSite, call_at, origins
from tripybuild.frontend.checks.messages import format_value, python_hint, replace_names
from tripybuild.process.law_lines import declared_at
from tripybuild.trace.location import Location, PythonLocation
from tripybuild.trace.operation import Declaration, Law


class Failures:
    """The part of `Check` that reports what does not hold."""

    declaration: Declaration
    location: Location

    def fail(
        self,
        part: str,
        message: str,
        *,
        label: str = "",
        hint: str | None = None,
        law: Law | None = None,
        at: str = "",
        about: Sequence[str] | None = None,
    ) -> NoReturn:
        """Report that an argument, a type variable or a law of the declaration does not hold.

        Args:
            part: What does not hold, for the code.
            message: What is required.
            label: What was found.
            hint: What to do.
            law: The law that is broken.
            at: The argument that is to blame, which is underlined.
            about: The arguments of which it is said where they were made, if they are tensors; all
                of them, where nothing else is said.
        """
        source = self.declaration.source
        if law is not None:
            source = declared_at(law.source or source, part, law.line)
        call = call_at(self.location)
        words = {} if call is None else call.operand_texts()
        if call is not None and law is not None and words:
            tensors = call.tensors(about)
            label = ", ".join(f"`{name}` is {value.type}" for name, value in tensors) or label
        message = message.replace(f"`{at}` of `{self.declaration.name}`", f"`{at}`", at in words)
        message, label = replace_names(message, words), replace_names(label, words)
        hint = None if hint is None else self._hint_text(hint, call, expression=bool(words))
        span, related = self._error_spans(call, at, about, words)
        code = f"{self.declaration.name}/{part}"
        notes = [f"required by {source}"]
        if call is not None and call.whole not in ("", self.declaration.name):
            notes.insert(0, f"`{self.declaration.name}` is a part of `{call.whole}`")
        raise DiagnosticError(Diagnostic(code, message, span, label, tuple(notes), hint, related))

    def _hint_text(self, hint: str, call: CallSite | None, *, expression: bool) -> str:
        """Hint in Python or spec syntax, with the call's source text for parameters."""
        if not isinstance(self.location, PythonLocation):
            return hint
        if call is None:
            return python_hint(hint)
        words = call.argument_texts()
        if expression:  # which names no parameters
            words = dict.fromkeys([name for name, _ in call.tensors()], "...") | words
        return replace_names(python_hint(hint), words, alone=expression)

    def _error_spans(
        self,
        call: CallSite | None,
        at: str,
        about: Sequence[str] | None,
        words: Mapping[str, str],
    ) -> tuple[Span, tuple[Related, ...]]:
        """What to underline, and where the tensors were made."""
        span = self.location.span()
        if call is None:
            return span, ()
        tensors = {words.get(name, name): value for name, value in call.tensors(about)}
        shown = call.argument(at) if at else None
        return shown or span, tuple(origins(tensors, shown or span))

    def must(
        self,
        name: str,
        what: str,
        label: str,
        *,
        part: str = "",
        hint: str | None = None,
        shapes: bool = False,
    ) -> NoReturn:
        """Fail with "`dim` of `softmax` must be an integer".

        Args:
            name: The argument.
            what: What it must be or do.
            label: What was found.
            part: The code, if that is not the name.
            hint: What to do.
            shapes: Whether this follows from the tensors that the call is given.
        """
        message = f"`{name}` of `{self.declaration.name}` must {what}"
        about = None if shapes else (name,)
        self.fail(part or name, message, label=label, hint=hint, at=name, about=about)

    def _refuse(
        self,
        name: str,
        wanted: str,
        value: object,
        hint: str | None = None,
        *,
        shapes: bool = False,
    ) -> NoReturn:
        self.must(name, f"be {wanted}", f"found {format_value(value)}", hint=hint, shapes=shapes)

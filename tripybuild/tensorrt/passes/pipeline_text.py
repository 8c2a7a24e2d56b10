"""Pipeline syntax: `builtin.module(tensorrt-expand-ops,func.func(cse),x{a=1 b})`.

Invariant: it is mlir-opt's grammar. A pass is given the whole module wherever it is written, so
nesting is checked for its form only.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.tensorrt.passes.pipeline import PASSES, Option, OptionValue, Pass

_NAME = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*")
_OPTION = re.compile(
    r"\s*([A-Za-z_][\w.-]*)(?:=(\"[^\"]*\"|'[^']*'|\{[^{}]*\}|[^\s{}\"']+))?(?=[\s}])"
)
_FLAGS = {"true": True, "1": True, "": True, "false": False, "0": False}
ANCHORS = frozenset({"any", "builtin.module", "func.func", "tensorrt.module"})


@dataclass(frozen=True, slots=True)
class PassStep:
    """A pass, and the options that it is given."""

    entry: Pass
    options: Mapping[str, OptionValue] = field(default_factory=dict)


def steps(text: str) -> list[PassStep]:
    """Read a pipeline, with the operations that passes are nested in or without.

    Raises:
        DiagnosticError: The text is no pipeline, or names what there is not.
    """
    reader = _PipelineParser(text)
    found = list(reader.sequence())
    if reader.position < len(text):
        raise reader.error("expected `,` or the end")
    return found


class _PipelineParser:
    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0

    def sequence(self) -> Iterator[PassStep]:
        """Read elements with commas between them; there may be none in parentheses."""
        yield from self.element()
        while self.accept(","):
            yield from self.element()

    def element(self) -> Iterator[PassStep]:
        """Read a pass with its options, or an operation with what is run in it."""
        found = _NAME.match(self.text, self.position)
        if found is None:
            raise self.error("expected the name of a pass")
        name, self.position = found[1], found.end()
        if self.accept("("):
            yield from self.nest(name)
        elif name in PASSES:
            entry = PASSES[name]
            yield PassStep(entry, self.options(entry) if self.accept("{") else {})
        else:
            raise DiagnosticError(_unknown(name))

    def nest(self, anchor: str) -> Iterator[PassStep]:
        """Read what is run in an operation, up to the parenthesis."""
        if anchor not in ANCHORS:
            near = suggest(anchor, ANCHORS)
            hint = (
                f"did you mean `{near}(...)`?" if near else f"one of: {', '.join(sorted(ANCHORS))}"
            )
            raise self.error(f"passes are not nested in `{anchor}`", hint)
        if not self.accept(")"):
            yield from self.sequence()
            if not self.accept(")"):
                raise self.error("expected `,` or `)`")

    def options(self, entry: Pass) -> dict[str, OptionValue]:
        """Read `name=value` and flags, up to the brace."""
        known = {option.name: option for option in entry.options}
        found: dict[str, OptionValue] = {}
        while not self.accept("}"):
            each = _OPTION.match(self.text, self.position)
            if each is None:
                raise self.error(f"expected an option of `{entry.name}`, or `}}`")
            self.position = each.end()
            if each[1] not in known:
                raise DiagnosticError(_unknown_option(each[1], entry))
            found[each[1]] = self.value(known[each[1]], each[2])
        return found

    def value(self, option: Option, text: str | None) -> OptionValue:
        """Give what an option is set to: a flag may stand alone."""
        if text is not None and text[0] in "\"'{":
            text = text[1:-1]
        if isinstance(option.default, bool):
            if (text or "").lower() in _FLAGS:
                return _FLAGS[(text or "").lower()]
            raise self.error(f"`{option.name}` is `true` or `false`, not `{text}`")
        if text is None:
            raise self.error(f"`{option.name}` needs a value: `{option.name}={option.default}`")
        if isinstance(option.default, int):
            if text.isascii() and text.isdigit():
                return int(text)
            raise self.error(f"`{option.name}` is a number, not `{text}`")
        return text

    def accept(self, mark: str) -> bool:
        """Read a mark, if it is the next."""
        while self.text[self.position : self.position + 1].isspace():
            self.position += 1
        if self.text[self.position : self.position + 1] != mark:
            return False
        self.position += 1
        return True

    def error(self, message: str, hint: str | None = None) -> DiagnosticError:
        """Say what is wrong with the text here."""
        rest = self.text[self.position :]
        where = f"before `{rest[:20]}`" if rest else "at the end"
        full = f"the pipeline is not understood {where}: {message}"
        return DiagnosticError(Diagnostic("pipeline-syntax", full, hint=hint))


def _unknown(name: str) -> Diagnostic:
    near = suggest(name, PASSES)
    hint = f"did you mean `{near}`?" if near else "`tripybuild opt --list-passes` lists them"
    return Diagnostic("unknown-pass", f"no pass is called `{name}`", hint=hint)


def _unknown_option(name: str, entry: Pass) -> Diagnostic:
    names = [option.name for option in entry.options]
    near = suggest(name, names)
    hint = f"did you mean `{near}`?" if near else None
    notes = (f"its options: {', '.join(names)}",) if names else ("it has no options",)
    return Diagnostic(
        "unknown-pass", f"`{entry.name}` has no option `{name}`", None, "", notes, hint
    )

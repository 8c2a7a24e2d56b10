"""The file of a spec: names for all that has none yet, and the text."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tripybuild.documents.document import parse
from tripybuild.documents.scalars import ScalarError, resolve
from tripybuild.importer.call_program import CallProgram
from tripybuild.importer.spec_writer.definition import Definition, inner
from tripybuild.importer.spec_writer.module_runs import last_word
from tripybuild.importer.spec_writer.names import (
    FLOATS,
    LANGUAGE,
    TakenNames,
    common_words,
    free_name,
    local_name,
    model_name,
    without_prefix,
    words,
)
from tripybuild.importer.spec_writer.size_names import ConfigSizes
from tripybuild.importer.spec_writer.texts import (
    DefinitionName,
    Keyword,
    Piece,
    SizeNumber,
    Slot,
    Text,
    TypeText,
)
from tripybuild.schema.formatting import format_document
from tripybuild.symbolic.dims import Dim
from tripybuild.types.dtypes import dtype, float32

WIDTH = 91  # of a name and its expression
_FREE = re.compile(r"[A-Za-z_](?:[^:#\"'\n]|:(?! )|(?<! )#)*")


@dataclass(frozen=True)
class SpecDocument:
    """A spec with its definitions.

    Attributes:
        program: The program.
        model: The model's own definition.
        definitions: Those that it is made of, the inner ones first.
        weights: What stands below `weights:`.
        operators: Names of operators, which values can have where those are not called.
        modules: Names of modules.
        names: What sizes are called.
        dims: What dynamic dimensions are called, where their names mean something else.
    """

    program: CallProgram
    model: Definition
    definitions: Sequence[Definition]
    weights: str | Mapping[str, object]
    operators: frozenset[str]
    modules: frozenset[str]
    names: ConfigSizes = field(default_factory=ConfigSizes)
    dims: Mapping[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """The file, in its one form."""
        text = "\n".join(_with_gaps(self._lines())) + "\n"
        document, problems = parse(text, "model.yaml")
        assert not problems, problems
        assert document is not None
        return format_document(document) or text

    def _lines(self) -> Iterator[str]:
        main = main_float(self.program)
        names = self._definition_names()
        reserved = {
            *self.modules,
            *self._ranges_by_name(),
            *self.names.sizes,
            *names.values(),
            *LANGUAGE,
        }
        ranges = self.program.ranges
        dims = {old: ranges[old].symbol(new) for old, new in self.dims.items()}
        yield "tripybuild: 1"
        yield f"model: {model_name(self.program.name)}{_comment(self.model)}"
        if self.names.sizes:
            yield "sizes:"
            yield from (f"  {quoted(n)}: {quoted(str(s))}" for n, s in self.names.sizes.items())
        if main is not float32:
            yield f"types: {{{FLOATS}: {main}}}"
        body = _DefinitionLines(self.model, names, self.names, reserved, main, dims, is_model=True)
        yield from body.lines()
        yield from self._ranges()
        weights = self.weights
        if self.model.weights:
            given = {"file": weights} if isinstance(weights, str) else weights
            weights = {**given, "tensors": {n: body.type(t) for n, t in self.model.weights.items()}}
        yield from _mapping("weights", weights)
        if self.definitions:
            yield "define:"
        for number, definition in enumerate(self._in_order()):
            body = _DefinitionLines(definition, names, self.names, reserved, main, dims)
            yield from [""] if number else []
            yield f"  {quoted(names[id(definition)])}:{_comment(definition)}"
            yield from (f"    {line}" for line in body.lines())

    def _ranges(self) -> Iterator[str]:
        if self.program.ranges:
            yield "ranges:"
        for own, (name, each) in zip(
            self._ranges_by_name(), self.program.ranges.items(), strict=True
        ):
            most = self.names.ranges.get(name, each.max)
            words = {"min": each.min, "opt": each.opt, "max": most}
            if each.multiple_of != 1:
                words["multiple_of"] = each.multiple_of
            said = ", ".join(f"{key}: {value}" for key, value in words.items() if value is not None)
            yield f"  {quoted(own)}: {{{said}}}"

    def _ranges_by_name(self) -> Sequence[str]:
        """What the dynamic dimensions are called, in order."""
        return [self.dims.get(name, name) for name in self.program.ranges]

    def _in_order(self) -> Sequence[Definition]:
        """The definitions as they are used, each with those that it is made of behind it."""
        found: dict[int, Definition] = {}

        def add(definition: Definition) -> None:
            for each in inner(definition):
                if id(each) not in found:
                    found[id(each)] = each
                    add(each)

        add(self.model)
        return [*found.values()]

    def _definition_names(self) -> dict[int, str]:
        """Names by class, without the model's name and the words that all classes begin with."""
        definitions = self._in_order()
        own = {id(each): without_prefix(each.hint, self.program.name) for each in definitions}
        classes = [words(each) for each in own.values() if len(words(each)) > 1]
        shared = common_words(classes)
        parts = {n for d in (self.model, *self.definitions) for n in (*d.parts, *d.weights)}
        inputs = {slot.hint for slot, _ in self.model.inputs}
        found: dict[int, str] = {}
        for definition in definitions:
            said = words(own[id(definition)]) or ["part"]
            short = said[shared:] if len(said) > shared else said
            prefix = definition.hint.removesuffix(own[id(definition)]).lower()
            whole = [prefix, *said] if prefix else said
            held = parts | inputs if definition.is_function() else set()
            known = {*LANGUAGE, *self.names.sizes, *self._ranges_by_name(), *found.values()}
            taken = TakenNames(known | held | self.operators | self.modules)
            part = words(last_word(definition.path, ""))
            options = ["_".join(each) for each in (short, whole, part, short)]
            found[id(definition)] = free_name(options, taken)
        return found


@dataclass
class _DefinitionLines:
    """The lines of one definition."""

    definition: Definition
    names: Mapping[int, str]
    sizes: ConfigSizes
    reserved: set[str]
    main: dtype
    renamed: Mapping[str, Dim]
    is_model: bool = False
    local: dict[int, str] = field(default_factory=dict)
    dims: dict[Dim, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        made = self.definition
        taken = TakenNames({*self.reserved, *made.operators, *made.parts, *made.weights})
        for _, type in made.inputs:
            for size in type.shape.pieces:
                if isinstance(size, Dim) and size not in self.dims and not self.is_model:
                    if str(size).isidentifier():
                        self.dims[size] = self._size(size)
                    else:
                        self.dims[size] = free_name(
                            list("LMNPQR"), TakenNames({*taken, *self.dims.values()})
                        )
        taken.update(self.dims.values())
        outputs = {id(slot) for slot, _ in made.outputs}
        steps = [slot for targets, _ in made.steps for slot in targets]
        kept = [slot for slot, _ in made.inputs] if self.is_model else []
        for slot in kept:
            self.local[id(slot)] = slot.hint
            taken.add(slot.hint)
        shapes = (size for _, type in made.inputs for size in type.shape.pieces)
        bound = [size for size in shapes if isinstance(size, Slot)]
        states = [slot for slot, *_ in made.state]
        reserved = frozenset(taken)
        for slot in (*made.sizes, *bound, *states, *(slot for slot, _ in made.inputs), *steps):
            if id(slot) not in self.local and id(slot) not in outputs:
                self.local[id(slot)] = name = local_name(slot, taken, reserved)
                taken.add(name)
        shown = TakenNames([*self.local.values(), *made.parts, *made.weights])
        for slot, text in made.outputs:
            given = text.pieces[0] if len(text.pieces) == 1 else None
            self.local[id(slot)] = slot.hint
            if len(made.outputs) > 1 and not self.is_model:
                same = isinstance(given, Slot) and given.hint == slot.hint
                name = self.local[id(given)] if same else free_name([slot.hint], shown)
                self.local[id(slot)] = name
                shown.add(name)

    def lines(self) -> Iterator[str]:
        """The lines, without an indentation of their own."""
        made = self.definition
        if made.sizes:
            yield f"sizes: [{', '.join(self.local[id(slot)] for slot in made.sizes)}]"
        inputs = ((self.local[id(slot)], self.type(type)) for slot, type in made.inputs)
        yield from _section("inputs", inputs)
        yield from _section("parts", ((n, self._part(k)) for n, k in made.parts.items()))
        if not self.is_model:
            weights = ((name, self.type(type)) for name, type in made.weights.items())
            yield from _section("weights", weights)
        yield from _section("steps", (self._step(*step) for step in made.steps))
        if made.state:
            yield "state:"
        for slot, type, first in made.state:
            begin = "" if first is None else f", first: {str(first).lower()}"
            yield f'  {quoted(self.local[id(slot)])}: {{type: "{self.type(type)}"{begin}}}'
        following = ((self.local[id(slot)], self._text(text)) for slot, text in made.next)
        yield from _section("next", following)
        outputs = ((self.local[id(slot)], self._text(text)) for slot, text in made.outputs)
        yield from _section("outputs", outputs)

    def _part(self, kind: object) -> str:
        assert isinstance(kind, Text)
        return self._text(kind)

    def _step(self, targets: Sequence[Slot], text: Text) -> tuple[str, str]:
        return ", ".join(self.local[id(slot)] for slot in targets), self._text(text)

    def _text(self, text: Text) -> str:
        return text.render(self._piece)

    def _piece(self, piece: Piece) -> str:
        match piece:
            case Slot():
                return self.local[id(piece)]
            case DefinitionName():
                return self.names[id(piece.to)]
            case SizeNumber():
                return self.sizes.name(piece, self.definition) or str(piece.value)
            case Dim():
                return self.dims.get(piece) or self._size(piece)
            case Keyword():
                return "" if piece.is_default else f", {piece.name}={self._piece(piece.value)}"
        return str(piece)

    def _size(self, size: Dim) -> str:
        return str(size.substitute(self.renamed) if self.renamed else size)

    def type(self, type: TypeText) -> str:
        """A type, with the names of sizes."""
        name = FLOATS if type.dtype is self.main else type.dtype.name
        return name + (self._text(type.shape) if len(type.shape.pieces) > 1 else "[()]")


def main_float(program: CallProgram) -> dtype:
    """The dtype that most weights of floats have."""
    kinds = [v.dtype for v in program.weights.values() if v.dtype.kind == "float"]
    return max(dict.fromkeys([*kinds, float32]), key=kinds.count)


def _with_gaps(lines: Iterable[str]) -> Iterator[str]:
    """A blank line before each section."""
    for number, line in enumerate(lines):
        if number > 1 and line and not line.startswith(" "):
            yield ""
        yield line


def _comment(definition: Definition) -> str:
    """Where the classes of a definition are declared: the first with its place, others by name."""
    places = definition.origins[:1]
    names = [each.rpartition(" ")[2] for each in definition.origins[1:]]
    return f"  # {', '.join(dict.fromkeys((*places, *names)))}" if places else ""


def _section(key: str, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    lines = [line for name, value in entries for line in _entry(name, value)]
    yield from [f"{key}:", *lines] if lines else []


def _entry(name: str, value: str) -> Iterator[str]:
    """A key with its expression, which is broken within its brackets where a line is too short."""
    key = quoted(name)
    if len(name) + len(value) <= WIDTH:
        yield f"  {key}: {quoted(value)}"
        return
    node = ast.parse(value, mode="eval").body
    whole = node.left if isinstance(node, ast.BinOp) else node
    if isinstance(whole, ast.List):
        items: Sequence[ast.AST] = whole.elts
    else:
        items = [*whole.args, *whole.keywords] if isinstance(whole, ast.Call) else []
    if not items or whole.col_offset:
        yield f"  {key}: {quoted(value)}"
        return
    texts = [ast.get_source_segment(value, item) or "" for item in items]
    yield f"  {key}: |"
    line = value[: value.index(texts[0])]
    closed = [f"{text}," for text in texts[:-1]]
    closed.append(texts[-1] + value[(whole.end_col_offset or 0) - 1 :])
    for number, text in enumerate(closed):
        if number and len(line) + len(text) > WIDTH:
            yield f"    {line}"
            line = f"  {text}"
        else:
            line += f" {text}" if number else text
    yield f"    {line}"


def _mapping(key: str, value: object, indent: str = "") -> Iterator[str]:
    if not value:
        return
    if not isinstance(value, Mapping):
        text = (
            f"[{', '.join(map(quoted, value))}]" if isinstance(value, list) else quoted(str(value))
        )
        yield f"{indent}{key}: {text}"
        return
    yield f"{indent}{key}:"
    for name, each in value.items():
        yield from _mapping(quoted(name), each, f"{indent}  ")


def quoted(text: str) -> str:
    """A text in quotes that YAML may need; `format_document` takes away those that it does not."""
    if _FREE.fullmatch(text) and text == text.strip() and not text.endswith(":"):
        return text if _is_text(text) else f'"{text}"'
    if '"' in text or "\\" in text:
        return "'" + text.replace("'", "''") + "'"
    return f'"{text}"'


def _is_text(text: str) -> bool:
    """Whether a text is no word that YAML has for something else, such as `no`."""
    try:
        return isinstance(resolve(text), str)
    except ScalarError:
        return False

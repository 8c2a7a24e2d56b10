"""Scaffolds: operator files to begin with, for what a model calls and no operator says.

What a file needs beside a model's calls is marked `blank:`. It passes the checks of a registry, so
that what is filled in is checked from the first line on; a law refuses every call until then.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from tripybuild.importer.foreign_program import ForeignNode, ForeignProgram, ForeignValue
from tripybuild.importer.translation.report import UnreadProgramError
from tripybuild.schema.foreign import TITLES, ForeignSignature, signatures
from tripybuild.schema.snippets.vocabularies import DECOMPOSE, DTYPES, SHAPE
from tripybuild.trace.graph import same_type
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import dtype
from tripybuild.types.naming import LONGEST, RESERVED, SPOKEN

_KINDS = {bool: "bool", int: "int", float: "float", str: "string"}
BLANK = "# blank:"


def scaffolds(error: UnreadProgramError, taken: Sequence[str] = ()) -> dict[str, str]:
    """The texts of operator files, by the names of the files.

    Args:
        error: What a program could not be said with.
        taken: The names of operators that are there.
    """
    nodes: dict[str, list[ForeignNode]] = {}
    for each in error.failures:
        if not each.node.domain:
            nodes.setdefault(each.node.operator, []).append(each.node)
    found: dict[str, str] = {}
    for foreign, calls in nodes.items():
        name = _operator_name(foreign)
        if name in taken or f"{name}.yaml" in found:
            name = f"{error.program.system}_{name}"
        found[f"{name}.yaml"] = _Scaffold(error.program, name, foreign, calls).text()
    return found


def _operator_name(foreign: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", foreign).lower()
    return re.sub(r"[^a-z0-9]+", "_", words).lstrip("_0123456789").rstrip("_")[:LONGEST]


class _Scaffold:
    """The file of one operator, by its calls in a program."""

    def __init__(
        self, program: ForeignProgram, name: str, foreign: str, calls: Sequence[ForeignNode]
    ) -> None:
        self.system, self.name, self.foreign, self.calls = program.system, name, foreign, calls
        self.signature = signatures(program.system, program.opset).get(foreign)
        self.own = {each: _argument_name(each) for each in self._parameters()}
        self.given = {name: self._values(name) for name in self.own}
        self.inputs = [name for name, each in self.given.items() if any(map(_is_tensor, each))]
        self.attributes = [name for name in self.own if name not in self.inputs]

    def _parameters(self) -> list[str]:
        """The parameters that calls give, and those that cannot be left out."""
        signature = self.signature
        said = {name for node in self.calls for name, each in node.arguments.items()}
        if signature is None:
            return sorted(said)
        return [each for each in signature.parameters if each in said]

    def _values(self, name: str) -> list[Any]:
        found = (node.arguments.get(name) for node in self.calls)
        return [each for each in found if each is not None]

    def text(self) -> str:
        """The whole file."""
        title = f"{TITLES[self.system]}'s `{self.foreign}`"
        return "\n".join(
            [
                "tripybuild: 1",
                f"op: {self.name}",
                f"doc: What {title} gives.  {BLANK} say what it computes",
                "types:",
                *self._types(),
                *self._section("inputs", self._inputs()),
                *self._section("attributes", self._attributes()),
                "outputs:",
                *self._outputs(),
                "requires:",
                "  scaffold:",
                "    that: false",
                f"    message: {self.name} is a scaffold, which computes nothing yet",
                "    hint: fill in its blanks, and remove this law",
                *self._infer(),
                f"decompose: {self._decomposition()}  {BLANK} say it with other operators",
                *self._sample(),
                *self._aliases(),
                "",
            ]
        )

    def _section(self, key: str, lines: Iterator[str]) -> list[str]:
        found = list(lines)
        return [f"{key}:", *found] if found else []

    # --- types ---

    @cached_property
    def _variables(self) -> dict[str, str]:
        """The type variable of each input; those of which the same dtypes were seen share one."""
        known: dict[tuple[str, ...], str] = {}
        found = {}
        for name in self.inputs:
            seen = tuple(sorted({each.dtype.name for each in self._seen(name)})) or ("float32",)
            found[name] = known.setdefault(seen, f"T{len(known) + 1}" if known else "T")
        return found

    def _types(self) -> Iterator[str]:
        said = set()
        for name, variable in self._variables.items():
            if variable not in said:
                said.add(variable)
                seen = sorted({each.dtype.name for each in self._seen(name)})
                yield f"  {variable}: [{', '.join(seen or ['float32'])}]"
        if not self.inputs:
            yield "  T: [float32]"

    def _seen(self, name: str) -> list[TensorType]:
        """The types of what is given for an input."""
        values = (each for given in self.given[name] for each in _tensors(given))
        return [each.type for each in values if each.type is not None]

    def _inputs(self) -> Iterator[str]:
        for index, name in enumerate(self.inputs):
            several = any(isinstance(each, list | tuple) for each in self.given[name])
            pattern = f"{self._variables[name]}[*{_shape(index)}]"
            yield f"  {self.own[name]}:"
            seen = _types_text(self._seen(name))
            yield f"    type: {f'list[{pattern}]' if several else pattern}  # {seen}"
            if len(self.given[name]) < len(self.calls):
                yield "    optional: true"
            yield f"    doc: The `{name}` of {TITLES[self.system]}.  {BLANK} say what it is"

    def _attributes(self) -> Iterator[str]:
        for name in self.attributes:
            yield f"  {self.own[name]}:"
            yield f"    type: {_attribute_type(self.given[name])}"
            default = self.signature.defaults.get(name) if self.signature else None
            if default is not None:
                yield f"    default: {_expression(default)}"
            elif len(self.given[name]) < len(self.calls):
                yield "    default: null"
            yield f"    doc: The `{name}` of {TITLES[self.system]}.  {BLANK} say what it is"

    # --- results ---

    def _outputs(self) -> Iterator[str]:
        for index in range(self._count()):
            results = [node.results[index] for node in self.calls if index < len(node.results)]
            seen = [each.type for each in results if each is not None and each.type is not None]
            alike = bool(self.inputs) and self._is_like_input(index)
            shape = "S" if alike else f"E{index or ''}"
            yield f"  output{index or ''}:"
            yield f"    type: {self._result_dtype(seen)}[*{shape}]  {BLANK} {_types_text(seen)}"
            yield "    doc: The results."

    def _result_dtype(self, seen: Sequence[TensorType]) -> str:
        """The variable of an input whose dtypes are those of a result, or the dtype of it."""
        dtypes = sorted({each.dtype.name for each in seen})
        for name, variable in self._variables.items():
            if sorted({each.dtype.name for each in self._seen(name)}) == dtypes:
                return variable
        return dtypes[0] if len(dtypes) == 1 else "T"

    def _count(self) -> int:
        return max(1, *(len(node.results) for node in self.calls))

    def _is_like_input(self, index: int) -> bool:
        """Whether a result has the type of the first input in every call."""
        first = self.inputs[0]
        for node in self.calls:
            given = node.arguments.get(first)
            result = node.results[index] if index < len(node.results) else None
            types = [each.type for each in (given, result) if isinstance(each, ForeignValue)]
            known = [each for each in types if each is not None]
            if len(known) < 2 or not same_type(*known):
                return False
        return True

    def _infer(self) -> Iterator[str]:
        unlike = [
            f"  E{index or ''}: {'S' if self.inputs else '[1]'}  {BLANK} the shape of the result"
            for index in range(self._count())
            if not self.inputs or not self._is_like_input(index)
        ]
        return iter(["infer:", *unlike] if unlike else [])

    def _decomposition(self) -> str:
        first = self.own[self.inputs[0]] if self.inputs else "zeros([1], T)"
        return first if self._count() == 1 else f'"[{", ".join([first] * self._count())}]"'

    def _sample(self) -> Iterator[str]:
        """Attributes of the suite's call: those of the model's first one."""
        given = {self.own[n]: self.given[n][0] for n in self.attributes if self.given[n]}
        if given:
            pairs = ", ".join(f"{name}: {_expression(each)}" for name, each in given.items())
            yield f"sample: {{{pairs}}}"

    def _aliases(self) -> Iterator[str]:
        if self.signature is None:
            return
        words = [
            f"{'*' if name == self.signature.several else ''}{self.own[name]}"
            if name in self.signature.by_position and not self._is_after_gap(name, self.signature)
            else f"{name}={self.own[name]}"
            for name in self.own
        ]
        yield "aliases:"
        yield f'  {self.system}: "{self.foreign}({", ".join(words)})"'

    def _is_after_gap(self, name: str, signature: ForeignSignature) -> bool:
        """Whether a parameter before it is left out, so that it is given by its name."""
        before = signature.by_position[: signature.by_position.index(name)]
        return any(each not in self.own for each in before)


def _types_text(types: Sequence[TensorType]) -> str:
    """The types of a model's calls, as declarations write them."""
    shown = dict.fromkeys(f"{t.dtype}[{', '.join(map(str, t.shape))}]" for t in types)
    return f"seen: {', '.join([*shown][:3]) or 'nothing'}"


def _argument_name(parameter: str) -> str:
    """A name that a declaration can have."""
    name = _operator_name(parameter)
    if name == "self":
        return "input"
    taken = name in {*RESERVED, *SPOKEN, *SHAPE, *DTYPES, *DECOMPOSE}
    return f"{name}_value" if taken else name


def _shape(index: int) -> str:
    return "S" if index == 0 else f"S{index + 1}"


def _is_tensor(value: Any) -> bool:
    return any(True for _ in _tensors(value))


def _tensors(value: Any) -> Iterator[ForeignValue]:
    if isinstance(value, ForeignValue):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)


def _attribute_type(values: Sequence[Any]) -> str:
    """The type of an attribute, by what calls give."""
    first = values[0] if values else 0
    if isinstance(first, list | tuple):
        inner = _attribute_type([each for value in values for each in value][:1])
        return f"{inner}[...]"
    if isinstance(first, dtype):
        return "dtype"
    if any(isinstance(each, float) for each in values):
        return "float"
    return _KINDS.get(type(first), "size")


def _expression(value: Any) -> str:
    """A value as an expression in YAML."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_expression, value))}]"
    return f"\"'{value}'\"" if isinstance(value, str) else str(value)

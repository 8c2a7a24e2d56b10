"""Names of values, as the source's own lines have them: what is assigned, and what is a parameter.

A value can have a name in each module that it is seen in: what one returns is assigned to a name by
the one that calls it. Without lines there are no names, and values are called as what gives them.
"""

import re
from collections.abc import Sequence

from tripybuild.importer.call_program import Call, CallProgram, CallValue
from tripybuild.importer.foreign_program import SourceStatement
from tripybuild.importer.spec_writer.module_runs import ModuleRun
from tripybuild.importer.spec_writer.texts import is_name, tensors_of

_NUMBERED = re.compile(r"(_output)?_?\d+$")
_NO_NAMES = ("", "_", "self")


class ValueNames:
    """The names that the source has for values, by value and by module."""

    def __init__(self, program: CallProgram) -> None:
        self._found: dict[tuple[int, str], str] = {}
        self._inner: dict[int, str] = {}
        self._inputs: dict[ModuleRun, list[str | None]] = {}
        self._readers: dict[int, int] = {}
        self._within: dict[int, tuple[str | None, str]] = {}
        for path, weight in program.weights.items():
            last = [each for each in path.split(".") if each.isidentifier()][-2:]
            self._inner[id(weight)] = "_".join(last)
        calls = program.graph.calls
        for at, call in enumerate(calls):
            self._readers |= {id(value): at for value in tensors_of([*call.arguments.values()])}
        self._readers |= {id(value): len(calls) for _, value in program.graph.outputs}
        for at in range(len(calls)):
            self._read(calls, at)
        if program.system == "onnx":
            for call in calls:
                self._inner |= {id(value): value.name for value in call.results if _is_said(value)}

    def _read(self, calls: Sequence[Call], at: int) -> None:
        """Names for the results of a call: the outer statements say more than the inner ones."""
        results, statements = calls[at].results, _statements(calls[at])
        following = _statements(calls[at + 1] if at + 1 < len(calls) else None)
        for depth in reversed(range(len(statements))):
            around = statements[: depth + 1]
            is_last = around != following[: depth + 1]
            targets = statements[depth].targets
            if len(results) == 1 and is_last and targets:
                self._read_whole(calls, at, around)
                continue
            if len(results) != len(targets) or not (is_last or len(results) > 1):
                continue
            for value, name in zip(results, targets, strict=True):
                if name not in _NO_NAMES:
                    self._inner.setdefault(id(value), name)
                    if (module := statements[depth].module) is not None:
                        self._found[id(value), module] = name

    def _read_whole(
        self, calls: Sequence[Call], at: int, around: Sequence[SourceStatement]
    ) -> None:
        """Names for what is read of a statement, of which this is the last call.

        What alone is read is the first target, and others are what a module gives in addition. Of
        several each must come from what had its name before.
        """
        first, statement = at, around[-1]
        while first > 0 and _statements(calls[first - 1])[: len(around)] == around:
            first -= 1
        made = [value for call in calls[first : at + 1] for value in call.results]
        read = [value for value in made if self._readers.get(id(value), 0) > at]
        if len(statement.targets) == 1:
            read = list(calls[at].results)
        named = list(zip(read, statement.targets, strict=False))
        if len(read) > 1 and not all(self._comes_from(v, made, statement) == n for v, n in named):
            return
        for value, name in named if len(read) in (1, len(statement.targets)) else ():
            if name not in _NO_NAMES:
                self._inner.setdefault(id(value), name)
                if statement.module is not None:
                    self._found[id(value), statement.module] = name
        if len(read) == 1 and statement.targets[0] not in _NO_NAMES:
            alike = (each for each in made if each.dtype is read[0].dtype)
            within = statement.module, statement.targets[0]
            self._within |= {id(v): within for v in alike if id(v) not in self._within}

    def _comes_from(
        self, value: CallValue, made: Sequence[CallValue], statement: SourceStatement
    ) -> str | None:
        """The one target whose value of before a value is made of."""
        inside, waiting, found = {*map(id, made)}, [value], set()
        while waiting:
            each = waiting.pop()
            if id(each) in inside and each.call is not None:
                waiting += tensors_of([*each.call.arguments.values()])
                inside.discard(id(each))
            elif (name := self._inner.get(id(each))) in statement.targets:
                found.add(name)
        return found.pop() if len(found) == 1 else None

    def origin(self, run: ModuleRun) -> str:
        """Where the class of a module is declared: the file with its line, as far as is known."""
        for call in run.calls:
            for statement in _statements(call):
                if statement.module == run.path and statement.is_forward and statement.class_line:
                    return f"{statement.file}:{statement.class_line} {statement.class_name}"
        modules = [m for call in run.calls[:1] if call.node is not None for m in call.node.modules]
        return next((each.origin for each in modules if each.path == run.path), "")

    def results(self, values: Sequence[CallValue], path: str) -> list[str | None]:
        """The names that a module assigns values to, which it or a module below it makes.

        Several at once have names of one kind, since one name can be that of all of them.
        """
        names = [self._found.get((id(value), path)) for value in values]
        is_own = all(call is None or _module(call) == path for call in (v.call for v in values))
        if None in names and (is_own or len(values) > 1):
            names = [self._inner.get(id(value)) for value in values]
        if len(names) == 1 and names == [None]:
            module, name = self._within.get(id(values[0]), (None, None))
            names = [name if module == path and values[0].dtype.kind != "boolean" else None]
        return names if None not in names else [None] * len(names)

    def inputs(self, run: ModuleRun) -> list[str | None]:
        """The parameters of a module that its arguments are, where they are certain."""
        if run not in self._inputs:
            self._inputs[run] = self._parameters(run)
        return self._inputs[run]

    def _parameters(self, run: ModuleRun) -> list[str | None]:
        options = [self._options(value, run) for value in run.arguments]
        names: list[str | None] = [None] * len(options)
        while True:
            left = [{*option} - {*names} for option in options]
            at = next((i for i, n in enumerate(names) if n is None and len(left[i]) == 1), None)
            if at is None:
                break
            (names[at],) = left[at]
        below = self._inputs_below(run)
        for at, value in enumerate(run.arguments):
            is_input = value.call is None and value.weight is None
            known = (below.get(id(value)), self._inner.get(id(value)), value.name * is_input)
            fitting = [name for name in known if name]
            sure = [name for name in fitting if name in left[at]]
            if names[at] is None:
                names[at] = next(iter([*sure, *fitting]), None)
        return names

    def _inputs_below(self, run: ModuleRun) -> dict[int, str]:
        """What modules that a run calls have for names of values."""
        found: dict[int, str] = {}
        for item in run.items:
            for inner in getattr(item, "runs", [item])[:1]:
                if isinstance(inner, ModuleRun) and len(inner.calls) > 0:
                    for value, name in zip(inner.arguments, self.inputs(inner), strict=True):
                        if name is not None:
                            found.setdefault(id(value), name)
        return found

    def _options(self, value: CallValue, run: ModuleRun) -> set[str]:
        """The parameters that all statements read that read a value."""
        found: set[str] | None = None
        for call in run.calls:
            if any(each is value for each in tensors_of([*call.arguments.values()])):
                own = (each for each in _statements(call) if each.module == run.path)
                read = next(filter(None, ({*s.reads} & {*s.parameters} for s in own)), set())
                read -= {*_NO_NAMES}
                if read:
                    found = read if found is None or not found & read else found & read
        return found or set()


def input_hint(value: CallValue) -> str:
    """What an input is called: as the program's, or by what it holds."""
    if value.call is None and value.weight is None and value.name:
        return value.name
    return role_hint(value) or "x"


def role_hint(value: CallValue) -> str | None:
    """What a value is called by its dtype alone."""
    return "mask" if value.dtype.kind == "boolean" else None


def _is_said(value: CallValue) -> bool:
    """Whether a value of ONNX has a name that says more than its operator and a number."""
    base = _NUMBERED.sub("", value.name)
    operator = value.call.node.operator if value.call is not None and value.call.node else ""
    is_plain = value.name.isascii() and is_name(value.name) and "__" not in value.name
    return is_plain and base == value.name and base.lower() != operator.lower()


def _statements(call: Call | None) -> Sequence[SourceStatement]:
    return call.node.statements if call is not None and call.node is not None else ()


def _module(call: Call) -> str:
    """The path of the innermost module of a call."""
    paths = [each.path for each in call.node.modules] if call.node is not None else []
    return paths[-1] if paths else ""

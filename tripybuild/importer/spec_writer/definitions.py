"""Definitions: what a module does as inputs, parts, weights, steps and outputs.

A definition's names are not decided here, so equal modules have equal definitions, which are one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain as joined, zip_longest

from tripybuild.importer.call_program import Call, CallGraph, CallProgram, CallValue
from tripybuild.importer.spec_writer.chains import ModuleChain, find_chains, item_arguments
from tripybuild.importer.spec_writer.definition import Definition, canonical, first_number
from tripybuild.importer.spec_writer.module_runs import (
    ModuleNode,
    ModuleRun,
    ModuleRuns,
    last_word,
)
from tripybuild.importer.spec_writer.texts import (
    ATOM,
    CallPrinter,
    DefinitionName,
    Slot,
    Text,
    TypeText,
    is_name,
    listed,
    tensors_of,
)
from tripybuild.importer.spec_writer.value_names import ValueNames, input_hint, role_hint
from tripybuild.schema.operator.operator import Operator

LONGEST = 84  # characters of an expression, behind its name and indentation
LONGEST_INLINE = 56  # of a value in the place of its only use


class DefinitionWriter:
    """Makes the definitions of a program.

    Args:
        program: The program.
        operators: The declarations that its calls are of, by name.
        module: The registry's module that a run is, as the text that makes it; or None.
        names: The names that the source has for values.
    """

    def __init__(
        self,
        program: CallProgram,
        operators: Mapping[str, Operator],
        module: Callable[[ModuleNode, ModuleRun], Text | None],
        names: ValueNames,
    ) -> None:
        self.program, self.operators, self.module = program, operators, module
        self.names = names
        self.definitions: dict[tuple[object, ...], Definition] = {}

    def write(self) -> Definition:
        """The model's own definition; `definitions` are then all others, the inner ones first."""
        opened: set[str] = set()
        while True:
            self.definitions.clear()
            self.called: dict[str, set[str]] = {}
            self.runs = ModuleRuns(self.program, opened)
            run = self.runs.divide()
            self.kinds: dict[str, Text | list[object] | None] = {}
            self.unequal: set[str] = set()
            self.find_chains(run)
            model = DefinitionBody(self, self.runs.root, run).definition()
            if not self.unequal:
                return model
            opened = self.runs.opened | self.unequal

    def find_chains(self, run: ModuleRun) -> None:
        """Find rows of modules in all runs, before any of them has a definition."""
        run.items = find_chains(self.runs, run)
        for item in run.items:
            for inner in item.runs if isinstance(item, ModuleChain) else [item]:
                if isinstance(inner, ModuleRun):
                    self.find_chains(inner)

    def kind(self, node: ModuleNode) -> "Text | list[object] | None":
        """What the part of a module is made of; None for one that has nothing."""
        if node.path not in self.kinds:
            self.kinds[node.path] = self._kind(node)
        return self.kinds[node.path]

    def _kind(self, node: ModuleNode) -> "Text | list[object] | None":
        if len(node.runs) > 0 and node.is_list and (kinds := self._row(node)) is not None:
            return kinds
        if node.runs and node.is_list:
            self.unequal.add(node.path)
        elif node.runs:
            made = [self.module(node, run) for run in node.runs]
            if made[0] is not None and all(each == made[0] for each in made):
                return made[0]
            bodies = [DefinitionBody(self, node, run).definition() for run in node.runs]
            keys = set(map(canonical, bodies))
            if len(keys) > 1:
                self.unequal.add(node.path)
            return Text.of(DefinitionName(self.register(bodies[0])))
        if node.is_list:
            return self._list(node)
        if node.children or node.weights:
            return Text.of(
                DefinitionName(self.register(DefinitionBody(self, node, None).definition()))
            )
        return None

    def _row(self, node: ModuleNode) -> "list[object] | None":
        """A module that only calls those below it in a row is the list of those."""
        for run in node.runs:
            chain = run.items[0] if len(run.items) == 1 else None
            if not isinstance(chain, ModuleChain) or chain.path != node.path or not chain.is_whole:
                return None
            if chain.arguments() != run.arguments or chain.results != run.results:
                return None
        return self._list(node)

    def _list(self, node: ModuleNode) -> list[object]:
        kinds: dict[int, object] = {int(i): self.kind(each) for i, each in node.children.items()}
        kinds |= {index: Text.of(name) for index, name in node.operators.items()}
        last = max(kinds)
        return [kinds.get(i) or Text.of("[]") for i in range(last + 1)]

    def local(self, node: ModuleNode, segment: str) -> str:
        """The name of a part or a weight of a module in the spec.

        It is that of the checkpoint, if that is a name, and none of an operator or an input there.
        """
        name = segment if is_name(segment) else f"part_{segment}"
        name = "".join(c if c.isascii() and c.isalnum() else "_" for c in name).strip("_")
        while "__" in name:
            name = name.replace("__", "_")
        if node.path not in self.called:
            items = (item for run in node.runs for item in run.items)
            inputs = [] if node.path else [each.name for each in self.program.graph.inputs]
            self.called[node.path] = {*inputs, *(o for i in items for o in self.operators_in(i))}
        return f"{name}_part" if name in self.called[node.path] else name

    def operators_in(self, item: "Call | ModuleRun | ModuleChain") -> Iterator[str]:
        """The operators that the text of an item calls."""
        if isinstance(item, Call):
            yield item.operator
        elif isinstance(item, ModuleRun) and self.runs.is_small(item):
            yield from (call.operator for call in item.calls)

    def spec_path(self, path: str) -> str:
        """The path of a weight in the spec, for that in the checkpoint."""
        node, names = self.runs.root, []
        for segment in path.split("."):
            in_list = node.is_list and node is not self.runs.root  # which has parts of its own
            names.append(segment if in_list else self.local(node, segment))
            node = node.children.get(segment, node)
        return ".".join(names)

    def register(self, definition: Definition) -> Definition:
        """The definition that is equal, or this one from now on."""
        known = self.definitions.setdefault(canonical(definition), definition)
        known.origins += [each for each in definition.origins if each not in known.origins]
        return known


class DefinitionBody:
    """One run of a module, or a module that is never called, on the way to its definition."""

    def __init__(self, writer: DefinitionWriter, node: ModuleNode, run: ModuleRun | None) -> None:
        self.writer, self.node, self.run = writer, node, run
        self.made = Definition(run.class_name if run else last_word(node.path, "module"))
        self.made.path = node.path
        self.said: dict[int, Text] = {}
        self.pending: dict[int, tuple[CallValue, Slot, Text]] = {}
        self.printer = CallPrinter(writer.operators, self._say, self._region)
        self.used: dict[int, CallValue] = {}
        if run is not None and (origin := writer.names.origin(run)):
            self.made.origins.append(origin)
        for item in run.items if run is not None else ():
            self.made.operators.update(writer.operators_in(item))

    def definition(self) -> Definition:
        """The definition."""
        self._inputs()
        for item in self.run.items if self.run is not None else ():
            if isinstance(item, Call):
                self._call(item)
            elif isinstance(item, ModuleChain):
                self._chain(item)
            else:
                self._run(item)
        self._outputs()
        self._parts()
        return self.made

    def _inputs(self) -> None:
        is_model = not self.node.path
        values = self.writer.program.graph.inputs if is_model else self._arguments()
        known = () if is_model or self.run is None else self.writer.names.inputs(self.run)
        for value, name in zip_longest(values, known):
            slot = Slot(name or input_hint(value))
            self.made.inputs.append((slot, TypeText.of(value.type, slot.hint)))
            self.said[id(value)] = Text.of(slot)
        for path in self.writer.program.updates if is_model else ():
            self._state(path)

    def _state(self, path: str) -> None:
        """A buffer that is written to is kept by the model, which hands it down."""
        program, slot = self.writer.program, Slot(path.replace(".", "_"))
        value = program.weights.get(path)
        type = TypeText.of((value or program.updates[path]).type, slot.hint)
        self.made.state.append((slot, type, None if value is None else first_number(value)))
        if value is not None:
            self.said[id(value)] = Text.of(slot)

    def _arguments(self) -> Sequence[CallValue]:
        return self.run.arguments if self.run is not None else ()

    def _parts(self) -> None:
        for segment, child in self.node.children.items():
            kind = self.writer.kind(child)
            if kind is not None and not self._is_function(kind):
                self.made.parts[self.writer.local(self.node, segment)] = kind
        for name, value in self.node.weights.items():
            type = TypeText.of_weight(value.type, f"{self.node.path}.{name}")
            self.made.weights[self.writer.local(self.node, name)] = type

    @staticmethod
    def _is_function(kind: "Text | list[object]") -> bool:
        match kind:
            case Text((DefinitionName(Definition() as definition),)):
                return definition.is_function()
        return False

    # --- values ---

    def _say(self, value: CallValue) -> Text:
        """A value where it is read: its expression if that is its only use, or its name."""
        if id(value) in self.pending:
            self.used[id(value)] = value
            return self.pending[id(value)][2]
        if id(value) not in self.said:
            path = self.writer.runs.path_of[id(value)]
            start = f"{self.node.path}." if self.node.path else ""
            assert path.startswith(start), path
            self.said[id(value)] = Text.of(self.reach(path.removeprefix(start)))
        return self.said[id(value)]

    def reach(self, path: str) -> str:
        """A part below this one, or a weight in it: `layers[0].norm`."""
        node, text = self.node, ""
        for segment in path.split("."):
            if node.is_list and node is not self.node:
                text += f"[{segment}]"
            else:
                name = self.writer.local(node, segment)
                text += f".{name}" if text else name
            node = node.children.get(segment, node)
        return text

    def _region(self, graph: CallGraph, hint: str) -> Text:
        """A graph of control flow is a definition, which is named."""
        run = ModuleRun("region", hint, list(graph.calls), list(graph.calls))
        run.arguments = list(graph.inputs)
        run.results = [value for _, value in graph.outputs]
        definition = DefinitionBody(self.writer, ModuleNode("region"), run).definition()
        return Text.of(DefinitionName(self.writer.register(definition)))

    def _compose(self, make: Callable[[], Text], longest: int = LONGEST) -> Text:
        """An expression that fits into a line: what makes it too long becomes a step."""
        while True:
            self.used.clear()
            text = make()
            if len(text) <= longest or not self.used:
                break
            largest = max(self.used.values(), key=lambda each: len(self.pending[id(each)][2]))
            self._step(largest)
        for value in self.used.values():
            self.pending.pop(id(value), None)
        return text

    def _step(self, value: CallValue) -> None:
        _, slot, text = self.pending.pop(id(value))
        self.made.steps.append(((slot,), text))
        self.said[id(value)] = Text.of(slot)

    def _put(self, value: CallValue, text: Text, hint: str, other: str = "") -> None:
        """A value that is made: it waits for its only use, or is a step at once."""
        (known,) = self.writer.names.results([value], self.node.path)
        name = self._given.get(id(value)) or known
        self.pending[id(value)] = value, Slot(name or hint, other), text
        assert self.run is not None
        is_result = any(each is value for each in self.run.results)
        if self._uses[id(value)] != 1 or len(text) > (LONGEST if is_result else LONGEST_INLINE):
            self._step(value)

    @cached_property
    def _given(self) -> dict[int, str]:
        """Names that values have where they go to: as outputs of the model."""
        is_model = self.run is not None and not self.node.path
        named = self.writer.program.graph.outputs if is_model else ()
        return {id(value): name for name, value in reversed(named)}

    @cached_property
    def _uses(self) -> Counter[int]:
        """How often the run reads each tensor, by its identity."""
        assert self.run is not None
        uses = Counter(map(id, self.run.results))
        for item in self.run.items:
            if isinstance(item, ModuleRun) and self.writer.runs.is_small(item):
                uses.update(map(id, joined.from_iterable(map(_read_by, item.calls))))
            elif isinstance(item, Call):
                uses.update(map(id, _read_by(item)))
            else:
                uses.update(map(id, item_arguments(item)))
        return uses

    # --- items ---

    def _call(self, call: Call, hint: str = "") -> None:
        text = self._compose(lambda: self.printer.text(call))
        if len(call.results) == 1 and not call.is_list:
            (result,) = call.results
            self._put(result, text, role_hint(result) or hint or f"{call.operator}_1")
        else:
            self._several(call.results, text, call.operator)

    def _run(self, run: ModuleRun) -> None:
        if self.writer.runs.is_small(run):
            for call in run.calls:
                self._call(call, f"{last_word(run.path, 'x')}_out" * (call is run.calls[-1]))
            return
        local = run.path.removeprefix(f"{self.node.path}." if self.node.path else "")
        kind = self.writer.kind(self.writer.runs.root.find(run.path))
        assert kind is not None
        head = kind if self._is_function(kind) else Text.of(self.reach(local))
        assert isinstance(head, Text)
        self._invoke(head, run.arguments, run.results, local)

    def _chain(self, chain: ModuleChain) -> None:
        local = chain.path.removeprefix(f"{self.node.path}." if self.node.path else "")
        text = self.reach(local) + chain.slice_text()
        self._invoke(Text.of(text), chain.arguments(), chain.results, local, chain)

    def _invoke(
        self,
        head: Text,
        arguments: Sequence[CallValue],
        results: Sequence[CallValue],
        local: str,
        chain: ModuleChain | None = None,
    ) -> None:
        def make() -> Text:
            given = [self._say(each) for each in arguments]
            dealt = chain.dealt if chain is not None else ()
            given += [Text.of("each", listed(map(self._say, row), "([", "])")) for row in dealt]
            return Text.of(head, listed(given, "(", ")"), strength=ATOM)

        text = self._compose(make)
        name = f"{last_word(local, 'x')}_out"
        if len(results) == 1:
            self._put(results[0], text, name, name)
        elif results:
            self._several(results, text, name)

    def _output_names(self, run: ModuleRun) -> Sequence[str]:
        """One result needs no name; several have those of the source, or numbers."""
        if len(run.results) == 1:
            return ["out"]
        known = [name for v in run.results for name in self.writer.names.results([v], run.path)]
        pairs = enumerate(known, 1)
        return [n if n and known.count(n) == 1 else f"out_{i}" for i, n in pairs]

    def _several(self, results: Sequence[CallValue], text: Text, hint: str) -> None:
        names = self.writer.names.results(results, self.node.path)
        own = [name or f"{hint}_{i + 1}" for i, name in enumerate(names)]
        slots = [Slot(self._given.get(id(v), name)) for v, name in zip(results, own, strict=True)]
        for value, slot in zip(results, slots, strict=True):
            self.said[id(value)] = Text.of(slot)
            if not self._uses[id(value)]:
                slot.hint = "_"
        self.made.steps.append((tuple(slots), text))

    def _outputs(self) -> None:
        if self.run is None:
            return
        if not self.node.path:
            named = self.writer.program.graph.outputs
        else:
            named = list(zip(self._output_names(self.run), self.run.results, strict=True))
        updates = self.writer.program.updates.values() if self.made.state else ()
        for (slot, *_), value in zip(self.made.state, updates, strict=True):
            self.made.next.append((slot, self._compose(partial(self._say, value))))
        for name, value in named:
            text = self._compose(partial(self._say, value))
            self.made.outputs.append((Slot(name), text))


def _read_by(call: Call) -> Iterator[CallValue]:
    """The tensors that a call reads, each as often as it does."""
    return tensors_of([*call.arguments.values()])

"""Assembly of foreign programs of PyTorch, from nodes that a reader of either form gives.

What is mechanics of PyTorch's graphs ends here: a size is what the source says it is, whatever
computed it; assertions are gone, and so is what only they read; a list of results is one node.
"""

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.foreign_program import (
    ForeignGraph,
    ForeignNode,
    ForeignProgram,
    ForeignValue,
    ForeignWeight,
    ModuleCall,
    SourcePlace,
)
from tripybuild.importer.onnx_model.names import UniqueNames, identifier
from tripybuild.importer.pytorch.sizes import SizeTable, choose_names
from tripybuild.importer.pytorch.source_program import (
    BY_TORCH,
    HIGHER_ORDER,
    Meta,
    SizeMeta,
    SourceGraph,
    SourceInput,
    SourceNode,
    SourceProgram,
    SourceStatements,
    SourceSymbol,
    TensorMeta,
    ValueName,
    own_frames,
    spec_path,
)
from tripybuild.trace.values import TensorType
from tripybuild.types.size_range import SizeRange

DECOMPOSE_HINT = (
    "save it decomposed: `from tripybuild.importer.pytorch.exported_program import decompose`, "
    "then `torch.export.save(decompose(program), 'model.pt2')`"
)
# What graphs are given to check while they run; they compute nothing.
_ASSERTIONS = ("_assert_", "sym_constrain_")
_WITHOUT_MODULE = "_empty_nn_module_stack"
_CALL = re.compile(r"@\d+$")


def assemble(source: SourceProgram) -> ForeignProgram:
    """Give the foreign program of a whole one.

    Raises:
        DiagnosticError: With all that has no counterpart in a spec.
    """
    given = [each for each in source.inputs if not each.path]
    numbers = [each for each in given if isinstance(each.meta, SizeMeta)]
    if numbers:
        raise DiagnosticError(*map(_number_diagnostic, numbers))
    tensors = [(each.name, each.meta) for each in given if isinstance(each.meta, TensorMeta)]
    assembly = Assembly(_sizes(source, tensors))
    inputs = [assembly.tensor(name, meta) for name, meta in tensors]
    notes = list(_rename_inputs(inputs, source.weights))
    weights, tied = _weights(source, assembly)
    nodes = list(assembly.nodes(source.nodes))
    outputs: list[tuple[str, ForeignValue]] = []
    updates: dict[str, ForeignValue] = {}
    for each in source.outputs:
        value = (
            assembly.values[each.value.name] if isinstance(each.value, ValueName) else each.value
        )
        if not isinstance(value, ForeignValue):
            notes += [f"the output `{each.name}` is no tensor and was left out"] * (
                value is not None
            )
        elif each.is_update:
            path = spec_path(each.name)
            updates[tied.get(path, path)] = value
        else:
            outputs.append((each.name, value))
    return ForeignProgram(
        name=source.name,
        system="aten",
        graph=assembly.graph(inputs, nodes, outputs, updates),
        weights=weights,
        ranges=assembly.sizes.ranges,
        updates=updates,
        tied=tied,
        stated_from=2,
        notes=notes,
    )


def _rename_inputs(inputs: Sequence[ForeignValue], weights: Iterable[str]) -> Iterator[str]:
    """Give inputs names that no weight and no part has; a note for each that changes."""
    names = UniqueNames("input", (spec_path(path).partition(".")[0] for path in weights))
    for value in inputs:
        before, value.name = value.name, names.find(value.name)
        if value.name != before:
            yield f"the input `{before}` is `{value.name}`: a weight or a part is `{before}`"


def _number_diagnostic(each: SourceInput) -> Diagnostic:
    message = f"the input `{each.name}` is a number, and inputs of a spec are tensors"
    hint = "export with the number as a constant, or with a tensor in its place"
    return Diagnostic("import-unsupported", message, hint=hint)


def _sizes(source: SourceProgram, inputs: Sequence[tuple[str, TensorMeta]]) -> SizeTable:
    """The symbols by names that no input has, with their ranges."""
    known = {symbol: each.name for symbol, each in source.symbols.items() if each.name}
    shapes = [meta.sizes for _, meta in inputs]
    table = SizeTable()
    taken = [name for name, _ in inputs] + [each.name for each in source.outputs]
    taken += [spec_path(path).partition(".")[0] for path in source.weights]
    for symbol, name in choose_names(shapes, known, taken).items():
        each = source.symbols.get(symbol, SourceSymbol())
        low, high = max(each.low, 1), each.high
        example = max(low if each.example is None else each.example, low)
        table.add(
            symbol, name, SizeRange(low, example if high is None else min(example, high), high)
        )
    return table


def _weights(
    source: SourceProgram, assembly: "Assembly"
) -> tuple[dict[str, ForeignWeight], dict[str, str]]:
    """The weights by path, and for each further path of one the first."""
    weights: dict[str, ForeignWeight] = {}
    tied: dict[str, str] = {}
    first: dict[Hashable, str] = {}
    originals: dict[str, str] = {}
    for each in source.inputs:
        if not each.path:
            continue
        assert isinstance(each.meta, TensorMeta)
        data, own = source.weights[each.path], spec_path(each.path)
        if originals.setdefault(own, each.path) != each.path:
            message = f"the weights `{originals[own]}` and `{each.path}` both are `{own}` in a spec"
            raise DiagnosticError(Diagnostic("import-unsupported", message))
        path = first.setdefault(data.identity, own)
        if path != own:
            tied[own] = path
        if path not in weights:
            weights[path] = ForeignWeight(
                path,
                *assembly.type(each.meta),
                load=data.load,
                is_constant=each.is_constant,
                place=data.place,
            )
        assembly.values[each.name] = weights[path]
    return weights, tied


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A number that is not known as a size: it depends on data, or is no integer."""

    text: str


@dataclass(slots=True)
class Assembly:
    """A graph under construction, and what is wrong with each of its nodes.

    `values` are those of the graph that is read, by name; `effects` change what they are given.
    """

    sizes: SizeTable
    values: dict[str, Any] = field(default_factory=dict)
    problems: dict[int, list[Diagnostic]] = field(default_factory=dict)
    effects: list[SourceNode] = field(default_factory=list)
    statements: SourceStatements = field(default_factory=SourceStatements)

    def tensor(self, name: str, meta: TensorMeta) -> ForeignValue:
        """Make a tensor of what the source says of it."""
        value = ForeignValue(name, *self.type(meta))
        self.values[name] = value
        return value

    def type(self, meta: TensorMeta) -> tuple[TensorType | None, str]:
        """Give a tensor's type, or the name of a dtype that we have not.

        Raises:
            ValueError: One of its sizes is none.
        """
        found = BY_TORCH.get(meta.dtype)
        sizes = [each if isinstance(each, int) else self.sizes.read(each) for each in meta.sizes]
        return (None, meta.dtype) if found is None else (TensorType(found, tuple(sizes)), "")

    def nodes(self, nodes: Iterable[SourceNode]) -> Iterator[ForeignNode]:
        """Read nodes in order; what they compute of sizes is remembered."""
        for node in nodes:
            body = _wrapped(node)
            if body is not None:
                yield from self._inlined(node, *body)
                continue
            if node.operator.startswith(_ASSERTIONS):
                continue
            if node.mutates or not node.results:
                self.effects.append(node)
            if all(not isinstance(meta, TensorMeta | None) for _, meta in node.results):
                self.values.update((name, self._number(meta)) for name, meta in node.results)
            else:
                yield self._node(node)

    def _number(self, meta: Meta) -> object:
        """Give the size that a text says, or a number."""
        if not isinstance(meta, SizeMeta):
            return meta
        try:
            return self.sizes.read(meta.text)
        except ValueError:
            return _Unreadable(meta.text)

    def _node(self, node: SourceNode) -> ForeignNode:
        found: list[Diagnostic] = []
        place = _place(node.meta.trace) or SourcePlace(node.name)
        made = ForeignNode(
            operator=node.operator,
            arguments={name: self._argument(each, found) for name, each in node.arguments.items()},
            results=[self._result(name, meta, found) for name, meta in node.results],
            place=place,
            is_list=node.is_list,
            modules=tuple(_module_calls(node.meta.modules)),
            domain="" if node.domain in ("aten", HIGHER_ORDER) else node.domain,
            statements=self.statements.of(node.meta),
        )
        if found:
            self.problems[id(made)] = [
                Diagnostic(each.code, f"`{node.operator}`, {place}: {each.message}", hint=each.hint)
                for each in found
            ]
        return made

    def _result(self, name: str, meta: Meta, found: list[Diagnostic]) -> ForeignValue | None:
        if not name or not isinstance(meta, TensorMeta):
            self.values[name] = self._number(meta)
            return None
        try:
            return self.tensor(name, meta)
        except ValueError:
            shape = ", ".join(map(str, meta.sizes))
            message = f"the shape [{shape}] depends on the values of tensors"
            found.append(Diagnostic("import-unsupported", message))
            self.values[name] = value = ForeignValue(name)
            return value

    def _argument(self, given: Any, found: list[Diagnostic]) -> Any:
        match given:
            case ValueName(name=name):
                value = self.values[name]
                if isinstance(value, _Unreadable):
                    message = f"the number `{value.text}` depends on the values of tensors"
                    found.append(Diagnostic("import-unsupported", message))
                return value
            case list() | tuple():
                return [self._argument(each, found) for each in given]
            case SourceGraph():
                return self._graph(given, found)
        return given

    def _graph(self, inner: SourceGraph, found: list[Diagnostic]) -> ForeignGraph:
        """A graph within a node; numbers that it takes are sizes of the whole program."""
        outer, self.values = self.values, {}
        inputs = []
        for name, meta in inner.inputs:
            if isinstance(meta, TensorMeta):
                inputs.append(self.tensor(name, meta))
            else:
                self.values[name] = self._number(meta)
        nodes = list(self.nodes(inner.nodes))
        outputs = [(str(at), self._argument(each, found)) for at, each in enumerate(inner.outputs)]
        self.values = outer
        live = live_nodes(nodes, [value for _, value in outputs])
        found += [each for node in live for each in self.problems.get(id(node), ())]
        return ForeignGraph(inputs, live, outputs)

    def _inlined(
        self, node: SourceNode, body: SourceGraph, given: Sequence[Any]
    ) -> Iterator[ForeignNode]:
        """The nodes of a graph that is only a scope of PyTorch's settings."""
        outer = self.values
        operands = [self._argument(each, []) for each in given]
        self.values = dict(zip((name for name, _ in body.inputs), operands, strict=True))
        yield from self.nodes(body.nodes)
        results = [self._argument(each, []) for each in body.outputs]
        self.values = outer
        outer.update((name, value) for (name, _), value in zip(node.results, results, strict=True))

    def graph(
        self,
        inputs: Sequence[ForeignValue],
        nodes: Sequence[ForeignNode],
        outputs: Sequence[tuple[str, ForeignValue]],
        updates: Mapping[str, ForeignValue],
    ) -> ForeignGraph:
        """Give the graph of the nodes that something reads.

        Raises:
            DiagnosticError: With what is wrong with any of them.
        """
        live = live_nodes(nodes, [*(value for _, value in outputs), *updates.values()])
        found = [each for node in live for each in self.problems.get(id(node), ())]
        if self.effects:
            found.insert(0, _effects_diagnostic(self.effects))
        if found:
            raise DiagnosticError(*found)
        return ForeignGraph(inputs, live, outputs)


def _effects_diagnostic(effects: Sequence[SourceNode]) -> Diagnostic:
    """What changes its inputs, which a program that is decomposed does not."""
    named = ", ".join(f"`{each}`" for each in dict.fromkeys(node.operator for node in effects))
    place = _place(effects[0].meta.trace) or effects[0].name
    one = "1 call changes what it is given"
    what = one if len(effects) == 1 else f"{len(effects)} calls change what they are given"
    message = f"{what} ({named}), the first at {place}"
    return Diagnostic("import-not-decomposed", message, hint=DECOMPOSE_HINT)


def _wrapped(node: SourceNode) -> tuple[SourceGraph, Sequence[Any]] | None:
    """The graph of a scope that changes no numbers, with what it is called with."""
    if not node.operator.startswith("wrap_with_"):
        return None
    given = list(node.arguments.values())
    at = next((i for i, each in enumerate(given) if isinstance(each, SourceGraph)), None)
    # Of the settings a dtype means one that operators compute in.
    if at is None or (node.operator == "wrap_with_autocast" and True in given[:3]):
        return None
    operands = given[at + 1 :]
    return given[at], operands[0] if len(operands) == 1 and isinstance(
        operands[0], list
    ) else operands


def live_nodes(nodes: Sequence[ForeignNode], wanted: Iterable[ForeignValue]) -> list[ForeignNode]:
    """The nodes that the values come from, in their order; of their results those that are read."""
    needed = {id(each) for each in wanted}
    live = []
    for node in reversed(nodes):
        results = [each if id(each) in needed else None for each in node.results]
        if any(each is not None for each in results):
            node.results = results
            live.append(node)
            needed.update(map(id, _tensors(list(node.arguments.values()))))
    live.reverse()
    return live


def _tensors(given: Any) -> Iterator[ForeignValue]:
    """The tensors within arguments, those that inner graphs read among them."""
    match given:
        case ForeignValue():
            yield given
        case list():
            for each in given:
                yield from _tensors(each)
        case ForeignGraph(nodes=nodes, outputs=outputs):
            for node in nodes:
                yield from _tensors(list(node.arguments.values()))
            yield from (value for _, value in outputs)


def _module_calls(stack: Sequence[tuple[str, str, str]]) -> Iterator[ModuleCall]:
    """Calls of modules below the root."""
    for key, path, class_name in stack:
        if path and not path.startswith(_WITHOUT_MODULE):
            call = int(key.rpartition("@")[2]) if _CALL.search(key) else 0
            last = class_name.rpartition(".")[2]
            inner = spec_path(path.partition("@")[0])
            yield ModuleCall(inner, identifier(last, "Module"), call, origin=class_name)


def _place(trace: str) -> SourcePlace | None:
    """The innermost line that is the model's own: the last one outside of PyTorch."""
    own = own_frames(trace)
    if not own:
        return None
    last = own[-1]
    return SourcePlace((last["text"] or "").strip(), last["file"], int(last["line"]))

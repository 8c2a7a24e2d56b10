"""Steps as expressions: what a step does, as a specification would write it.

A result that is read once, in the step that makes it, stands where it is read. Others have names:
that of their step, or of their part where that gives nothing else.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tripybuild.workbench.drawing.drawing import Drawing, DrawnNode, DrawnOperand, PartPath
from tripybuild.workbench.drawing.part_tree import PartGroup, PartTree, StepRow

RESULT = "out"  # what a part's own result is called, which is called as the part outside


class NamedResult(NamedTuple):
    """A result that has a name: the node that gives it, its names, and which nodes it stands for.

    Args:
        node: The last node.
        names: A name for each output.
        nodes: All nodes of the expression.
    """

    node: DrawnNode
    names: tuple[str, ...]
    nodes: tuple[DrawnNode, ...]


class StepTexts:
    """Writes the steps of a drawing.

    Args:
        tree: The drawing by parts.
    """

    def __init__(self, tree: PartTree) -> None:
        self.drawing: Drawing = tree.drawing
        self._results: dict[str, NamedResult] = {}
        self._uses = Counter(
            each.source for node in self.drawing.nodes.values() for each in node.operands
        )
        self._uses.update(each.source for each in self.drawing.outputs.values())
        self._order = {name: at for at, name in enumerate(self.drawing.nodes)}
        self._by_step: dict[StepRow, list[NamedResult]] = {}
        self._readers = _only_readers(self.drawing, self._uses)
        self._learn(tree.root)
        self._canonical = {
            twin: node for node, several in tree.twins.items() for twin in several if twin != node
        }

    def results(self, step: StepRow) -> list[NamedResult]:
        """What a step gives by names."""
        return self._by_step[step]

    def expression(self, result: NamedResult, *, attributes: bool = True) -> str:
        """How a result is computed, seen from its part."""
        inside = {each.id for each in result.nodes}
        return self._call(result.node, result.node.part, inside, attributes)

    def operand(self, operand: DrawnOperand, part: PartPath) -> str:
        """The name of what is read, seen from a part."""
        source = self.drawing.nodes[operand.source]
        if source.kind == "constant":
            return source.label
        if source.kind == "weight":
            return f"<{'.'.join(relative_path((*source.part, source.label), part))}>"
        if source.kind == "parameter":
            return f"item{source.label}"
        if source.kind != "operation":
            return ".".join(relative_path((*source.part, source.label), part))
        known = self._results.get(self._canonical.get(source.id, source.id))
        names = known.names if known is not None else (source.label,)
        name = names[min(operand.output, len(names) - 1)]
        alone = len(names) == 1
        is_result = alone and name == RESULT and part[: len(source.part)] != source.part
        path = (*source.part, *([name] if name and not is_result else []))
        text = ".".join(relative_path(path or (name,), part)) or name
        several = len(source.outputs) > 1 and alone
        return f"{text}[{operand.output}]" if several else text

    def _learn(self, group: PartGroup) -> None:
        whole: dict[str, list[DrawnNode]] = {}
        rows = [each for each in group.members if isinstance(each, StepRow)]
        for each in rows:
            whole.setdefault(each.function or each.name, []).extend(each.nodes)
        for step, nodes in whole.items():
            named = {one.node.id: one for one in self._named(step, nodes)}
            self._results |= {node.id: one for one in named.values() for node in one.nodes}
            for each in rows:
                if (each.function or each.name) == step:
                    self._by_step[each] = [named[n.id] for n in each.nodes if n.id in named]
        for inner in group.groups():
            self._learn(inner)

    def _named(self, step: str, nodes: Sequence[DrawnNode]) -> list[NamedResult]:
        """The results of a step that have names; the last one has the step's own."""
        ends = [node for node in nodes if not self._is_inline(node)]
        between = self._sources(ends[-1], ends) if len(ends) > 1 else set()
        last = [node for node in ends if node.id not in between]
        names = step.split(", ")
        each = len(last) // len(names)
        found = []
        for node in ends:
            at = last.index(node) if node in last else -1
            if at < 0:
                given: tuple[str, ...] = (f"{names[0]}.{node.label}".lstrip("."),)
            elif len(last) == 1:
                given = tuple(names) if len(names) == len(node.outputs) else (names[0],)
            elif each * len(names) == len(last):
                given = (names[at // each] + (f".{at % each}" if each > 1 else ""),)
            else:
                given = (f"{names[0]}.{at}",)
            found.append(NamedResult(node, given, tuple(self._inlined(node))))
        return found

    def _sources(self, end: DrawnNode, ends: Sequence[DrawnNode]) -> set[str]:
        """Which of some nodes another one is computed of, be it through other parts."""
        first = min(self._order[each.id] for each in ends)
        found: set[str] = set()
        stack = [end]
        while stack:
            for each in stack.pop().operands:
                if each.source not in found and self._order[each.source] >= first:
                    found.add(each.source)
                    stack.append(self.drawing.nodes[each.source])
        return found

    def _is_inline(self, node: DrawnNode) -> bool:
        """Whether a node stands where its result is read: in its step, or behind a function."""
        reader = self.drawing.nodes.get(self._readers.get(node.id, ""))
        if reader is None or len(node.outputs) != 1 or reader.part != node.part:
            return False
        return reader.step == node.step or "." in node.step

    def _inlined(self, node: DrawnNode) -> list[DrawnNode]:
        found = []
        for each in node.operands:
            source = self.drawing.nodes[each.source]
            is_read_here = self._readers.get(source.id) == node.id
            if source.kind == "operation" and is_read_here and self._is_inline(source):
                found += self._inlined(source)
        return [*found, node]

    def _call(self, node: DrawnNode, part: PartPath, inside: set[str], attributes: bool) -> str:
        arguments = self._arguments(node, part, inside, attributes, node.step)
        function = node.step.rpartition(".")[0]
        if function:
            return f"{function}({', '.join(dict.fromkeys(arguments))})"
        if attributes:
            arguments += [f"{name}={text}" for name, text in node.attributes.items()]
        return f"{node.label}({', '.join(arguments)})"

    def _arguments(
        self, node: DrawnNode, part: PartPath, inside: set[str], attributes: bool, step: str
    ) -> list[str]:
        """What a node reads; what a function computes by itself is not seen from outside."""
        function = step.rpartition(".")[0]
        found = []
        for each in node.operands:
            source = self.drawing.nodes[each.source]
            if function and source.id in inside and source.step.rpartition(".")[0] == function:
                found += self._arguments(source, part, inside, attributes, step)
            elif source.id in inside:
                found.append(self._call(source, part, inside, attributes))
            elif each.argument != "body" and not (function and source.kind == "constant"):
                found.append(self.operand(each, part))
        return found


def relative_path(path: PartPath, part: PartPath) -> PartPath:
    """A path without the parts that it has in common with another one; no index stands first."""
    common = 0
    while common < min(len(path) - 1, len(part)) and path[common] == part[common]:
        common += 1
    while common and path[common].isdigit():
        common -= 1
    return path[common:]


def _only_readers(drawing: Drawing, uses: Mapping[str, int]) -> dict[str, str]:
    """The only reader of each node that is read once."""
    return {
        each.source: node.id
        for node in drawing.nodes.values()
        for each in node.operands
        if uses[each.source] == 1
    }

"""SSA names as MLIR assigns them: `%arg0`, `%cst`, `%c0_i32`, `%0`.

Invariant: names do not come from the text that was read. All values of a region are named before
those of the regions in it, so that a module prints the same however it was written.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

_UNFIT = re.compile(r"[^a-zA-Z0-9$._-]")
Suggest = Callable[[Operation], str | None]


def _arith_constant(operation: Operation) -> str:
    value = _value(operation)
    if not isinstance(value, IntegerAttr):
        return "cst"
    if not isinstance(value.type, IntegerType):
        return f"c{value.value.data}"
    if value.type.bitwidth == 1:
        return "true" if value.value.data else "false"
    return f"c{value.value.data}_{value.type}"


def _tensorrt_constant(operation: Operation) -> str:
    return f"cst_{_element(operation)}"


def _stablehlo_constant(operation: Operation) -> str:
    value = _value(operation)
    integers = isinstance(value, DenseIntOrFPElementsAttr) and isinstance(
        value.type.element_type, IntegerType
    )
    return "c" if integers else "cst"


def _value(operation: Operation) -> Attribute | None:
    return operation.properties.get("value", operation.attributes.get("value"))


def _element(operation: Operation) -> Attribute:
    type = operation.results[0].type
    return getattr(type, "element_type", type)


def _always(name: str) -> Suggest:
    return lambda _: name


# Operations whose values have the name of the operation, and those with another one.
_NAMESAKES = {
    "tensor": ("cast", "concat", "dim", "from_elements", "rank", "reshape", "splat"),
    "memref": ("alloc", "alloca", "cast", "dim", "subview"),
}
SUGGESTIONS: dict[str, Suggest] = {
    "arith.constant": _arith_constant,
    "stablehlo.constant": _stablehlo_constant,
    "tensorrt.constant": _tensorrt_constant,
    **{
        f"{dialect}.{name}": _always(name)
        for dialect, names in _NAMESAKES.items()
        for name in names
    },
    "tensor.collapse_shape": _always("collapsed"),
    "tensor.expand_shape": _always("expanded"),
    "tensor.extract": _always("extracted"),
    "tensor.extract_slice": _always("extracted_slice"),
    "tensor.generate": _always("generated"),
    "tensor.insert": _always("inserted"),
    "tensor.insert_slice": _always("inserted_slice"),
    "tensor.pad": _always("padded"),
}


class ValueNames:
    """The names of all values in an operation, and of its blocks."""

    def __init__(self, top: Operation, *, generic: bool) -> None:
        self.values: dict[SSAValue, str] = {}  # with the `%`, and `#1` in a group of results
        self.groups: dict[Operation, str] = {}  # `%0:2`, of operations with several results
        self.blocks: dict[Block, str] = {}
        self._suggestions = {} if generic else SUGGESTIONS
        self._restart = not generic  # in the generic form no two values share a name
        self._next, self._argument, self._conflict = 0, 0, 0
        self._used: set[str] = set()
        self._operations([top])
        self._regions(top.regions, frozenset())

    def _regions(self, regions: Iterable[Region], around: frozenset[str]) -> None:
        """Name what is in regions; each begins with the counters of what is around them."""
        pending = [(region, self._state(), around) for region in regions]
        while pending:
            region, counters, names = pending.pop()
            if self._restart:
                self._next, self._argument, self._conflict = counters
            self._used = set(names)
            self._region(region)
            inner, state = frozenset(self._used), self._state()
            pending.extend((each, state, inner) for each in _nested_regions(region))

    def _state(self) -> tuple[int, int, int]:
        return self._next, self._argument, self._conflict

    def _region(self, region: Region) -> None:
        for index, block in enumerate(region.blocks):
            self.blocks[block] = f"^bb{index}"
            for argument in block.args:
                if index == 0:
                    self.values[argument] = f"%{self._unique(f'arg{self._argument}')}"
                    self._argument += 1
                else:
                    self.values[argument] = self._number()
            self._operations(block.ops)

    def _operations(self, operations: Iterable[Operation]) -> None:
        suggestions, values = self._suggestions, self.values
        for operation in operations:
            results = operation.results
            if not results:
                continue
            suggest = suggestions.get(operation.name)
            name = None if suggest is None else suggest(operation)
            text = self._number() if name is None else f"%{self._unique(name)}"
            if len(results) == 1:
                values[results[0]] = text
                continue
            self.groups[operation] = f"{text}:{len(results)}"
            for index, result in enumerate(results):
                values[result] = f"{text}#{index}"

    def _number(self) -> str:
        self._next += 1
        return f"%{self._next - 1}"

    def _unique(self, name: str) -> str:
        """Give a name that no value around has: with a number behind it, if need be."""
        chosen = name = _UNFIT.sub(_hexadecimal, name)
        while chosen in self._used:
            chosen = f"{name}_{self._conflict}"
            self._conflict += 1
        self._used.add(chosen)
        return chosen


def _hexadecimal(found: re.Match[str]) -> str:
    return "_" if found[0].isspace() else f"{ord(found[0]):X}"


def _nested_regions(region: Region) -> Iterator[Region]:
    for block in region.blocks:
        for operation in block.ops:
            yield from operation.regions

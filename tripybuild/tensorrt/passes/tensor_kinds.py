"""`test-tensor-kind-analysis`: dataflow analysis of host and device tensors.

A backward data-flow analysis, as mlir-tensorrt's: kinds go from what uses a value to what makes it.
What a function returns is on the device, unless it says `tensorrt.host_tensor`; sizes, indices and
conditions are on the host. An operation on small tensors is where its results are, one on a large
tensor is on the device. The report has the operations with an attribute `tag`, and each function.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from math import prod

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    ShapedType,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, SymbolTable

from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.rewriting.effects import walk_ops

HOST_TENSOR = "tensorrt.host_tensor"
SMALL = 8  # elements: what MLIR's users compute on the host


class Kind(IntEnum):
    """Where a tensor is; the lattice has `unknown` below, and `both` above the other two."""

    unknown = 0
    device = 1
    host = 2
    both = 3


Meet = Callable[[int, Kind], None]
Transfer = Callable[[Operation, Sequence[Kind | None], Meet], None]


def run(module: ModuleOp, *, interprocedural: bool) -> str:
    """Give the report of the analysis."""
    analysis = _Analysis(module, interprocedural=interprocedural)
    while analysis.changed:
        analysis.sweep()
    return "\n".join(analysis.report())


class _Analysis:
    """The kinds of all values so far; a value that nothing looked at has no entry."""

    def __init__(self, module: ModuleOp, *, interprocedural: bool) -> None:
        self.module = module
        self.ops = list(walk_ops(module))
        self.kinds: dict[SSAValue, Kind | None] = {}
        self.interprocedural = interprocedural
        self.changed = True

    def sweep(self) -> None:
        """Look at each operation once, the last one first."""
        self.changed = False
        for op in reversed(self.ops):
            if isinstance(op, FuncOp):
                continue
            for value in (*op.operands, *op.results):
                self.kinds.setdefault(value, None)
            self.visit(op)

    def meet(self, value: SSAValue, kind: Kind | None) -> None:
        """Add what a use wants of a value to what others want."""
        old = self.kinds.get(value)
        if kind is None or kind == old:
            return
        new = kind if old is None else Kind(old | kind)
        if new != old:
            self.kinds[value] = new
            self.changed = True

    def infer(self, op: Operation, index: int, kind: Kind) -> None:
        """Add what an operand has to be; an argument of a function is also where it comes from."""
        value = op.operands[index]
        if _is_argument(value):
            self.meet(value, _argument_kind(value))
        self.meet(value, kind)

    def visit(self, op: Operation) -> None:
        """Transfer kinds from what an operation gives to what it takes."""
        if isinstance(op, CallOp):
            self._call(op)
        elif op.name in _BRANCHES:
            self._branch(op)
        elif op.has_trait(IsTerminator, value_if_unregistered=False):
            self._terminator(op)
        else:
            found = [self.kinds.get(result) for result in op.results]
            transfer = _TRANSFERS.get(op.name, _default)
            transfer(op, found, lambda index, kind: self.infer(op, index, kind))

    def _branch(self, op: Operation) -> None:
        """Operands go to regions and results; those that go nowhere decide, so they are on host."""
        first = _BRANCHES[op.name]
        for operand in op.operands[:first]:
            self._decide(operand)
        for target in _entry_targets(op):
            self._forward(op.operands[first:], target)

    def _terminator(self, op: Operation) -> None:
        parent = op.parent_op()
        if isinstance(parent, FuncOp):
            self._returned(op, parent)
        elif parent is not None and parent.name in _BRANCHES:
            conditions = int(op.name.endswith(".condition"))
            for operand in op.operands[:conditions]:
                self._decide(operand)
            for target in _exit_targets(op, parent):
                self._forward(op.operands[conditions:], target)

    def _forward(self, given: Sequence[SSAValue], taken: Sequence[SSAValue]) -> None:
        for source, target in zip(given, taken, strict=False):
            self.meet(source, self.kinds.get(target))

    def _decide(self, value: SSAValue) -> None:
        if isinstance(value.type, TensorType):
            self.meet(value, Kind.host)

    def _returned(self, op: Operation, function: FuncOp) -> None:
        for index, value in enumerate(op.operands):
            self.meet(value, _declared_kind(function.res_attrs, index))

    def _call(self, call: CallOp) -> None:
        """Operands are what the body of the callee wants, where the analysis goes there."""
        callee = SymbolTable.lookup_symbol(call, call.callee) if self.interprocedural else None
        if isinstance(callee, FuncOp) and not callee.is_declaration:
            self._forward(call.operands, callee.args)
            return
        for value in call.operands:
            self.meet(value, Kind.unknown)

    def report(self) -> Iterator[str]:
        """Give the lines of the report, in mlir-tensorrt's words."""
        for op in self.ops:
            tag = op.attributes.get("tag")
            if isinstance(tag, StringAttr):
                yield f"test_tag: {tag.data}:"
                yield from self._values(" operand #", op.operands)
                yield from self._values(" result #", op.results)
                for index, region in enumerate(op.regions):
                    yield f"  Region #{index}:"
                    yield from self._values("    arg #", _arguments(region))
            if isinstance(op, FuncOp):
                yield f"func {op.sym_name.data}:"
                yield from self._values(" arg #", _arguments(op.body))

    def _values(self, word: str, values: Sequence[SSAValue]) -> Iterator[str]:
        for index, value in enumerate(values):
            kind = self.kinds.get(value)
            shown = "<<uninitialized>>" if value in self.kinds else "<<nullptr>>"
            yield f"{word}{index}: {shown if kind is None else kind.name}"


def _arguments(region: Region) -> Sequence[SSAValue]:
    return region.blocks.first.args if region.blocks.first is not None else ()


def _is_argument(value: SSAValue) -> bool:
    """Whether a value is an argument of a function with one block."""
    if not isinstance(value, BlockArgument) or not isinstance(value.block.parent_op(), FuncOp):
        return False
    region = value.block.parent
    return region is not None and len(region.blocks) == 1


def _argument_kind(value: SSAValue) -> Kind:
    assert isinstance(value, BlockArgument)
    function = value.block.parent_op()
    assert isinstance(function, FuncOp)
    return _declared_kind(function.arg_attrs, value.index)


def _declared_kind(attributes: ArrayAttr[DictionaryAttr] | None, index: int) -> Kind:
    dictionaries = () if attributes is None else attributes.data
    host = index < len(dictionaries) and HOST_TENSOR in dictionaries[index].data
    return Kind.host if host else Kind.device


# Operations with control flow: how many of their first operands decide and are not handed on.
_BRANCHES: Mapping[str, int] = {
    f"{dialect}.{name}": count
    for dialect in ("tensorrt", "scf")
    for name, count in (("if", 1), ("for", 3), ("while", 0))
}


def _entry_targets(op: Operation) -> Iterator[Sequence[SSAValue]]:
    """Give what the operands of an operation with control flow become first."""
    if op.name.endswith(".for"):
        yield _arguments(op.regions[0])[1:]
        yield op.results
    elif op.name.endswith(".while"):
        yield _arguments(op.regions[0])


def _exit_targets(end: Operation, parent: Operation) -> Iterator[Sequence[SSAValue]]:
    """Give what the operands of a region's end become."""
    if parent.name.endswith(".if"):
        yield parent.results
    elif parent.name.endswith(".for"):
        yield _arguments(parent.regions[0])[1:]
        yield parent.results
    elif end.name.endswith(".condition"):
        yield _arguments(parent.regions[1])
        yield parent.results
    else:
        yield _arguments(parent.regions[0])


def _default(op: Operation, results: Sequence[Kind | None], meet: Meet) -> None:
    if all(_is_small(operand.type) for operand in op.operands):
        for kind in results:
            if kind is not None:
                for index, operand in enumerate(op.operands):
                    if isinstance(operand.type, TensorType):
                        meet(index, kind)
        return
    for index, operand in enumerate(op.operands):
        if isinstance(operand.type, ShapedType):
            meet(index, Kind.device)


def _is_small(kind: Attribute) -> bool:
    if not isinstance(kind, TensorType):
        return not isinstance(kind, ShapedType)
    shape = sizes(kind)
    return None not in shape and prod(shape) <= SMALL  # type: ignore[arg-type]  # no None is left


def _like_result(*hosts: str) -> Transfer:
    """Operands are where the result is, but for the fields that are sizes."""

    def transfer(op: Operation, results: Sequence[Kind | None], meet: Meet) -> None:
        sizing = {id(value) for name in hosts if (value := getattr(op, name)) is not None}
        for index, operand in enumerate(op.operands):
            if id(operand) in sizing:
                meet(index, Kind.host)
            elif results[0] is not None:
                meet(index, results[0])

    return transfer


def _shape(_op: Operation, _results: Sequence[Kind | None], meet: Meet) -> None:
    """Only the sizes of the input are read, wherever it is."""
    meet(0, Kind.unknown)


def _extract(_op: Operation, _results: Sequence[Kind | None], meet: Meet) -> None:
    meet(0, Kind.host)


_TRANSFERS: Mapping[str, Transfer] = {
    "tensorrt.slice": _like_result("start", "size", "stride"),
    "tensorrt.shuffle": _like_result("dynamic_reshape"),
    "tensorrt.linspace": _like_result("shape"),
    "tensorrt.shape": _shape,
    "tensor.reshape": _like_result("shape"),
    "tensor.extract": _extract,
}

"""Operand and result accessors: constant-time for operations with fixed arity.

xDSL looks up an operation's whole declaration each time a field is read. Passes read millions of
fields; where no variadic field stands before one, its place never changes.
"""

from typing import Any

from xdsl.ir import Operation
from xdsl.irdl.operations import BeforeVariadicSingleAccessor, VarIRConstruct


class _OperandAccessor(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        return obj._operands[self.idx]  # noqa: SLF001  # `operands` makes a view first


class _ResultAccessor(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: object = None) -> Any:
        return tuple.__getitem__(obj.results, self.idx)  # its own `[]` is for slices, too


_QUICK = {VarIRConstruct.OPERAND: _OperandAccessor, VarIRConstruct.RESULT: _ResultAccessor}


def install_accessors(op_class: type[Operation]) -> None:
    """Give a declared class quick fields; xDSL still finds accessors of its own kind there."""
    for name, accessor in list(vars(op_class).items()):
        quick = _QUICK.get(accessor.construct) if _is_plain(accessor) else None
        if quick is not None:
            type.__setattr__(op_class, name, quick(accessor.construct, accessor.idx))


def _is_plain(accessor: object) -> bool:
    return type(accessor) is BeforeVariadicSingleAccessor

"""How OpenVINO's CPU kernels compute ONNX's operators with integers: facts, seen in 2026.4.1.

`tests/unit/targets/openvino/test_openvino_facts.py` sees them again, and fails where one is no
longer true. There is no kernel of 64 bits: int64 and uint64 are computed in 32.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from tripybuild.targets.openvino import bounds
from tripybuild.targets.openvino.bounds import ValueBounds
from tripybuild.types.dtypes import dtype, float4, float8

Result = Callable[[Sequence[ValueBounds]], ValueBounds]


@dataclass(frozen=True, slots=True)
class IntegerKernel:
    """What a kernel does with integers.

    Args:
        exact: Whether it computes in integers of 32 bits, and not in float32.
        result: The bounds of a result, by those of the data; None is any number of the dtype.
        data: The positions of inputs whose elements it moves or computes with; None is all of them.
            Others are indices, sizes or axes.
        compares: Whether one side alone has to be exact, since the result is the order of two.
        wraps: Whether a result that int32 has no place for is the one that int32 wraps to.
        rounds: Whether integers of 8 bits are rounded to the nearest, and not toward zero.
    """

    exact: bool
    result: Result | None = None
    data: Sequence[int] | None = None
    compares: bool = False
    wraps: bool = False
    rounds: bool = False


def _moves(*data: int) -> IntegerKernel:
    return IntegerKernel(exact=True, result=bounds.hull, data=data or None)


def _exact(result: Result, data: Sequence[int] | None = None) -> IntegerKernel:
    return IntegerKernel(exact=True, result=result, data=data, wraps=True)


def _float(result: Result | None = None, data: Sequence[int] | None = None) -> IntegerKernel:
    return IntegerKernel(exact=False, result=result, data=data)


_COMPARISON = IntegerKernel(exact=False, compares=True)
_FIRST, _SELECTED, _UPDATED = _moves(0), _moves(1, 2), _moves(0, 2)
_RECURRENT = _float(data=(0, 1, 2, 3, 5, 6, 7))  # all but the lengths of sequences
# What no list has is computed in float32, and gives any number of its dtype.
OTHERS = _float()

KERNELS: Mapping[str, IntegerKernel] = MappingProxyType(
    {
        "Abs": _exact(bounds.absolute),
        "Add": _exact(bounds.add),
        "ArgMax": IntegerKernel(exact=True),
        "ArgMin": IntegerKernel(exact=True),
        "BitwiseAnd": _exact(bounds.bits),
        "BitwiseNot": _exact(bounds.bits),
        "BitwiseOr": _exact(bounds.bits),
        "BitwiseXor": _exact(bounds.bits),
        "Cast": _moves(0),
        "Clip": _moves(),
        "Compress": _FIRST,
        "Concat": _moves(),
        "ConstantOfShape": _moves(),
        "CumSum": _exact(bounds.total, (0,)),
        "DepthToSpace": _FIRST,
        "Div": IntegerKernel(exact=False, result=bounds.divide, rounds=True),
        "Equal": _COMPARISON,
        "Expand": _FIRST,
        "Flatten": _FIRST,
        "GRU": _RECURRENT,
        "Gather": _FIRST,
        "GatherElements": _FIRST,
        "GatherND": _FIRST,
        "Greater": _COMPARISON,
        "GreaterOrEqual": _COMPARISON,
        "Identity": _FIRST,
        "LSTM": _RECURRENT,
        "Less": _COMPARISON,
        "LessOrEqual": _COMPARISON,
        "Max": IntegerKernel(exact=True, result=bounds.maximum),
        "MaxPool": _float(bounds.hull, (0,)),
        "Min": IntegerKernel(exact=True, result=bounds.minimum),
        "Mod": _float(bounds.remainder),
        "Mul": _exact(bounds.multiply),
        "Neg": _exact(bounds.negate),
        "NonZero": IntegerKernel(exact=True),
        "Pad": _UPDATED,
        "RNN": _RECURRENT,
        "Range": _exact(bounds.between, (0, 1)),
        "ReduceMax": _float(bounds.hull, (0,)),
        "ReduceMean": _float(bounds.hull, (0,)),
        "ReduceMin": _float(bounds.hull, (0,)),
        "ReduceSum": _float(bounds.total, (0,)),
        "Relu": _float(bounds.with_zero),
        "Reshape": _FIRST,
        "ReverseSequence": _FIRST,
        "ScatterElements": _UPDATED,
        "ScatterND": _UPDATED,
        "Sign": IntegerKernel(exact=True, result=bounds.sign),
        "Slice": _FIRST,
        "SpaceToDepth": _FIRST,
        "Split": _FIRST,
        "Squeeze": _FIRST,
        "Sub": _exact(bounds.subtract),
        "Sum": _exact(bounds.add),
        "Tile": _FIRST,
        "TopK": _FIRST,
        "Transpose": _FIRST,
        "Trilu": _float(bounds.with_zero, (0,)),
        "Unique": _float(bounds.hull, (0,)),
        "Unsqueeze": _FIRST,
        "Where": _SELECTED,
    }
)
# The first result of an operator that is made of indices, as those behind it are.
INDICES: Mapping[str, int] = MappingProxyType(
    {"ArgMax": 0, "ArgMin": 0, "MaxPool": 1, "NonZero": 0, "TopK": 1, "Unique": 1}
)
# Operators that read types and sizes, and no elements.
SHAPES = frozenset({"Shape", "Size"})
# Operators that give numbers as they are, or compare them.
CARRYING = frozenset(
    {
        *("ArgMax", "ArgMin", "Cast", "Concat", "Constant", "Expand", "Flatten", "Gather"),
        *("GatherElements", "GatherND", "Identity", "IsNaN", "Max", "Min", "Reshape", "Shape"),
        *("Slice", "Split", "Squeeze", "TopK", "Transpose", "Unsqueeze", "Where"),
    }
)
# Operators that take floats of few bits; others fail in a call, end the process, or mix them up.
NARROW: Mapping[dtype, frozenset[str]] = MappingProxyType(
    {
        float8: frozenset(
            {
                *("Cast", "Concat", "Constant", "DequantizeLinear", "Flatten", "Identity"),
                *("QuantizeLinear", "Reshape", "Squeeze", "Transpose", "Unsqueeze"),
            }
        ),
        float4: frozenset({"Cast", "Constant", "DequantizeLinear"}),
    }
)


def kernel_of(operator: str, *, reduction: bool = False) -> IntegerKernel:
    """How an operator computes with integers; `reduction` is of scatters that compute."""
    found = KERNELS.get(operator, OTHERS)
    return _exact_any(found) if reduction else found


def _exact_any(kernel: IntegerKernel) -> IntegerKernel:
    return IntegerKernel(exact=True, data=kernel.data, wraps=True)

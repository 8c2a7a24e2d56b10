"""What modules of the `tensorrt` dialect compute, in NumPy: the oracle of the passes.

A pass must not change what a function gives. Floats of all widths are computed in double precision
and never rounded, so that two ways of writing one function agree closely; integers are exact.

    assert_same(TEXT, "canonicalize", "cse")          # parse, run, verify, compare
    before, after = compare(TEXT, "canonicalize")     # the two texts, compared as well
    evaluate(module, "main", [array, ...])            # the results of one function

Sizes that the text does not know are the numbers of `dynamic=`, by argument, or 3 for each. Ops
that the table below lacks raise `KeyError`: add them there. Constants that are resources are random
numbers, the same ones for one name.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import DenseResourceAttr, IntegerType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.mlir import elements, verifier
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes import pipeline

Array = np.ndarray[Any, Any]
DYNAMIC = 3
MOST_TURNS = 100
_GENERATOR_SEED = 20240229


def parsed(text: str) -> ModuleOp:
    """A module of text, which is valid."""
    module = parser.parse(text)
    assert not verifier.problems(module), verifier.problems(module)
    return module


def functions(module: ModuleOp) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}


def assert_same(text: str, *names: str, **arguments: Any) -> str:
    """Run passes, and compare all functions before and after; gives the text after."""
    return compare(text, *names, **arguments)[1]


def compare(
    text: str,
    *names: str,
    options: dict[str, dict[str, bool | str]] | None = None,
    dynamic: dict[int, Sequence[int]] | None = None,
    inputs: Sequence[Array] | None = None,
    tolerance: float = 1e-6,
) -> tuple[str, str]:
    """The texts before and after passes, whose functions give the same."""
    before, after = parsed(text), parsed(text)
    pipeline.run(after, names, options)
    assert not verifier.problems(after), (verifier.problems(after), printer.text(after))
    old, new = functions(before), functions(after)
    assert old.keys() == new.keys()
    for name, function in old.items():
        if function.is_declaration:
            continue
        given = random_inputs(function, dynamic or {}) if inputs is None else inputs
        wanted, found = evaluate(before, name, given), evaluate(after, name, given)
        assert len(wanted) == len(found)
        for a, b in zip(wanted, found, strict=True):
            assert a.shape == b.shape, (name, a.shape, b.shape, printer.text(after))
            assert a.dtype == b.dtype, (name, a.dtype, b.dtype)
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=name)
    return printer.text(before), printer.text(after)


def random_inputs(function: FuncOp, dynamic: dict[int, Sequence[int]]) -> list[Array]:
    """Random arguments: floats around zero, small integers, truths."""
    generator = np.random.default_rng(_GENERATOR_SEED)
    found = []
    for index, argument in enumerate(function.args):
        shape = dynamic.get(index) or [DYNAMIC if n is None else n for n in sizes(argument)]
        found.append(_random(generator, shape, kind_of(argument)))
    return found


def _random(generator: np.random.Generator, shape: Sequence[int], kind: np.dtype[Any]) -> Array:
    if kind.kind == "f":
        return np.asarray(generator.standard_normal(shape))
    if kind == np.bool_:
        return np.asarray(generator.integers(0, 2, shape), np.bool_)
    return np.asarray(generator.integers(0 if kind.kind == "u" else -4, 5, shape), kind)


def kind_of(value: SSAValue) -> np.dtype[Any]:
    """The type that elements are computed in."""
    found = element(value)
    if isinstance(found, IntegerType):
        dtype = elements.dtype_of(found)
        return np.dtype(np.int8) if dtype == ml_dtypes.int4 else dtype
    return np.dtype(np.int8 if found.name == "quant.uniform" else np.float64)


def evaluate(module: ModuleOp, name: str, inputs: Sequence[Array]) -> list[Array]:
    """What a function gives."""
    block = functions(module)[name].body.block
    return run_block(block, inputs, {})


def widened(array: Array) -> Array:
    """An array in the type that its elements are computed in."""
    wide = array.dtype.kind not in "iub" and array.dtype != ml_dtypes.int4
    return array.astype(np.float64) if wide else array


def run_block(block: Block, inputs: Sequence[Array], outer: dict[SSAValue, Array]) -> list[Array]:
    """What the last op of a block is given; values from outside are seen."""
    known = {**outer, **dict(zip(block.args, map(np.asarray, inputs), strict=True))}
    for op in block.ops:
        operands = [known[value] for value in op.operands]
        if op is block.last_op:
            return operands
        if op.name == "tensorrt.if":
            results = run_block(op.regions[0 if operands[0] else 1].block, [], known)
        elif op.name in {"tensorrt.for", "tensorrt.while"}:
            results = run_loop(op, operands, known)
        elif op.name == "func.call":
            callee = SymbolTable.lookup_symbol(op, op.properties["callee"])
            results = run_block(callee.regions[0].block, operands, {})
        else:
            results = OPS[op.name](op, *operands)
            results = results if isinstance(results, list) else [results]
        for value, array in zip(op.results, results, strict=True):
            expected = sizes(value)
            fits = len(expected) == array.ndim and all(
                size in {None, found} for size, found in zip(expected, array.shape, strict=True)
            )
            assert fits, f"{op.name} gives {array.shape} and not {expected}"
            known[value] = np.asarray(array, kind_of(value))
    raise AssertionError("a block without an end")


def run_loop(op: Operation, values: list[Array], known: dict[SSAValue, Array]) -> list[Array]:
    """What a loop carries in the end."""
    body = op.regions[-1].block
    if op.name == "tensorrt.for":
        low, high, step, *values = values
        for number in range(int(low), int(high), int(step)):
            values = run_block(body, [np.asarray(number, np.int32), *values], known)
        return values
    for _ in range(MOST_TURNS):
        goes_on, *values = run_block(op.regions[0].block, values, known)
        if not goes_on:
            return values
        values = run_block(body, values, known)
    raise AssertionError("a loop without an end")


def weights(attribute: Any) -> Array:
    if isinstance(attribute, DenseResourceAttr):
        seed = zlib.crc32(attribute.resource_handle.data.encode())
        dtype = elements.dtype_of(attribute.type.element_type)
        kind = np.dtype(dtype if dtype.kind in "iub" else np.float64)
        return _random(np.random.default_rng(seed), attribute.type.get_shape(), kind)
    return widened(elements.to_numpy(attribute))


# Functions of elements


def erf(x: Array) -> Array:
    return np.vectorize(math.erf, otypes=[np.float64])(x) if x.size else x


ACTIVATIONS: dict[str, Callable[[Array, float, float], Array]] = {
    "kRELU": lambda x, a, b: np.maximum(x, 0),
    "kSIGMOID": lambda x, a, b: 1 / (1 + np.exp(-x)),
    "kTANH": lambda x, a, b: np.tanh(x),
    "kLEAKY_RELU": lambda x, a, b: np.where(x >= 0, x, a * x),
    "kELU": lambda x, a, b: np.where(x >= 0, x, a * np.expm1(np.minimum(x, 0))),
    "kSELU": lambda x, a, b: np.where(x > 0, b * x, b * (a * np.exp(np.minimum(x, 0)) - a)),
    "kSOFTSIGN": lambda x, a, b: x / (1 + np.abs(x)),
    "kSOFTPLUS": lambda x, a, b: a * np.log1p(np.exp(b * x)),
    "kCLIP": lambda x, a, b: np.maximum(a, np.minimum(b, x)),
    "kHARD_SIGMOID": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "kSCALED_TANH": lambda x, a, b: a * np.tanh(b * x),
    "kTHRESHOLDED_RELU": lambda x, a, b: np.where(x > a, x, 0),
    "kGELU_ERF": lambda x, a, b: x * (1 + erf(x / math.sqrt(2))) / 2,
    "kGELU_TANH": lambda x, a, b: (
        x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    ),
}
UNARY: dict[str, Callable[[Array], Array]] = {
    "kEXP": np.exp,
    "kLOG": np.log,
    "kSQRT": np.sqrt,
    "kRECIP": lambda x: 1 / x,
    "kABS": np.abs,
    "kNEG": np.negative,
    "kSIN": np.sin,
    "kCOS": np.cos,
    "kTAN": np.tan,
    "kSINH": np.sinh,
    "kCOSH": np.cosh,
    "kASIN": np.arcsin,
    "kACOS": np.arccos,
    "kATAN": np.arctan,
    "kASINH": np.arcsinh,
    "kACOSH": np.arccosh,
    "kATANH": np.arctanh,
    "kCEIL": np.ceil,
    "kFLOOR": np.floor,
    "kERF": erf,
    "kNOT": np.logical_not,
    "kSIGN": np.sign,
    "kROUND": np.rint,
}


def divide(a: Array, b: Array) -> Array:
    if a.dtype.kind == "f":
        return a / b
    quotient = np.where(b == 0, 0, np.abs(a) // np.maximum(np.abs(b), 1))
    return quotient * np.sign(a) * np.sign(b)


def power(a: Array, b: Array) -> Array:
    """Integers; what is smaller than one is zero."""
    inverse = np.where(np.abs(a) == 1, a ** np.abs(b), 0)
    return np.where(b < 0, inverse, a ** np.abs(b))


BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "kSUM": np.add,
    "kPROD": np.multiply,
    "kMAX": np.maximum,
    "kMIN": np.minimum,
    "kSUB": np.subtract,
    "kDIV": divide,
    "kPOW": lambda a, b: np.float_power(a, b) if a.dtype.kind == "f" else power(a, b),
    "kFLOOR_DIV": lambda a, b: np.floor_divide(a, np.where(b == 0, 1, b)),
    "kAND": np.logical_and,
    "kOR": np.logical_or,
    "kXOR": np.logical_xor,
    "kEQUAL": np.equal,
    "kGREATER": np.greater,
    "kLESS": np.less,
}
REDUCE: dict[str, Callable[..., Array]] = {
    "kSUM": np.sum,
    "kPROD": np.prod,
    "kMAX": np.max,
    "kMIN": np.min,
    "kAVG": np.mean,
}
EXTREMES = (np.max, np.min)


def activation(op: Any, x: Array) -> Array:
    alpha, beta = op.value("alpha"), op.value("beta")
    return ACTIVATIONS[op.value("activation_type")](x, alpha, beta)


def cast(op: Any, x: Array) -> Array:
    kind = kind_of(op.results[0])
    return x != 0 if kind == np.bool_ else x.astype(kind)


def lowest_and_highest(kind: np.dtype[Any]) -> tuple[float, float]:
    if kind.kind == "f":
        return -math.inf, math.inf
    limits = np.iinfo(kind)
    return limits.min, limits.max


def reduce(op: Any, x: Array) -> Array:
    function = REDUCE[op.value("reduce_operation")]
    axes = tuple(op.value("reduce_axes"))
    if not x.size and function in EXTREMES:  # the least or the most that there is
        least, most = lowest_and_highest(x.dtype)
        edge = least if function is np.max else most
        kept = bool(op.value("keep_dimensions"))
        return np.asarray(function(x, axis=axes, keepdims=kept, initial=edge))
    return np.asarray(function(x, axis=axes, keepdims=bool(op.value("keep_dimensions"))))


def softmax(op: Any, x: Array) -> Array:
    axis = op.value("axis")
    if not x.size:
        return x
    raised = np.exp(x - np.max(x, axis, keepdims=True))
    return raised / np.sum(raised, axis, keepdims=True)


# Layouts


def ranked(op: Any, x: Array) -> Array:
    """Ones come and go; all other sizes keep their order."""
    left = [size for known, size in zip(sizes(op.input), x.shape, strict=True) if known != 1]
    shape = [1 if size == 1 else left.pop(0) for size in sizes(op.results[0])]
    return x.reshape(shape)


def reshape(op: Any, x: Array, shape: Array | None = None) -> Array:
    if shape is not None:
        return x.reshape([int(size) for size in shape])
    return x.reshape([-1 if size is None else size for size in sizes(op.results[0])])


def transpose(op: Any, x: Array) -> Array:
    return np.transpose(x, [each.position for each in op.permutation.data.results])


def shuffle(op: Any, x: Array, dynamic: Array | None = None) -> Array:
    first, second = op.value("first_transpose"), op.value("second_transpose")
    x = x if first is None else np.transpose(x, first)
    shape = op.value("reshape") if dynamic is None else [int(size) for size in dynamic]
    if shape is not None:
        keeps = op.value("zero_is_placeholder")
        x = x.reshape([x.shape[i] if s == 0 and keeps else s for i, s in enumerate(shape)])
    return x if second is None else np.transpose(x, second)


def broadcast(op: Any, x: Array, shape: Array | None = None) -> Array:
    places = list(op.value("broadcast_dims"))
    order = sorted(range(len(places)), key=places.__getitem__)
    target = sizes(op.results[0]) if shape is None else tuple(int(size) for size in shape)
    inner = [1] * len(target)
    for axis, place in enumerate(places):
        inner[place] = x.shape[axis]
    return np.broadcast_to(np.transpose(x, order).reshape(inner), target)


def slice_(op: Any, x: Array, *_rest: Array) -> Array:
    known = dict(zip(op.operands, [x, *_rest], strict=True))
    start, size, stride = (
        list(op.value(f"static_{name}"))
        if getattr(op, name) is None
        else [int(n) for n in known[getattr(op, name)]]
        for name in ("start", "size", "stride")
    )
    spans = list(zip(start, size, stride, x.shape, strict=True))
    places = [first + step * np.arange(count) for first, count, step, _ in spans]
    mode = op.value("mode")
    limits = [length for *_, length in spans]
    if mode == "kREFLECT":
        raise KeyError("slice kREFLECT")
    if mode == "kWRAP":
        places = [at % n for at, n in zip(places, limits, strict=True)]
    inside = [(at >= 0) & (at < n) for at, n in zip(places, limits, strict=True)]
    if mode == "kDEFAULT":
        assert all(each.all() for each in inside), f"{op} leaves {x.shape}"
    clipped = [np.clip(at, 0, max(n - 1, 0)) for at, n in zip(places, limits, strict=True)]
    if x.size:
        found = x[np.ix_(*clipped)] if clipped else x
    else:  # there is nothing to take, and something to fill
        found = np.zeros([at.size for at in places], x.dtype)
    if mode != "kFILL":
        return found
    fill = known[op.fill].reshape(()) if op.fill is not None else np.zeros((), x.dtype)
    grids = np.meshgrid(*inside, indexing="ij")
    mask = np.all(grids, axis=0) if grids else np.ones((), bool)
    return np.where(mask, found, fill)


# Sources, products and the rest


def linspace(op: Any, *operands: Array) -> Array:
    known = dict(zip(op.operands, operands, strict=True))

    def given(name: str, static: float | None) -> Array:
        value = getattr(op, name)
        return np.atleast_1d(static if value is None else known[value])

    shape = [int(n) for n in (sizes(op.results[0]) if op.shape is None else known[op.shape])]
    start, step = given("start", op.value("static_start")), given("step", op.value("static_step"))
    places = np.indices(shape)
    found = start[0] + sum(each * size for each, size in zip(places, step, strict=True))
    return np.asarray(found, kind_of(op.results[0]))


def cumulative(op: Any, x: Array) -> Array:
    axis, reverse = op.value("axis"), op.value("reverse")
    x = np.flip(x, axis) if reverse else x
    found = np.cumsum(x, axis, dtype=x.dtype)
    found = found - x if op.value("exclusive") else found
    return np.flip(found, axis) if reverse else found


def matrix_multiply(op: Any, a: Array, b: Array) -> Array:
    left, right = op.value("op0"), op.value("op1")
    a = a[..., None, :] if left == "kVECTOR" else np.swapaxes(a, -1, -2) if left != "kNONE" else a
    b = b[..., None] if right == "kVECTOR" else np.swapaxes(b, -1, -2) if right != "kNONE" else b
    found = a @ b
    if right == "kVECTOR":
        found = found[..., 0]
    return (
        (found[..., 0] if right == "kVECTOR" else found[..., 0, :]) if left == "kVECTOR" else found
    )


def convolution(op: Any, x: Array, *rest: Array) -> Array:
    known = dict(zip(op.operands, [x, *rest], strict=True))
    kernel = known[op.kernel] if op.kernel is not None else weights(op.kernel_static)
    if op.bias is not None:
        bias = known[op.bias]
    else:
        bias = np.zeros(kernel.shape[0]) if op.bias_static is None else weights(op.bias_static)
    groups, rank = op.value("num_groups"), x.ndim - 2
    dilation = op.value("dilation") or [1] * rank
    pads = zip(op.value("pre_padding"), op.value("post_padding"), strict=True)
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    steps = list(op.value("stride"))
    out = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, d, s in zip(x.shape[2:], kernel.shape[2:], dilation, steps, strict=True)
    ]
    found = np.zeros((x.shape[0], kernel.shape[0], *out))
    inner, outer = x.shape[1] // groups, kernel.shape[0] // groups
    for group in range(groups):
        ins = slice(group * inner, (group + 1) * inner)
        outs = slice(group * outer, (group + 1) * outer)
        for place in np.ndindex(*kernel.shape[2:]):
            window = tuple(
                slice(p * d, p * d + s * (n - 1) + 1, s)
                for p, d, s, n in zip(place, dilation, steps, out, strict=True)
            )
            part = np.einsum(
                "ni...,oi->no...", x[:, ins][(..., *window)], kernel[outs][(..., *place)]
            )
            found[:, outs] += part
    return found + bias.reshape(1, -1, *[1] * rank)


def normalization(op: Any, x: Array, scale: Array, bias: Array) -> Array:
    groups, shape = op.value("num_groups") or 1, x.shape
    axes = tuple(op.value("axis"))
    if groups > 1:
        x = x.reshape(shape[0], groups, -1)
        axes = (2,)
    epsilon = 1e-5 if op.eps is None else op.value("eps")
    mean, variance = np.mean(x, axes, keepdims=True), np.var(x, axes, keepdims=True)
    return ((x - mean) / np.sqrt(variance + epsilon)).reshape(shape) * scale + bias


def top_k(op: Any, x: Array) -> list[Array]:
    axis, count = op.value("axis"), op.value("k")
    keys = x if op.value("topk_operation") == "kMIN" else -x.astype(np.float64)
    order = np.take(np.argsort(keys, axis, kind="stable"), range(count), axis)
    return [np.take_along_axis(x, order, axis), order.astype(np.int32)]


def extremum(op: Any, x: Array) -> list[Array]:
    function = np.argmin if op.name == "tensorrt.argmin" else np.argmax
    axis = op.value("axis")
    place = np.expand_dims(function(x, axis), axis)
    return [np.take_along_axis(x, place, axis), place.astype(np.int32)]


def gather(op: Any, data: Array, indices: Array) -> Array:
    axis = op.value("axis")
    if not op.value("num_broadcast_dims"):
        return np.take(data, indices, axis)
    rows = [np.take(a, b, axis - 1) for a, b in zip(data, indices, strict=True)]
    return np.stack(rows)


def scaled(op: Any, x: Array, scale: Array) -> Array:
    axis = op.value("axis")
    return scale if axis is None else scale.reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def quantize(op: Any, x: Array, scale: Array) -> Array:
    if kind_of(op.results[0]) != np.int8:
        raise KeyError("quantize to floats")
    low, high = (-8, 7) if str(element(op.results[0])) == "i4" else (-128, 127)
    return np.clip(np.rint(x / scaled(op, x, scale)), low, high).astype(np.int8)


def foreign_constant(op: Any) -> Array:
    return weights(op.value) if hasattr(op.value, "data") else np.asarray(op.value.value.data)


OPS: dict[str, Callable[..., Array | list[Array]]] = {
    "arith.constant": foreign_constant,
    "tensorrt.activation": activation,
    "tensorrt.argmax": extremum,
    "tensorrt.argmin": extremum,
    "tensorrt.broadcast": broadcast,
    "tensorrt.cast": cast,
    "tensorrt.collapse_rank": ranked,
    "tensorrt.concatenation": lambda op, *xs: np.concatenate(xs, op.value("axis")),
    "tensorrt.constant": lambda op: weights(op.weights),
    "tensorrt.convolution": convolution,
    "tensorrt.dequantize": lambda op, x, scale: x.astype(np.float64) * scaled(op, x, scale),
    "tensorrt.einsum": lambda op, *xs: np.einsum(op.value("equation"), *xs),
    "tensorrt.element_wise": lambda op, a, b: BINARY[op.value("elementwise_operation")](a, b),
    "tensorrt.expand_rank": ranked,
    "tensorrt.gather": gather,
    "tensorrt.identity": cast,
    "tensorrt.linspace": linspace,
    "tensorrt.matrix_multiply": matrix_multiply,
    "tensorrt.normalization": normalization,
    "tensorrt.quantize": quantize,
    "tensorrt.reduce": reduce,
    "tensorrt.reshape": reshape,
    "tensorrt.select": lambda op, c, a, b: np.where(c, a, b),
    "tensorrt.shape": lambda op, x: np.asarray(x.shape, np.int32),
    "tensorrt.shuffle": shuffle,
    "tensorrt.slice": slice_,
    "tensorrt.softmax": softmax,
    "tensorrt.top_k": top_k,
    "tensorrt.transpose": transpose,
    "tensorrt.unary": lambda op, x: UNARY[op.value("unary_operation")](x),
    "trtx.cumulative": cumulative,
}


def count(module: ModuleOp, name: str) -> int:
    """How many ops of a name a module has."""
    return sum(op.name == name for op in module.walk())


def names(module: ModuleOp) -> list[str]:
    """The names of all ops of the dialect, in order, without the dialect's."""
    found: list[Operation] = [op for op in module.walk() if op.name.startswith("tensorrt.")]
    return [op.name.removeprefix("tensorrt.") for op in found]

"""ONNX's own operators: each version that is in force in an opset from `OLDEST` to `NEWEST`.

The data are those of `onnx.defs` of ONNX 1.23.2, in `operators.jsonl`. Its first line has the sets
of types that variables allow; each line behind it is one version of an operator: its name, the
opset since which it is in force, inputs, outputs, attributes, and the set of each type variable.

`runtime_operators.jsonl` has those that ONNX Runtime 1.32 adds, which its optimizers and quantizers
write. One of a domain has that before its name, `com.microsoft.Gelu`, and is in force in any opset.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tripybuild.types.dtypes import BY_NAME, dtype, float32, uint8

OLDEST, NEWEST = 7, 26
RUNTIME_DOMAIN = "com.microsoft"
_OWN, _RUNTIME = "operators.jsonl", "runtime_operators.jsonl"
_FIELDS = 6  # of a version that is not deprecated
# Results that neither a variable nor an attribute says: a dtype, or that of an input of this index.
# ONNX has this in its documentation alone.
DEFAULT_RESULTS: Mapping[str, dtype | int] = MappingProxyType(
    {
        "Bernoulli": 0,
        "ConstantOfShape": float32,
        "DequantizeLinear": 1,
        "EyeLike": 0,
        "QuantizeLinear": uint8,
        "RandomNormalLike": 0,
        "RandomUniformLike": 0,
    }
)
# Attributes that hold the number of a result's element type.
ELEMENT_TYPES = ("to", "dtype", "output_dtype", "output_datatype", "stash_type")
# Attributes of `Constant` that are the result.
CONSTANTS = MappingProxyType({"value_float": "float", "value_floats": "float"}) | {
    "value_int": "int64",
    "value_ints": "int64",
}
CODES: Mapping[str, int] = MappingProxyType(
    {
        "float": 1,
        "uint8": 2,
        "int8": 3,
        "int32": 6,
        "int64": 7,
        "bool": 9,
        "float16": 10,
        "double": 11,
        "bfloat16": 16,
        "float8e4m3fn": 17,
        "int4": 22,
        "float4e2m1": 23,
    }
)
"""The numbers of element types in files, by ONNX's names."""

BY_CODE: Mapping[int, dtype] = MappingProxyType(
    {CODES[each.onnx]: each for each in BY_NAME.values()}
)
BY_TYPE: Mapping[str, dtype] = MappingProxyType(
    {f"tensor({each.onnx})": each for each in BY_NAME.values()}
)
"""Our dtypes by ONNX's types of tensors, as schemas spell them."""


@dataclass(frozen=True, slots=True)
class FormalTensor:
    """An input or an output of an operator.

    Args:
        name: Its name.
        type: A type variable of the operator, or the one type that it has, `tensor(int64)`.
        optional: Whether it may be left out.
        variadic: Whether it stands for any number of tensors; it is the last one then.
        homogeneous: Whether all tensors of a variadic one have the same type.
    """

    name: str
    type: str
    optional: bool = False
    variadic: bool = False
    homogeneous: bool = True


@dataclass(frozen=True, slots=True)
class FormalAttribute:
    """An attribute: its kind is `int`, `floats`, `string`, `tensor`, `graph` or the like.

    `default` is None without one, and a tuple where it is a list.
    """

    name: str
    kind: str
    required: bool
    default: Any = None


@dataclass(frozen=True)
class OperatorSchema:
    """One version of an operator.

    `types` are the types that each variable allows, as ONNX spells them: `tensor(float)`. A type
    that an input or an output always has is there by its own name.
    """

    name: str
    version: int
    inputs: tuple[FormalTensor, ...]
    outputs: tuple[FormalTensor, ...]
    attributes: Mapping[str, FormalAttribute]
    types: Mapping[str, frozenset[str]]
    deprecated: bool = False

    @cached_property
    def dtypes(self) -> Mapping[str, frozenset[dtype]]:
        """Our dtypes that each variable allows."""
        return MappingProxyType(
            {
                name: frozenset(BY_TYPE[each] for each in types if each in BY_TYPE)
                for name, types in self.types.items()
            }
        )

    def input_at(self, index: int) -> FormalTensor | None:
        """The formal input of a position, or None beyond the last one."""
        return _formal(self.inputs, index)

    def output_at(self, index: int) -> FormalTensor | None:
        """The formal output of a position, or None beyond the last one."""
        return _formal(self.outputs, index)

    def bind(self, inputs: Sequence[dtype | None]) -> dict[str, dtype]:
        """The dtypes of type variables, by those of inputs in their order; None is left out.

        The first input binds a variable; `dtypes` says whether it may be bound so.
        """
        bound: dict[str, dtype] = {}
        for index, given in enumerate(inputs):
            formal = self.input_at(index)
            if given is not None and formal is not None and formal.homogeneous:
                bound.setdefault(formal.type, given)
        return bound

    def result_dtypes(
        self, inputs: Sequence[dtype | None], attributes: Mapping[str, Any], count: int
    ) -> tuple[dtype | None, ...]:
        """The dtypes of the first `count` results; None where nothing here says it.

        Args:
            inputs: The dtypes of the inputs, in their order; None for those that are left out.
            attributes: The values of attributes: an element type is a dtype or its number, and a
                tensor has a `dtype`.
            count: How many results there are.
        """
        bound = self.bind(inputs)
        other = _element_type(self.attributes, attributes)
        if other is None:
            default = DEFAULT_RESULTS.get(self.name)
            other = inputs[default] if isinstance(default, int) else default
        found: list[dtype | None] = []
        for index in range(count):
            formal = self.output_at(index)
            found.append(None if formal is None else self._result(formal, bound, other))
        return tuple(found)

    def _result(
        self, formal: FormalTensor, bound: Mapping[str, dtype], other: dtype | None
    ) -> dtype | None:
        allowed = self.dtypes[formal.type]
        if formal.type in bound and formal.homogeneous:
            return bound[formal.type]
        if len(self.types[formal.type]) == 1:
            return next(iter(allowed), None)
        return other if other in allowed else None


def find_operator(name: str, opset: int) -> OperatorSchema | None:
    """The version of an operator that is in force in an opset; None where there is none.

    An operator that is deprecated there is none.
    """
    if not OLDEST <= opset <= NEWEST:
        return None
    return _find(name, opset)


@cache
def first_opset_of(kind: dtype) -> int:
    """The opset since which there are tensors of a dtype: a copy takes any tensor."""
    copies = versions("Identity")
    return next(each.version for each in copies if kind in each.dtypes[each.inputs[0].type])


@cache
def versions(name: str) -> tuple[OperatorSchema, ...]:
    """The versions of an operator, oldest first; none where ONNX has no such operator."""
    file = _OWN if name in _file_lines(_OWN) else _RUNTIME
    return tuple(_schema(line, _type_sets(file)) for line in _file_lines(file).get(name, ()))


@cache
def operator_names(opset: int = NEWEST) -> frozenset[str]:
    """The names of ONNX's own operators of an opset."""
    return frozenset(name for name, lines in _file_lines(_OWN).items() if _has(lines, opset))


@cache
def runtime_operator_names() -> frozenset[str]:
    """The names of the operators that ONNX Runtime adds."""
    return frozenset(_file_lines(_RUNTIME))


def _has(lines: Sequence[str], opset: int) -> bool:
    """Whether the newest version up to an opset is there and not deprecated."""
    found = (json.loads(line) for line in reversed(lines))
    newest = next((each for each in found if each[1] <= opset), None)
    return newest is not None and len(newest) == _FIELDS


@cache
def _find(name: str, opset: int) -> OperatorSchema | None:
    found = [each for each in versions(name) if each.version <= opset]
    return found[-1] if found and not found[-1].deprecated else None


@cache
def _text(file: str) -> tuple[str, ...]:
    return tuple((Path(__file__).parent / file).read_text(encoding="utf-8").splitlines())


@cache
def _file_lines(file: str) -> Mapping[str, tuple[str, ...]]:
    """The lines of each operator of a file, which are read when it is asked for."""
    found: dict[str, tuple[str, ...]] = {}
    for line in _text(file)[1:]:
        name = line[2 : line.index('"', 2)]
        found[name] = (*found.get(name, ()), line)
    return found


@cache
def _type_sets(file: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(each.split(" ")) for each in json.loads(_text(file)[0]))


def _schema(line: str, type_sets: Sequence[frozenset[str]]) -> OperatorSchema:
    name, version, inputs, outputs, attributes, types, *rest = json.loads(line)
    tensors = [tuple(map(_tensor, each)) for each in (inputs, outputs)]
    fixed = {each.type: frozenset({each.type}) for formals in tensors for each in formals}
    sets = {variable: type_sets[number] for variable, number in types.items()}
    return OperatorSchema(
        name=name,
        version=version,
        inputs=tensors[0],
        outputs=tensors[1],
        attributes=MappingProxyType({n: _attribute(n, said) for n, said in attributes.items()}),
        types=MappingProxyType(fixed | sets),
        deprecated=bool(rest),
    )


def _tensor(text: str) -> FormalTensor:
    name, _, type = text.partition(" ")
    return FormalTensor(
        name=name.rstrip("?*"),
        type=type,
        optional=name.endswith("?"),
        variadic=name.endswith("*"),
        homogeneous=not name.endswith("**"),
    )


def _attribute(name: str, said: Any) -> FormalAttribute:
    if isinstance(said, str):
        return FormalAttribute(name, said.rstrip("?"), required=not said.endswith("?"))
    kind, default = said
    value = tuple(default) if isinstance(default, list) else default
    return FormalAttribute(name, kind, required=False, default=value)


def _formal(formals: tuple[FormalTensor, ...], index: int) -> FormalTensor | None:
    if index < len(formals):
        return formals[index]
    return formals[-1] if formals and formals[-1].variadic else None


def _element_type(
    formals: Mapping[str, FormalAttribute], values: Mapping[str, Any]
) -> dtype | None:
    """The dtype that an attribute says."""
    for name in ELEMENT_TYPES:
        if name in formals:
            said = values.get(name)
            said = formals[name].default if said is None else said
            if isinstance(said, dtype) or not said:
                return said or None
            return BY_CODE.get(said)
    for name, type in CONSTANTS.items():
        if name in formals and values.get(name) is not None:
            return BY_TYPE[f"tensor({type})"]
    tensor = values.get("value") if "value" in formals else None
    return None if tensor is None else tensor.dtype

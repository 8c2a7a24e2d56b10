"""Signatures of ONNX's operators, of the version that is in force, and the bodies of functions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tripybuild.importer.foreign_program import ForeignNode
from tripybuild.onnx.table import (
    BY_CODE,
    CODES,
    ELEMENT_TYPES,
    NEWEST,
    find_operator,
    runtime_operator_names,
    versions,
)
from tripybuild.schema.foreign import signatures
from tripybuild.trace.values import TensorType

if TYPE_CHECKING:
    from onnx import AttributeProto, FunctionProto, NodeProto, TypeProto

# The versions beyond the table until here differ from it in dtypes and attributes alone.
_ALIKE = 28


@dataclass(frozen=True)
class Formals:
    """The parameters of a version, by the names of the newest one.

    Attributes:
        inputs: By position.
        variadic: Whether the last input takes any number of tensors.
        defaults: What is left out, where the newest version has another default.
        attributes: All attributes, with the code of their kind; 0 where any kind is right.
        needed: How many inputs a call has at least.
        results: How many results it has at most; None for any number.
    """

    inputs: tuple[str, ...]
    variadic: bool
    defaults: Mapping[str, Any]
    attributes: Mapping[str, int]
    needed: int = 0
    results: int | None = None

    def problem(
        self, call: ForeignNode, inputs: int, attributes: Mapping[str, "AttributeProto"]
    ) -> str | None:
        """What a call has that the operator has not, to stand behind `has`; None if it fits."""
        own = f"`{call.operator}`"
        results = max((i for i, each in enumerate(call.results, 1) if each), default=0)
        if not self.variadic and inputs > len(self.inputs):
            return f"{inputs} inputs, and {own} has {len(self.inputs)}"
        if inputs < self.needed:
            return f"{inputs} inputs, and {own} needs {self.needed}"
        if self.results is not None and results > self.results:
            return f"{results} results, and {own} has {self.results}"
        for name, said in attributes.items():
            if name not in self.attributes:
                return f"the attribute `{name}`, which {own} of its opset has not"
            if said.type and self.attributes[name] not in (0, said.type):
                kinds = (said.type, self.attributes[name])
                found, wanted = (said.AttributeType.Name(each).lower() for each in kinds)
                return f"the attribute `{name}` as {found}, and that of {own} is {wanted}"
        return None


@cache
def find_schema(name: str, opset: int, domain: str) -> Any:
    """The version of an operator that is in force; None where ONNX has none."""
    from onnx import defs  # noqa: PLC0415 - an extra

    try:
        found = defs.get_schema(name, opset, domain)
    except defs.SchemaError:
        return None
    return None if found.deprecated else found


@cache
def formals_of(name: str, opset: int, domain: str) -> Formals | None:
    """The parameters of an operator; None where ONNX has no such operator."""
    schema = find_schema(name, opset, domain)
    if schema is None:
        return _runtime_formals(name) if not domain else None
    own = [each.name for each in schema.inputs]
    attributes = {each: attribute.type.value for each, attribute in schema.attributes.items()}
    variadic = bool(own) and schema.inputs[-1].option == schema.inputs[-1].option.Variadic
    least = [i for i, each in enumerate(schema.inputs, 1) if each.option == each.option.Single]
    needed = max(least, default=0)
    gives = [each.option != each.option.Variadic for each in schema.outputs]
    results = len(gives) if all(gives) else None
    newest = signatures("onnx").get(name) if not domain else None
    if newest is None:
        return Formals(tuple(own), variadic, {}, attributes, needed, results)
    for index, each in enumerate(own):
        if each not in newest.parameters and index < len(newest.by_position):
            own[index] = newest.by_position[index]
    defaults = {}
    for each, attribute in schema.attributes.items():
        value = attribute_value(attribute.default_value)
        other = newest.defaults.get(each)
        other = BY_CODE.get(other) if each in ELEMENT_TYPES and other else other
        # One that became an input has no default there, where its numbers are data.
        is_known = each in newest.by_name or (each in newest.parameters and type(value) is int)
        if is_known and value is not None and value != other:
            defaults[each] = value
    return Formals(tuple(own), variadic, defaults, attributes, needed, results)


def operator_version(name: str, domain: str, opsets: Mapping[str, int]) -> tuple[str, str, int]:
    """What the table calls an operator, its domain there, and the version that is in force.

    Optimizers write newer operators than a model's opset has, which runtimes take: such a one is
    in force as in the first opset that has it.
    """
    qualified = f"{domain}.{name}" if domain else name
    if qualified in runtime_operator_names():
        return qualified, "", opsets.get("", NEWEST)
    found = () if domain else versions(name)
    opset = opsets.get(domain, 0)
    return name, domain, max(opset, found[0].version) if found else opset


def _runtime_formals(name: str) -> Formals | None:
    """The parameters of an operator that ONNX Runtime adds."""
    schema = find_operator(name, NEWEST) if name in runtime_operator_names() else None
    if schema is None:
        return None
    inputs = tuple(each.name for each in schema.inputs)
    variadic = bool(inputs) and schema.inputs[-1].variadic
    return Formals(inputs, variadic, {}, dict.fromkeys(schema.attributes, 0))


def arguments_in_table(
    name: str, opset: int, arguments: Mapping[str, Any]
) -> dict[str, Any] | None:
    """The arguments of a call beyond the table as those of its newest version there.

    None where the version in force means something else, or takes more than dtypes.
    """
    newer, older = (find_schema(name, each, "") for each in (opset, NEWEST))
    if newer is None or newer.since_version <= NEWEST:
        return dict(arguments)
    if older is None or newer.since_version > _ALIKE:
        return None
    both = [_signature(each, older.attributes) for each in (newer, older)]
    more = {n: e for n, e in newer.attributes.items() if n not in older.attributes}
    defaults = {n: attribute_value(e.default_value) for n, e in more.items() if not e.required}
    given = {n: arguments[n] for n in more if n in arguments}
    if both[0] != both[1] or any(n not in defaults or defaults[n] != e for n, e in given.items()):
        return None
    return {n: each for n, each in arguments.items() if n not in more}


def _signature(schema: Any, attributes: Iterable[str]) -> tuple[Any, ...]:
    """What a version takes and gives, but for dtypes; of its attributes those that are named."""
    formals = [
        (each.name, each.option, each.type_str) for each in (*schema.inputs, *schema.outputs)
    ]
    found = [(name, schema.attributes.get(name)) for name in sorted(attributes)]
    said = [(n, e and (e.type, e.required, attribute_value(e.default_value))) for n, e in found]
    return formals, len(schema.inputs), said


@cache
def gives_one(name: str, opset: int, domain: str) -> bool:
    """Whether an operator always gives one result, which may be a list."""
    if not domain and name in runtime_operator_names():
        found = find_operator(name, NEWEST)
        return found is not None and len(found.outputs) == 1 and not found.outputs[0].variadic
    schema = find_schema(name, opset, domain)
    if schema is None or len(schema.outputs) != 1:
        return False
    return bool(schema.outputs[0].option != schema.outputs[0].option.Variadic)


def attribute_value(said: "AttributeProto", name: str = "") -> Any:
    """The value of an attribute of numbers or words; None for others.

    An element type is a dtype, or the name of one that we do not have.
    """
    match said.type:
        case said.FLOAT:
            return _shortest(said.f)
        case said.FLOATS:
            return [_shortest(value) for value in said.floats]
        case said.INT if (name or said.name) in ELEMENT_TYPES:
            return (BY_CODE.get(said.i) or type_name(said.i)) if said.i else None
        case said.INT:
            return said.i
        case said.INTS:
            return [*said.ints]
        case said.STRING:
            return said.s.decode()
        case said.STRINGS:
            return [each.decode() for each in said.strings]
    return None


def is_element_type(code: int) -> bool:
    """Whether ONNX has an element type."""
    from onnx import TensorProto  # noqa: PLC0415 - an extra

    return bool(code and code in TensorProto.DataType.values())


def type_name(code: int) -> str:
    """What ONNX calls an element type."""
    from onnx import TensorProto  # noqa: PLC0415 - an extra

    try:
        return str(TensorProto.DataType.Name(code)).lower()
    except ValueError:
        return f"the element type {code}"


def function_body(
    schema: Any, node: "NodeProto", opset: int, types: Sequence[TensorType | None]
) -> "FunctionProto | None":
    """The function that ONNX says an operator is, for a call with these types."""
    from onnx import FunctionProto  # noqa: PLC0415 - an extra

    content = b""
    if schema.has_function:
        content = schema.get_function_with_opset_version(opset)
    # What builds a body of lists reads the types of those, which are none of tensors.
    takes_lists = any(t.startswith("seq(") for i in schema.inputs[:1] for t in i.types)
    if not content and schema.has_context_dependent_function and not takes_lists:
        versions = schema.context_dependent_function_opset_versions
        version = max((each for each in versions if each <= opset), default=0)
        said = [_type_proto(each).SerializeToString() for each in types]
        content = schema.get_context_dependent_function_with_opset_version(
            version, node.SerializeToString(), said
        )
    if not content:
        return None
    function = FunctionProto()
    function.ParseFromString(content)
    return function


def _type_proto(type: TensorType | None) -> "TypeProto":
    from onnx import TypeProto  # noqa: PLC0415 - an extra

    said = TypeProto()
    if type is not None:
        said.tensor_type.elem_type = CODES[type.dtype.onnx]
        said.tensor_type.shape.SetInParent()
        for size in type.shape:
            dim = said.tensor_type.shape.dim.add()
            if isinstance(size, int):
                dim.dim_value = size
            else:
                dim.dim_param = str(size)
    return said


def _shortest(value: float) -> float:
    """A float32 as the shortest decimal that stands for it."""
    return float(str(np.float32(value)))

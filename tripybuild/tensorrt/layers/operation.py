"""Operation of a layer: operands, attributes, results, shape rule, verifier and TensorRT call.

Invariant: the body of a class is the only place that says what an operation is, and importing it
loads neither TensorRT nor xDSL: `dialect` makes the operation of xDSL from it when it is loaded,
and a `LayerDeclaration` the builder of snippets. `self` in a method is the operation of xDSL.

In a class:

- `name`, and fields: `operand`, `optional_operand`, `operands`, `attribute`, `optional_attribute`,
  `output`; `argument` for what only a call has. They are the parameters of the layer, too, in their
  order: those without a default first;
- `result_shape`: a static method from the shapes of operands and the values of attributes, by the
  names of parameters. It raises `ShapeError`. Without it the result has the shape of what it is
  `like`, or an unknown one;
- `assembly_format`, where it is not that of most operations;
- `CHECKS`: traits that are checked before the verifier, in the order of NVIDIA's declaration;
- `ALLOWED_IN_REGIONS`: False where TensorRT does not have it in conditions and loops;
- `INFERRED`: False where the text may give the result another type than the inferred one;
- `semantic_problems`: the verifier; the first that it yields counts;
- `translate`: adds the layer to a network of TensorRT.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from tripybuild.tensorrt.layers.kinds import AttributeType, TensorKind, renamed
from tripybuild.tensorrt.recorder import argument_kinds
from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, ArgumentKind
from tripybuild.tensorrt.shape_rules import Sizes

if TYPE_CHECKING:
    from xdsl.ir import Attribute, Operation as XdslOperation, OpResult, SSAValue
    from xdsl.irdl import VarOperand

    from tripybuild.tensorrt.dialect.base import TensorrtOperation

UNKNOWN_SIZE = -(2**63)  # MLIR's `kDynamic`
INS = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type($result)"
UNARY = "attr-dict $input `:` type($input)"  # the result has the type of the input


class Component(NamedTuple):
    """What inference knows about a result: its sizes, its element type, or one of them."""

    sizes: Sizes | None
    element: "Attribute | None" = None


@dataclass(frozen=True, slots=True)
class OpProblem:
    """A violation of an operation in MLIR's words, with the operation's name before it or bare.

    `at` is the operation that is shown, where it is another one, inside.
    """

    message: str
    op_name_first: bool = True
    notes: tuple[str, ...] = ()
    at: "XdslOperation | None" = None

    def text(self, name: str) -> str:
        """Give the message as it is shown for the operation of a name."""
        shown = name if self.at is None else self.at.name
        return f"'{shown}' op {self.message}" if self.op_name_first else self.message


def sizes(of: "Attribute | SSAValue") -> tuple[int | None, ...]:
    """Give the sizes of a ranked tensor, or of a value that is one; None is `?`."""
    kind: Any = getattr(of, "type", of)
    assert kind.name == "tensor"
    return sizes_of_type(kind)


def sizes_of_type(kind: Any) -> tuple[int | None, ...]:
    """Give the sizes of a ranked tensor's type, without a look at what it is."""
    numbers = [size.data for size in kind.shape.data]
    return tuple([None if number == UNKNOWN_SIZE else number for number in numbers])


def element(of: "Attribute | SSAValue") -> "Attribute":
    """Give the element type of a ranked tensor, or of a value that is one."""
    kind: Any = getattr(of, "type", of)
    assert kind.name == "tensor"
    found: Attribute = kind.element_type
    return found


@dataclass(frozen=True, slots=True)
class OperationField:
    """An operand, attribute or result of an operation, or an argument of its layer alone."""

    role: str
    kind: TensorKind | AttributeType | None
    optional: bool = False
    variadic: bool = False
    default: object = None
    mlir: str = ""
    argument: ArgumentKind | None = None
    parameter: str = ""
    like: str = ""
    dtype: str = ""


def _tensors(elements: Sequence[str | TensorKind], ranks: Sequence[int]) -> TensorKind:
    first = elements[0]
    if isinstance(first, TensorKind):
        return first
    return TensorKind(tuple(str(each) for each in elements), tuple(ranks))


ALL_RANKS = range(9)


def operand(
    *elements: str | TensorKind, ranks: Sequence[int] = ALL_RANKS, parameter: str = ""
) -> "SSAValue":
    """One tensor, with the name of its parameter where that is another."""
    kind = _tensors(elements, ranks)
    argument = argument_kinds.tensor
    field = OperationField("operand", kind, argument=argument, parameter=parameter)
    return cast("SSAValue", field)


def optional_operand(
    *elements: str | TensorKind, ranks: Sequence[int] = ALL_RANKS, offered: bool = True
) -> "SSAValue | None":
    """A tensor that may be absent; it is a parameter where it is offered."""
    kind = _tensors(elements, ranks)
    argument = argument_kinds.optional_tensor if offered else None
    field = OperationField("operand", kind, optional=True, argument=argument)
    return cast("SSAValue | None", field)


def operands(
    *elements: str | TensorKind, ranks: Sequence[int] = ALL_RANKS, parameter: str = ""
) -> "VarOperand":
    """Several tensors."""
    kind, argument = _tensors(elements, ranks), argument_kinds.tensors
    field = OperationField("operand", kind, variadic=True, argument=argument, parameter=parameter)
    return cast("VarOperand", field)


def attribute(
    kind: AttributeType,
    *,
    default: object = None,
    call_default: object = None,
    optional_in_call: bool = False,
    mlir: str = "",
    parameter: str = "",
    offered: bool = True,
) -> "Attribute":
    """An attribute.

    Args:
        kind: The type of the attribute.
        default: What it is where it is absent, and where a call leaves it out.
        call_default: What a call has that leaves it out, if the dialect does not know it.
        optional_in_call: Whether a call may leave it out that the declaration completes.
        mlir: The name in the text, if it is another.
        parameter: The name of the parameter, if it is another.
        offered: Whether a call can have it.
    """
    shown = default if call_default is None else call_default
    required = shown is None and not optional_in_call
    argument = kind.argument if required else kind.argument.with_default(shown)
    offer = argument if offered else None
    field = OperationField(
        "attribute", kind, default=default, mlir=mlir, argument=offer, parameter=parameter
    )
    return cast("Attribute", field)


def optional_attribute(
    kind: AttributeType,
    *,
    call_default: object = None,
    mlir: str = "",
    parameter: str = "",
    offered: bool = True,
) -> "Attribute | None":
    """An attribute that may be absent; a call may leave it out."""
    argument = kind.argument.with_default(call_default) if offered else None
    field = OperationField(
        "attribute", kind, optional=True, mlir=mlir, argument=argument, parameter=parameter
    )
    return cast("Attribute | None", field)


def argument(kind: ArgumentKind) -> Any:
    """An argument of a call that is no part of the operation, such as the dtype of its result."""
    return OperationField("argument", None, argument=kind)


def output(
    *elements: str | TensorKind,
    ranks: Sequence[int] = ALL_RANKS,
    like: str = "",
    dtype: str = "",
) -> "OpResult":
    """A result.

    Args:
        elements: The element types that it may have, or a kind.
        ranks: The ranks that it may have.
        like: The parameter whose shape it has, and whose dtype; none where a shape rule or
            `components` says the shape, or nothing is inferred.
        dtype: A dtype, or the parameter that is or has it, if it is not that of `like`.
    """
    kind = _tensors(elements, ranks)
    return cast("OpResult", OperationField("output", kind, like=like, dtype=dtype or like))


if TYPE_CHECKING:
    LayerOperation = TensorrtOperation
else:

    class LayerOperation:
        """The body of an operation, until `dialect` makes an operation of xDSL from it."""


class OperationBody:
    """What the body of an operation declares."""

    def __init__(self, body: type[Any]) -> None:
        self.name: str = body.name
        self.members: dict[str, Any] = {}
        for each in reversed(body.__mro__[:-2]):
            self.members.update(vars(each))
        self.fields: dict[str, OperationField] = {
            name: each for name, each in self.members.items() if isinstance(each, OperationField)
        }
        offered = [
            (name, each.parameter or name, each.argument)
            for name, each in self.fields.items()
            if each.argument is not None
        ]
        offered.sort(key=lambda each: each[2].default is not REQUIRED)
        self.parameters: Mapping[str, ArgumentKind] = {
            parameter: renamed(kind, name, parameter) for name, parameter, kind in offered
        }
        # The field of each parameter; fields that no call offers have their own names.
        self.field_names = {each.parameter or name: name for name, each in self.fields.items()}
        self.outputs = [each for each in self.fields.values() if each.role == "output"]
        for like in filter(None, (each.like for each in self.outputs)):
            if like not in self.field_names:
                raise TypeError(f"{self.name}: a result is like `{like}`, which is no parameter")
        self.shape_rule = getattr(body, "result_shape", None)
        self.rule_parameters: Sequence[str] = ()
        if self.shape_rule is not None:
            code = self.shape_rule.__code__
            self.rule_parameters = code.co_varnames[: code.co_argcount]
        elif self.outputs and self.outputs[0].like:
            self.rule_parameters = (self.outputs[0].like,)

    @property
    def is_inferred(self) -> bool:
        """Whether operands and attributes say all of the types of results."""
        arguments = {name for name, each in self.fields.items() if each.role == "argument"}
        return arguments.isdisjoint(each.dtype for each in self.outputs)

    def result_shapes(self, values: Sequence[Any]) -> Sequence[Sizes | None]:
        """The shapes of the results, from what the parameters of the rule are."""
        if self.shape_rule is None:
            return (values[0],) * len(self.outputs)
        found = self.shape_rule(*values)
        return (found,) if len(self.outputs) == 1 else found

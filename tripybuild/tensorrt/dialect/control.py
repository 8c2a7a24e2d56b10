"""Control-flow operations: conditions, loops, and their terminators."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import (
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    Pure,
    RecursiveMemoryEffect,
    ReturnLike,
    SingleBlockImplicitTerminator,
    ensure_terminator,
)

from tripybuild.tensorrt.dialect import types as kinds
from tripybuild.tensorrt.dialect.base import (
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.regions import (
    ControlFlowEdge,
    RegionOperation,
    argument_types,
    ends_its_block,
    ends_with_terminator,
    last,
    no_arguments,
    parent_is,
    types_of,
    unsupported_ops,
)
from tripybuild.tensorrt.layers.checks import Checks
from tripybuild.tensorrt.shape_rules import ShapeError

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

_TRUTH = kinds.tensor(kinds.I1, ranks=(0,))
_NUMBER = kinds.tensor(kinds.I32, ranks=(0,))
_NUMBER_TYPE = TensorType(IntegerType(32), [])


@operation
class YieldOp(TensorrtOperation):
    """The end of a region, and what it gives; the values are NVIDIA's `results`."""

    name = "tensorrt.yield"
    values = var_operand_def(kinds.ANY)
    assembly_format = "attr-dict ($values^ `:` type($values))?"
    traits = traits_def(Pure(), IsTerminator(), ReturnLike())
    CHECKS: ClassVar[Checks] = (
        ends_its_block,
        parent_is("tensorrt.if", "tensorrt.for", "tensorrt.while", "tensorrt.opaque_plugin"),
    )


@operation
class ConditionOp(TensorrtOperation):
    """The end of a loop's condition: whether it goes on, and with what."""

    name = "tensorrt.condition"
    condition = operand_def(_TRUTH)
    args = var_operand_def(kinds.ANY)
    assembly_format = "`(` $condition `:` type($condition) `)` attr-dict ($args^ `:` type($args))?"
    traits = traits_def(Pure(), IsTerminator())
    CHECKS: ClassVar[Checks] = (ends_its_block, parent_is("tensorrt.while"))


def _terminator_types(region: Region) -> list[Attribute]:
    """What the end of a region gives to the operation around it."""
    end = last(region)
    if isinstance(end, ConditionOp):
        return types_of(end.args)
    return types_of(end.operands) if isinstance(end, YieldOp) else []


@operation
class IfOp(RegionOperation):
    """One of two regions; the results are NVIDIA's `results`, regions use values from outside."""

    name = "tensorrt.if"
    condition = operand_def(_TRUTH)
    outputs = var_result_def(kinds.tensor(kinds.I1, kinds.I32, *kinds.FLOATS))
    true_region = region_def()
    false_region = region_def()
    assembly_format = (
        "`(` $condition `:` type($condition) `)` attr-dict `->` type($outputs)"
        " $true_region `else` $false_region"
    )
    traits = traits_def(RecursiveMemoryEffect())
    SINGLE: ClassVar[tuple[tuple[int, str], ...]] = ((0, "trueRegion"),)
    CHECKS: ClassVar[Checks] = (no_arguments,)
    INFERRED: ClassVar[bool] = True

    @classmethod
    def make(cls, *operands: Any, **given: Any) -> Self:
        """Make the operation; its results are what both regions yield."""
        if given.get("result_types") is None:
            given["result_types"] = [_terminator_types(given["regions"][0])]
        return super().make(*operands, **given)

    def components(self) -> Sequence[Component]:
        """What both regions yield."""
        true, false = _terminator_types(self.true_region), _terminator_types(self.false_region)
        if len(true) != len(false):
            raise ShapeError("number of output tensors in true and false regions must be same")
        if true != false:
            raise ShapeError("true and false regions must yield equivalent types")
        return [Component(sizes(each), element(each)) for each in true]

    def body_problems(self) -> Iterator[OpProblem]:
        """Regions give the results, and hold what TensorRT takes there."""
        for index, region in enumerate(self.regions):
            if isinstance(last(region), YieldOp):
                yield from ControlFlowEdge(
                    index, None, _terminator_types(region), self.result_types
                ).problems()
        yield from unsupported_ops(self)

    def translate(self, at: "Emission") -> Any:
        """Add a conditional; each value from outside comes through an input of it."""
        conditional = at.add("if_conditional")
        at.name_layer(conditional.set_condition(at.tensor(self.operands[0])))
        above = [each for each in captured_values(self.regions) if not _is_constant(each)]
        inputs = {each: at.name_layer(conditional.add_input(at.tensor(each))) for each in above}
        with _scope(at, {each: layer.get_output(0) for each, layer in inputs.items()}):
            branches = [_branch(at, region) for region in self.regions]
            layers = [
                at.name_layer(conditional.add_output(*pair)) for pair in zip(*branches, strict=True)
            ]
        return [layer.get_output(0) for layer in layers]


@operation
class WhileOp(RegionOperation):
    """A loop as long as a condition holds.

    `carried` are NVIDIA's `operands`, the first values; `outputs` are its `results`, the last ones.
    """

    name = "tensorrt.while"
    carried = var_operand_def(kinds.TENSOR)
    outputs = var_result_def(kinds.TENSOR)
    cond_region = region_def()
    body_region = region_def()
    assembly_format = (
        "attr-dict `(` $carried `:` type($carried) `)` `->` type($outputs)"
        " $cond_region `,` $body_region"
    )
    traits = traits_def(RecursiveMemoryEffect())
    SINGLE: ClassVar[tuple[tuple[int, str], ...]] = ((0, "condRegion"), (1, "bodyRegion"))

    def body_problems(self) -> Iterator[OpProblem]:
        """Values go from the operands to the condition, from there to the body or out."""
        condition, body = self.cond_region, self.body_region
        taken, inner = argument_types(condition), argument_types(body)
        yield from ControlFlowEdge(None, 0, types_of(self.carried), taken).problems()
        if isinstance(last(condition), ConditionOp | YieldOp):
            yield from ControlFlowEdge(
                0, None, _terminator_types(condition), self.result_types
            ).problems()
            yield from ControlFlowEdge(0, 1, _terminator_types(condition), inner).problems()
        if isinstance(last(body), ConditionOp | YieldOp):
            yield from ControlFlowEdge(1, 0, _terminator_types(body), taken).problems()
        yield from unsupported_ops(self)

    def translate(self, at: "Emission") -> Any:
        """Add a loop with a condition."""
        condition, body = (region.block for region in self.regions)
        decision = _terminator(condition)
        _check_passthrough(at, condition, decision.operands[1:])
        loop = at.add("loop")
        recurrences = _recurrences(at, loop, self.operands)
        # TensorRT wants the value of this iteration apart from the one that leaves the loop.
        copies = [at.add("identity", each.get_output(0)).get_output(0) for each in recurrences]
        with _scope(at, _bind_arguments(condition, copies) | _bind_arguments(body, copies)):
            at.shapes = dict(at.shapes)
            at.block(condition)
            _limit(at, loop, at.tensor(decision.operands[0]))
            at.block(body)
            return _close_loop(at, loop, body, recurrences)


@operation
class ForOp(RegionOperation):
    """A loop over numbers; `outputs` are NVIDIA's `results`, the last of the carried values."""

    name = "tensorrt.for"
    lb = operand_def(_NUMBER)
    ub = operand_def(_NUMBER)
    step = operand_def(_NUMBER)
    init = var_operand_def(kinds.TENSOR)
    outputs = var_result_def(kinds.TENSOR)
    body_region = region_def()
    traits = traits_def(RecursiveMemoryEffect(), SingleBlockImplicitTerminator(YieldOp))
    SINGLE: ClassVar[tuple[tuple[int, str], ...]] = ((0, "body_region"),)
    CHECKS: ClassVar[Checks] = (ends_with_terminator,)

    def body_problems(self) -> Iterator[OpProblem]:
        """Values go from the operands to the body, from there to the next turn or out."""
        end, body, first = last(self.body_region), self.body_region, types_of(self.init)
        inner = argument_types(body)[1:]
        yield from ControlFlowEdge(None, 0, first, inner).problems()
        yield from ControlFlowEdge(None, None, first, self.result_types).problems()
        if isinstance(end, YieldOp):
            yield from ControlFlowEdge(0, 0, _terminator_types(body), inner).problems()
            yield from ControlFlowEdge(
                0, None, _terminator_types(body), self.result_types
            ).problems()
        yield from unsupported_ops(self)

    def translate(self, at: "Emission") -> Any:
        """Add a loop that counts."""
        block = self.regions[0].block
        low, high, step = (at.tensor(each) for each in self.operands[:3])
        loop = at.add("loop")
        counter = at.name_layer(loop.add_recurrence(low))
        index = counter.get_output(0)
        total = at.add("elementwise", index, step, at.member("ElementWiseOperation", "SUM"))
        counter.set_input(1, total.get_output(0))
        less = at.add("elementwise", index, high, at.member("ElementWiseOperation", "LESS"))
        _limit(at, loop, less.get_output(0))
        recurrences = _recurrences(at, loop, self.operands[3:])
        carried = [index, *(each.get_output(0) for each in recurrences)]
        with _scope(at, _bind_arguments(block, carried)):
            at.shapes = dict(at.shapes)
            at.block(block)
            return _close_loop(at, loop, block, recurrences)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `%i = %lb to %ub step %step init(%carried = %first) -> (types) {...}`."""
        induction = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        bounds = [parser.parse_unresolved_operand()]
        for word in ("to", "step"):
            parser.parse_keyword(word)
            bounds.append(parser.parse_unresolved_operand())
        parser.parse_keyword("init")
        pairs = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_assignment(parser)
        )
        types = _parse_types(parser)
        if len(pairs) != len(types):
            parser.raise_error("mismatch in number of loop-carried values and defined values")
        arguments = [induction.resolve(_NUMBER_TYPE)]
        arguments += [name.resolve(kind) for (name, _), kind in zip(pairs, types, strict=True)]
        operands = [parser.resolve_operand(each, _NUMBER_TYPE) for each in bounds]
        first = [parser.resolve_operand(o, kind) for (_, o), kind in zip(pairs, types, strict=True)]
        region = parser.parse_region(arguments)
        given = parser.parse_optional_attr_dict()
        made = cls(
            operands=[*operands, first], result_types=[types], regions=[region], attributes=given
        )
        end = last(region)
        if end is None or not end.has_trait(IsTerminator):
            for trait in made.get_traits_of_type(SingleBlockImplicitTerminator):
                ensure_terminator(made, trait)
        return made

    def print(self, printer: Printer) -> None:
        """Print what `parse` reads."""
        induction, *carried = self.body_region.block.args
        words = ((" ", induction), (" = ", self.lb), (" to ", self.ub), (" step ", self.step))
        for word, value in words:
            printer.print_string(word)
            printer.print_ssa_value(value)
        printer.print_string(" init(")
        printer.print_list(
            zip(carried, self.init, strict=True), lambda pair: _print_assignment(printer, *pair)
        )
        printer.print_string(") -> (")
        printer.print_list(self.init, lambda value: printer.print_attribute(value.type))
        printer.print_string(") ")
        printer.print_region(self.body_region, print_entry_block_args=False)
        printer.print_op_attributes(self.attributes)


def _parse_assignment(parser: Parser) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
    name = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return name, parser.parse_unresolved_operand()


def _parse_types(parser: Parser) -> list[Attribute]:
    parser.parse_punctuation("->")
    several = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if several is None else [*several]


def _print_assignment(printer: Printer, name: SSAValue, value: SSAValue) -> None:
    printer.print_ssa_value(name)
    printer.print_string(" = ")
    printer.print_ssa_value(value)


@contextmanager
def _scope(at: "Emission", replaced: Mapping[SSAValue, Any]) -> Iterator[None]:
    """Let values be other tensors for a while."""
    before = {value: at.values[value] for value in replaced if value in at.values}
    shapes = at.shapes
    at.values.update(replaced)
    at.shapes = {value: shape for value, shape in shapes.items() if value not in replaced}
    yield
    at.values.update(before)
    at.shapes = shapes


def captured_values(regions: Sequence[Region]) -> list[SSAValue]:
    """Return the values that regions use and do not define, in the order of their first uses."""
    inside: set[SSAValue] = set()
    used: dict[SSAValue, None] = {}
    for body in regions:
        for block in body.blocks:
            inside.update(block.args)
        for op in body.walk():
            used.update(dict.fromkeys(op.operands))
            inside.update(op.results)
            for inner in op.regions:
                for block in inner.blocks:
                    inside.update(block.args)
    return [value for value in used if value not in inside]


def _branch(at: "Emission", region: Region) -> list[Any]:
    """Add a branch, and return what it yields; what one branch found is not the other's."""
    with _scope(at, {}):
        at.shapes = dict(at.shapes)
        at.block(region.block)
        return [at.tensor(value) for value in _terminator(region.block).operands]


def _is_constant(value: SSAValue) -> bool:
    """Constants are there anyway: a kernel that came through a conditional would be none."""
    return getattr(value.owner, "name", "") == "tensorrt.constant"


def _check_passthrough(at: "Emission", block: Block, values: Sequence[SSAValue]) -> None:
    """What a condition hands on is what the loop carries: there is no other place for it."""
    if list(values) != list(block.args):
        message = "`tensorrt.condition` hands on other values than the loop carries, in their order"
        at.refuse(message, "tensorrt-unsupported", hint="compute them after the loop")


def _recurrences(at: "Emission", loop: Any, values: Sequence[SSAValue]) -> list[Any]:
    return [at.name_layer(loop.add_recurrence(at.tensor(each))) for each in values]


def _limit(at: "Emission", loop: Any, condition: Any) -> None:
    at.name_layer(loop.add_trip_limit(condition, at.member("TripLimit", "WHILE")))


def _bind_arguments(block: Block, tensors: Sequence[Any]) -> dict[SSAValue, Any]:
    return dict(zip(block.args, tensors, strict=True))


def _close_loop(at: "Emission", loop: Any, block: Block, recurrences: Sequence[Any]) -> list[Any]:
    """Feed what a body yields into the next iteration; what the last one gave is the result."""
    kind = at.member("LoopOutput", "LAST_VALUE")
    results = []
    for recurrence, value in zip(recurrences, _terminator(block).operands, strict=True):
        recurrence.set_input(1, at.tensor(value))
        layer = at.name_layer(loop.add_loop_output(recurrence.get_output(0), kind))
        results.append(layer.get_output(0))
    return results


def _terminator(block: Block) -> Operation:
    last = block.last_op
    assert last is not None
    return last

"""`inline`: function inlining, as MLIR's inliner does it.

A call is inlined if its callee has a body of one block, is not in a cycle of calls, is not marked
`no_inline`, and holds no operation of an unknown dialect. Callees come before callers, so that a
chain of calls needs one iteration; the default pipeline runs before each. A private function
without references is removed. An operation that was inlined has a `callsite` location.
"""

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnregisteredOp,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable

from tripybuild.tensorrt.passes.pipeline_text import steps
from tripybuild.tensorrt.passes.rewriting.effects import walk_ops

NO_INLINE = "no_inline"
ALWAYS = 2**32 - 1  # the threshold of MLIR that nothing exceeds

Calls = Mapping[FuncOp, list[tuple[CallOp, FuncOp]]]


def run(
    module: ModuleOp,
    *,
    default_pipeline: str,
    op_pipelines: str,
    max_iterations: int,
    inlining_threshold: int,
) -> bool:
    """Inline calls, and remove private functions without uses; tell whether anything changed."""
    text = op_pipelines.strip() or default_pipeline.strip()
    cleanup = steps(text) if text else []
    changed = False
    for _ in range(max_iterations):
        for step in cleanup:
            changed |= step.entry.run(module, **step.entry.keywords(step.options)) is True
        if not _inline_all(module, inlining_threshold):
            break
        changed = True
    return _remove_unused(module) or changed


def _inline_all(module: ModuleOp, threshold: int) -> bool:
    calls: Calls = {function: list(_calls(function)) for function in _functions(module)}
    changed = False
    for caller in _callees_first(calls):
        for call, callee in calls[caller]:
            if _is_legal(call, callee, calls) and _is_profitable(caller, callee, threshold):
                _inline(call, callee)
                changed = True
    return changed


def _functions(module: ModuleOp) -> list[FuncOp]:
    return [op for op in walk_ops(module) if isinstance(op, FuncOp)]


def _calls(function: FuncOp) -> Iterator[tuple[CallOp, FuncOp]]:
    """Give the calls in a function, in order, with the functions that they name."""
    for op in walk_ops(function):
        if isinstance(op, CallOp):
            callee = SymbolTable.lookup_symbol(op, op.callee)
            if isinstance(callee, FuncOp):
                yield op, callee


def _callees_first(calls: Calls) -> list[FuncOp]:
    """Give the functions in postorder of the call graph."""
    done: dict[FuncOp, None] = {}
    for root in calls:
        pending = [root]
        entered = set[FuncOp]()
        while pending:
            function = pending[-1]
            new = [callee for _, callee in calls[function] if callee not in entered | done.keys()]
            if function not in entered and function not in done:
                entered.add(function)
                pending += [each for each in reversed(new) if each is not function]
            else:
                done[pending.pop()] = None
    return list(done)


def _is_legal(call: CallOp, callee: FuncOp, calls: Calls) -> bool:
    if callee.is_declaration or len(callee.body.blocks) != 1 or _reaches(callee, callee, calls):
        return False
    if any(NO_INLINE in {*op.attributes, *op.properties} for op in (call, callee)):
        return False
    return not any(isinstance(op, UnregisteredOp) for op in walk_ops(callee))


def _reaches(start: FuncOp, goal: FuncOp, calls: Calls) -> bool:
    """Tell whether one function calls another one, maybe by way of others."""
    seen, pending = set[FuncOp](), [start]
    while pending:
        for _, callee in calls[pending.pop()]:
            if callee is goal:
                return True
            if callee not in seen:
                seen.add(callee)
                pending.append(callee)
    return False


def _is_profitable(caller: FuncOp, callee: FuncOp, threshold: int) -> bool:
    """Compare the number of operations of a callee with its caller's, in percent."""
    if threshold >= ALWAYS:
        return True
    ours, theirs = (sum(1 for _ in walk_ops(each)) for each in (caller, callee))
    return ours == 0 or 100 * theirs <= threshold * ours


def _inline(call: CallOp, callee: FuncOp) -> None:
    """Put a copy of the body before a call, and let what it returns take the call's place."""
    body = callee.body.clone().detach_block(0)
    for argument, operand in zip(body.args, call.operands, strict=True):
        argument.replace_all_uses_with(operand)
    *inner, end = body.ops
    for result, value in zip(call.results, end.operands, strict=True):
        result.replace_all_uses_with(value)
    body.erase_op(end)
    block = call.parent
    assert block is not None
    for op in inner:
        body.detach_op(op)
        block.insert_op_before(op, call)
        for each in (op, *walk_ops(op)):
            each.location = CallSiteLoc(each.location, call.location)
    block.erase_op(call)


def _remove_unused(module: ModuleOp) -> bool:
    """Remove private functions that no attribute names, and then those that only they named."""
    removed = False
    while unused := [f for f in _functions(module) if _is_removable(f, module)]:
        for function in unused:
            assert function.parent is not None
            function.parent.erase_op(function)
        removed = True
    return removed


def _is_removable(function: FuncOp, module: ModuleOp) -> bool:
    """Declarations stay, as in MLIR."""
    if function.is_declaration or function.sym_visibility != StringAttr("private"):
        return False
    name = function.sym_name.data
    return not any(
        name
        in {reference.root_reference.data, *(each.data for each in reference.nested_references)}
        for op in walk_ops(module)
        for reference in _references(op)
    )


def _references(op: Operation) -> Iterator[SymbolRefAttr]:
    pending: list[Attribute] = [*op.properties.values(), *op.attributes.values()]
    for attribute in pending:
        if isinstance(attribute, SymbolRefAttr):
            yield attribute
        elif isinstance(attribute, ArrayAttr):
            pending.extend(attribute)
        elif isinstance(attribute, DictionaryAttr):
            pending.extend(attribute.data.values())

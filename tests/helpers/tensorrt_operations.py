"""Single operations of the tensorrt dialect for tests: one line of text, and what it uses."""

import functools
from typing import Any

from xdsl.context import Context
from xdsl.dialects import builtin, func
from xdsl.ir import Block, Region
from xdsl.parser import Parser

from tripybuild.tensorrt.dialect import Tensorrt, TensorrtOperation
from tripybuild.tensorrt.mlir.context import Quant


def context() -> Context:
    """A context that knows the dialect and nothing that is not needed."""
    made = Context()
    for dialect in (builtin.Builtin, func.Func, Quant, Tensorrt):
        made.load_dialect(dialect)
    return made


def values(*types: str) -> list[Any]:
    """Values of these types, in a block of their own."""
    region = Region(Block(arg_types=map(type_of, types)))
    return list(region.block.args)


@functools.cache
def type_of(text: str) -> Any:
    """The type that a text is."""
    return Parser(context(), text).parse_type()


def operation(text: str, **types: str) -> Any:
    """The operation that a line is; the names that it uses have these types."""
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in types.items())
    module = Parser(
        context(), f"func.func @f({arguments}) {{\n{text}\nfunc.return\n}}"
    ).parse_module()
    *_, found = (op for op in module.walk() if isinstance(op, TensorrtOperation))
    found.keep_alive = module
    return found


def messages(text: str, **types: str) -> list[str]:
    """What is wrong with the operation, as MLIR shows it."""
    found = operation(text, **types)
    return [problem.text(found.name) for problem in found.problems()]

"""Region functions in samples and examples: `body: "[state[0] + 1]"`.

The names of the inputs that a region takes stand for what it is given of them. All operators can be
called.
"""

import ast
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend import Tensor, tensor
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import Program
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.process import paths
from tripybuild.schema.operator.checks import tensor_methods
from tripybuild.schema.operator.operator import Operator
from tripybuild.testing.registry import valid_registry
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE

Function = Callable[..., Any]


def call_vocabulary(
    operators: Mapping[str, Operator], functions: Mapping[str, Function]
) -> Vocabulary:
    """A vocabulary with operators, and with the methods that tensors have of them."""
    methods = (method for operator in operators.values() for method in tensor_methods(operator))
    return SHAPE | Vocabulary(
        functions={"tensor": tensor, **functions},
        methods=((Tensor, frozenset(name for name in methods if not name.startswith("_"))),),
        attributes=((Tensor, frozenset({"shape", "dtype", "rank"})),),
        constants=BY_NAME,
    )


@cache
def _builtin_vocabulary() -> Vocabulary:
    operators, package = valid_registry(paths.registry()).operators, import_module("tripyapi")
    made = {name: each for name, each in operators.items() if hasattr(package, name)}
    return call_vocabulary(made, {name: getattr(package, name) for name in made})


def region_function(
    operator: Operator,
    region: str,
    said: Program | ast.expr,
    names: Mapping[str, Any],
    counts: Mapping[str, int],
) -> Function:
    """The function that an expression stands for.

    Args:
        operator: The declaration.
        region: The argument.
        said: The expression.
        names: What else it can read.
        counts: How many tensors each input has that is a list.
    """

    def function(*tensors: Tensor) -> Any:
        taken, rest = dict(names), list(tensors)
        for each in operator.regions()[region].parameters:
            if operator.inputs[each.name].several:
                count = counts.get(each.name, 0)
                taken[each.name], rest = rest[:count], rest[count:]
            else:
                taken[each.name] = rest.pop(0)
        try:
            return evaluate(said, taken, _builtin_vocabulary())
        except EvaluationError as error:
            raise DiagnosticError(Diagnostic("bad-example", f"`{region}`: {error}")) from error

    return function

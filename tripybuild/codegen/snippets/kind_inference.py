"""Kind inference: tensors among snippet values, and thus calls that are operators.

Invariant: a name that an operator shares with a function of the snippets is the operator where its
first argument is a tensor, and the function where it is none. Where it can be both, the call is
refused: what would be generated is right for one of them alone. The names of other operators
suffice, so that a declaration is read without theirs.
"""

import ast
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripybuild.codegen.snippets.value_kinds import (
    NONE,
    OTHER,
    RESULT,
    TENSOR,
    TENSORS,
    ValueKind,
    any_of,
    arithmetic_kind,
    list_of,
    result_kind,
    row,
)
from tripybuild.language.grammar import Assignment, Program
from tripybuild.language.program import Choice, Function, Let, LetBinding
from tripybuild.language.vocabulary import PYTHON
from tripybuild.types.shapes import SHAPE_FUNCTIONS

# Words of decompositions that are no operators: one makes a tensor of a Python value, the other
# says what a tensor's elements are.
TENSOR_OF = "tensor"
DTYPE_OF = "dtype_of"
# Functions that ask whether their arguments are true, or compare them.
_JUDGES = frozenset({"all", "any", "bool", "max", "min", "sorted"})
_UNTRUE = "whether a tensor is true is known only when the model runs"


@dataclass(frozen=True, slots=True)
class SnippetFault:
    """What is wrong with a part of a snippet."""

    node: ast.expr
    code: str
    message: str
    hint: str | None = None


@dataclass(frozen=True, slots=True)
class OperatorCall:
    """A call of an operator, with the kinds of its arguments."""

    node: ast.Call
    name: str
    given: tuple[ValueKind, ...]
    named: Mapping[str, ValueKind]
    starred: bool = False


class KindInference:
    """The kinds of a snippet's values.

    Args:
        names: What the names are that can be tensors; others are none.
        operators: The names of operators.
        parts: The names of parts of a module, which give tensors.
        functions: The names of functions that give lists of tensors.
    """

    def __init__(
        self,
        names: Mapping[str, ValueKind],
        operators: Container[str],
        parts: Container[str] = (),
        functions: Container[str] = (),
    ) -> None:
        self.names = dict(names)
        self.operators = operators
        self.parts = parts
        self.functions = functions
        self.faults: list[SnippetFault] = []
        self.calls: list[OperatorCall] = []
        self._operator: dict[int, bool] = {}
        self._parameters: dict[str, int] = {}  # how many each function of the snippet has

    def follow(self, program: Program) -> ValueKind:
        """What a program gives. The names that it assigns are its own."""
        return self._end(program.assignments, program.result)

    def _end(self, lines: Iterable[Assignment | LetBinding], result: ast.expr) -> ValueKind:
        outer = self.names
        self.names = dict(outer)
        for step in lines:
            self.give(step.targets, self._kind(step.value))
            if isinstance(step.value, Function):
                self._parameters[step.targets[0]] = len(step.value.parameters)
        found = self._kind(result)
        self.names = outer
        return found

    def _lines(self, node: Let) -> ValueKind:
        return self._end(node.lines, node.value)

    def _function(self, node: Function) -> ValueKind:
        """A function on tensors, which operators run."""
        outer = self.names
        self.names = outer | dict.fromkeys(node.parameters, TENSOR)
        found = self._kind(node.value)
        self.names = outer
        return ValueKind(function=found)

    def calls_operator(self, node: ast.Call) -> bool:
        """Whether a call by name, in a snippet that was followed, is one of an operator."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.parts:
            return True
        default = name in self.operators and name not in SHARED
        return self._operator.get(id(node), default)

    # --- kinds ---

    def _kind(self, node: ast.expr) -> ValueKind:
        read: Callable[..., ValueKind] = getattr(self, _READERS[type(node)])
        return read(node)

    def _many(self, nodes: list[ast.expr]) -> list[ValueKind]:
        return [self._kind(node) for node in nodes]

    def give(self, targets: Sequence[str], value: ValueKind) -> None:
        """Note what names stand for: one for a value, several for its items."""
        if len(targets) == 1:
            self.names[targets[0]] = value
            return
        star = next((i for i, target in enumerate(targets) if target.startswith("*")), None)
        for index, target in enumerate(targets):
            if star is None or index < star:
                self.names[target] = value.item(index)
            elif index > star:
                self.names[target] = value.item(index - len(targets))
            else:
                self.names[target.removeprefix("*")] = list_of(value.item())

    def _name(self, node: ast.Name) -> ValueKind:
        return self.names.get(node.id, OTHER)

    def _constant(self, node: ast.Constant) -> ValueKind:
        return NONE if node.value is None else OTHER

    def _display(self, node: ast.List | ast.Tuple) -> ValueKind:
        if not any(isinstance(each, ast.Starred) for each in node.elts):
            return row(*self._many(node.elts))
        return list_of(any_of(self._spread(node.elts)))

    def _spread(self, nodes: list[ast.expr]) -> Iterator[ValueKind]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield self._kind(node.value).item()
            else:
                yield self._kind(node)

    def _dict(self, node: ast.Dict) -> ValueKind:
        self._many([key for key in node.keys if key is not None])
        return list_of(any_of(self._many(node.values)))

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> ValueKind:
        outer = self.names
        self.names = dict(outer)
        for loop in node.generators:
            self._bind(loop.target, self._kind(loop.iter).item())
            for condition in loop.ifs:
                self._condition(condition)
        if isinstance(node, ast.DictComp):
            self._kind(node.key)
        found = list_of(self._kind(node.value if isinstance(node, ast.DictComp) else node.elt))
        self.names = outer
        return found

    def _bind(self, target: ast.expr, value: ValueKind) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple):
            for index, each in enumerate(target.elts):
                self._bind(each, value.item(index))

    def _unary(self, node: ast.UnaryOp) -> ValueKind:
        if isinstance(node.op, ast.Not):
            self._condition(node.operand)
            return OTHER
        return self._kind(node.operand)

    def _binary(self, node: ast.BinOp) -> ValueKind:
        found = self._kind(node.left), self._kind(node.right)
        lists = [each for each in found if each.is_list]
        return list_of(any_of(each.item() for each in lists)) if lists else arithmetic_kind(*found)

    def _compare(self, node: ast.Compare) -> ValueKind:
        found = self._many([node.left, *node.comparators])
        if all(isinstance(sign, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for sign in node.ops):
            return OTHER
        result = arithmetic_kind(*found)
        if len(node.ops) > 1 and result.only_tensors:
            hint = "compare twice, and join both by `logical_and`"
            self.faults.append(SnippetFault(node, "ambiguous-truth", _UNTRUE, hint))
        return OTHER if any(each.is_list for each in found) else result

    def _boolean(self, node: ast.BoolOp) -> ValueKind:
        found = [self._condition(value) for value in node.values[:-1]]
        return any_of([*found, self._kind(node.values[-1])])

    def _conditional(self, node: ast.IfExp) -> ValueKind:
        self._condition(node.test)
        return self._kind(node.body) | self._kind(node.orelse)

    def _condition(self, node: ast.expr) -> ValueKind:
        """The kind of what must be true or false while a call is recorded."""
        found = self._kind(node)
        if found.tensor and not found.other and found.items is None:
            hint = (
                "`where(condition, a, b)` chooses between tensors, `logical_and` joins conditions"
            )
            self.faults.append(SnippetFault(node, "ambiguous-truth", _UNTRUE, hint))
        return found

    def _subscript(self, node: ast.Subscript) -> ValueKind:
        value = self._kind(node.value)
        self._kind(node.slice)
        if isinstance(node.slice, ast.Slice):
            return ValueKind(value.tensor, value.other, value.items)
        return value.item(_literal(node.slice))

    def _slice(self, node: ast.Slice) -> ValueKind:
        self._many([each for each in (node.lower, node.upper, node.step) if each is not None])
        return OTHER

    def _attribute(self, node: ast.Attribute) -> ValueKind:
        self._kind(node.value)
        part = isinstance(node.value, ast.Name) and node.value.id in self.parts
        return TENSOR | OTHER if part else OTHER

    def _star(self, node: ast.Starred) -> ValueKind:
        return self._kind(node.value)

    # --- calls ---

    def _call(self, node: ast.Call) -> ValueKind:
        given = list(self._spread(node.args))
        named = {word.arg: self._kind(word.value) for word in node.keywords if word.arg}
        if not isinstance(node.func, ast.Name):  # what a part holds: values have no methods here
            self._kind(node.func)
            return RESULT | OTHER
        name = node.func.id
        if name in self.parts:
            return RESULT
        if name in self.functions:
            return TENSORS
        if name == TENSOR_OF:
            return TENSOR
        if (known := self.names.get(name)) is not None and known.function is not None:
            self._check_count(node, self._parameters[name])
            return known.function
        if name == DTYPE_OF or known is not None:
            return OTHER
        if name not in self.operators:
            self._refuse_functions(node, name, [*given, *named.values()])
            return self._of_function(node, name, given)
        is_operator = name not in SHARED or self._means_operator(node, name, given, named)
        self._operator[id(node)] = is_operator
        if not is_operator:
            self._refuse_functions(node, name, [*given, *named.values()])
            return self._of_function(node, name, given)
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        self.calls.append(OperatorCall(node, name, tuple(given), named, starred))
        return RESULT

    def _check_count(self, node: ast.Call, wanted: int) -> None:
        """A function of the snippet takes as many tensors as it has parameters, by position."""
        starred = any(isinstance(argument, ast.Starred) for argument in node.args)
        if node.keywords or (len(node.args) != wanted and not starred):
            name, tensors = ast.unparse(node.func), "tensor" if wanted == 1 else "tensors"
            message = f"`{name}` takes {wanted} {tensors} by position"
            self.faults.append(SnippetFault(node, "operator-arguments", message))

    def _refuse_functions(self, node: ast.Call, name: str, given: list[ValueKind]) -> None:
        """A function is given to an operator alone, whose declaration says how it is run."""
        if any(each.function is not None for each in given):
            message = f"`{name}` takes no function"
            hint = "only an operator with an attribute of type `region` runs one"
            self.faults.append(SnippetFault(node, "function-value", message, hint))

    def _means_operator(
        self, node: ast.Call, name: str, given: list[ValueKind], named: Mapping[str, ValueKind]
    ) -> bool:
        """Whether a call is one of the operator, where a function has the same name."""
        if not given:
            return bool(named)
        first = given[0]
        if first.tensor and first.other:
            message = f"`{name}` is an operator on tensors and a function on sizes, and"
            message = f"{message} `{ast.unparse(node.args[0])}` can be either"
            hint = "give it one of them in each case: `a if condition else b` around the call"
            self.faults.append(SnippetFault(node.args[0], "ambiguous-call", message, hint))
        return first.tensor

    def _of_function(self, node: ast.Call, name: str, given: list[ValueKind]) -> ValueKind:
        """What a function of the snippets gives; those that take lists give what is in them."""
        if name in _JUDGES and any(each.only_tensors for each in given):
            among = [each for each in given if each.only_tensors]
            if any(each.item().only_tensors and each.item().tensor for each in among):
                hint = "join the tensors first: `stack` or `concatenate`, or an operator of two"
                message = f"`{name}` of several tensors asks for more than is known: {_UNTRUE}"
                self.faults.append(SnippetFault(node, "ambiguous-truth", message, hint))
            return OTHER
        return result_kind(name, given)


def _literal(node: ast.expr) -> int | None:
    """The whole number that an index is, if it is written as one."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


# The names that may mean a function of the snippets.
SHARED = frozenset(SHAPE_FUNCTIONS) | frozenset(PYTHON.functions)

# The method that reads a node.
_READERS: Mapping[type[ast.expr], str] = {
    ast.Name: "_name",
    ast.Constant: "_constant",
    ast.List: "_display",
    ast.Tuple: "_display",
    ast.Dict: "_dict",
    ast.ListComp: "_comprehension",
    ast.DictComp: "_comprehension",
    ast.GeneratorExp: "_comprehension",
    ast.UnaryOp: "_unary",
    ast.BinOp: "_binary",
    ast.Compare: "_compare",
    ast.BoolOp: "_boolean",
    ast.IfExp: "_conditional",
    Choice: "_conditional",
    Let: "_lines",
    Function: "_function",
    ast.Subscript: "_subscript",
    ast.Slice: "_slice",
    ast.Attribute: "_attribute",
    ast.Starred: "_star",
    ast.Call: "_call",
}

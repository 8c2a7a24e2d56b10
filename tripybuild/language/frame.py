"""Evaluation frame: bindings, remaining budget, and errors of one evaluation.

A host object may raise anything, so whatever runs one is wrapped: the error becomes an
`EvaluationError` at the node, except for those that say more by themselves.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from tripybuild.errors.budget import BudgetError
from tripybuild.language.limits import MAXIMUM_STEPS, LimitError, check_value, show, weigh
from tripybuild.language.records import Record, RecordKeyError
from tripybuild.language.syntax import position
from tripybuild.language.vocabulary import NoListError, Vocabulary, to_list

COLLECTIONS: Final = (list, tuple, str, dict, Record)
MEASURED: Final = (int, *COLLECTIONS, float, complex, bytes)
"""The types of values whose size is looked at whenever one is made."""


# What Python says of values of types that do not fit, in words that are its own.
_OF_TYPES: Final = re.compile(
    r"unsupported operand type|'[^']*' not supported between|bad operand type"
    r"|object of type .* has no len|.* object is not (iterable|subscriptable|an iterator)"
    r"|can only concatenate|can't multiply sequence|must be real number, not"
    r"|float\(\) argument must be|.* object cannot be interpreted as an integer"
    r"|.* indices must be integers"
    r"|argument of type .* is not (iterable|a container)|type .* doesn't define"
)


def is_type_error(error: Exception) -> bool:
    """Whether Python has said that values are of types that do not fit."""
    return type(error) is TypeError and _OF_TYPES.match(str(error)) is not None


class Meter:
    """The work that is left to one evaluation, and the errors that are not its own."""

    __slots__ = ("blamed", "left", "passes")

    def __init__(
        self, passes: tuple[type[BaseException], ...], blamed: list[ast.AST] | None = None
    ) -> None:
        self.left = MAXIMUM_STEPS
        self.passes = passes
        self.blamed = blamed


class EvaluationError(Exception):
    """A snippet that has no value, and where: the line counts from one, the columns from zero."""

    def __init__(
        self,
        message: str,
        node: ast.AST,
        meter: Meter | None = None,
        code: str = "snippet-evaluation",
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.node = node
        self.line, self.column, self.end_line, self.end_column = position(node)
        self.operands: tuple[object, ...] = ()
        self._meter = meter

    def is_of(self, meter: Meter) -> bool:
        """Say whether the error comes from this evaluation, and not from one inside of it."""
        return self._meter is meter


class Frame:
    """The names that a node can see."""

    __slots__ = ("meter", "names", "variables", "vocabulary", "words")

    def __init__(
        self,
        variables: dict[str, Any],
        names: Mapping[str, Any],
        vocabulary: Vocabulary,
        meter: Meter,
    ) -> None:
        self.variables = variables
        self.names = names
        self.vocabulary = vocabulary
        self.words = vocabulary.words
        self.meter = meter

    def inner(self) -> "Frame":
        """Make the frame of a comprehension."""
        return Frame(dict(self.variables), self.names, self.vocabulary, self.meter)

    def assign(self, targets: tuple[str, ...], value: Any, node: ast.expr) -> None:
        """Give names their values: one item to each of several, and the rest to one with a star."""
        if len(targets) == 1:
            self.variables[targets[0]] = value
            return
        items = self.to_list(value, node)
        star = next((i for i, target in enumerate(targets) if target.startswith("*")), None)
        extra = len(items) - len(targets)
        if extra != 0 if star is None else extra < -1:
            self.fail(node, f"{len(targets)} names cannot take {len(items)} values")
        if star is not None:
            items[star : star + extra + 1] = [items[star : star + extra + 1]]
        for target, item in zip(targets, items, strict=True):
            self.variables[target.removeprefix("*")] = item

    def bind(self, target: ast.expr, item: Any) -> None:
        """Give the names behind `for` their values."""
        if isinstance(target, ast.Name):
            self.variables[target.id] = item
        elif isinstance(target, ast.Tuple):
            items = self.to_list(item, target)
            if len(items) != len(target.elts):
                self.fail(target, f"{len(target.elts)} names cannot take {len(items)} values")
            for part, value in zip(target.elts, items, strict=True):
                self.bind(part, value)

    def fail(
        self,
        node: ast.AST,
        message: str,
        code: str = "snippet-evaluation",
        hint: str | None = None,
    ) -> NoReturn:
        """Stop here."""
        raise EvaluationError(message, node, self.meter, code, hint)

    def wrap(self, node: ast.AST, error: Exception, doing: str, *operands: object) -> NoReturn:
        """Say where an error came up, unless it is one that says more by itself."""
        if isinstance(error, EvaluationError) and error.is_of(self.meter):
            raise error
        if isinstance(error, AssertionError):  # a bug of ours, whatever the snippet says
            raise error
        if isinstance(error, RecordKeyError):
            raise EvaluationError(str(error), node, self.meter, error.code, error.hint) from error
        kinds = type(error).__mro__
        if hasattr(error, "diagnostics") or any(kind.__name__ == "UndecidedSize" for kind in kinds):
            if self.meter.blamed is not None:
                self.meter.blamed.append(node)
            raise error
        if isinstance(error, (BudgetError, *self.meter.passes)):
            raise error
        # The text of a KeyError is the `repr` of the key, which may be of any length.
        reason = "" if isinstance(error, KeyError) else str(error)[:300]
        message = (
            doing if isinstance(error, KeyError) else f"{doing}: {reason or type(error).__name__}"
        )
        # Python's own words for arguments that do not fit.
        called, _, rest = reason.partition("() ")
        if rest and doing.strip("`").endswith(called.rpartition(".")[2]):
            message = f"{doing} {rest}".replace("'", "`")
        if is_type_error(error):
            message = f"{doing} has no meaning"
        code = "snippet-limit" if isinstance(error, LimitError) else "snippet-evaluation"
        refused = EvaluationError(message, node, self.meter, code)
        refused.operands = operands
        raise refused from error

    def charge(self, value: object, node: ast.AST) -> None:
        """Count what a function or a comparison will have to look at."""
        self.meter.left -= weigh(value, self.meter.left)
        if self.meter.left < 0:
            self.fail_limit(node)

    def fail_limit(self, node: ast.AST) -> NoReturn:
        """Stop a snippet that works too long."""
        message = f"the snippet needs more than {MAXIMUM_STEPS:,} steps"
        self.fail(node, message, "snippet-limit")

    def check_value(self, value: Any) -> Any:
        """Give back a value that was made here, when it is not too large."""
        if isinstance(value, MEASURED):
            check_value(value)
            if isinstance(value, COLLECTIONS):
                self.meter.left -= len(value)
        return value

    def truth(self, value: object, node: ast.expr) -> bool:
        """Ask a value whether it is true."""
        try:
            return bool(value)
        except Exception as error:  # noqa: BLE001
            self.wrap(node, error, f"{show(value)} is neither true nor false")

    def to_list(self, value: Any, node: ast.expr) -> list[Any]:
        """List what a value holds."""
        try:
            found = to_list(value)
        except NoListError:
            self.fail(node, f"{show(value)} cannot be listed")
        except Exception as error:  # noqa: BLE001
            self.wrap(node, error, f"{show(value)} cannot be listed")
        self.meter.left -= len(found)
        return found

"""Grammar of expressions, types and names in generated files."""

import ast
from dataclasses import dataclass, field

from tripybuild.codegen.conformance.tables import (
    ANNOTATED,
    BUILT_INS,
    CALLED,
    EXPRESSIONS,
    HIDDEN,
    NAMESPACES,
    READ,
    TENSOR,
)
from tripybuild.language.syntax import children, walk
from tripybuild.types.naming import MEMBERS

_OR = ast.BitOr()
_Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp


class ConformanceError(Exception):
    """What a file holds and may not."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line, self.message = line, message


@dataclass
class FunctionScope:
    """What a function binds: its parameters, of which some may be called, and its own names."""

    bound: set[str] = field(default_factory=set)
    callables: set[str] = field(default_factory=set)


class ExpressionChecker:
    """What the names of a file mean, and the walk over its expressions.

    `modules` are names that stand for one (`np` for NumPy), `names` the classes and functions that
    are imported or the file's own, and `functions` those among them that are no classes.
    """

    def __init__(self, *, is_tensor: bool) -> None:
        self.is_tensor = is_tensor
        self.modules: dict[str, str] = {}
        self.names: set[str] = set()
        self.functions: set[str] = set()
        self.top = self.scope = FunctionScope()

    def bind(self, name: str, node: ast.AST) -> None:
        """Bind a name, which hides nothing that the file imports."""
        line = getattr(node, "lineno", 1)
        if "__" in name or name in self.modules or name in self.functions:
            raise ConformanceError(line, f"`{name}` is bound, which means something else here")
        self.scope.bound.add(name)

    def target(self, node: ast.expr) -> None:
        """Bind what an assignment names."""
        match node:
            case ast.Name(id=name):
                self.bind(name, node)
            case ast.Starred(value=value):
                self.target(value)
            case ast.Tuple(elts=parts):
                for part in parts:
                    self.target(part)
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if self.is_member(name):
                pass
            case _:
                raise ConformanceError(node.lineno, f"an assignment to `{ast.unparse(node)}`")

    def require_begin(self, targets: list[ast.expr], value: ast.expr) -> None:
        """`check` is what `begin` gives; so is whatever is read of it."""
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        match value:
            case ast.Call(func=ast.Name(id="begin")):
                return
        if "check" in names:
            raise ConformanceError(value.lineno, "`check` is bound to something else")

    @staticmethod
    def is_member(name: str) -> bool:
        """Whether an object of a generated class may have the attribute."""
        return is_public(name) and name not in MEMBERS

    def annotation(self, node: ast.expr) -> None:
        """A type, which Python evaluates: names, `|` and brackets."""
        for each in walk(node):
            if type(each) not in ANNOTATED or type(getattr(each, "op", _OR)) is not ast.BitOr:
                raise ConformanceError(node.lineno, f"an annotation `{ast.unparse(node)}`")
            if isinstance(each, ast.Name):
                known = each.id in self.names or each.id in self.modules or each.id in BUILT_INS
                if not known and each.id != "dict":
                    raise ConformanceError(node.lineno, f"an annotation with `{each.id}`")
            elif isinstance(each, ast.Attribute) and not is_public(each.attr):
                raise ConformanceError(node.lineno, f"an annotation with `{each.attr}`")

    def value(self, node: ast.AST, *, base: bool = False) -> None:
        """Walk over an expression where a value is wanted; `base` is that of a class."""
        if isinstance(node, ast.expr) and type(node) not in EXPRESSIONS:
            raise ConformanceError(node.lineno, f"an expression `{type(node).__name__}`")
        match node:
            case ast.Constant():
                pass
            case ast.Name(id=name):
                self.name(node, name, base=base)
            case ast.Attribute():
                self.attribute(node, called=base)
            case ast.Call():
                self.call(node)
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                self.comprehension(node)
            case _:
                for child in children(node):
                    self.value(child)

    def name(self, node: ast.Name, name: str, *, base: bool) -> None:
        """A name where a value is wanted: no module, and no function."""
        if name in self.scope.bound or name in self.top.bound or name in ("__file__", "__name__"):
            return
        is_class = name in self.names and name not in self.functions
        if is_class or (base and name in self.functions):
            return
        raise ConformanceError(node.lineno, f"the name `{name}`")

    def attribute(self, node: ast.Attribute, *, called: bool) -> None:
        """An attribute that is read or, where it is `called`, a method or a function."""
        name = node.attr
        match node.value:
            case ast.Name(id=space) if space in self.modules and space not in self.scope.bound:
                functions, constants = NAMESPACES[self.modules[space]]
                allowed = is_public(name) if functions is None else name in functions
                if self.modules[space] == "package":
                    allowed = allowed and name not in HIDDEN
                if not (name in constants or (called and allowed)):
                    raise ConformanceError(node.lineno, f"`{space}.{name}`")
                return
            case ast.Name(id="self" | "op"):
                if not self.is_member(name):
                    raise ConformanceError(node.lineno, f"the attribute `{name}`")
                return
            case ast.Name(id="check" | "SUITE") if called and is_public(name):
                return
        self.value(node.value)
        table = CALLED if called else READ
        if name not in table and not (self.is_tensor and ast.unparse(node) in TENSOR):
            raise ConformanceError(node.lineno, f"the attribute `{name}`")

    def call(self, node: ast.Call) -> None:
        """A call by name: of a function, a class, or a parameter that is a function."""
        match node.func:
            case ast.Name(id=name) if name in self.scope.bound:
                if name not in self.scope.callables:
                    raise ConformanceError(node.lineno, f"a call of `{name}`")
            case ast.Name(id=name):
                if name not in self.names and name not in BUILT_INS:
                    raise ConformanceError(node.lineno, f"a call of `{name}`")
            case ast.Attribute() as function:
                self.attribute(function, called=True)
            case function:
                raise ConformanceError(node.lineno, f"a call of `{ast.unparse(function)}`")
        kinds = isinstance(node.func, ast.Name) and node.func.id == "isinstance"
        for argument in node.args[: 1 if kinds else None]:
            self.value(argument)
        if kinds and ast.unparse(node.args[1]) != "(list, tuple)":
            raise ConformanceError(node.lineno, "a question for other types than lists and tuples")
        for keyword in node.keywords:
            if keyword.arg is not None and "__" in keyword.arg:
                raise ConformanceError(node.lineno, f"an argument `{keyword.arg}`")
            self.value(keyword.value)

    def comprehension(self, node: _Comprehension) -> None:
        """A comprehension, whose names are its own."""
        outer = set(self.scope.bound)
        for loop in node.generators:
            self.value(loop.iter)
            self.target(loop.target)
            self.scope.callables -= self.scope.bound - outer
            for condition in loop.ifs:
                self.value(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            self.value(part)
        self.scope.bound = outer


def is_public(name: str) -> bool:
    """Whether a name is public: no leading or double underscore."""
    return not name.startswith("_") and "__" not in name

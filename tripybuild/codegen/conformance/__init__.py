"""Conformance of generated code: the closed grammar of generated Python files.

The reader refuses what a snippet cannot say; here the outcome is proved once more, whatever way a
text took. Invariant: a generated file imports, names, reads and calls nothing but what `tables`
has.
"""

import ast
import re
from collections.abc import Iterable, Mapping

from tripybuild.codegen.conformance.expressions import (
    ConformanceError,
    ExpressionChecker,
    FunctionScope,
    is_public,
)
from tripybuild.codegen.conformance.tables import (
    DECORATORS,
    IMPORTS,
    MODULES,
    NAMESPACES,
    STATEMENTS,
)
from tripybuild.codegen.package.fragment import BUILT_IN, SUITES, PackageFragment
from tripybuild.codegen.package.package import conftest_file, front_door, submodules
from tripybuild.errors.diagnostics import Diagnostic

_DIGEST = re.compile(r"[0-9a-f]{64}")


def find_violations(files: Mapping[str, str], package: str) -> list[Diagnostic]:
    """A diagnostic for each Python file that holds what no generated file may hold."""
    fixed = {**submodules(package), f"{SUITES}/conftest.py": conftest_file(package)}
    found = []
    for path, text in files.items():
        if not path.endswith(".py") or not text or fixed.get(path) == text:
            continue
        try:
            problem = _problem(path, text, package)
        except SyntaxError as error:
            problem = ConformanceError(error.lineno or 1, f"it is not valid Python: {error.msg}")
        if problem is not None:
            message = (
                f"`{path}` would contain code that no declaration may produce; nothing was written"
            )
            label = f"line {problem.line}: {problem.message}"
            notes = (label, *text.splitlines()[:1])
            hint = "a name or a string of the declaration became code; choose another one"
            found.append(Diagnostic("generated-code", message, notes=notes, hint=hint))
    return found


def _problem(path: str, text: str, package: str) -> ConformanceError | None:
    """What is wrong with a file: the front door is its template, all else is in the grammar."""
    tree = ast.parse(text)
    try:
        if path == f"{package}/__init__.py":
            _check_front_door(tree, package)
        else:
            FileChecker(path, package).module(tree)
    except ConformanceError as problem:
        return problem
    return None


def _check_front_door(tree: ast.Module, package: str) -> None:
    """A front door is its template, with other names in its tables."""
    example = PackageFragment("name", "", "", f"{package}.ops.name", (), {}, {}, {})
    if _skeleton(tree) != _skeleton(ast.parse(front_door(package, [example]))):
        raise ConformanceError(1, "it is not the front door of a package")


def _skeleton(tree: ast.Module) -> str:
    """What is left of a front door without its names, each of which must be one."""
    for node in ast.walk(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                if not all(isinstance(each, ast.ImportFrom) for each in node.body):
                    raise ConformanceError(
                        node.lineno, "a front door imports names for type checkers"
                    )
                node.body = []
            case ast.Dict(keys=keys, values=values):
                _check_names([*keys, *values])
                node.keys, node.values = [], []
            case ast.List(elts=names):
                _check_names(names)
                node.elts = []
            case ast.Call(func=ast.Name(id="register"), args=[_, ast.Constant() as digest, _]):
                if not _DIGEST.fullmatch(str(digest.value)):
                    raise ConformanceError(node.lineno, "malformed digest")
                digest.value = ""
    return ast.dump(tree)


def _check_names(nodes: Iterable[ast.expr | None]) -> None:
    for node in nodes:
        if not isinstance(node, ast.Constant) or not _is_dotted_name(node.value):
            raise ConformanceError(getattr(node, "lineno", 1), "invalid public name")


def _is_dotted_name(value: object) -> bool:
    return isinstance(value, str) and all(map(str.isidentifier, value.split(".")))


_Scope = ast.FunctionDef | ast.ClassDef


class FileChecker:
    """The walk over one file, which ends at the first thing that may not be there."""

    def __init__(self, path: str, package: str) -> None:
        self.packages = {package, BUILT_IN}
        self.names = ExpressionChecker(is_tensor=path == f"{package}/tensor.py")

    def module(self, tree: ast.Module) -> None:
        """Walk over a whole file."""
        for node in tree.body:
            self.statement(node)

    def statement(self, node: ast.stmt) -> None:
        """One statement, with those inside."""
        if type(node) not in STATEMENTS:
            raise ConformanceError(node.lineno, f"a statement `{type(node).__name__}`")
        match node:
            case ast.Import():
                self.imports(node)
            case ast.ImportFrom():
                self.imports_from(node)
            case ast.FunctionDef():
                self.function(node)
            case ast.ClassDef():
                self.class_(node)
            case ast.Assign(targets=targets, value=value):
                self.names.value(value)
                for target in targets:
                    self.names.target(target)
                self.names.require_begin(targets, value)
            case ast.AnnAssign(target=target, annotation=annotation, value=given):
                self.names.annotation(annotation)
                if given is not None:
                    self.names.value(given)
                self.names.target(target)
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                self.names.value(value)
            case ast.If(test=test, body=body, orelse=orelse):
                self.names.value(test)
                for each in (*body, *orelse):
                    self.statement(each)
            case ast.With(items=[ast.withitem(opened, ast.Name(id="require"))], body=body):
                self.names.value(opened)
                if "require" in self.names.scope.bound - self.names.scope.callables:
                    raise ConformanceError(node.lineno, "`require` is bound to something else")
                self.names.bind("require", opened)
                self.names.scope.callables.add("require")
                for each in body:
                    self.statement(each)
            case ast.With():
                raise ConformanceError(node.lineno, "a `with` of something else than a law")

    def imports(self, node: ast.Import) -> None:
        """`import numpy as np`: modules of a table, and generated packages."""
        for alias in node.names:
            name = alias.asname or alias.name
            own = alias.name in self.packages and name in {alias.name, "tp"}
            if MODULES.get(alias.name) != name and not own:
                raise ConformanceError(node.lineno, f"an import of `{alias.name}`")
            self.names.modules[name] = "package" if own else name

    def imports_from(self, node: ast.ImportFrom) -> None:
        """`from tripybuild.trace import Check`: names of a table, or of a generated package."""
        first = (node.module or "").partition(".")[0]
        for alias in node.names:
            name = alias.asname or alias.name
            text = alias.name if alias.asname is None else f"{alias.name} as {alias.asname}"
            known = text in IMPORTS.get(node.module or "", ())
            own = first in self.packages and alias.asname is None and is_public(alias.name)
            if (
                node.level
                or not (known or own)
                or name in self.names.names
                or name in self.names.modules
            ):
                raise ConformanceError(node.lineno, f"an import of `{text}` from `{node.module}`")
            if name in NAMESPACES:
                self.names.modules[name] = name
            else:
                self.names.names.add(name)
                self.names.functions |= set() if name[:1].isupper() else {name}

    def class_(self, node: ast.ClassDef) -> None:
        """A class, which holds functions and annotated names."""
        for part in (*node.bases, *(each.value for each in node.keywords)):
            self.names.value(part, base=True)
        self.decorators(node)
        self.define(node)
        for each in node.body:
            if not isinstance(each, ast.FunctionDef | ast.AnnAssign | ast.Assign | ast.Expr):
                raise ConformanceError(each.lineno, "something else than members in a class")
            if isinstance(each, ast.AnnAssign):
                self.names.annotation(each.annotation)
                if each.value is not None:
                    self.names.value(each.value)
            elif isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
                self.names.value(each.value)
            else:
                self.statement(each)

    def define(self, node: _Scope) -> None:
        """Note the name of a class or function of the file; it hides nothing."""
        if node.name in self.names.modules or node.name in self.names.names:
            raise ConformanceError(node.lineno, f"`{node.name}` hides what the file imports")
        self.names.names.add(node.name)

    def function(self, node: ast.FunctionDef) -> None:
        """A function; what it binds is its own."""
        method = bool(node.args.args) and node.args.args[0].arg in ("self", "cls")
        if "__" in node.name and not (method and (self.names.is_tensor or node.name == "__init__")):
            raise ConformanceError(node.lineno, f"a function `{node.name}`")
        self.decorators(node)
        outer, inside = self.names.scope, self.names.scope is not self.names.top
        if inside and node.decorator_list:
            raise ConformanceError(node.lineno, "a decorated function inside of another")
        self.names.scope = FunctionScope()
        if inside:  # it reads what is bound around it
            self.names.scope = FunctionScope(set(outer.bound), set(outer.callables))
        arguments = node.args
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        given += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
        if len({each.arg for each in given}) < len(given):  # which Python says when it compiles
            raise ConformanceError(node.lineno, f"two arguments of `{node.name}` have one name")
        for each in given:
            self.names.scope.callables.discard(each.arg)
            self.names.bind(each.arg, each)
            if each.annotation is not None:
                self.names.annotation(each.annotation)
                if _is_callable(each.annotation):
                    self.names.scope.callables.add(each.arg)
        if given and given[0].arg == "cls":
            self.names.scope.callables.add("cls")
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.names.value(default)
        if node.returns is not None:
            self.names.annotation(node.returns)
        for statement in node.body:
            self.statement(statement)
        self.names.scope = outer
        if inside:
            self.names.bind(node.name, node)
            outer.callables.add(node.name)
        elif not method and not any(_is_overload(each) for each in node.decorator_list):
            self.define(node)

    def decorators(self, node: _Scope) -> None:
        """The decorators of a class or function, which are of a table."""
        for each in node.decorator_list:
            text = _dotted_name(each.func if isinstance(each, ast.Call) else each)
            if text not in DECORATORS:
                raise ConformanceError(node.lineno, f"a decorator `{text}`")
            for argument in each.args if isinstance(each, ast.Call) else ():
                self.names.value(argument)


def _is_callable(annotation: ast.expr) -> bool:
    """Whether a type is `Callable[...]`, or that or another one."""
    while isinstance(annotation, ast.BinOp):
        annotation = annotation.left
    return isinstance(annotation, ast.Subscript) and _dotted_name(annotation.value) == "Callable"


def _is_overload(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id == "overload"


def _dotted_name(node: ast.expr) -> str:
    """The text of an expression, found quickly where it is a name with dots."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted_name(node.value)}.{node.attr}"
    return ast.unparse(node)

"""Conformance of generated code: the closed grammar of generated Python files.

The reader refuses what a snippet cannot say; here the outcome is proved once more, whatever way a
text took. Invariant: a generated file imports, names, reads and calls nothing but what `tables`
has.
"""

import ast
import re
from collections.abc import Iterable, Mapping

from tripybuild.codegen.conformance.expressions import ConformanceError
from tripybuild.codegen.conformance.file import FileChecker
from tripybuild.codegen.package.fragment import SUITES, PackageFragment
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

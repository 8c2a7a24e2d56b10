"""Catalog: what snippets can call that no file of theirs declares.

That are the operators and modules of registries, functions of sizes, and the builders of each
dialect with their signatures. A declaration is read when it is first asked for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tripybuild.codegen.operators.reference_page import bullet_list, code, operator_page
from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.language.vocabulary import NUMPY_CONSTANTS
from tripybuild.manual.functions import (
    DECOMPOSED,
    EVERYWHERE,
    FOREIGN,
    PLAIN,
    REFERENCES,
    function_text,
    is_function,
    names_behind,
)
from tripybuild.packages.builtin import builtin_registry
from tripybuild.process.per_process import per_process
from tripybuild.schema.load import Registry, load
from tripybuild.schema.operator.operator import Attribute, Input, Operator
from tripybuild.schema.registry_files import ModuleDeclaration
from tripybuild.schema.registry_folders import roots
from tripybuild.schema.snippets.vocabularies import NAMESPACES
from tripybuild.types.dtypes import BY_NAME

_PLACES = {"reference": REFERENCES, "decompose": DECOMPOSED, "foreign": FOREIGN}
SPACES = {alias: target for target, alias in NAMESPACES.items()}


@dataclass(frozen=True, slots=True)
class CallUsage:
    """A way to call something.

    Args:
        name: What is called.
        parameters: Each as it is written in a signature, with what it means.
        result: What it gives; empty where that is not known.
        doc: What it does.
        kind: An operator, a module, a function.
        written: What its signature has between parentheses; else the parameters.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str = ""
    doc: str = ""
    kind: str = "function"
    written: str = ""

    @property
    def label(self) -> str:
        """The signature on one line."""
        given = self.written or ", ".join(text for text, _ in self.parameters)
        return f"{self.name}({given})" + (f" -> {self.result}" if self.result else "")

    @property
    def summary(self) -> str:
        """The first paragraph of what it does."""
        return " ".join(self.doc.strip().split("\n\n")[0].split())


class Catalog:
    """The operators and modules of the built-in registry, and of others.

    Args:
        added: The folders of the others; what is wrong in them is left to their own files.
    """

    def __init__(self, added: Sequence[Path] = ()) -> None:
        self.registries: list[Registry] = [builtin_registry()]
        if added:
            self.registries.insert(0, load([*roots([]), *added])[0])
        self.operators = frozenset(name for each in self.registries for name in each.operators)
        self.modules = frozenset(name for each in self.registries for name in each.modules)

    def operator(self, name: str) -> Operator | None:
        """The declaration of an operator."""
        found = (each.operators.get(name) for each in self.registries)
        return next(filter(None, found), None)

    def module(self, name: str) -> ModuleDeclaration | None:
        """The declaration of a module."""
        found = (each.modules.get(name) for each in self.registries)
        return next(filter(None, found), None)

    def call(self, name: str, space: str = "") -> CallUsage | None:
        """How something is called, or None where there is nothing of this name."""
        if space:
            return function_call(f"{space}.{name}")
        if (operator := self.operator(name)) is not None:
            return operator_call(operator)
        if (module := self.module(name)) is not None:
            return module_call(module)
        return function_call(name)

    def page(self, name: str, space: str = "") -> str | None:
        """What there is to know of a name, as Markdown."""
        operator = None if space else self.operator(name)
        if operator is not None:
            text = operator_page(operator, BUILT_IN)
            return text.partition("-->")[2].strip()
        form = self.call(name, space)
        if form is not None:
            rows = bullet_list(f"`{text}`: {doc}" for text, doc in form.parameters if doc)
            return "\n\n".join([code([form.label]), form.doc.strip(), *rows]).strip()
        if name in BY_NAME and not space:
            kind = BY_NAME[name]
            return f"{code([name])}\n\nA dtype of {kind.bits} bits."
        return CODES.get(name)

    def place(self, name: str) -> tuple[Path, str] | None:
        """The file of an operator or a module, and the key that names it there."""
        operator, module = self.operator(name), self.module(name)
        if operator is not None:
            return Path(operator.document.path).absolute(), "op"
        if module is not None:
            return Path(module.document.path).absolute(), "module"
        return None


@per_process
def builtin_catalog() -> Catalog:
    """The catalog of what tripybuild brings along."""
    return Catalog()


@lru_cache(maxsize=8)
def _catalog_of(added: tuple[Path, ...], _states: tuple[int, ...]) -> Catalog:
    return Catalog(added)


def catalog_of(added: Sequence[Path]) -> Catalog:
    """The catalog with the registries of a spec; read again when a file of theirs has changed."""
    if not added:
        return builtin_catalog()
    files = (path for folder in added for path in sorted(folder.rglob("*.yaml")))
    try:
        return _catalog_of(tuple(added), tuple(path.stat().st_mtime_ns for path in files))
    except (OSError, DiagnosticError):
        return builtin_catalog()


def operator_call(operator: Operator) -> CallUsage:
    """How an operator is called, with the types of its declaration."""
    given = tuple((_argument_text(each), _one_line(each.doc)) for each in operator.arguments())
    outputs = ", ".join(str(each.pattern) for each in operator.outputs.values())
    return CallUsage(operator.name, given, outputs, operator.doc, "operator")


def _argument_text(argument: Input | Attribute) -> str:
    default = ""
    if isinstance(argument, Attribute):
        if argument.default is not None:
            default = f" = {_one_line(argument.default.text)}"
    elif argument.optional:
        default = f" = {argument.absent}"
    return f"{argument.name}: {argument.pattern}{default}"


def module_call(module: ModuleDeclaration) -> CallUsage:
    """How a module is made."""
    given = []
    for name, each in module.file.sizes.items() if isinstance(module.file.sizes, dict) else ():
        type, default = getattr(each, "type", ""), getattr(each, "default", each)
        written = f"{name}: {type}" if type else name
        written += f" = {default}" if default is not None else ""
        given.append((written, _one_line(getattr(each, "doc", "") or "")))
    return CallUsage(module.name, tuple(given), "", module.file.doc, "module")


def builder_names(space: str) -> list[str]:
    """What may stand behind `trt.`, `hlo.`, `onnx.` and `np.`."""
    return sorted([*names_behind(space), *(NUMPY_CONSTANTS if space == "np" else ())])


def function_call(name: str) -> CallUsage | None:
    """How a function of snippets is called, as the manual says it; None where it is none."""
    if not is_function(name):
        return None
    text = function_text(name)
    doc = f"{text.doc}\n\n{text.details}".strip()
    return CallUsage(
        name, text.parameters, text.result, doc, f"function {text.place}", text.written
    )


def words(kind: str) -> Iterator[tuple[str, str]]:
    """The words of snippets beside operators, with what they are.

    Args:
        kind: Of snippets with words of their own, as `reference` is, or else of the file.
    """
    places = {EVERYWHERE, _PLACES.get(kind, "")}
    yield from ((name, f"function {place}") for name, place in PLAIN.items() if place in places)
    yield from ((name, "dtype") for name in BY_NAME)
    yield from ((space, "namespace") for space, target in SPACES.items() if target == kind)


def _one_line(text: str) -> str:
    return " ".join(str(text).split())

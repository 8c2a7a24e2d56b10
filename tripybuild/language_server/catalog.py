"""Catalog: what snippets can call that no file of theirs declares.

That are the operators and modules of registries, functions of sizes, and the builders of each
dialect with their signatures. A declaration is read when it is first asked for.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from tripybuild import stablehlo
from tripybuild.codegen.operators.reference_page import bullet_list, code, operator_page
from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.language.vocabulary import NUMPY
from tripybuild.onnx import dialect as onnx
from tripybuild.onnx.table import NEWEST, find_operator
from tripybuild.packages.builtin import builtin_registry
from tripybuild.process.per_process import per_process
from tripybuild.schema.load import Registry, load
from tripybuild.schema.operator.operator import Attribute, Input, Operator
from tripybuild.schema.registry_files import ModuleDeclaration
from tripybuild.schema.registry_folders import roots
from tripybuild.schema.snippets.vocabularies import NAMESPACES, REFERENCE
from tripybuild.tensorrt import layers
from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, ArgumentKind
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE

SPACES = {alias: target for target, alias in NAMESPACES.items()}


@dataclass(frozen=True, slots=True)
class CallUsage:
    """A way to call something.

    Args:
        name: What is called.
        parameters: Each as it is written in a signature, with what it means.
        result: What it gives; empty where that is not known.
        doc: What it does.
        kind: An operator, a module, a function, a builder.
    """

    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str = ""
    doc: str = ""
    kind: str = "function"

    @property
    def label(self) -> str:
        """The signature on one line."""
        given = ", ".join(text for text, _ in self.parameters)
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
            return builder_call(space, name)
        if (operator := self.operator(name)) is not None:
            return operator_call(operator)
        if (module := self.module(name)) is not None:
            return module_call(module)
        function = SHAPE.functions.get(name)
        return python_call(name, function, "function of sizes") if callable(function) else None

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


def python_call(name: str, function: Callable[..., object], kind: str) -> CallUsage:
    """How a function of Python is called."""
    try:
        parameters: Iterable[inspect.Parameter] = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()
    plain = (each.replace(annotation=each.empty) for each in parameters)
    given = tuple((str(each), "") for each in plain)
    return CallUsage(name, given, "", inspect.getdoc(function) or "", kind)


def builder_names(space: str) -> Iterator[str]:
    """What may stand behind `trt.`, `hlo.`, `onnx.` and `np.`."""
    names: Mapping[str, Iterable[str]] = {
        "trt": [*layers.LAYERS, *layers.HELPERS],
        "hlo": stablehlo.BUILDERS,
        "onnx": onnx.builders(),
        "np": NUMPY,
    }
    yield from sorted(names.get(space, ()))


def builder_call(space: str, name: str) -> CallUsage | None:
    """How a builder of a dialect, or a function of NumPy, is called."""
    if name not in frozenset(builder_names(space)):
        return None
    title = f"{space}.{name}"
    if space == "trt" and name in layers.LAYERS:
        needed = layers.LAYERS[name].parameters.items()
        given = tuple((_layer_parameter(each, kind), "") for each, kind in needed)
        return CallUsage(title, given, "", "A layer of TensorRT.", "builder")
    if space == "onnx" and name not in onnx.HELPERS:
        return _onnx_call(title, name)
    functions: Mapping[str, object] = {
        "trt": layers.HELPERS.get(name),
        "hlo": stablehlo.BUILDERS.get(name),
        "onnx": onnx.HELPERS.get(name),
        "np": getattr(np, name, None),
    }
    function = functions.get(space)
    return python_call(title, function, "builder") if callable(function) else CallUsage(title, ())


def _layer_parameter(name: str, kind: ArgumentKind) -> str:
    default = "" if kind.default is REQUIRED else f" = {kind.default!r}"
    return f"{name}: {kind.enumeration or kind.name}{default}"


def _onnx_call(title: str, name: str) -> CallUsage:
    schema = find_operator(name, NEWEST)
    if schema is None:
        return CallUsage(title, (), kind="builder")
    given = [
        f"{'*' * each.variadic}{each.name}: {each.type}" + (" = None" if each.optional else "")
        for each in schema.inputs
    ]
    for attribute in schema.attributes.values():
        default = "" if attribute.required else f" = {attribute.default!r}"
        given.append(f"{attribute.name}: {attribute.kind}{default}")
    result = ", ".join(f"{each.name}: {each.type}" for each in schema.outputs)
    allowed = (f"{n}: {', '.join(sorted(t))}" for n, t in schema.types.items())
    doc = f"An operator of ONNX, since opset {schema.version}.\n\n" + "\n".join(allowed)
    return CallUsage(title, tuple((each, "") for each in given), result, doc, "builder")


def words(kind: str) -> Iterator[tuple[str, str]]:
    """The words of the snippets of a kind beside operators, with what they are."""
    yield from ((name, "function of sizes") for name in sorted(SHAPE.functions))
    yield from ((name, "dtype") for name in BY_NAME)
    if kind == "reference":
        yield from ((name, "helper of references") for name in sorted(REFERENCE))
    yield from ((space, "namespace") for space, target in SPACES.items() if target == kind)


def _one_line(text: str) -> str:
    return " ".join(str(text).split())

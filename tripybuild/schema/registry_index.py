"""Registry index: what is known of checked declarations before their files are read.

Invariant: an index holds for the very contents that it has the digests of. A file that is not as it
was, is there in addition or is gone makes all files be read and checked; and so does a file that
does not declare what the index says.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from tripybuild.documents.document import Document, parse
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.names import called_names
from tripybuild.schema.compositions import (
    Composition,
    CompositionReader,
    ForeignSystem,
    ForeignSystemFile,
)
from tripybuild.schema.files import FamilyFile, ModuleFile, OperatorFile
from tripybuild.schema.foreign import SYSTEMS
from tripybuild.schema.load import Registry, load
from tripybuild.schema.operator.operator import Alias, Operator
from tripybuild.schema.operator.target_exceptions import Common, attach_reasons, merge_facts
from tripybuild.schema.registry_files import (
    ModuleDeclaration,
    RegistryFile,
    add_source,
    elaborate_file,
    extend_module,
    file_budget,
    read_file,
)
from tripybuild.schema.registry_folders import (
    TARGETS,
    content_digest,
    contents,
    root_name,
    sources,
)
from tripybuild.schema.target_files import TargetsFile
from tripybuild.types.patterns import TensorPattern, ValuePattern, options

Value = TypeVar("Value")
NUMBER_WORD = "tensor"  # of compositions: a number or a size as a tensor
EQUIVALENTS, CONVERSION, NUMBER = "equivalents", "conversion", "number"
SIZED = "sized"


class SpokenCall(NamedTuple):
    """An operator of another system that an alias speaks of, since an opset where it has one."""

    system: str
    name: str
    opset: int | None = None

    @classmethod
    def of(cls, alias: Alias) -> "SpokenCall":
        """What an alias speaks of."""
        return cls(alias.system, alias.signature.name, alias.opset)

    def holds_in(self, opset: int | None) -> bool:
        """Whether it means this in an opset; without one, in the newest."""
        return self.opset is None or opset is None or opset >= self.opset


class OperatorEntry(NamedTuple):
    """What is looked for in an operator before it is needed.

    Attributes:
        calls: What its aliases speak of.
        methods: Python's methods on tensors that it is.
        reflected: The one with changed operands.
        roles: Whether it has equivalents, converts dtypes, or makes a tensor of a number or sizes.
        uses: What its decomposition calls, operators and functions.
    """

    calls: tuple[SpokenCall, ...]
    methods: tuple[str, ...]
    reflected: str | None
    roles: frozenset[str]
    uses: tuple[str, ...] = ()

    @classmethod
    def of(cls, operator: Operator) -> "OperatorEntry":
        """The entry of a declaration."""
        tensor = operator.aliases.tensor
        found = {
            EQUIVALENTS: bool(operator.equivalents),
            CONVERSION: _converts(operator),
            NUMBER: _makes_number(operator),
            SIZED: _is_sized(operator),
        }
        return cls(
            tuple(dict.fromkeys(map(SpokenCall.of, operator.foreign))),
            (tensor,) if isinstance(tensor, str) else tuple(tensor or ()),
            operator.aliases.reflected,
            frozenset(role for role, holds in found.items() if holds),
            () if operator.decompose is None else called_names(operator.decompose.program),
        )

    def text(self) -> str:
        """The entry as words: `aten:relu.default onnx:Relu tensor:__abs__ is:number`."""
        calls = (f"{c.system}:{c.name}" + (f"@{c.opset}" if c.opset else "") for c in self.calls)
        reflected = [f"reflected:{self.reflected}"] if self.reflected else []
        methods = (f"tensor:{each}" for each in self.methods)
        roles = (f"is:{each}" for each in sorted(self.roles))
        uses = (f"uses:{each}" for each in self.uses)
        return " ".join([*calls, *methods, *reflected, *roles, *uses])

    @classmethod
    def parse(cls, text: str) -> "OperatorEntry":
        """The entry that `text()` gave, behind other words."""
        words: dict[str, list[str]] = {}
        calls = []
        for word in text.split():
            kind, _, name = word.partition(":")
            words.setdefault(kind, []).append(name)
            if kind in SYSTEMS:
                called, _, opset = name.partition("@")
                calls.append(SpokenCall(kind, called, int(opset) if opset else None))
        reflected = next(iter(words.get("reflected", ())), None)
        methods, roles = words.get("tensor", ()), words.get("is", ())
        uses = tuple(words.get("uses", ()))
        return cls(tuple(calls), tuple(methods), reflected, frozenset(roles), uses)


def _converts(operator: Operator) -> bool:
    """`T[*S]` to `U[*S]` where an attribute is `dtype[U]`, and nothing where that is `T`."""
    groups = operator.inputs, operator.attributes, operator.outputs
    if operator.shortcut is None or any(len(each) != 1 for each in groups):
        return False
    (input,), (attribute,) = operator.inputs.values(), operator.attributes.values()
    (output,) = operator.outputs.values()
    taken, given = input.pattern, output.pattern
    if not isinstance(taken, TensorPattern) or not isinstance(given, TensorPattern):
        return False
    alike = str(taken).removeprefix(taken.element) == str(given).removeprefix(given.element)
    return alike and taken.element != given.element == attribute.variable


def _makes_number(operator: Operator) -> bool:
    """Its decomposition is the word of compositions for it, and nothing else."""
    result = None if operator.decompose is None else operator.decompose.result
    return (
        not operator.inputs
        and isinstance(result, ast.Call)
        and isinstance(result.func, ast.Name)
        and result.func.id == NUMBER_WORD
        and isinstance(result.args[0], ast.Name)
        and result.args[0].id in operator.attributes
    )


def _is_sized(operator: Operator) -> bool:
    """It takes no tensor, and needs nothing but one size or a shape beside what has a default."""
    if operator.inputs or operator.random or len(operator.outputs) != 1:
        return False
    needed = [each for each in operator.attributes.values() if each.default is None]
    has_kind = any(each.variable is not None for each in operator.attributes.values())
    kinds = [p.kind for e in needed for p in options(e.pattern) if isinstance(p, ValuePattern)]
    return len(needed) == 1 and has_kind and kinds[-1:] == ["size"]


class LazyMapping(Mapping[str, Value], Generic[Value]):
    """A mapping whose values are made when they are first asked for."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Value]) -> None:
        self._names, self._make = dict.fromkeys(names), make
        self._made: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made.setdefault(name, self._make(name))  # of two threads, the first one's
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class IndexedOperators(LazyMapping[Operator]):
    """Operators that are read when they are first asked for; `entries` tell what to look for."""

    def __init__(
        self, entries: Mapping[str, OperatorEntry], make: Callable[[str], Operator]
    ) -> None:
        super().__init__(entries, make)
        self.entries = entries


def operator_entries(operators: Mapping[str, Operator]) -> Mapping[str, OperatorEntry]:
    """What to look for in operators, by name; those that have an index are not read for it."""
    if isinstance(operators, IndexedOperators):
        return operators.entries
    return {name: OperatorEntry.of(each) for name, each in operators.items()}


class RegistryIndex(NamedTuple):
    """What a generated package says of the declarations that it is of, all of which are sound.

    Attributes:
        digests: That of each file, by its path below the registry's folder.
        operators: The path of each operator, and the words of its entry, by name.
        modules: The path of each module, by name.
    """

    digests: Mapping[str, str]
    operators: Mapping[str, str]
    modules: Mapping[str, str]


_opened: dict[tuple[str, ...], Registry] = {}


def open_registry(root: Path, index: RegistryIndex) -> Registry:
    """The declarations of a folder: each is read when it is needed, where all are as they were.

    Args:
        root: The folder, as it is shown to people.
        index: What is known of it.

    Raises:
        DiagnosticError: Something has changed, and something is wrong.
    """
    start = len(root_name(root)) + 1
    texts = {shown[start:]: contents(path) for shown, path in sources(root).items()}
    digests = {path: content_digest(content) for path, content in texts.items()}
    if digests != index.digests:
        return _load_checked(root)
    key = str(root.resolve()), root.as_posix(), *digests.values()
    if key not in _opened:
        _opened.clear()  # of one that has changed, nothing is asked again
        _opened[key] = _IndexedReader(root, index, texts).registry()
    return _opened[key]


def _load_checked(root: Path) -> Registry:
    registry, found = load([root])
    if found:
        raise DiagnosticError(*found)
    return registry


class _IndexedReader:
    """Reads the files of a registry from what they held when their digests were compared."""

    def __init__(self, root: Path, index: RegistryIndex, texts: Mapping[str, bytes]) -> None:
        self.root, self.index, self.texts = root, index, texts
        self.name = root_name(root)
        self.files = LazyMapping(texts, self._file)
        self.stems: dict[str, list[str]] = {}
        for path in texts:
            self.stems.setdefault(Path(path).stem, []).append(path)
        self.families = LazyMapping(self.stems, self._family)
        self.bases = LazyMapping(index.modules, self._base)

    def registry(self) -> Registry:
        """The declarations."""
        entries = {name: OperatorEntry.parse(text) for name, text in self.index.operators.items()}
        shown = {f"{self.name}/{path}": path for path in self.texts}
        return Registry(
            IndexedOperators(entries, self._operator),
            LazyMapping(self.index.modules, self._module),
            frozenset({*self.index.operators, *self.index.modules}),
            self.targets,
            LazyMapping(shown, lambda each: self.files[shown[each]].document),
            LazyMapping(SYSTEMS, self._system),
        )

    @cached_property
    def everything(self) -> Registry:
        """All declarations, where the index does not say what the files do."""
        return _load_checked(self.root)

    @cached_property
    def targets(self) -> Common:
        """What is true of targets for all operators."""
        files = [self.files[path] for path in self.stems.get(Path(TARGETS).stem, ())]
        models = ((f.model, f.document) for f in files if isinstance(f.model, TargetsFile))
        return merge_facts(models)[0]

    def _file(self, path: str) -> RegistryFile:
        def read_text(place: Path) -> tuple[Document | None, list[Diagnostic]]:
            return parse(self.texts[path].decode(), place.as_posix())

        found: list[Diagnostic] = []
        shown = f"{self.name}/{path}"
        file = read_file(self.root, self.root / path, shown, found, reader=read_text)
        if file is None or found:
            raise DiagnosticError(*found)
        return file

    def _family(self, name: str) -> tuple[Document, FamilyFile]:
        for path in self.stems[name]:
            file = self.files[path]
            if isinstance(file.model, FamilyFile):
                return file.document, file.model
        raise KeyError(name)

    def _base(self, name: str) -> tuple[RegistryFile, ModuleFile]:
        file = self.files[self.index.modules[name]]
        if not isinstance(file.model, ModuleFile):
            raise KeyError(name)
        return file, file.model

    def _operator(self, name: str) -> Operator:
        found: list[Diagnostic] = []
        file = self.files[self.index.operators[name].split()[0]]
        if isinstance(file.model, OperatorFile) and file.name == name:
            operator = elaborate_file(file, self.families, found)
            if operator is not None:
                operator, unexplained = attach_reasons(operator, self.targets)
                if not found and not unexplained:
                    return add_source(operator, self._shown_family)
        return self.everything.operators[name]

    def _shown_family(self, name: str) -> str:
        document, _ = self.families[name]
        paths = (path for path in self.stems[name] if self.files[path].document is document)
        return f"{self.name}/{next(paths)}"

    def _module(self, name: str) -> ModuleDeclaration:
        found: list[Diagnostic] = []
        file, _ = self.bases[name]
        module = extend_module(file, self.bases, frozenset(), found)
        return self.everything.modules[name] if found else module

    def _system(self, system: str) -> ForeignSystem:
        known = frozenset(self.index.operators)
        for path in self.stems.get(system, ()):
            file = self.files[path]
            if isinstance(file.model, ForeignSystemFile) and file.model.foreign == system:
                reader = CompositionReader(file.document, file.model, known)
                with file_budget(file.budget, file.document, reader.found):
                    ignores = reader.ignored_everywhere()
                compositions = LazyMapping(file.model.operators, partial(self._compositions, file))
                return ForeignSystem(ignores, compositions)
        return ForeignSystem()

    def _compositions(self, file: RegistryFile, name: str) -> tuple[Composition, ...]:
        assert isinstance(file.model, ForeignSystemFile)
        reader = CompositionReader(file.document, file.model, frozenset(self.index.operators))
        with file_budget(file.budget, file.document, reader.found):
            found = reader.compositions(name)
            if not reader.found:
                return found
        return self.everything.foreign[file.model.foreign].operators[name]

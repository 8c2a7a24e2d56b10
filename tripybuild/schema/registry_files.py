"""Files of a registry: each is read, validated, and elaborated within its own budget."""

from collections.abc import Callable, Container, Iterator, Mapping, Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from tripybuild.documents.document import Document, Reader, read
from tripybuild.errors.budget import Budget, BudgetError, use_budget
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.errors.limits import budget_diagnostic, first_problems
from tripybuild.schema.entries import StrictModel
from tripybuild.schema.files import ModuleFile, OperatorFile
from tripybuild.schema.kinds import REGISTRY_KINDS, TARGETS, kind_of
from tripybuild.schema.model.extends import bases_of, extend
from tripybuild.schema.operator.elaborate import elaborate
from tripybuild.schema.operator.families import Families
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.registry_folders import root_name, sources
from tripybuild.schema.validate import validate
from tripybuild.types.naming import is_folder


@dataclass(frozen=True, slots=True)
class ModuleDeclaration:
    """A part that every model can use; `families` are the modules that it extends, eldest first."""

    name: str
    path: str
    folder: str
    document: Document
    file: ModuleFile
    families: tuple[tuple[str, Document], ...] = ()
    family_paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RegistryFile:
    """What one file declares, and what is left of its budget; `shown` is its path for people."""

    document: Document
    kind: str
    model: StrictModel
    shown: str
    folder: str
    root: int
    budget: Budget

    @property
    def name(self) -> str:
        """What it declares."""
        return TARGETS if self.kind == TARGETS else getattr(self.model, self.kind)


ModuleBases = Mapping[str, tuple[RegistryFile, ModuleFile]]


@dataclass(frozen=True, slots=True)
class FileSubset:
    """A part of the files, by the paths that are shown, and the names of the other operators.

    The families and modules that they extend must be among the files.
    """

    paths: Container[str]
    others: frozenset[str]


def read_files(
    root: Path,
    index: int,
    found: list[Diagnostic],
    only: FileSubset | None,
    reader: Reader = read,
) -> Iterator[RegistryFile]:
    """What the files of a registry declare; what is wrong with them joins `found`."""
    if not root.is_dir():
        found.append(Diagnostic("file-not-found", f"there is no folder `{root}`"))
        return
    if not root_name(root).isprintable():
        message = f"a registry cannot be called {root_name(root)!a}"
        found.append(Diagnostic("bad-name", message, hint="its name stands in what is generated"))
        return
    for shown, path in sources(root).items():
        if only is None or shown in only.paths:
            file = read_file(root, path, shown, found, index=index, reader=reader)
            if file is not None:
                yield file


def read_file(
    root: Path,
    path: Path,
    shown: str,
    found: list[Diagnostic],
    *,
    index: int = 0,
    reader: Reader = read,
) -> RegistryFile | None:
    """What one file declares, or None; what is wrong with it joins `found`.

    Args:
        root: The folder of its registry.
        path: The file.
        shown: Its path for people.
        found: The problems so far.
        index: The place of the registry among others.
        reader: Gives the document of the path; by default, the file is read.
    """
    folder = path.parent.relative_to(root).as_posix().removeprefix(".")
    if not is_folder(folder):
        message = f"{folder!a} cannot be a folder of a registry"
        hint = "each folder becomes a Python package: `math`, or `nn/attention`"
        found.append(Diagnostic("bad-name", message, hint=hint))
        return None
    budget = Budget()
    with use_budget(budget):
        document, problems = reader(path)
    found += problems
    if document is None or problems:
        return None
    kind = kind_of(document.data)
    if kind not in REGISTRY_KINDS:
        message = "a file of a registry declares one `op:`, `family:`, `module:` or `targets:`"
        found.append(Diagnostic("wrong-type", message, document.span(())))
        return None
    with use_budget(budget):
        model, problems = validate(document, REGISTRY_KINDS[kind])
    found += first_problems(problems)
    if model is None:
        return None
    file = RegistryFile(document, kind, model, shown, folder, index, budget)
    if path.stem not in (file.name, file.name.lower()):
        message = f"`{file.name}` must stand in a file `{file.name.lower()}.yaml`"
        found.append(Diagnostic("file-name", message, document.span((kind,))))
    return file


@contextmanager
def file_budget(budget: Budget, document: Document, found: list[Diagnostic]) -> Iterator[None]:
    """Work on a file within its budget; that it asks for more is a problem like others."""
    with use_budget(budget):
        try:
            yield
        except BudgetError as error:
            found.append(budget_diagnostic(error, document.span(())))


def elaborate_file(
    file: RegistryFile, families: Families, found: list[Diagnostic]
) -> Operator | None:
    """The operator of a file, or None where something is wrong with it."""
    assert isinstance(file.model, OperatorFile)
    operator = None
    with file_budget(file.budget, file.document, found):
        place = (file.shown, file.folder)
        operator, problems = elaborate(file.document, file.model, place, families)
        # What is wrong with a family is wrong once, however many name it.
        found += [each for each in first_problems(problems) if each not in found]
    return operator


def add_source(operator: Operator, shown: Callable[[str], str]) -> Operator:
    """An operator that knows its families' files, and the digest of what all say."""
    texts = [operator.document.text, *(each.text for _, each in reversed(operator.families))]
    digest = sha256("\0".join(texts).encode()).hexdigest()
    paths = tuple(shown(name) for name, _ in operator.families)
    return replace(operator, family_paths=paths, digest=digest)


def extend_module(
    file: RegistryFile,
    bases: ModuleBases,
    unread: AbstractSet[str],
    found: list[Diagnostic],
) -> ModuleDeclaration:
    """The module of a file, with what it inherits; `unread` are modules that could not be read."""
    assert isinstance(file.model, ModuleFile)
    files = {name: (each.document, base) for name, (each, base) in bases.items()}
    document, model, problems = extend(file.document, file.model, files, unread)
    found += problems
    eldest = bases_of(document)
    paths = tuple(bases[name][0].shown for name, _ in eldest)
    return ModuleDeclaration(model.module, file.shown, file.folder, document, model, eldest, paths)


def same_name(
    file: RegistryFile, name: str, known: Mapping[str, Operator | ModuleDeclaration]
) -> Iterator[Diagnostic]:
    """That a name is declared already."""
    if name in known:
        yield Diagnostic(
            "declared-twice",
            f"`{name}` is declared already",
            file.document.span((file.kind,)),
            notes=(f"first declared in {known[name].path}",),
        )

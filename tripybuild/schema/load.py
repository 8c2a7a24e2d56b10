"""Registry loader: folders of YAML to a `Registry`, with the diagnostics of all files."""

from collections.abc import Container, Iterator, Mapping, Sequence, Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from tripybuild.documents.document import Document, read
from tripybuild.errors.budget import Budget, BudgetError, use_budget
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import budget_diagnostic, first_problems
from tripybuild.schema.compositions import (
    ForeignSystem,
    ForeignSystemFile,
    read_compositions,
)
from tripybuild.schema.entries import StrictModel
from tripybuild.schema.files import FamilyFile, ModuleFile, OperatorFile
from tripybuild.schema.foreign import SYSTEMS
from tripybuild.schema.kinds import REGISTRY_KINDS, TARGETS, kind_of
from tripybuild.schema.model.extends import bases_of, extend
from tripybuild.schema.operator.checks import check_name, check_operator, check_registry
from tripybuild.schema.operator.dtype_combinations import check_tuples
from tripybuild.schema.operator.elaborate import elaborate
from tripybuild.schema.operator.families import Families
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.operator.target_exceptions import Common, attach_reasons, merge_facts
from tripybuild.schema.registry_folders import root_name, roots, sources
from tripybuild.schema.snippets.cases import unreachable_cases
from tripybuild.schema.snippets.extents import check_operator_bounds
from tripybuild.schema.snippets.snippet_scope import check_bindings
from tripybuild.schema.target_files import TargetsFile
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
class Registry:
    """All declarations of some folders. `own` are not those of the first of several folders.

    `targets` is what is true of a target for all operators, `documents` what was read, by the paths
    that are shown, and `foreign` what operators of other systems are, by system.
    """

    operators: Mapping[str, Operator]
    modules: Mapping[str, ModuleDeclaration]
    own: frozenset[str] = field(default_factory=frozenset)
    targets: Common = field(default_factory=dict)
    documents: Mapping[str, Document] = field(default_factory=dict)
    foreign: Mapping[str, ForeignSystem] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _RegistryFile:
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


_Bases = Mapping[str, tuple[_RegistryFile, ModuleFile]]


@dataclass(frozen=True, slots=True)
class FileSubset:
    """A part of the files, by the paths that are shown, and the names of the other operators.

    The families and modules that they extend must be among the files.
    """

    paths: Container[str]
    others: frozenset[str]


def load(
    roots: Sequence[Path], only: FileSubset | None = None
) -> tuple[Registry, list[Diagnostic]]:
    """Read every `*.yaml` below the folders.

    Args:
        roots: The registries; later ones extend earlier ones.
        only: Read these alone. The laws between declarations are not checked then.

    Returns:
        What could be read, and everything that is wrong, in the order of the files.
    """
    found: list[Diagnostic] = []
    files = [f for i, root in enumerate(roots) for f in _files(root, i, found, only)]
    of_families = {f.model.family: (f, f.model) for f in files if isinstance(f.model, FamilyFile)}
    families = {name: (f.document, model) for name, (f, model) in of_families.items()}
    shown = {name: f.shown for name, (f, _) in of_families.items()}
    targets, problems = merge_facts(
        (f.model, f.document) for f in files if isinstance(f.model, TargetsFile)
    )
    found += problems
    bases = {f.model.module: (f, f.model) for f in files if isinstance(f.model, ModuleFile)}
    # The name of a declaration that could not be read is no second problem.
    stems = {path.stem for root in roots for path in sources(root).values()} if found else set()
    unread = frozenset(stems - {Path(f.shown).stem for f in files})
    operators: dict[str, Operator] = {}
    modules: dict[str, ModuleDeclaration] = {}
    own: set[str] = set()
    for file in files:
        if isinstance(file.model, OperatorFile):
            operator = _elaborate_file(file, families, found)
            if operator is not None:
                operator, unexplained = attach_reasons(operator, targets)
                found += unexplained
                found += _same_name(file, operator.name, {**modules, **operators})
                operators[operator.name] = _add_source(operator, shown)
        elif isinstance(file.model, ModuleFile):
            found += _same_name(file, file.model.module, {**operators, **modules})
            modules[file.model.module] = _extend_module(file, file.model, bases, unread, found)
        if isinstance(file.model, OperatorFile | ModuleFile):
            found += check_name(file.document, file.kind, file.name)
            own |= {file.name} if file.root > 0 or len(roots) == 1 else set()
    operators, modules = dict(sorted(operators.items())), dict(sorted(modules.items()))
    budgets = {f.document.path: f.budget for f in files}
    declared = {f.model.op for f in files if isinstance(f.model, OperatorFile)}
    names = declared | unread | (only.others if only else frozenset())
    _check(operators, names, budgets, found)
    if only is None and not found:
        found += check_registry(operators)
    foreign = _compositions(files, names, found)
    documents = {file.shown: file.document for file in files}
    return Registry(operators, modules, frozenset(own), targets, documents, foreign), found


def load_registries(added: Sequence[Path]) -> Registry:
    """Read the built-in registry and those added behind it.

    Raises:
        DiagnosticError: With all that is wrong in any of them.
    """
    registry, found = load(roots(added))
    if found:
        raise DiagnosticError(*found)
    return registry


def _compositions(
    files: Sequence[_RegistryFile], names: AbstractSet[str], found: list[Diagnostic]
) -> Mapping[str, ForeignSystem]:
    """What the operators of other systems are; what a later registry says counts first."""
    systems = {name: ForeignSystem() for name in SYSTEMS}
    for file in files:
        if isinstance(file.model, ForeignSystemFile):
            with _within(file.budget, file.document, found):
                # An operator of a later registry changes no word of an earlier one.
                later = {
                    f.model.op
                    for f in files
                    if isinstance(f.model, OperatorFile) and f.root > file.root
                }
                known = frozenset(names - later)
                system, problems = read_compositions(file.document, file.model, known)
                found += first_problems(problems)
                systems[file.model.foreign] = system | systems[file.model.foreign]
    return systems


def _add_source(operator: Operator, shown: Mapping[str, str]) -> Operator:
    """An operator that knows its families' files, and the digest of what all say."""
    texts = [operator.document.text, *(each.text for _, each in reversed(operator.families))]
    digest = sha256("\0".join(texts).encode()).hexdigest()
    paths = tuple(shown[name] for name, _ in operator.families)
    return replace(operator, family_paths=paths, digest=digest)


def _elaborate_file(
    file: _RegistryFile, families: Families, found: list[Diagnostic]
) -> Operator | None:
    """The operator of a file, or None where something is wrong with it."""
    assert isinstance(file.model, OperatorFile)
    operator = None
    with _within(file.budget, file.document, found):
        place = (file.shown, file.folder)
        operator, problems = elaborate(file.document, file.model, place, families)
        # What is wrong with a family is wrong once, however many name it.
        found += [each for each in first_problems(problems) if each not in found]
    return operator


def _extend_module(
    file: _RegistryFile,
    model: ModuleFile,
    bases: _Bases,
    unread: AbstractSet[str],
    found: list[Diagnostic],
) -> ModuleDeclaration:
    """The module of a file, with what it inherits."""
    files = {name: (each.document, base) for name, (each, base) in bases.items()}
    document, model, problems = extend(file.document, model, files, unread)
    found += problems
    eldest = bases_of(document)
    paths = tuple(bases[name][0].shown for name, _ in eldest)
    name = model.module
    return ModuleDeclaration(name, file.shown, file.folder, document, model, eldest, paths)


@contextmanager
def _within(budget: Budget, document: Document, found: list[Diagnostic]) -> Iterator[None]:
    """Work on a file within its budget; that it asks for more is a problem like others."""
    with use_budget(budget):
        try:
            yield
        except BudgetError as error:
            found.append(budget_diagnostic(error, document.span(())))


def _check(
    operators: Mapping[str, Operator],
    names: AbstractSet[str],
    budgets: Mapping[str, Budget],
    found: list[Diagnostic],
) -> None:
    """Hold what could be read against the laws of one declaration; `names` are all operators'."""
    known = frozenset(names)
    for operator in operators.values():
        with _within(budgets[operator.document.path], operator.document, found):
            found += first_problems(check_bindings(operator, known))
            found += first_problems(check_operator_bounds(operator, known))
    if found:
        return
    for operator in operators.values():
        with _within(budgets[operator.document.path], operator.document, found):
            found += first_problems(check_operator(operator))
            found += unreachable_cases(operator)
            found += check_tuples(operator)


def _files(
    root: Path, index: int, found: list[Diagnostic], only: FileSubset | None
) -> Iterator[_RegistryFile]:
    if not root.is_dir():
        found.append(Diagnostic("file-not-found", f"there is no folder `{root}`"))
        return
    if not root_name(root).isprintable():
        message = f"a registry cannot be called {root_name(root)!a}"
        found.append(Diagnostic("bad-name", message, hint="its name stands in what is generated"))
        return
    for shown, path in sources(root).items():
        if only is not None and shown not in only.paths:
            continue
        folder = path.parent.relative_to(root).as_posix().removeprefix(".")
        if not is_folder(folder):
            message = f"{folder!a} cannot be a folder of a registry"
            hint = "each folder becomes a Python package: `math`, or `nn/attention`"
            found.append(Diagnostic("bad-name", message, hint=hint))
            continue
        budget = Budget()
        with use_budget(budget):
            document, problems = read(path)
        found += problems
        if document is None or problems:
            continue
        kind = kind_of(document.data)
        if kind not in REGISTRY_KINDS:
            message = "a file of a registry declares one `op:`, `family:`, `module:` or `targets:`"
            found.append(Diagnostic("wrong-type", message, document.span(())))
            continue
        with use_budget(budget):
            model, problems = validate(document, REGISTRY_KINDS[kind])
        found += first_problems(problems)
        if model is not None:
            file = _RegistryFile(document, kind, model, shown, folder, index, budget)
            if path.stem not in (file.name, file.name.lower()):
                message = f"`{file.name}` must stand in a file `{file.name.lower()}.yaml`"
                found.append(Diagnostic("file-name", message, document.span((kind,))))
            yield file


def _same_name(
    file: _RegistryFile, name: str, known: Mapping[str, Operator | ModuleDeclaration]
) -> Iterator[Diagnostic]:
    if name in known:
        yield Diagnostic(
            "declared-twice",
            f"`{name}` is declared already",
            file.document.span((file.kind,)),
            notes=(f"first declared in {known[name].path}",),
        )

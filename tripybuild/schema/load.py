"""Registry loader: folders of YAML to a `Registry`, with the diagnostics of all files."""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

from tripybuild.documents.document import Document, Reader, read
from tripybuild.errors.budget import Budget
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import first_problems
from tripybuild.schema.compositions import (
    ForeignSystem,
    ForeignSystemFile,
    read_compositions,
)
from tripybuild.schema.files import FamilyFile, ModuleFile, OperatorFile
from tripybuild.schema.foreign import SYSTEMS
from tripybuild.schema.operator.checks import check_name, check_operator, check_registry
from tripybuild.schema.operator.dtype_combinations import check_tuples
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.operator.target_exceptions import Common, attach_reasons, merge_facts
from tripybuild.schema.registry_files import (
    FileSubset,
    ModuleDeclaration,
    RegistryFile,
    add_source,
    elaborate_file,
    extend_module,
    file_budget,
    read_files,
    same_name,
)
from tripybuild.schema.registry_folders import roots, sources
from tripybuild.schema.snippets.cases import unreachable_cases
from tripybuild.schema.snippets.extents import check_operator_bounds
from tripybuild.schema.snippets.snippet_scope import check_bindings
from tripybuild.schema.target_files import TargetsFile


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


def load(
    roots: Sequence[Path], only: FileSubset | None = None, reader: Reader = read
) -> tuple[Registry, list[Diagnostic]]:
    """Read every `*.yaml` below the folders.

    Args:
        roots: The registries; later ones extend earlier ones.
        only: Read these alone. The laws between declarations are not checked then.
        reader: Gives the document of each file.

    Returns:
        What could be read, and everything that is wrong, in the order of the files.
    """
    found: list[Diagnostic] = []
    files = [f for i, root in enumerate(roots) for f in read_files(root, i, found, only, reader)]
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
            operator = elaborate_file(file, families, found)
            if operator is not None:
                operator, unexplained = attach_reasons(operator, targets)
                found += unexplained
                found += same_name(file, operator.name, {**modules, **operators})
                operators[operator.name] = add_source(operator, shown.__getitem__)
        elif isinstance(file.model, ModuleFile):
            found += same_name(file, file.model.module, {**operators, **modules})
            modules[file.model.module] = extend_module(file, bases, unread, found)
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
    files: Sequence[RegistryFile], names: AbstractSet[str], found: list[Diagnostic]
) -> Mapping[str, ForeignSystem]:
    """What the operators of other systems are; what a later registry says counts first."""
    systems = {name: ForeignSystem() for name in SYSTEMS}
    for file in files:
        if isinstance(file.model, ForeignSystemFile):
            with file_budget(file.budget, file.document, found):
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


def _check(
    operators: Mapping[str, Operator],
    names: AbstractSet[str],
    budgets: Mapping[str, Budget],
    found: list[Diagnostic],
) -> None:
    """Hold what could be read against the laws of one declaration; `names` are all operators'."""
    known = frozenset(names)
    for operator in operators.values():
        with file_budget(budgets[operator.document.path], operator.document, found):
            found += first_problems(check_bindings(operator, known))
            found += first_problems(check_operator_bounds(operator, known))
    if found:
        return
    for operator in operators.values():
        with file_budget(budgets[operator.document.path], operator.document, found):
            found += first_problems(check_operator(operator))
            found += unreachable_cases(operator)
            found += check_tuples(operator)

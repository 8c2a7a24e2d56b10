"""Generation plan: registry to the text of every file. Pure: no disk, no clock, one order."""

from tripybuild.codegen.incremental.fragment_store import FragmentRecord, FragmentStore, digest
from tripybuild.codegen.modules.module import module_fragment
from tripybuild.codegen.operators.operator import operator_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.codegen.package.package import assemble_package
from tripybuild.codegen.package.schemas import schema_files
from tripybuild.codegen.snippets.composition_check import check_snippets
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.formatting import is_formatted
from tripybuild.schema.load import Registry
from tripybuild.schema.operator.families import FamilyMember


def plan(registry: Registry, package: str = BUILT_IN) -> dict[str, str]:
    """All files of a generated package, by path.

    Args:
        registry: The declarations. Only its `own` operators give files; others are called.
        package: The name of the package.

    Raises:
        DiagnosticError: With all that is wrong with snippets and modules.
    """
    store = fragments(registry, FragmentStore(), package)
    return assemble_package(store.fragments, store.schemas, package)


def fragments(registry: Registry, kept: FragmentStore, package: str = BUILT_IN) -> FragmentStore:
    """What each declaration gives: made of what `registry` has read, and kept of all others.

    Args:
        registry: What was read: all files, or those that are not as they were when `kept` was made.
        kept: The records of other files, which stay as they are.
        package: The name of the package.

    Raises:
        DiagnosticError: With all that is wrong with snippets and modules of what was read.
    """
    rest = {path: each for path, each in kept.records.items() if path not in registry.documents}
    others = [each.fragment for each in rest.values() if each.fragment]
    calls = CallResolver(
        frozenset(registry.operators) | {each.name for each in others if not each.is_module},
        registry.own | {each.name for each in others if each.files},
        package,
        registry.modules.keys() | {each.name for each in others if each.is_module},
    )
    if found := check_snippets(registry, calls.operators):
        raise DiagnosticError(*found)
    made = {each.path: operator_fragment(each, calls) for each in registry.operators.values()}
    made |= {each.path: module_fragment(each, calls) for each in registry.modules.values()}
    declared: list[FamilyMember] = [*registry.operators.values(), *registry.modules.values()]
    families = {each.path: each.family_paths for each in declared}
    records = {
        path: FragmentRecord(
            digest(document.text.encode()),
            families.get(path, ()),
            made.get(path),
            is_formatted(document),
        )
        for path, document in registry.documents.items()
    }
    schemas = kept.schemas or (schema_files() if package == BUILT_IN else {})
    return FragmentStore({**rest, **records}, schemas)

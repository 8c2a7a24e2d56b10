"""Generation plan: registry to the text of every file. Pure: no disk, no clock, one order."""

from tripybuild.codegen.modules.module import module_fragment
from tripybuild.codegen.operators.operator import operator_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.assembly import assemble_package
from tripybuild.codegen.package.package_paths import BUILT_IN
from tripybuild.codegen.package.schemas import schema_files
from tripybuild.schema.load import Registry


def plan(registry: Registry, package: str = BUILT_IN) -> dict[str, str]:
    """All files of a generated package, by path.

    Args:
        registry: The declarations. Only its `own` operators give files; others are called.
        package: The name of the package.
    """
    calls = CallResolver(registry.operators, registry.own, package, frozenset(registry.modules))
    parts = [operator_fragment(each, calls) for each in registry.operators.values()]
    parts += [module_fragment(each, calls) for each in registry.modules.values()]
    return assemble_package(parts, schema_files() if package == BUILT_IN else {}, package)

"""From a registry to the text of every generated file. Pure: no disk, no clock, one order."""

from tripybuild.codegen.modules.module import module_contribution
from tripybuild.codegen.operators.operator import contribution
from tripybuild.codegen.operators.operator_calls import Calls
from tripybuild.codegen.package.assembly import assembled
from tripybuild.codegen.package.paths import BUILT_IN
from tripybuild.codegen.package.schemas import schema_files
from tripybuild.schema.load import Registry


def plan(registry: Registry, package: str = BUILT_IN) -> dict[str, str]:
    """All files of a generated package, by path.

    Args:
        registry: The declarations. Only its `own` operators give files; others are called.
        package: The name of the package.
    """
    calls = Calls(registry.operators, registry.own, package, frozenset(registry.modules))
    parts = [contribution(each, calls) for each in registry.operators.values()]
    parts += [module_contribution(each, calls) for each in registry.modules.values()]
    return assembled(parts, schema_files() if package == BUILT_IN else {}, package)

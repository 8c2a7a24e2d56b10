"""From a registry to the text of every generated file. Pure: no disk, no clock, one order."""

from tripybuild.codegen.assembly import assembled
from tripybuild.codegen.calls import Calls
from tripybuild.codegen.module import module_contribution
from tripybuild.codegen.operator import contribution
from tripybuild.codegen.places import BUILT_IN
from tripybuild.codegen.schemas import schema_files
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

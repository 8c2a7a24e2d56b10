"""Foreign operator names, for hints on names that a package does not have."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tripybuild.codegen.package.fragment import PackageFragment
from tripybuild.codegen.python.file_text import header

if TYPE_CHECKING:  # a plan that is kept is put together without the schema
    from tripybuild.schema.operator.operator import Operator

_FILE = '''{header}"""What other systems call what is here: `cat` of PyTorch is `concatenate`."""

NAMES: dict[str, str] = {{{names}}}
'''


def foreign_names(operator: "Operator") -> tuple[str, ...]:
    """The names that an operator has in other systems, as functions are called, in their order.

    Overloads have one name there, and those that begin with a line are nobody's to call.
    """
    found = (alias.signature.name.partition(".")[0].lower() for alias in operator.foreign)
    return tuple(sorted({each for each in found if not each.startswith("_")} - {operator.name}))


def foreign_names_file(contributions: Iterable[PackageFragment]) -> str:
    """The table of the names that are none of the package's own; of several, the first has it."""
    several = list(contributions)
    own = {each.name for each in several}
    found: dict[str, str] = {}
    for each in sorted(several, key=lambda each: each.name):
        for other in each.others:
            if other not in own:
                found.setdefault(other, each.name)
    names = "".join(f'    "{other}": "{found[other]}",\n' for other in sorted(found))
    names = f"\n{names}" if names else ""
    return _FILE.format(header=header("ops_registry/"), names=names)

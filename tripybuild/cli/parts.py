"""What each declaration gives to a package, and how it is made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tripybuild.codegen.contribution import Contribution

if TYPE_CHECKING:
    from tripybuild.codegen.calls import Calls
    from tripybuild.schema.load import Registry

OPERATOR, MODULE, FAMILY = "op", "module", "family"


@dataclass(frozen=True, slots=True)
class Part:
    """What one declaration gives, the digest that it had then, and the path of its family."""

    digest: str
    kind: str
    family: str | None = None
    given: Contribution | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts by the paths of the declarations, and the schemas by the paths of their files."""

    by_path: Mapping[str, Part]
    schemas: Mapping[str, str]

    @property
    def contributions(self) -> list[Contribution]:
        """What operators and modules give, in the order of their names."""
        found = [part.given for part in self.by_path.values() if part.given]
        return sorted(found, key=lambda each: each.name)

    def data(self) -> dict[str, Any]:
        """The parts as JSON holds them."""
        parts = {
            path: [p.digest, p.kind, p.family, p.given.data() if p.given else None]
            for path, p in self.by_path.items()
        }
        return {"parts": parts, "schemas": dict(self.schemas)}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Parts":
        """The parts that `data()` gave."""
        parts = {
            path: Part(digest, kind, family, Contribution.of(given) if given else None)
            for path, (digest, kind, family, given) in data["parts"].items()
        }
        return cls(parts, data["schemas"])


def made(declared: "Registry", digests: Mapping[str, str], calls: "Calls") -> dict[str, Part]:
    """The parts of declarations by path; a path of which nothing is declared is a family's."""
    from tripybuild.codegen.operator import contribution  # noqa: PLC0415

    parts = {path: Part(digest, FAMILY) for path, digest in digests.items()}
    for module in declared.modules.values():
        from tripybuild.codegen.module import module_contribution  # noqa: PLC0415

        parts[module.path] = Part(
            digests[module.path], MODULE, None, module_contribution(module, calls)
        )
    for each in declared.operators.values():
        given = contribution(each, calls)
        parts[each.path] = Part(digests[each.path], OPERATOR, each.family_path, given)
    return parts


def agree(contributions: Iterable[Contribution]) -> bool:
    """Tell whether the laws between declarations hold."""
    from tripybuild.schema.checks import cycle  # noqa: PLC0415

    contributions = list(contributions)
    used = {each.name: each.uses for each in contributions}
    methods = [name for each in contributions for name in each.methods]
    alone = len(used) == len(contributions) and len(set(methods)) == len(methods)
    return alone and not any(cycle(name, used) for name in used)

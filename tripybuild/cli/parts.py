"""What each declaration gives to a package, made anew only for those that changed."""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripybuild.cli import registry
from tripybuild.codegen.contribution import Contribution
from tripybuild.codegen.places import BUILT_IN
from tripybuild.diagnostics import DiagnosticError
from tripybuild.schema.places import TARGETS

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


def renewed(kept: Parts, digests: Mapping[str, str], added: Sequence[Path], package: str) -> Parts:
    """The parts of declarations that have these digests: what is kept, where nothing changed.

    Raises:
        DiagnosticError: With all that is wrong in any of the registries.
    """
    if digests and {path: part.digest for path, part in kept.by_path.items()} == digests:
        return kept
    some = _some(kept, digests, added, package) if kept.by_path else None
    return some or _all(digests, added, package)


def _all(digests: Mapping[str, str], added: Sequence[Path], package: str) -> Parts:
    from tripybuild.codegen.builders import check_builders  # noqa: PLC0415
    from tripybuild.codegen.calls import Calls  # noqa: PLC0415
    from tripybuild.codegen.schemas import schema_files  # noqa: PLC0415

    declared = registry.load(added)
    if found := check_builders(declared):
        raise DiagnosticError(*found)
    calls = Calls(declared.operators, declared.own, package, frozenset(declared.modules))
    made = _made(declared, digests, calls)
    return Parts(made, schema_files() if package == BUILT_IN else {})


def _some(
    kept: Parts, digests: Mapping[str, str], added: Sequence[Path], package: str
) -> Parts | None:
    """The parts with those of changed files anew, or None where all files must be read again.

    That is so where anything is wrong, since one run reports all problems of all files; where a new
    operator has a name that snippets may use already; where there is a new family or module; and
    where the facts changed that all operators share.
    """
    from tripybuild.codegen.builders import check_builders  # noqa: PLC0415
    from tripybuild.codegen.calls import Calls  # noqa: PLC0415
    from tripybuild.schema.load import Some, load  # noqa: PLC0415
    from tripybuild.schema.vocabularies import SHAPE  # noqa: PLC0415

    stay = _untouched(kept.by_path, digests)
    if any(Path(path).name == TARGETS for path in kept.by_path.keys() - stay.keys()):
        return None
    others = {part.given.name: part.given for part in stay.values() if part.given}
    operators = {name: each for name, each in others.items() if not each.is_module}
    modules = frozenset(others) - frozenset(operators)
    families = {path for path, part in stay.items() if part.kind == FAMILY}
    read = (digests.keys() - stay.keys()) | families
    declared, found = load(registry.roots(added), Some(read, frozenset(operators)))
    if found or check_builders(declared):
        return None
    names = declared.operators.keys() | declared.modules.keys()
    before = {each.name for each in kept.contributions}
    gone = before - names - others.keys()
    if names & others.keys() or (names - before) & SHAPE or _used(gone, others.values()):
        return None
    own = declared.own | {name for name, each in others.items() if each.files}
    calls = Calls(
        declared.operators.keys() | operators.keys(), own, package, modules | set(declared.modules)
    )
    made = _made(declared, {path: digests[path] for path in read}, calls)
    if any(part.given is None for path, part in made.items() if path not in kept.by_path):
        return None
    parts = Parts({**stay, **made}, kept.schemas)
    return parts if _agree(parts.contributions) else None


def _untouched(kept: Mapping[str, Part], digests: Mapping[str, str]) -> dict[str, Part]:
    """The parts whose file and family are as they were."""
    same = {path: part for path, part in kept.items() if digests.get(path) == part.digest}
    return {path: p for path, p in same.items() if p.family is None or p.family in same}


def _used(names: AbstractSet[str], contributions: Iterable[Contribution]) -> bool:
    return any(names & set(each.uses) for each in contributions)


def _made(declared: "Registry", digests: Mapping[str, str], calls: "Calls") -> dict[str, Part]:
    from tripybuild.codegen.module import module_contribution  # noqa: PLC0415
    from tripybuild.codegen.operator import contribution  # noqa: PLC0415

    parts = {path: Part(digest, FAMILY) for path, digest in digests.items()}
    for module in declared.modules.values():
        parts[module.path] = Part(
            digests[module.path], MODULE, None, module_contribution(module, calls)
        )
    for each in declared.operators.values():
        given = contribution(each, calls)
        parts[each.path] = Part(digests[each.path], OPERATOR, each.family_path, given)
    return parts


def _agree(contributions: Iterable[Contribution]) -> bool:
    """Whether the laws between declarations hold."""
    from tripybuild.schema.checks import cycle  # noqa: PLC0415

    used = {each.name: each.uses for each in contributions}
    methods = [name for each in contributions for name in each.methods]
    return len(set(methods)) == len(methods) and not any(cycle(name, used) for name in used)

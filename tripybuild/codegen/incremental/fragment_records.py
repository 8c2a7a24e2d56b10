"""What each declaration gives to a package, and how it is made."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, Any

from tripybuild.codegen.package.fragment import Contribution

if TYPE_CHECKING:
    from tripybuild.codegen.operators.operator_calls import Calls
    from tripybuild.schema.load import Registry

OPERATOR, MODULE, FAMILY = "op", "module", "family"


@dataclass(frozen=True, slots=True)
class Part:
    """What one declaration gives, the digest that it had then, and the paths of its families.

    `is_formatted` is false where `tripybuild fmt` would change the declaration.
    """

    digest: str
    kind: str
    families: tuple[str, ...] = ()
    given: Contribution | None = None
    is_formatted: bool = True


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

    def stored(self) -> bytes:
        """The parts as bytes: one line of JSON, and then the texts of all files as they are.

        The texts are most of it, and would be written and read ten times as slowly in JSON.
        """
        texts: list[str] = []
        parts = {
            path: [
                p.digest,
                p.kind,
                p.families,
                _said(p.given, texts) if p.given else None,
                p.is_formatted,
            ]
            for path, p in self.by_path.items()
        }
        line = json.dumps({"parts": parts, "schemas": _lengths(self.schemas, texts)})
        return "".join([line, "\n", *texts]).encode()

    @classmethod
    def of(cls, stored: bytes) -> "Parts":
        """The parts that `stored()` gave."""
        line, _, rest = stored.partition(b"\n")
        data, texts = json.loads(line), StringIO(rest.decode(), newline="")
        parts = {
            path: Part(
                digest, kind, tuple(families), _given(given, texts) if given else None, formatted
            )
            for path, (digest, kind, families, given, formatted) in data["parts"].items()
        }
        return cls(parts, _cut(data["schemas"], texts))


def _said(given: Contribution, texts: list[str]) -> dict[str, Any]:
    return {**given.data(), "files": _lengths(given.files, texts)}


def _given(said: Mapping[str, Any], texts: StringIO) -> Contribution:
    return Contribution.of({**said, "files": _cut(said["files"], texts)})


def _lengths(files: Mapping[str, str], texts: list[str]) -> dict[str, int]:
    texts += files.values()
    return {path: len(text) for path, text in files.items()}


def _cut(lengths: Mapping[str, int], texts: StringIO) -> dict[str, str]:
    return {path: texts.read(length) for path, length in lengths.items()}


def made(declared: "Registry", digests: Mapping[str, str], calls: "Calls") -> dict[str, Part]:
    """The parts of declarations by path; a path of which nothing is declared is a family's."""
    from tripybuild.codegen.operators.operator import contribution  # noqa: PLC0415
    from tripybuild.schema.formatting import is_formatted  # noqa: PLC0415

    parts = {path: Part(digest, FAMILY) for path, digest in digests.items()}
    for module in declared.modules.values():
        from tripybuild.codegen.modules.module import module_contribution  # noqa: PLC0415

        parts[module.path] = Part(
            digests[module.path], MODULE, (), module_contribution(module, calls)
        )
    for each in declared.operators.values():
        given = contribution(each, calls)
        parts[each.path] = Part(digests[each.path], OPERATOR, each.family_paths, given)
    for path, document in declared.documents.items():
        if not is_formatted(document):
            parts[path] = replace(parts[path], is_formatted=False)
    return parts


def agree(contributions: Iterable[Contribution]) -> bool:
    """Tell whether the laws between declarations hold."""
    from tripybuild.schema.operator.checks import cycle  # noqa: PLC0415

    contributions = list(contributions)
    used = {each.name: each.uses for each in contributions}
    methods = [name for each in contributions for name in each.methods]
    alone = len(used) == len(contributions) and len(set(methods)) == len(methods)
    return alone and not any(cycle(name, used) for name in used) and _fit(contributions)


def _fit(contributions: Sequence[Contribution]) -> bool:
    """Tell whether each call of an operator is one that its declaration allows."""
    from tripybuild.codegen.snippets.argument_check import Used, misfit  # noqa: PLC0415

    takes = {name: ways for each in contributions for name, ways in each.takes.items()}
    calls = (Used(*call) for each in contributions for call in each.calls)
    return not any(call.name in takes and misfit(call, takes[call.name]) for call in calls)

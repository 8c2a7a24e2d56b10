"""Files of compiled models, read without running any of them: the check, and a description."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.artifact.manifest_schema import check_content, manifest_error, matches
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, one_line
from tripybuild.targets.table import TARGETS, engines, find_file, takes_options

_CHOICE = {"chosen_by": str, "because": str}
_LONGEST = 1e9  # milliseconds of what was measured
GRAPH = "trace.json"  # the member that holds the graph of an entry
Table = tuple[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Description:
    """What a target says of an entry beyond its manifest.

    Args:
        data: For programs.
        tables: For people: titles and rows.
        hidden: The keys of the manifest that the tables say better.
    """

    data: Mapping[str, Any]
    tables: Sequence[Table] = ()
    hidden: Sequence[str] = ()


def entry_member(name: str, entry: str) -> str:
    """The member of an entry: those of a named one are in a folder of its name."""
    return f"{entry}/{name}" if entry else name


class ExecutableFile:
    """The files of a target. These hold the graphs, and what was compiled of them ahead."""

    def __init__(self, target: str) -> None:
        self.target = target

    def required_members(self, manifest: Mapping[str, Any]) -> Sequence[str]:
        """The members of a file that the target runs.

        Raises:
            DiagnosticError: The manifest does not name them as it should.
        """
        found = []
        for entry in manifest["entries"]:
            found.append(entry_member(GRAPH, entry["name"]))
            for each in entry["specialisations"]:
                found += [each["stablehlo"], each["payload"]]
        return found

    def describe(
        self,
        entry: Mapping[str, Any],
        read: Callable[[str], memoryview],
        *,
        layers: bool,  # noqa: ARG002 - for those that have layers
    ) -> Description:
        """What `inspect` shows of an entry beyond its manifest.

        Raises:
            DiagnosticError: A member is malformed.
        """
        del entry, read
        return Description({})


def _is_choice(engine: object) -> bool:
    """Whether this says what chose the engine of a file, and why, in words of one line."""
    if not isinstance(engine, dict) or not matches(engine, _CHOICE):
        return False
    measured, refused = engine.get("measured", {}), engine.get("refused", {})
    if engine["chosen_by"] not in TARGETS or not matches(refused, {...: str}):
        return False
    return (
        engine.keys() <= {*_CHOICE, "measured", "refused"}
        and matches(measured, {...: (int, float)})
        and all(0 <= took <= _LONGEST for took in measured.values())
        and bool(names := engines(engine["chosen_by"]))
        and {*measured, *refused} <= {*names}
        and all(each == one_line(each) for each in (engine["because"], *refused.values()))
    )


def check_manifest(content: Mapping[str, Any], members: Collection[str]) -> ExecutableFile:
    """Refuse a manifest that does not describe a model for a target that is here.

    Returns:
        What reads the files of its target.

    Raises:
        DiagnosticError: It says at which key.
    """
    check_content(content)
    names = [name for name, entry in TARGETS.items() if not entry.chooses]
    if content["target"] not in names:
        message = f"the executable is for the target `{content['target']}`, which is not one here"
        hint = f"compile the model again for one of {', '.join(f'`{each}`' for each in names)}"
        raise DiagnosticError(Diagnostic("unknown-target", message, hint=hint))
    if not takes_options(content["target"], content.get("options", {})):
        raise manifest_error("its `options` cannot be understood")
    if "engine" in content and not _is_choice(content["engine"]):
        raise manifest_error("its `engine` cannot be understood")
    found = find_file(content["target"])
    for member in found.required_members(content):
        if member not in members:
            raise manifest_error(f"it has no `{member}`")
    return found

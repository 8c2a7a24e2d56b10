"""`generated/` is what the registry gives: nothing is missing, edited or left over."""

from pathlib import Path

from tripybuild.codegen.package.plan import plan
from tripybuild.codegen.package.sync import differences
from tripybuild.schema.load import load

ROOT = Path(__file__).resolve().parent.parent


def test_generated_files_are_those_of_the_registry():
    """The same question as `tripybuild gen --check` asks."""
    registry, problems = load([ROOT / "ops_registry"])
    assert not problems
    found = differences(ROOT / "generated", plan(registry), "tripyapi")
    drift = [f"{d.kind}: {d.path}:{d.line}: {d.found!r}, want {d.wanted!r}" for d in found]
    assert not drift, "run `tripybuild gen`:\n" + "\n".join(drift[:20])

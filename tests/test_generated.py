"""`generated/` is what the registry gives: nothing is missing, edited or left over."""

from pathlib import Path

import built_in

from tripybuild.codegen.package.sync import differences

ROOT = Path(__file__).resolve().parent.parent


def test_generated_files_are_those_of_the_registry():
    """The same question as `tripybuild gen --check` asks."""
    found = differences(ROOT / "generated", built_in.files(), "tripyapi")
    drift = [f"{d.kind}: {d.path}:{d.line}: {d.found!r}, want {d.wanted!r}" for d in found]
    assert not drift, "run `tripybuild gen`:\n" + "\n".join(drift[:20])

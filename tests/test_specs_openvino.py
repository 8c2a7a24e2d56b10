"""Specs on OpenVINO beside code that nobody here wrote: small ones by default, all with --full."""

import numpy as np
import pytest
import spec_tests
from openvino_models import require_openvino
from spec_tests import Comparison, difference

from tripybuild.compiler.executable import Executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.cpu.openvino import fixed_sizes
from tripybuild.testing.pairwise import is_full

pytest.importorskip("torch", reason="torch is not installed")

# Convolutions; a mask of the future; loops of states; rows that see nothing; sorted numbers.
FEW = ("resnet50", "gpt2_cached", "lstm", "modernbert", "mixtral")
LIMIT = 1e-4


@pytest.mark.parametrize("name", [n for n in spec_tests.tested() if n in FEW or is_full()])
def test_outputs_are_the_peers(name, tmp_path, shared_cache):
    """In float32, for two sizes of everything that is dynamic, by one program."""
    require_openvino()
    comparison = Comparison(spec_tests.SPECS / f"{name}.yaml", tmp_path / name)
    executable = comparison.compile(target="cpu:openvino,threads=1")
    limit = min(LIMIT, 10 * comparison.tolerance("float32"))
    for call in comparison.calls:
        for seed, sizes in enumerate(call.section.shapes):
            arrays = call.draw(sizes, seed)
            apart = difference(call.run(executable, arrays, sizes), call.expected(arrays))
            assert apart <= limit, f"{call.name} of {sizes}: {apart:.1e}"


SPEC = """\
tripybuild: 1
model: doubled
inputs:
  x: float32[B, 3]
ranges:
  B: {min: 0, opt: 4, max: 1000}
outputs:
  y: x + x
"""


def test_an_executable_is_saved_and_loaded(tmp_path, shared_cache):
    """It has the graph and the options; sizes of zero are computed by the references."""
    require_openvino()
    import tripybuild  # noqa: PLC0415 - slow

    (tmp_path / "doubled.yaml").write_text(SPEC, encoding="utf-8")
    made = tripybuild.compile(tmp_path / "doubled.yaml", target="cpu:openvino,threads=1")
    made.save(tmp_path / "doubled.tpb")
    for executable in (made, tripybuild.load(tmp_path / "doubled.tpb")):
        assert str(executable.target) == "cpu:openvino,threads=1"
        for rows in (2, 0, 5):
            x = np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)
            np.testing.assert_array_equal(executable(x=x)["y"], 2 * x)


@pytest.mark.parametrize(
    ("asked", "own"), [([], []), ([{"B": 4}], [4]), ([{"B": 3}], [4, 3])], ids=str
)
def test_sizes_that_are_asked_for_have_a_program_of_their_own(tmp_path, shared_cache, asked, own):
    """They and each `opt`, which may be all that is asked for."""
    require_openvino()
    import tripybuild  # noqa: PLC0415 - slow

    (tmp_path / "doubled.yaml").write_text(SPEC, encoding="utf-8")
    target = "cpu:openvino,threads=1"
    made = tripybuild.compile(tmp_path / "doubled.yaml", target=target, shapes=asked)
    assert fixed_sizes(made.entry()) == [{"B": each} for each in own]


def test_a_damaged_member_is_refused(tmp_path, shared_cache):
    """Where the file is opened, or if its digests are those of the damage, where it is called."""
    require_openvino()
    import tripybuild  # noqa: PLC0415 - slow

    (tmp_path / "doubled.yaml").write_text(SPEC, encoding="utf-8")
    made = tripybuild.compile(tmp_path / "doubled.yaml", target="cpu:openvino,threads=1")
    path, x = tmp_path / "doubled.tpb", np.ones((2, 3), np.float32)
    made.save(path)
    content = bytearray(path.read_bytes())
    content[content.index(bytes(made.member("trace.json"))) + 40] ^= 1
    (tmp_path / "damaged.tpb").write_bytes(content)
    with pytest.raises(DiagnosticError, match=r"the content of `trace\.json` is corrupted"):
        tripybuild.load(tmp_path / "damaged.tpb")
    for graph in (b"", b"{}", bytes(made.member("trace.json")).replace(b",3]", b",4]")):
        Executable(made.manifest, {"trace.json": graph}).save(path)
        with pytest.raises(DiagnosticError) as raised:
            tripybuild.load(path)(x=x)
        assert raised.value.diagnostics[0].code == "executable-altered"

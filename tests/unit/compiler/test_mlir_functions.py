"""Modules of several functions: each is an engine, in one executable."""

import json

import pytest

import tripybuild
from tripybuild.cli.main import main
from tripybuild.compiler import session
from tripybuild.errors.diagnostics import DiagnosticError

pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")

FUNCTION = """
func.func @NAME(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.unary {unaryOperation = #tensorrt.unary_operation<KIND>} %arg0 : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))


def module(tmp_path, **kinds):
    """Write a module with a function for each name."""
    path = tmp_path / "several.mlir"
    texts = [FUNCTION.replace("NAME", n).replace("KIND", kind) for n, kind in kinds.items()]
    path.write_text("".join(texts))
    return path


def functions(executable):
    """The functions of an executable's engines: first the one that runs."""
    engine = executable.entry().manifest["engine"]
    places = [engine, *engine.get("others", [])]
    return [json.loads(bytes(executable.member(each["record"])))["function"] for each in places]


def test_each_function_is_an_engine(tmp_path):
    """All of them are built; `main` runs, wherever it stands."""
    path = module(tmp_path, first="kEXP", main="kABS", last="kSIN")
    executable = tripybuild.compile(path, target="tensorrt-rtx", output=tmp_path / "x.tpb")
    assert functions(executable) == ["main", "first", "last"]
    loaded = tripybuild.load(tmp_path / "x.tpb")
    assert functions(loaded) == ["main", "first", "last"]
    plans = [bytes(loaded.member(e["plan"])) for e in loaded.entry().manifest["engine"]["others"]]
    assert len(set(plans)) == 2
    assert all(len(plan) > 50_000 for plan in plans)


def test_inspect_names_the_functions(tmp_path, capsys, monkeypatch):
    """The one that runs, and those beside it."""
    path = module(tmp_path, first="kEXP", main="kABS")
    tripybuild.compile(path, target="tensorrt-rtx", output=tmp_path / "x.tpb")
    monkeypatch.setattr("sys.argv", ["tripybuild", "inspect", str(tmp_path / "x.tpb")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "function   main\n  beside it  first\n" in shown


def test_one_function_can_be_chosen(tmp_path):
    """And is then the only engine."""
    path = module(tmp_path, first="kEXP", main="kABS")
    made = session.compile_spec(path, target="tensorrt-rtx", function="first")
    assert functions(made) == ["first"]
    with pytest.raises(DiagnosticError, match="no functions called `third`"):
        session.compile_spec(path, target="tensorrt-rtx", function="third")


def test_a_function_that_is_refused_leaves_no_file(tmp_path):
    """A dynamic size without a range: it is said, and nothing is written."""
    path = module(tmp_path, first="kEXP", second="kABS")
    before, after = path.read_text().split("@second")
    path.write_text(f"{before}@second{after.replace('2x3', '?x3')}")
    with pytest.raises(DiagnosticError) as failure:
        tripybuild.compile(path, target="tensorrt-rtx", output=tmp_path / "x.tpb")
    assert {each.code for each in failure.value.diagnostics} == {"tensorrt-profile"}
    assert not (tmp_path / "x.tpb").exists()


def test_specs_have_no_functions(tmp_path):
    """The flag is for modules."""
    (tmp_path / "a.yaml").write_text(
        "tripybuild: 1\nmodel: a\ninputs:\n  x: F[2]\noutputs:\n  y: x + x\n"
    )
    with pytest.raises(DiagnosticError, match="is a spec, and has no function"):
        session.compile_spec(tmp_path / "a.yaml", function="main")

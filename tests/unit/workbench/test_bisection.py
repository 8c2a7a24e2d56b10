"""Bisection by faults that were planted: the step is found, in few cuts, and what it does."""

import json
import sys
from math import ceil, log2
from pathlib import Path

import pytest
from faulty_specs import ORT, REFERENCE, WRONG_LOWERING, chain
from jsonschema import Draft7Validator

import tripybuild
from tripybuild.cli.main import main
from tripybuild.process import paths


@pytest.fixture
def bisect(tmp_path, shared_cache, monkeypatch, capfd):
    """Runs `tripybuild bisect --json` in this process, and gives its answer."""
    monkeypatch.chdir(tmp_path)
    Path("chain.yaml").write_text(chain())
    schema = json.loads((paths.schemas() / "answers" / "bisect.json").read_text())

    def run(*words, code=1):
        monkeypatch.setattr(sys, "argv", ["tripybuild", "bisect", *map(str, words), "--json"])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capfd.readouterr()
        answer = json.loads(printed.out)
        assert (ended.value.code or 0) == code, printed.out + printed.err
        assert answer["diagnostics"] or list(Draft7Validator(schema).iter_errors(answer)) == []
        return answer

    return run


def test_a_constant_that_is_another_one(bisect):
    """The step is named with its line, and the values on both sides."""
    Path("wrong.yaml").write_text(chain({17: "{} * 1.5"}))
    Path("right.yaml").write_text(chain({17: "{} * 1.25"}))
    found = bisect("right.yaml", "wrong.yaml", "--target", REFERENCE)["parting"]
    assert (found["step"], found["operator"], found["verdict"]) == ("s17", "mul", "weights")
    assert (found["path"], found["line"]) == ("right.yaml", 24)
    assert found["cuts"] <= ceil(log2(found["count"]))
    wrong = [each for each in found["operands"] if not each["agrees"]]
    assert [each["first"]["values"] for each in wrong] == [[1.25, 1.5]]
    assert bisect("chain.yaml", f"@{ORT}", "--target", REFERENCE, code=0)["parting"] is None


def test_a_lowering_that_is_wrong_for_one_target(bisect):
    """By the same inputs the step itself computes something else."""
    folder = Path("ops/ops_registry/math")
    folder.mkdir(parents=True)
    (folder / "triple.yaml").write_text(WRONG_LOWERING)
    Path("model.yaml").write_text(chain({8: "triple({})"}))
    words = [f"model.yaml@{REFERENCE}", f"@{ORT}", "--registry", "ops/ops_registry"]
    found = bisect(*words)["parting"]
    assert (found["step"], found["operator"], found["verdict"]) == ("s8", "triple", "computes")
    assert all(each["agrees"] for each in found["operands"])
    assert not any(each["agrees"] for each in (*found["results"], *found["alone"]))


def test_float16_that_overflows_and_float16_that_cancels(bisect):
    """One step is out of range, another one amplifies what was rounded before it."""
    Path("over.yaml").write_text(chain({8: "{} * 1000.0", 9: "{} * 1000.0", 10: "{} / 1000.0"}))
    found = bisect(f"over.yaml@{REFERENCE}", "--set-b", "F=float16")["parting"]
    assert (found["step"], found["operator"]) == ("s9", "mul")
    assert found["results"][0]["infinite"][0] == 0 < found["results"][0]["infinite"][1]
    Path("cancels.yaml").write_text(chain({9: "{} + 1000.0", 10: "{} - 1000.0"}))
    found = bisect(f"cancels.yaml@{REFERENCE}", "--set-b", "F=float16")["parting"]
    assert (found["step"], found["verdict"]) == ("s10", "amplifies")


def test_where_nan_and_infinity_begin(bisect):
    """NaN of a logarithm; and NaN of an infinity, which began before."""
    Path("log.yaml").write_text(chain({11: "log({} - 100.0)"}))
    (found,) = bisect("log.yaml", "--nan", "--target", ORT)["losses"]
    assert (found["kind"], found["step"], found["operator"]) == ("NaN", "s11", "log")
    (operand,) = found["operands"]
    assert operand["there"] < 0
    Path("inf.yaml").write_text(chain({6: "exp({} * 1000.0)", 14: "{0} - {0}"}))
    nan, infinity = bisect("inf.yaml", "--nan", "--target", REFERENCE)["losses"]
    assert (nan["kind"], infinity["kind"], infinity["step"]) == ("NaN", "infinity", "s6")
    assert bisect("chain.yaml", "--nan", "--target", REFERENCE, code=0)["losses"] == []


def test_lines_of_python_and_parts_of_a_spec(bisect):
    """A function's line, a part's path; what is no program of ours is refused with what helps."""
    body = "import tripyapi as tp\n\ndef f(x: 'float32[2, 3]'):\n    y = x * 2.0\n    return y{}\n"
    Path("one.py").write_text(body.format(" + 1.0"))
    Path("two.py").write_text(body.format(" + 1.5"))
    found = bisect("one.py:f", "two.py:f", "--target", REFERENCE)["parting"]
    assert (found["step"], found["line"], found["part"]) == ("f", 5, "")
    spec = (
        'tripybuild: 1\nmodel: parts\ninputs: {{x: "F[2, 4]"}}\nparts: {{blocks: [a, b, a]}}\n'
        "outputs: {{y: blocks(x)}}\ndefine:\n"
        '  a: {{inputs: {{x: "F[N, 4]"}}, outputs: {{out: tanh(x)}}}}\n'
        '  b: {{inputs: {{x: "F[N, 4]"}}, outputs: {{out: x * {}}}}}\n'
    )
    for name, k in (("left", 2.0), ("right", 3.0)):
        Path(f"{name}.yaml").write_text(spec.format(k))
    found = bisect("left.yaml", "right.yaml", "--target", REFERENCE)["parting"]
    assert (found["part"], found["step"]) == ("blocks.1", "blocks.1.out")
    tripybuild.export("left.yaml", "left.onnx")
    (refusal,) = bisect("onnx:left.onnx", "left.yaml")["diagnostics"]
    assert refusal["code"] == "target-unfit"
    assert "`onnx:left.onnx@cpu` and `@reference`" in refusal["hint"]
    found = bisect("onnx:left.onnx@cpu:onnxruntime", "right.yaml@reference")["parting"]
    assert (found["operator"], found["verdict"]) == ("mul", "weights")

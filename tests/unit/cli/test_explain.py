"""`tripybuild explain` and `schema`: every name has a page, and the quick ways are right ones."""

import json
import sys
from pathlib import Path

import jsonschema
import pytest

from tripybuild.cli.main import main
from tripybuild.codegen.operators.operator import operator_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.manual.functions import WORDS, function_names, function_text
from tripybuild.manual.topics import Manual
from tripybuild.packages.builtin import builtin_registry, generated_files
from tripybuild.process import paths
from tripybuild.schema.operator.checks import uses
from tripybuild.schema.snippets.vocabularies import DECOMPOSE, INDEX, LOOPS
from tripybuild.testing.registry import registry


def answer(capsys, monkeypatch, *words):
    """What a command answers in JSON."""
    monkeypatch.setattr(sys, "argv", ["tripybuild", *words, "--json"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    return json.loads(capsys.readouterr().out)


def test_every_key_family_and_function_has_a_page():
    manual = Manual()
    for kind in manual.kinds:
        for name in manual.names(kind):
            found = manual.topic(kind, name)
            assert found.data["kind"] == kind
            assert name in found.text
            assert kind in manual.kinds_of(name)


def test_functions_have_signatures_and_sentences():
    """The words of decompositions and compositions are all there."""
    assert WORDS.keys() == DECOMPOSE | INDEX | LOOPS
    for name in function_names():
        found = function_text(name)
        assert found.doc, name
        assert found.signature.startswith(f"{name}("), name
        assert all(text in found.signature for text, _ in found.parameters), name
    power, cast = function_text("np.power"), function_text("onnx.Cast")
    assert power.signature == "np.power(x1, x2, /)"
    assert [text for text, _ in power.parameters] == ["x1", "x2"]
    assert cast.signature.endswith(" -> output: T2")
    assert cast.details.startswith("T2: ")
    kinds = dict(function_text("trt.reduce").parameters)["kind: reduce_operation"]
    assert "kPROD" in kinds.split(", ")


def test_users_and_files_are_found_without_reading_all(capsys, monkeypatch):
    """They are what the declarations say."""
    known = registry(paths.registry())
    calls = CallResolver(known.operators, known.own, BUILT_IN)
    for name in ("softmax", "sum", "reshape"):
        operator = known.operators[name]
        found = answer(capsys, monkeypatch, "explain", name)
        others = known.operators.values()
        assert found["used_by"] == [e.name for e in others if name in uses(e, known.operators)]
        files = sorted(operator_fragment(operator, calls).files)
        assert found["generated"] == files == generated_files(operator.path)
    assert list(builtin_registry().operators) == list(known.operators)


def test_what_has_several_meanings_names_them(capsys, monkeypatch):
    found = answer(capsys, monkeypatch, "explain", "max")
    assert found["kind"] == "operator"
    assert found["others"] == ["key:max", "function:max"]
    assert answer(capsys, monkeypatch, "explain", "function:max")["signature"] == "max(*values)"


def test_all_names_are_listed(capsys, monkeypatch):
    found = answer(capsys, monkeypatch, "explain")
    assert {"softmax", "where"} <= set(found["operator"])
    assert {"refuses", "ranges"} <= set(found["key"])
    assert {"np.where", "hlo.select", "replace"} <= set(found["function"])


def test_schemas_are_where_the_command_says(capsys, monkeypatch):
    found = answer(capsys, monkeypatch, "schema")
    schema = json.loads((paths.schemas() / "answers/schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    for kind, path in found["schemas"].items():
        assert json.loads(Path(path).read_text(encoding="utf-8"))["$id"].endswith(f":{kind}")

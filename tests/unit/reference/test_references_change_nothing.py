"""A third party's reference cannot change what it is given, whatever words it finds for it."""

from importlib import import_module

import numpy as np
import pytest
from unary_operator import SUM, TYPES

import tripyapi as tp
from tripyapi.tensor import Tensor
from tripybuild.documents.document import parse
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.packages.libraries import package
from tripybuild.reference import execute
from tripybuild.schema.files import OperatorFile
from tripybuild.schema.operator.elaborate import elaborate
from tripybuild.schema.snippets.snippet_scope import check_bindings
from tripybuild.schema.validate import validate
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import from_numpy

HEAD = f"tripybuild: 1\nop: double\ndoc: Double each value.\n{TYPES}reference: "
TAIL = f"\n{SUM}sample: {{S: [3]}}\n"


def declared(reference):
    """Give an operator with a reference."""
    document, found = parse(HEAD + reference + "\n", "double.yaml")
    assert document is not None, found
    assert not found
    file, found = validate(document, OperatorFile)
    assert file is not None, found
    assert not found
    operator, found = elaborate(document, file, ("double.yaml", ""), {})
    assert operator is not None, found
    assert not found
    return operator


@pytest.mark.parametrize(
    "reference",
    [
        "np.add(input, input, out=input)",
        "np.add(input, input, where=input > 0)",
        "np.cumsum(input, 0, out=input)",
        "np.add(np.sqrt(input, out=input), 1)",
    ],
)
def test_arguments_that_write_are_refused(reference):
    """At their place, when the registry is read."""
    (found,) = check_bindings(declared(reference), frozenset())

    assert found.code == "unknown-argument"
    assert found.span is not None
    assert found.span.line == len(HEAD.splitlines())


@pytest.mark.parametrize(
    "reference",
    [
        "np.add(input, input, input)",
        "np.cumsum(input, 0, None, input)",
        "np.sum(input, 0, None, input)",
    ],
)
def test_writing_without_the_word_fails_when_it_is_run(reference, tmp_path):
    """NumPy takes `out` by position, too; a reference has nothing of NumPy that does."""
    assert list(check_bindings(declared(reference), frozenset())) == []
    (tmp_path / "double.yaml").write_text(HEAD + reference + TAIL)
    double, x = import_module(package([tmp_path])).double, np.ones(3, np.float32)

    with pytest.raises(DiagnosticError) as raised:
        double(tp.Tensor(x)).eval()

    assert [each.code for each in raised.value.diagnostics] == ["reference-failed"]
    assert x.tolist() == [1, 1, 1]


@pytest.mark.parametrize("type", [np.float32, np.int32, np.int64])
def test_what_a_reference_is_given_cannot_be_written_to(type, monkeypatch):
    """Arrays that are computed on as they are, and those that are made wider first."""

    def write(_op, input):
        input[0] = 7
        return input

    monkeypatch.setattr(execute, "_meanings", {})
    monkeypatch.setattr(execute, "reference_function", lambda _: write)
    x = np.ones(3, type)
    value = Value(TensorType(from_numpy(x.dtype), (3,)))
    negated = tp.neg(Tensor.of(value)).value

    with pytest.raises(DiagnosticError, match="read-only"):
        execute.run_operation(negated.producer, {value: x})

    assert x.tolist() == [1, 1, 1]
    assert x.flags.writeable

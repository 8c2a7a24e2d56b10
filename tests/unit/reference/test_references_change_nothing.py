"""A third party's reference cannot change what it is given, whatever words it finds for it."""

import numpy as np
import pytest

from tripybuild.documents.document import parse
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.interpreter import run_reference
from tripybuild.schema.files import OperatorFile
from tripybuild.schema.operator.elaborate import elaborate
from tripybuild.schema.snippets.snippet_scope import check_bindings
from tripybuild.schema.validate import validate

HEAD = """\
tripybuild: 1
op: double
doc: Double each value.
types:
  T: [float64]
inputs:
  input:
    type: T[*S]
    doc: The values.
outputs:
  output:
    type: T[*S]
    doc: The results.
reference: """


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
def test_writing_without_the_word_fails_when_it_is_run(reference):
    """NumPy takes `out` by position, too; inputs are read-only then."""
    operator, x = declared(reference), np.ones(3)
    assert list(check_bindings(operator, frozenset())) == []

    with pytest.raises(DiagnosticError) as raised:
        run_reference(operator, {"input": x}, {})

    assert [each.code for each in raised.value.diagnostics] == ["reference-failed"]
    assert x.tolist() == [1, 1, 1]

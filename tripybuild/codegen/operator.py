"""The files of one operator, and what it gives to the files of all."""

from collections.abc import Iterator

from tripybuild.codegen.calls import Calls
from tripybuild.codegen.composition import accepts, uses_of
from tripybuild.codegen.contribution import Contribution
from tripybuild.codegen.docs import operator_page
from tripybuild.codegen.frontend import frontend_file
from tripybuild.codegen.lowering import decomposition_file, lowering_file, reference_file
from tripybuild.codegen.methods import tensor_methods_of
from tripybuild.codegen.others import others
from tripybuild.codegen.places import BUILT_IN, DOCS, SUITES, module, place
from tripybuild.codegen.suites import suite_file
from tripybuild.codegen.trace import trace_file
from tripybuild.schema.checks import tensor_methods, uses
from tripybuild.schema.operator import Operator
from tripybuild.schema.vocabularies import ALIASES


def contribution(operator: Operator, calls: Calls) -> Contribution:
    """What an operator gives to the package that `calls` tells of."""
    is_own = operator.name in calls.own
    methods, imports = tensor_methods_of(operator) if is_own else _elsewhere(operator)
    return Contribution(
        name=operator.name,
        folder=operator.folder,
        summary=operator.doc.split("\n\n")[0],
        home=module(calls.package if is_own else BUILT_IN, "ops", operator),
        family=operator.family,
        digest=operator.digest,
        others=others(operator),
        uses=uses(operator, calls.operators),
        takes=accepts(operator),
        calls=[each.data() for each in uses_of(operator, calls.operators)],
        methods=methods,
        imports=imports,
        files=dict(_files(operator, calls)) if is_own else {},
    )


def _elsewhere(operator: Operator) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The names alone of the methods that another package gives."""
    return dict.fromkeys(tensor_methods(operator), ""), {}


def _files(operator: Operator, calls: Calls) -> Iterator[tuple[str, str]]:
    package, file = calls.package, f"{place(operator)}.py"
    yield f"{package}/ops/{file}", frontend_file(operator, calls)
    yield f"{SUITES}/{place(operator, 'test_')}.py", suite_file(operator, package)
    yield f"{DOCS}/{operator.name}.md", operator_page(operator, package)
    if operator.inline:
        return
    yield f"{package}/trace/{file}", trace_file(operator, package)
    if operator.reference is not None:
        yield f"{package}/references/{file}", reference_file(operator, package)
    for target in operator.lower:
        yield f"{package}/lowering/{target}/{file}", lowering_file(operator, target, package)
    if operator.decompose is not None and len(operator.lower) < len(ALIASES):
        yield f"{package}/decompositions/{file}", decomposition_file(operator, calls)

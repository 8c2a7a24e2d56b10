"""Package fragment of one operator: its own files, and its entries in shared files."""

from collections.abc import Iterator

from tripybuild.codegen.operators.lowering import (
    cost_file,
    decomposition_file,
    lowering_file,
    lowering_snippet,
    reference_file,
)
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.operators.public_function import frontend_file
from tripybuild.codegen.operators.reference_page import operator_page
from tripybuild.codegen.operators.signatures import tensor_methods_of
from tripybuild.codegen.operators.test_suite import suite_file
from tripybuild.codegen.operators.trace_op import trace_file
from tripybuild.codegen.package.fragment import (
    BUILT_IN,
    DOCS,
    SUITES,
    PackageFragment,
    dotted_name,
    operator_path,
)
from tripybuild.codegen.snippets.composition_check import call_forms, decomposition_calls
from tripybuild.schema.operator.checks import tensor_methods, uses
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.registry_index import OperatorEntry
from tripybuild.schema.snippets.vocabularies import ALIASES


def operator_fragment(operator: Operator, calls: CallResolver) -> PackageFragment:
    """What an operator gives to the package that `calls` tells of."""
    is_own = operator.name in calls.own
    methods, imports = tensor_methods_of(operator) if is_own else _foreign_methods(operator)
    return PackageFragment(
        name=operator.name,
        folder=operator.folder,
        summary=operator.doc.split("\n\n")[0],
        home=dotted_name(calls.package if is_own else BUILT_IN, "ops", operator),
        family=operator.families[-1][0] if operator.families else None,
        digest=operator.digest,
        others=_foreign_names(operator),
        entry=OperatorEntry.of(operator).text(),
        uses=uses(operator, calls.operators),
        takes=call_forms(operator),
        calls=[each.data() for each in decomposition_calls(operator, calls.operators)],
        methods=methods,
        imports=imports,
        files=dict(_files(operator, calls)) if is_own else {},
    )


def _foreign_methods(operator: Operator) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The names alone of the methods that another package gives."""
    return dict.fromkeys(tensor_methods(operator), ""), {}


def _foreign_names(operator: Operator) -> tuple[str, ...]:
    """The names that an operator has in other systems, as functions are called, in their order.

    Some are of functions that mean nearly the same. Overloads have one name there, and names that
    begin with an underscore are private.
    """
    found = (alias.signature.name.partition(".")[0].lower() for alias in operator.foreign)
    public = {each for each in found if not each.startswith("_")}
    return tuple(sorted({*public, *operator.aliases.names} - {operator.name}))


def _files(operator: Operator, calls: CallResolver) -> Iterator[tuple[str, str]]:
    package, file = calls.package, f"{operator_path(operator)}.py"
    yield f"{package}/ops/{file}", frontend_file(operator, calls)
    yield f"{SUITES}/{operator_path(operator, 'test_')}.py", suite_file(operator, package)
    yield f"{DOCS}/{operator.name}.md", operator_page(operator, package)
    if operator.inline:
        return
    yield f"{package}/trace/{file}", trace_file(operator, package)
    if operator.reference is not None:
        yield f"{package}/references/{file}", reference_file(operator, package)
    if (text := cost_file(operator, package)) is not None:
        yield f"{package}/costs/{file}", text
    for target in ALIASES:
        snippet = lowering_snippet(operator, target)
        if snippet is not None:
            text = lowering_file(operator, target, snippet, package)
            yield f"{package}/lowering/{target}/{file}", text
    if operator.decompose is not None:
        yield f"{package}/decompositions/{file}", decomposition_file(operator, calls)

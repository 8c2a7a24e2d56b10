"""From a registry to the text of every generated file. Pure: no disk, no clock, one order."""

from collections.abc import Iterator

from tripybuild.codegen.calls import BUILT_IN, Calls
from tripybuild.codegen.docs import index_page, operator_page
from tripybuild.codegen.frontend import frontend_file
from tripybuild.codegen.lowering import decomposition_file, lowering_file
from tripybuild.codegen.package import front_door, tensor_file
from tripybuild.codegen.places import place
from tripybuild.codegen.schemas import schema_files
from tripybuild.codegen.suites import suite_file
from tripybuild.codegen.trace import trace_file
from tripybuild.schema.load import Registry
from tripybuild.schema.operator import Operator
from tripybuild.schema.vocabularies import ALIASES

SUITES, DOCS, SCHEMAS = "suites", "docs/operators", "schemas"


def plan(registry: Registry, package: str = BUILT_IN) -> dict[str, str]:
    """All files of a generated package, by path.

    Args:
        registry: The declarations. Only its `own` operators give files; others are called.
        package: The name of the package.
    """
    own = {name: op for name, op in registry.operators.items() if name in registry.own}
    calls = Calls(registry.operators, registry.own, package)
    files: dict[str, str] = {}
    for operator in own.values():
        files.update(_operator(operator, calls))
    files[f"{package}/__init__.py"] = front_door(package, own)
    files[f"{package}/py.typed"] = ""
    if package == BUILT_IN:
        files[f"{package}/tensor.py"] = tensor_file(own)
    for folder in sorted(_folders(files)):
        files.setdefault(f"{folder}/__init__.py", "")
    for operator in own.values():
        files[f"{SUITES}/{place(operator, 'test_')}.py"] = suite_file(operator, package)
        files[f"{DOCS}/{operator.name}.md"] = operator_page(operator, package)
    files[f"{DOCS}/index.md"] = index_page(own)
    if package == BUILT_IN:
        files.update(schema_files())
    return dict(sorted(files.items()))


def owned(package: str = BUILT_IN) -> tuple[str, ...]:
    """The folders that hold nothing but what `plan` gives; anything else in them is stale."""
    return (package, SUITES, DOCS, *([SCHEMAS] if package == BUILT_IN else []))


def _operator(operator: Operator, calls: Calls) -> Iterator[tuple[str, str]]:
    package, file = calls.package, f"{place(operator)}.py"
    yield f"{package}/ops/{file}", frontend_file(operator, calls)
    if operator.inline:
        return
    yield f"{package}/trace/{file}", trace_file(operator)
    for target in operator.lower:
        yield f"{package}/lowering/{target}/{file}", lowering_file(operator, target, package)
    if operator.decompose is not None and len(operator.lower) < len(ALIASES):
        yield f"{package}/decompositions/{file}", decomposition_file(operator, calls)


def _folders(files: dict[str, str]) -> set[str]:
    """Every folder between the package and its files: each is a package of its own."""
    found = set()
    for path in files:
        parts = path.split("/")[:-1]
        found |= {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return found

"""Package fragment of one module: its own files, and its entries in shared files."""

from collections.abc import Iterator

from tripybuild.codegen.modules.module_class import ModuleClass, class_file
from tripybuild.codegen.modules.module_page import module_page
from tripybuild.codegen.modules.module_suite import module_suite
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.fragment import BUILT_IN, MODULE_DOCS, SUITES, PackageFragment
from tripybuild.codegen.python.file_text import Imports
from tripybuild.codegen.snippets.composition_check import step_calls
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.names import free_names
from tripybuild.schema import load
from tripybuild.schema.model.model import load_module
from tripybuild.schema.operator.part import Part
from tripybuild.schema.snippets.extents import check_module_bounds
from tripybuild.schema.snippets.module_scope import check_module_scope

# What a part of a model can have, and a Python object cannot say.
UNSAID = ("constants", "state", "next")


def module_fragment(module: load.ModuleDeclaration, calls: CallResolver) -> PackageFragment:
    """What a module gives to the package that `calls` tells of.

    Raises:
        DiagnosticError: With all that is wrong with its file.
    """
    part, found = load_module(module.document, module.file)
    found += _unsayable(part)
    operators, modules = frozenset(calls.operators), frozenset(calls.modules)
    found += [] if found else check_module_scope(part, operators, modules)
    found += [] if found else check_module_bounds(part, operators)
    if found:
        raise DiagnosticError(*found)
    is_own = module.name in calls.own
    return PackageFragment(
        name=module.name,
        folder=module.folder,
        summary=part.doc.split("\n\n")[0],
        home=f"{calls.package if is_own else BUILT_IN}.modules.{module.name.lower()}",
        uses=(),
        calls=[each.data() for each in step_calls(part, calls.operators)],
        methods={},
        imports={},
        files=dict(_files(module, part, calls)) if is_own else {},
        is_module=True,
    )


def _unsayable(part: Part) -> Iterator[Diagnostic]:
    """What a part of a model can be, and a class cannot."""
    for snippet in part.parts.values():
        if part.name in free_names(snippet.program):
            yield Diagnostic("cyclic-parts", f"`{part.name}` contains itself", snippet.span())
    for key in UNSAID:
        if getattr(part, key):
            message = f"a module of a registry has no `{key}:`"
            hint = "it becomes a Python class, too; define the part in the model's own file"
            span = part.document.span((key,), key=True)
            yield Diagnostic("wrong-value", message, span, hint=hint)


def _files(
    module: load.ModuleDeclaration, part: Part, calls: CallResolver
) -> Iterator[tuple[str, str]]:
    name = module.name.lower()
    declared = ModuleClass(part, module, calls, Imports())
    yield f"{calls.package}/modules/{name}.py", class_file(declared)
    # No two test files have one name, and an operator may be called as the module is.
    yield f"{SUITES}/modules/test_module_{name}.py", module_suite(declared, module.file.examples)
    yield f"{MODULE_DOCS}/{module.name}.md", module_page(declared)

"""Emitter of a module's suite: the class must compute what a specification computes."""

from collections.abc import Mapping, Sequence

from tripybuild.codegen.modules.module_class import ModuleClass
from tripybuild.codegen.modules.module_constructor import FLOATS
from tripybuild.codegen.python.expressions import quote
from tripybuild.codegen.python.file_text import Imports, header
from tripybuild.codegen.python.layout import Doc, bracket_list, render
from tripybuild.schema.files import ModuleExampleEntry


def module_suite(module: ModuleClass, examples: Sequence[ModuleExampleEntry]) -> str:
    """The file of one suite.

    ```python
    SUITE = ModuleSuite("ops_registry/modules/linear.yaml", "tripyapi", __file__)


    @pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
    def test_values(dtype: str) -> None:
        "The class computes what the module computes in a specification."
        SUITE.check_values(dtype)
    ```
    """
    variables = [size.variable for size in module.part.parameters if size.variable is not None]
    by_dtype = bool(variables)
    chosen = [n for v in variables[:1] for n in module.part.allowed.get(v, FLOATS)]
    tests = [_test(question, about, by_dtype=by_dtype) for question, about in _QUESTIONS.items()]
    imports = Imports()
    imports.name("tripybuild.testing", "ModuleSuite")
    if by_dtype or examples:
        imports.module("pytest")
    lines = [
        header(module.path),
        imports.text(module.calls.package),
        "",
        f"SUITE = ModuleSuite({quote(module.path)}, {quote(module.calls.package)}, __file__)",
        *([f"DTYPES = {chosen}".replace("'", '"')] if by_dtype else []),
        *([render(["EXAMPLES = ", _example_list(examples)])] if examples else []),
    ]
    if examples:
        tests.append(_EXAMPLE)
    return "\n\n\n".join(["\n".join(lines), *tests]) + "\n"


# The test of the calls that a declaration says fail.
_EXAMPLE = '''\
@pytest.mark.parametrize("index", range(len(EXAMPLES)), ids=EXAMPLES)
def test_example(index: int) -> None:
    """What an example breaks is said, in Python and in a specification."""
    SUITE.check_example(index)'''


def _example_list(examples: Sequence[ModuleExampleEntry]) -> Doc:
    return bracket_list("[", [quote(f"{each.call} fails {each.fails}") for each in examples], "]")


_QUESTIONS: Mapping[str, str] = {
    "weights": "The parameters are the weights of a specification: names, dtypes, shapes.",
    "values": "The class computes what the module computes in a specification.",
}


def _test(question: str, about: str, *, by_dtype: bool) -> str:
    decorator = '@pytest.mark.parametrize("dtype", DTYPES)\n' if by_dtype else ""
    parameter, argument = ("dtype: str", "dtype") if by_dtype else ("", "")
    return (
        f"{decorator}def test_{question}({parameter}) -> None:\n"
        f'    """{about}"""\n'
        f"    SUITE.check_{question}({argument})"
    )

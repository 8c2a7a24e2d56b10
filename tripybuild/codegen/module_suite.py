"""The suite of a module: its class computes what the module computes in a specification."""

from collections.abc import Mapping

from tripybuild.codegen.module_class import Module
from tripybuild.codegen.text import header

_FLOATS = ["float32", "float16", "bfloat16"]


def module_suite(module: Module) -> str:
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
    chosen = [n for v in variables[:1] for n in module.part.allowed.get(v, _FLOATS)]
    tests = [_test(question, about, by_dtype=by_dtype) for question, about in _QUESTIONS.items()]
    lines = [
        header(module.path),
        *(["import pytest", ""] if by_dtype else []),
        "from tripybuild.suite import ModuleSuite",
        "",
        f'SUITE = ModuleSuite("{module.path}", "{module.calls.package}", __file__)',
        *([f"DTYPES = {chosen}".replace("'", '"')] if by_dtype else []),
    ]
    return "\n\n\n".join(["\n".join(lines), *tests]) + "\n"


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

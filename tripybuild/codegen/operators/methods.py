"""Emitter of Tensor methods that call operators."""

from tripybuild.codegen.operators.arguments import AnnotationNames, annotation, parameters
from tripybuild.codegen.operators.results import result_annotation
from tripybuild.codegen.python.file_text import Imports, docstring
from tripybuild.codegen.python.layout import Doc, call, render
from tripybuild.schema.operator.checks import tensor_methods
from tripybuild.schema.operator.operator import Operator

_INSIDE = AnnotationNames("Tensor", "frontend.IntLike")  # `tensor.py` imports the module as a whole


def tensor_methods_of(operator: Operator) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The text of each method by its name, and the imports that they need.

    ```python
        def __neg__(self) -> "Tensor":
            return tp.neg(self)
    ```
    """
    imports = Imports()
    methods = {name: _method(name, operator, imports) for name in tensor_methods(operator)}
    needed = {module: sorted(names) for module, names in sorted(imports.names.items())}
    return methods, needed | {module: [] for module in sorted(imports.modules)}


def _method(method: str, operator: Operator, imports: Imports) -> str:
    chosen = parameters(operator, imports)
    names = [p.name for p in chosen]
    own = names[-1] if method == operator.aliases.reflected else names[0]
    given: list[Doc] = ["self"]
    for parameter in chosen:
        if parameter.name != own:
            text = annotation(parameter, _INSIDE, imports)
            given.append(parameter.declaration(f'"{text}"' if "Tensor" in text else text))
    arguments: list[Doc] = ["self" if name == own else name for name in names]
    result = result_annotation(operator)
    override = "  # type: ignore[override]" if method in ("__eq__", "__ne__") else ""
    signature = render([call(f"def {method}", given), f' -> "{result}":'], 4)
    summary = " ".join(operator.doc.split("\n\n")[0].split())
    lines = [f"    {signature}{override}"]
    if not method.startswith("__"):
        lines.append(docstring(summary, 8))
    lines.append("        " + render(["return ", call(f"tp.{operator.name}", arguments)], 8))
    return "\n".join(lines)

"""Signatures of public functions and Tensor methods: one `def`, or one overload per call form."""

from tripybuild.codegen.operators.arguments import (
    PUBLIC,
    AnnotationNames,
    SignatureParameter,
    annotation,
    parameters,
)
from tripybuild.codegen.python.file_text import Body, Imports, docstring
from tripybuild.codegen.python.layout import Doc, bracket_list, call, render
from tripybuild.schema.operator.checks import tensor_methods
from tripybuild.schema.operator.operator import Operator
from tripybuild.types.patterns import LikePattern, TensorPattern, options

_INSIDE = AnnotationNames("Tensor", "frontend.IntLike")  # `tensor.py` imports the module as a whole


def returns_several(operator: Operator) -> bool:
    """Whether a call gives several tensors, or a number of them that can be one."""
    return len(operator.outputs) > 1 or returns_any_number(operator)


def returns_any_number(operator: Operator) -> bool:
    """Whether how many tensors a call gives depends on its arguments."""
    return any(operator.any_number(output) for output in operator.outputs.values())


def returns_single(operator: Operator) -> bool:
    """Whether one tensor of any number is given as itself: `T[*S] | list[T[*S]]`, `like(state)`."""
    return returns_any_number(operator) and any(
        isinstance(option, TensorPattern | LikePattern)
        for output in operator.outputs.values()
        if operator.any_number(output)
        for option in options(output.pattern)
    )


def result_annotation(operator: Operator) -> str:
    """`Tensor`, `tuple[Tensor, Tensor]`, `tuple[Tensor, ...]`, or `Any` where it depends."""
    if not returns_several(operator):
        return "Tensor"
    if returns_single(operator):
        return "Any"
    if returns_any_number(operator):
        return "tuple[Tensor, ...]"
    return f"tuple[{', '.join('Tensor' for _ in operator.outputs)}]"


def signature_lines(
    operator: Operator, chosen: list[SignatureParameter], imports: Imports
) -> list[str]:
    """The lines in front of the docstring.

    ```python
    @overload
    def arange(stop: float, dtype: dtypes.dtype = dtypes.float32) -> Tensor: ...


    @overload
    def arange(start: float, stop: float, ...) -> Tensor: ...


    def arange(*_given: Any, **_named: Any) -> Tensor:
    ```
    """
    imports.name("tripyapi.tensor", "Tensor")
    start, returns = f"def {operator.name}", result_annotation(operator)
    if returns == "Any":
        imports.name("typing", "Any")
    if len(operator.signatures) < 2:
        return [signature(start, chosen, imports, f" -> {returns}:")]
    imports.name("typing", "Any", "overload")
    lines = []
    for way in ways(operator, chosen):
        lines += ["@overload", signature(start, way, imports, f" -> {returns}: ..."), "", ""]
    return [*lines, f"{start}(*_given: Any, **_named: Any) -> {returns}:"]


def bind_arguments(operator: Operator, chosen: list[SignatureParameter], body: Body) -> None:
    """Write the statement that finds the signature which a call fits.

    ```python
    start, stop, step = bind(
        "arange", _given, _named, ("stop", "start, stop, step?"), start=0, stop=None, step=1
    )
    ```
    """
    if len(operator.signatures) < 2:
        return
    body.imports.name("tripybuild.frontend", "bind")
    forms: list[Doc] = [f'"{", ".join(map(_form, way))}"' for way in ways(operator, chosen)]
    defaults: list[Doc] = [[f"{p.name}=", p.default or "None"] for p in chosen]
    listed = bracket_list("(", forms, ")", comma=True)
    arguments = [f'"{operator.name}"', "_given", "_named", listed, *defaults]
    names = ", ".join(p.name for p in chosen)
    body.add(f"{names}{',' if len(chosen) == 1 else ''} = ", call("bind", arguments))


def signature(start: str, chosen: list[SignatureParameter], imports: Imports, end: str) -> str:
    """`tp.softmax(input: Tensor, dim: int = -1) -> Tensor`."""
    given = [_declaration(parameter, imports) for parameter in chosen]
    return render([call(start, given), end])


def _declaration(parameter: SignatureParameter, imports: Imports) -> Doc:
    """`dim: int = -1`, or `**fields: Any`."""
    type = annotation(parameter, PUBLIC, imports)
    return f"**{parameter.name}: {type}" if parameter.keywords else parameter.declaration(type)


def _form(parameter: SignatureParameter) -> str:
    """`step?`, `shape#`: a parameter of a way to call, as `bind` reads it."""
    kinds = [getattr(form, "kind", "") for form in options(parameter.argument.pattern)]
    whole = set(kinds) <= {"int", "size"}
    return f"{parameter.name}{'#' * whole}{'' if parameter.default is None else '?'}"


def ways(operator: Operator, chosen: list[SignatureParameter]) -> list[list[SignatureParameter]]:
    """The parameters of each way to call an operator."""
    by_name = {parameter.name: parameter for parameter in chosen}
    return [_way(operator, [by_name[name] for name in names]) for names in operator.signatures]


def _way(operator: Operator, chosen: list[SignatureParameter]) -> list[SignatureParameter]:
    """The parameters of one way to call.

    Where the point of the way is the argument, None is no answer; and what stands before a required
    argument is required.
    """
    result: list[SignatureParameter] = []
    for parameter in reversed(chosen):
        everywhere = all(parameter.name in names for names in operator.signatures)
        before_required = bool(result) and result[0].default is None
        required = before_required or (parameter.nullable and not everywhere)
        result.insert(0, parameter.without_default() if required else parameter)
    return result


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

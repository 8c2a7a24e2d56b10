"""The pages of the operator reference: plain Markdown that reads well as text."""

from collections.abc import Iterator, Mapping, Sequence

from tripybuild.codegen.arguments import Parameter, annotation, parameters
from tripybuild.codegen.calls import BUILT_IN
from tripybuild.codegen.frontend import result_annotation
from tripybuild.codegen.layout import Doc, call, render
from tripybuild.codegen.text import Imports
from tripybuild.schema.checks import tensor_methods
from tripybuild.schema.operator import Attribute, Operator, Snippet

Section = tuple[str, list[str]]


def operator_page(operator: Operator, package: str) -> str:
    """The page of one operator.

    ````markdown
    # softmax

    ```python
    tp.softmax(input: Tensor, dim: int | None = None) -> Tensor
    ```

    Rescale a tensor along one dimension so that its values are positive and sum to one.

    ## Arguments

    | Name | Type | Default | Meaning |
    |---|---|---|---|
    | `input` | `T[*S]` | | The values to rescale. |
    ````
    """
    blocks = [f"# {operator.name}", _code(_signatures(operator, package)), operator.doc.strip()]
    if operator.deprecated is not None:
        blocks.append(f"**Deprecated**: {operator.deprecated}")
    for title, content in _sections(operator):
        if content:
            blocks += [f"## {title}", *content]
    blocks.append(
        f"Declared in `{operator.path}`" + (f" since {operator.since}." if operator.since else ".")
    )
    return "\n\n".join(blocks) + "\n"


def _sections(operator: Operator) -> Iterator[Section]:
    arguments = [_argument(parameter) for parameter in parameters(operator, Imports())]
    yield "Arguments", _table(("Name", "Type", "Default", "Meaning"), arguments)
    results = [(f"`{o.name}`", f"`{o.pattern}`", o.doc) for o in operator.outputs.values()]
    yield "Results", _table(("Name", "Type", "Meaning"), results)
    yield (
        "Dtypes",
        _list(f"`{name}`: {', '.join(map(str, types))}" for name, types in operator.types.items()),
    )
    yield "Laws", _list(_laws(operator))
    yield (
        "Sizes",
        _list(f"`{name} = {_inline(snippet)}`" for name, snippet in operator.infer.items()),
    )
    yield "Examples", _examples(operator)
    yield (
        "Meaning",
        [
            block
            for name, s in _meanings(operator)
            for block in (f"As a {name}:", _code([s.text.strip()]))
        ],
    )
    yield (
        "Lowerings",
        [
            block
            for name, s in operator.lower.items()
            for block in (f"To `{name}`:", _code([s.text.strip()]))
        ],
    )
    yield "Targets that differ", _list(_facts(operator))
    yield "Elsewhere", _list(_names(operator))


def _signatures(operator: Operator, package: str) -> list[str]:
    chosen = parameters(operator, Imports())
    by_name = {parameter.name: parameter for parameter in chosen}
    name = f"{'tp' if package == BUILT_IN else package}.{operator.name}"
    ways = [[by_name[n] for n in way] for way in operator.signatures] or [chosen]
    result = result_annotation(operator)
    return [render([call(name, [_parameter(p) for p in way]), f" -> {result}"]) for way in ways]


def _parameter(parameter: Parameter) -> Doc:
    text = annotation(parameter, "Tensor", Imports()).replace("Size", "IntLike")
    default: Doc = "" if parameter.default is None else [" = ", parameter.default]
    return [f"{parameter.name}: {text}", default]


def _argument(parameter: Parameter) -> tuple[str, ...]:
    argument = parameter.argument
    default = ""
    if isinstance(argument, Attribute):
        default = f"`{_inline(argument.default)}`" if argument.default is not None else ""
    elif argument.optional:
        default = "`None`"
    return f"`{argument.name}`", f"`{argument.pattern}`", default, argument.doc


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table; a bar inside of a cell is escaped."""
    if not rows:
        return []
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return ["\n".join(lines)]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _list(items: Iterator[str]) -> list[str]:
    text = "\n".join(f"- {' '.join(item.split())}" for item in items)
    return [text] if text else []


def _code(lines: Sequence[str]) -> str:
    return "\n".join(["```python", *lines, "```"])


def _inline(snippet: Snippet) -> str:
    return " ".join(snippet.text.split())


def _laws(operator: Operator) -> Iterator[str]:
    for law in operator.laws.values():
        text = f"`{operator.name}/{law.name}`: `{_inline(law.that)}`"
        yield text if law.message is None else f"{text}, or: {law.message}"


def _examples(operator: Operator) -> list[str]:
    """Each is run by the operator's suite."""
    lines = []
    for example in operator.examples:
        lines.append(_inline(example.call))
        if example.gives is not None:
            lines.append(f"# gives {_inline(example.gives)}")
        else:
            lines.append(f"# fails with {operator.name}/{example.fails}")
    return [_code(lines)] if lines else []


def _meanings(operator: Operator) -> Iterator[tuple[str, Snippet]]:
    if operator.decompose is not None:
        yield "composition", operator.decompose
    if operator.reference is not None:
        yield "reference in NumPy", operator.reference


def _facts(operator: Operator) -> Iterator[str]:
    for target, facts in operator.targets.items():
        for name, refusal in facts.refuses.items():
            yield f"`{target}` refuses `{name}` (`{refusal.when}`): {refusal.why}"
        for name, build in facts.builds.items():
            yield f"`{target}` also builds `{name}` (`{build.when}`): {build.why}"


def _names(operator: Operator) -> Iterator[str]:
    methods = tensor_methods(operator)
    if methods:
        yield "Tensor: " + ", ".join(f"`{method}`" for method in methods)
    if operator.aliases.onnx is not None:
        yield f"ONNX: `{operator.aliases.onnx}`"
    if operator.aliases.aten is not None:
        yield f"ATen: `{operator.aliases.aten}`"


def index_page(operators: Mapping[str, Operator]) -> str:
    """All operators by folder, each with its first sentence.

    ```markdown
    ## nn

    - [softmax](softmax.md): Rescale a tensor along one dimension ...
    ```
    """
    folders: dict[str, list[Operator]] = {}
    for operator in operators.values():
        folders.setdefault(operator.folder, []).append(operator)
    blocks = ["# Operators", f"{len(operators)} operators, by folder of the registry."]
    for folder, members in sorted(folders.items()):
        blocks.append(f"## {folder or 'others'}")
        blocks += _list(f"[{o.name}]({o.name}.md): {o.doc.split(chr(10) * 2)[0]}" for o in members)
    return "\n\n".join(blocks) + "\n"

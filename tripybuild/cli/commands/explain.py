"""`tripybuild explain`: describes an operator and its lowerings, or an error code."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import table_lines
from tripybuild.cli.options import Registries
from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest

if TYPE_CHECKING:
    from tripybuild.schema.load import Registry
    from tripybuild.schema.operator.operator import Operator, Requirement
    from tripybuild.schema.registry_files import ModuleDeclaration


@command
def explain(
    name: Annotated[
        str, typer.Argument(metavar="OP|CODE", help="An operator, a module, or an error code.")
    ],
    *,
    registry: Registries = None,
    package: Annotated[
        str,
        typer.Option(
            "--package", metavar="NAME", help="The package name of `--registry` for `gen`."
        ),
    ] = "PACKAGE",
) -> CommandResult:
    """Explain an operator, a module or an error code."""
    if name in CODES:
        data = {"kind": "code", "code": name, "text": CODES[name]}
        return CommandResult(f"{name}\n\n  {CODES[name]}", data=data)
    from tripybuild.schema.load import load_registries  # noqa: PLC0415

    known = load_registries(registry or [])
    from tripybuild.schema.operator.checks import failures  # noqa: PLC0415

    operator, _, part = name.partition("/")
    if part and operator in known.operators:
        declared = known.operators[operator]
        if part in declared.laws:
            return _law(declared, declared.laws[part])
        if part in failures(declared):
            return _part(declared, part)
    if part and operator in known.modules:
        found = _part_of_module(known.modules[operator], part)
        if found is not None:
            return found
    if name in known.operators:
        own = bool(registry) and name in known.own
        return _operator(known, known.operators[name], package if own else BUILT_IN)
    if name in known.modules:
        return _module(known.modules[name])
    raise DiagnosticError(_unknown(name, known))


def _unknown(name: str, known: "Registry") -> Diagnostic:
    from tripybuild.schema.operator.checks import failures  # noqa: PLC0415

    operator, _, law = name.partition("/")
    names = [*known.operators, *known.modules, *CODES]
    if law and operator in known.operators:
        names = [f"{operator}/{each}" for each in sorted(failures(known.operators[operator]))]
    if law and operator in known.modules:
        file = known.modules[operator].file
        names = [f"{operator}/{each}" for each in sorted({*file.sizes, *file.requires})]
    near = suggest(name, names)
    message = f"`{name}` is not an operator, a module or an error code"
    hint = f"did you mean `{near}`?" if near else "`tripybuild explain softmax` shows an operator"
    return Diagnostic("unknown-operator", message, hint=hint)


def _law(operator: "Operator", law: "Requirement") -> CommandResult:
    from tripybuild.schema.operator.families import source  # noqa: PLC0415

    place = f"{source(operator, law.that)}:{law.that.line}"
    broken = [e.call.text for e in operator.examples if e.fails == law.name]
    return _law_at(operator.name, law, place, broken)


def _law_at(owner: str, law: "Requirement", place: str, broken: Sequence[str]) -> CommandResult:
    lines = [f"{owner}/{law.name}  {place}", "", f"  requires {_one_line(law.that.text)}"]
    if law.message:
        lines.append(f"  {law.message}")
    lines += ["", *(f"  broken by {call}" for call in broken)] if broken else []
    data = {
        "kind": "law",
        "operator": owner,
        "law": law.name,
        "requires": law.that.text,
        "place": place,
        "broken_by": broken,
    }
    return CommandResult("\n".join(lines), data=data)


def _part(operator: "Operator", part: str) -> CommandResult:
    """An argument or a type variable: what must be true of it stands in its type."""
    if part in operator.types:
        wanted = f"one of {', '.join(map(str, operator.types[part]))}"
        about = "The dtype that the tensors of this type variable have in common."
    else:
        groups = (operator.inputs, operator.attributes, operator.outputs)
        entry = next(group[part] for group in groups if part in group)
        wanted, about = str(entry.pattern), entry.doc
    broken = [example.call.text for example in operator.examples if example.fails == part]
    return _part_at((operator.name, part), operator.path, wanted, about, broken)


def _part_of_module(module: "ModuleDeclaration", name: str) -> CommandResult | None:
    """A law about the sizes of a module, or a size."""
    from tripybuild.schema.model.model import load_module  # noqa: PLC0415
    from tripybuild.schema.operator.families import source  # noqa: PLC0415

    part, _ = load_module(module.document, module.file)
    broken = [example.call for example in module.file.examples if example.fails == name]
    if name in part.laws:
        law = part.laws[name]
        return _law_at(part.name, law, f"{source(module, law.that)}:{law.that.line}", broken)
    for size in part.parameters:
        if size.name == name:
            about = size.doc or "A size."
            return _part_at((part.name, name), module.path, str(size.pattern), about, broken)
    return None


def _part_at(
    names: tuple[str, str], path: str, wanted: str, about: str, broken: Sequence[str]
) -> CommandResult:
    owner, part = names
    lines = [f"{owner}/{part}  {path}", "", f"  {part}: {wanted}", f"  {about}"]
    lines += ["", *(f"  broken by {call}" for call in broken)] if broken else []
    data = {"kind": "part", "operator": owner, "part": part, "type": wanted, "doc": about}
    return CommandResult("\n".join(lines), data={**data, "broken_by": broken})


def _module(module: "ModuleDeclaration") -> CommandResult:
    file = module.file
    lines = [f"{module.name}  {module.path}", "", *_indent_lines(file.doc)]
    sizes = list(file.sizes)
    lines += _table("sizes", [(size, "") for size in sizes])
    inputs, weights = [
        {name: each if isinstance(each, str) else each.type for name, each in entries.items()}
        for entries in (file.inputs, file.weights)
    ]
    lines += _table("inputs", inputs.items())
    lines += _table("weights", weights.items())
    data = {
        "kind": "module",
        "module": module.name,
        "path": module.path,
        "doc": file.doc.strip(),
        "sizes": sizes,
        "inputs": inputs,
        "weights": weights,
    }
    return CommandResult("\n".join(lines), data=data)


def _operator(known: "Registry", operator: "Operator", package: str) -> CommandResult:
    from tripybuild.schema.operator.checks import costs  # noqa: PLC0415

    signature = _signature(operator)
    generated = _generated_files(known, operator, package)
    ways = dict(_engine_paths(known, operator))
    lines = [f"{operator.name}  {operator.path}", "", f"  {signature}"]
    lines += [f"  {name}: {', '.join(map(str, types))}" for name, types in operator.types.items()]
    lines += ["", *_indent_lines(operator.doc)]
    arguments = [(each.name, each.doc) for each in operator.arguments()]
    laws = {law.name: _one_line(law.that.text) for law in operator.laws.values()}
    lines += _table("arguments", arguments)
    lines += _table("laws", laws.items())
    lines += _blocks("engines", ways)
    lines += _table("cost", costs(operator).items())
    lines += _table("used by", [(user, "") for user in _users(known, operator)])
    lines += _table("generated", [(path, "") for path in generated])
    data = {
        "kind": "operator",
        "operator": operator.name,
        "path": operator.path,
        "signature": signature,
        "doc": operator.doc,
        "types": {name: list(map(str, types)) for name, types in operator.types.items()},
        "laws": laws,
        "engines": ways,
        "cost": costs(operator),
        "used_by": _users(known, operator),
        "generated": generated,
    }
    return CommandResult("\n".join(lines), data=data)


def _signature(operator: "Operator") -> str:
    arguments = []
    for each in operator.arguments():
        default = getattr(each, "default", None)
        given = f" = {_one_line(default.text)}" if default is not None else ""
        input = operator.inputs.get(each.name)
        given = f" = {input.absent}" if input is not None and input.optional else given
        arguments.append(f"{each.name}: {each.pattern}{given}")
    outputs = ", ".join(f"{each.name}: {each.pattern}" for each in operator.outputs.values())
    return f"{operator.name}({', '.join(arguments)}) -> {outputs}"


def _engine_paths(known: "Registry", operator: "Operator") -> Iterator[tuple[str, str]]:
    """How each engine gets the operator: by a snippet of its own, or through other operators."""
    from tripybuild.schema.operator.checks import ENGINES, own_snippet, uses  # noqa: PLC0415

    through = ", ".join(dict.fromkeys(uses(operator, known.operators)))
    for engine in ENGINES:
        own = own_snippet(operator, engine)
        if own is not None:
            yield engine, own.strip()
        elif operator.decompose is not None:
            yield engine, f"through {through or 'its decomposition'}"
        else:
            yield engine, "refused"


def _users(known: "Registry", operator: "Operator") -> list[str]:
    """The operators that are decomposed into this one."""
    from tripybuild.schema.operator.checks import uses  # noqa: PLC0415

    others = known.operators.values()
    return [each.name for each in others if operator.name in uses(each, known.operators)]


def _generated_files(known: "Registry", operator: "Operator", package: str) -> list[str]:
    """The files that only this operator gives, below the folder of the package."""
    from tripybuild.codegen.operators.operator import operator_fragment  # noqa: PLC0415
    from tripybuild.codegen.operators.operator_calls import CallResolver  # noqa: PLC0415

    calls = CallResolver(known.operators, known.own | {operator.name}, package)
    return sorted(operator_fragment(operator, calls).files)


def _table(title: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    return table_lines(title, {name: _one_line(text) for name, text in rows})


def _blocks(title: str, texts: Mapping[str, str]) -> list[str]:
    """Texts under their names: a short one beside it, a longer one below."""
    width = max(map(len, texts))
    lines = ["", title]
    for name, text in texts.items():
        if "\n" in text:
            lines += [f"  {name}", *(f"    {line}".rstrip() for line in text.splitlines())]
        else:
            lines.append(f"  {name.ljust(width)}  {text}")
    return lines


def _indent_lines(text: str) -> list[str]:
    return [f"  {line}".rstrip() for line in text.strip().splitlines()]


def _one_line(text: str) -> str:
    """A short snippet on one line."""
    return " ".join(text.split())

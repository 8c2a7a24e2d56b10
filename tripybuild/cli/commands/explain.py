"""`tripybuild explain`: describes operators, modules, families, keys, functions, error codes.

`tripybuild schema` says where the schemas are that tell editors the same of keys.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import table_lines
from tripybuild.cli.options import Registries
from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.process import paths

if TYPE_CHECKING:
    from tripybuild.manual.topics import Manual
    from tripybuild.schema.load import Registry
    from tripybuild.schema.operator.operator import Operator, Requirement
    from tripybuild.schema.registry_files import ModuleDeclaration


@command
def explain(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="What to explain; all names without it."),
    ] = None,
    *,
    registry: Registries = None,
    package: Annotated[
        str,
        typer.Option(
            "--package", metavar="NAME", help="The package name of `--registry` for `gen`."
        ),
    ] = "PACKAGE",
) -> CommandResult:
    """Explain operators, modules, families, keys, functions and codes."""
    if name in CODES:
        return _code(name)
    from tripybuild.manual.topics import Manual  # noqa: PLC0415

    manual = Manual(tuple(registry or ()))
    if name is None:
        shown = manual.overview()
        return CommandResult(shown.text, data=shown.data)
    asked, _, plain = name.rpartition(":")
    kinds = manual.kinds_of(plain)
    if asked:
        kinds = [each for each in kinds if each == asked]
    kind = kinds[0] if kinds else "operator" if "/" in plain and not asked else None
    if kind is None:
        raise DiagnosticError(_unknown(name, manual))
    if kind == "code":
        return _code(plain)
    if kind in manual.kinds:
        shown = manual.topic(kind, plain)
        found = CommandResult(shown.text, data=shown.data)
    else:
        found = _declared(plain, manual, package)
    return _with_others(found, [f"{each}:{plain}" for each in kinds[1:]])


@command
def show_schemas(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="KIND|COMMAND",
            help="The kind of file, or the command whose `--json` is meant; all without it.",
        ),
    ] = None,
) -> CommandResult:
    """Print the path of a JSON schema: of files, or of answers."""
    files, answers = _schemas(paths.schemas()), _schemas(paths.schemas() / "answers")
    if kind is None:
        titles = {"schemas of files": files, "schemas of what commands answer with --json": answers}
        lines = [line for title, found in titles.items() for line in table_lines(title, found)]
        return CommandResult("\n".join(lines).strip(), data={"schemas": files, "answers": answers})
    for name, found in (("schemas", files), ("answers", answers)):
        if kind in found:
            return CommandResult(found[kind], data={name: {kind: found[kind]}})
    near = suggest(kind, [*files, *answers])
    hint = f"did you mean `{near}`?" if near else "`tripybuild schema` lists all of them"
    message = f"there is no schema of `{kind}` files, and none of such answers"
    raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))


def _schemas(folder: Path) -> dict[str, str]:
    return {each.stem: str(each) for each in sorted(folder.glob("*.json"))}


def _with_others(found: CommandResult, others: Sequence[str]) -> CommandResult:
    """What else has the name, and how to ask for it."""
    if not others:
        return found
    lines = [f"  tripybuild explain {each}" for each in others]
    text = "\n".join([found.text, "", "something else has this name, too", *lines])
    return CommandResult(text, data={**found.data, "others": list(others)})


def _code(name: str) -> CommandResult:
    from tripybuild.cli.code_pages import read_page  # noqa: PLC0415 - PyYAML

    page = read_page(name)
    data: dict[str, object] = {"kind": "code", "code": name, "text": page.meaning}
    data["repair"] = page.repair
    if page.cause is not None:
        data["cause"] = page.cause
    if page.command is not None:
        data["example"] = {"command": page.command, "files": page.files}
    if page.then is not None:
        data["repaired"] = {"command": page.then, "files": page.repaired}
    return CommandResult("\n".join(page.lines()), data=data)


def _declared(name: str, manual: "Manual", package: str) -> CommandResult:
    """An operator or a module, or a part of one: `softmax/dim`."""
    from tripybuild.packages.builtin import builtin_registry  # noqa: PLC0415
    from tripybuild.schema.load import load_registries  # noqa: PLC0415
    from tripybuild.schema.operator.checks import failures  # noqa: PLC0415

    known = load_registries(manual.added) if manual.added else builtin_registry()
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
        own = bool(manual.added) and name in known.own
        users = _users(known, name)
        return _operator(known, known.operators[name], package if own else BUILT_IN, users)
    if name in known.modules:
        return _module(known.modules[name])
    raise DiagnosticError(_unknown_part(name, known, manual))


def _unknown_part(name: str, known: "Registry", manual: "Manual") -> Diagnostic:
    from tripybuild.schema.operator.checks import failures  # noqa: PLC0415

    operator = name.partition("/")[0]
    if operator in known.operators:
        names = [f"{operator}/{each}" for each in sorted(failures(known.operators[operator]))]
    elif operator in known.modules:
        file = known.modules[operator].file
        names = [f"{operator}/{each}" for each in sorted({*file.sizes, *file.requires})]
    else:
        return _unknown(name, manual)
    return _unknown_of(name, names)


def _unknown(name: str, manual: "Manual") -> Diagnostic:
    from tripybuild.manual.topics import KINDS  # noqa: PLC0415

    return _unknown_of(name, [each for kind in KINDS for each in manual.names(kind)])


def _unknown_of(name: str, names: Sequence[str]) -> Diagnostic:
    near = suggest(name, names)
    message = f"nothing is called `{name}`"
    if name in _schemas(paths.schemas() / "answers"):
        hint = (
            f"`tripybuild {name} --help` explains the command, `tripybuild schema {name}` its JSON"
        )
        return Diagnostic("unknown-operator", message, hint=hint)
    hint = f"did you mean `{near}`?" if near else "`tripybuild explain` lists what can be asked"
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


def _operator(
    known: "Registry", operator: "Operator", package: str, users: Sequence[str]
) -> CommandResult:
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
    lines += _table("used by", [(user, "") for user in users])
    lines += _table("generated", [(path, "") for path in generated])
    data = {
        "kind": "operator",
        "operator": operator.name,
        "path": operator.path,
        "signature": signature,
        "doc": operator.doc,
        "arguments": [_argument(operator, each) for each in operator.arguments()],
        "outputs": [
            {"name": each.name, "type": str(each.pattern), "text": each.doc}
            for each in operator.outputs.values()
        ],
        "types": {name: list(map(str, types)) for name, types in operator.types.items()},
        "laws": laws,
        "engines": ways,
        "cost": costs(operator),
        "used_by": users,
        "generated": generated,
    }
    return CommandResult("\n".join(lines), data=data)


def _argument(operator: "Operator", each: Any) -> dict[str, str | None]:
    """An argument as data; one that has to be given has no default."""
    default = getattr(each, "default", None)
    given = None if default is None else _one_line(default.text)
    input = operator.inputs.get(each.name)
    given = str(input.absent) if input is not None and input.optional else given
    return {"name": each.name, "type": str(each.pattern), "default": given, "text": each.doc}


def _signature(operator: "Operator") -> str:
    arguments = []
    for each in (_argument(operator, each) for each in operator.arguments()):
        given = "" if each["default"] is None else f" = {each['default']}"
        arguments.append(f"{each['name']}: {each['type']}{given}")
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


def _users(known: "Registry", name: str) -> list[str]:
    """The operators that are decomposed into this one."""
    from tripybuild.schema.registry_index import operator_entries  # noqa: PLC0415

    entries = operator_entries(known.operators)
    return [each for each, entry in entries.items() if name in entry.uses]


def _generated_files(known: "Registry", operator: "Operator", package: str) -> list[str]:
    """The files that only this operator gives, below the folder of the package."""
    if package == BUILT_IN:
        from tripybuild.packages.builtin import generated_files  # noqa: PLC0415

        if files := generated_files(operator.path):
            return files
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

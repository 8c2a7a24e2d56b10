"""The files of a package that concern all its operators: the front door and the Tensor."""

from collections.abc import Mapping

from tripybuild.codegen.arguments import Spelling, annotation, parameters
from tripybuild.codegen.calls import BUILT_IN
from tripybuild.codegen.layout import WIDTH, Doc, call, render
from tripybuild.codegen.places import module
from tripybuild.codegen.results import result_annotation
from tripybuild.codegen.text import Imports, docstring, header, import_order
from tripybuild.schema.checks import tensor_methods
from tripybuild.schema.operator import Operator

SOURCE = "ops_registry/"
_INSIDE = Spelling("Tensor", "frontend.IntLike")  # `tensor.py` imports the module as a whole

_FRONT_DOOR = '''{header}"""{summary}

Nothing is loaded before it is used: a name is looked up in the table below.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
{imports}

# Where each public name lives, below this package.
_PLACES = {{
{places}}}

__all__ = [
{names}]


def __getattr__(name: str) -> object:
    place = _PLACES.get(name)
    if place is None:
        message = f"module {{__name__!r}} has no attribute {{name!r}}"
        raise AttributeError(message)
    value = getattr(import_module(place), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
'''


def front_door(package: str, operators: Mapping[str, Operator]) -> str:
    """The package's `__init__`: a table of names, resolved when they are used."""
    places = {name: module(package, "ops", operator) for name, operator in operators.items()}
    if package == BUILT_IN:
        places["Tensor"] = f"{package}.tensor"
        places |= dict.fromkeys(_DTYPES, "tripybuild.types.dtypes")
    places = dict(sorted(places.items()))
    return _FRONT_DOOR.format(
        header=header(SOURCE),
        summary="The operators of the registry, as Python functions on tensors.",
        imports="\n".join(_imports(places)),
        places="".join(f'    "{name}": "{place}",\n' for name, place in places.items()),
        names="".join(f'    "{name}",\n' for name in sorted(places, key=import_order)),
    )


_DTYPES = (
    "bfloat16", "bool", "dtype", "float16", "float32", "float8", "int32", "int4", "int64", "int8",
)  # fmt: skip


def _imports(places: Mapping[str, str]) -> list[str]:
    """The same table for type checkers, sorted as a linter wants it."""
    by_place: dict[str, list[str]] = {}
    for name, place in places.items():
        by_place.setdefault(place, []).append(name)
    lines = []
    for place in sorted(by_place, key=import_order):
        names = sorted(by_place[place], key=import_order)
        line = f"    from {place} import {', '.join(f'{n} as {n}' for n in names)}"
        if len(line) > WIDTH:
            inner = "".join(f"        {n} as {n},\n" for n in names)
            line = f"    from {place} import (\n{inner}    )"
        lines.append(line)
    return lines


def tensor_file(operators: Mapping[str, Operator]) -> str:
    """The Tensor: the hand-written half plus a method for each alias that a declaration gives."""
    imports = Imports()
    imports.module("tripyapi as tp")
    imports.name("tripybuild", "frontend")
    methods = sorted((m, o.name) for o in operators.values() for m in tensor_methods(o))
    blocks = [_method(method, operators[name], imports) for method, name in methods]
    return (
        f"{header(SOURCE)}\n{imports.text()}\n\n\n"
        "class Tensor(frontend.Tensor):\n"
        '    """A tensor that has not been computed yet, with the operators as methods."""\n\n'
        + "\n\n".join(blocks)
        + "\n\n    __hash__ = frontend.Tensor.__hash__\n"
    )


def _method(method: str, operator: Operator, imports: Imports) -> str:
    chosen = parameters(operator, imports)
    names = [p.name for p in chosen]
    own = names[-1] if method == operator.aliases.reflected else names[0]
    given: list[Doc] = ["self"]
    for parameter in chosen:
        if parameter.name != own:
            text = annotation(parameter, _INSIDE, imports)
            given.append(parameter.declared(f'"{text}"' if "Tensor" in text else text))
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

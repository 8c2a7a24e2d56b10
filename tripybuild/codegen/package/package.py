"""Package assembly: shared files built from the fragments of all declarations."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType

from tripybuild.codegen.incremental.fragment_store import FragmentRecord
from tripybuild.codegen.package.fragment import (
    BUILT_IN,
    DOCS,
    MODULE_DOCS,
    SUITES,
    PackageFragment,
)
from tripybuild.codegen.python.file_text import Imports, docstring, header, import_order, page_mark
from tripybuild.codegen.python.layout import WIDTH
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

SOURCE = "ops_registry/"


def assemble_package(
    fragments: Sequence[PackageFragment],
    schemas: Mapping[str, str],
    package: str,
    records: Mapping[str, FragmentRecord] = MappingProxyType({}),
) -> dict[str, str]:
    """All files of a package whose operators and modules give these fragments.

    Args:
        fragments: What the declarations give.
        schemas: The JSON schemas by path.
        package: The name of the package.
        records: The files of the declarations by their shown paths, for the built-in package.
    """
    own = [each for each in fragments if each.files]
    if not own and package != BUILT_IN:
        message = f"nothing is declared that `{package}` could hold"
        hint = "a registry has a file for each operator and module; `tripybuild new op` begins one"
        raise DiagnosticError(Diagnostic("file-not-found", message, hint=hint))
    files: dict[str, str] = {}
    for each in own:
        files.update(each.files)
    files[f"{package}/__init__.py"] = front_door(package, own)
    files[f"{package}/others.py"] = foreign_names_file(own)
    files[f"{package}/py.typed"] = ""
    files[f"{SUITES}/conftest.py"] = conftest_file(package)
    if package == BUILT_IN:
        files |= {f"{package}/tensor.py": tensor_file(own), **submodules(package)}
        files[f"{package}/declarations.py"] = declarations_file(records)
    for folder in sorted(_folders(path for path in files if path.startswith(f"{package}/"))):
        files.setdefault(f"{folder}/__init__.py", "")
    modules = [each for each in own if each.is_module]
    files[f"{DOCS}/index.md"] = index_page("Operators", [e for e in own if not e.is_module])
    if modules:
        files[f"{MODULE_DOCS}/index.md"] = index_page("Modules", modules)
    return dict(sorted({**files, **schemas}.items()))


def _folders(files: Iterable[str]) -> set[str]:
    """Every folder between the package and its files: each is a package of its own."""
    found = set()
    for path in files:
        parts = path.split("/")[:-1]
        found |= {"/".join(parts[:end]) for end in range(1, len(parts) + 1)}
    return found


_FRONT_DOOR = '''{header}"""{summary}

Names are imported lazily, on first access, by the table below.
"""

from importlib import import_module
from typing import TYPE_CHECKING
{version_import}
if TYPE_CHECKING:
{imports}
{version}
# Where each public name lives, below this package.
_PLACES = {{
{places}}}

__all__ = [
{names}]
{entered}

if not TYPE_CHECKING:  # to type checkers, a name that is not above is wrong

    def __getattr__(name: str) -> object:
        place = _PLACES.get(name)
        if place is None:
            import_module("tripybuild.eager")  # installs the hook that shows errors
            errors = import_module("tripybuild.frontend.guard")
            raise errors.missing_name(__name__, name, __all__)
        if place == __name__:
            return import_module(f"{{place}}.{{name}}")
        guard_value = import_module("tripybuild.frontend.guard").guard_value
        value = guard_value(name, getattr(import_module(place), name), __name__)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
'''


def _digest(fragments: Iterable[PackageFragment]) -> str:
    """The digest of the operators' declarations, whatever the package is called."""
    digests = sorted(f"{each.name} {each.digest}" for each in fragments if each.digest)
    return sha256("\n".join(digests).encode()).hexdigest()


def front_door(package: str, fragments: Sequence[PackageFragment]) -> str:
    """The package's `__init__`: a table of names, resolved when they are used."""
    places = {each.name: each.home for each in fragments}
    if package == BUILT_IN:
        places |= dict.fromkeys(("DimensionSize", "Parameter", "Tensor"), f"{package}.tensor")
        places |= dict.fromkeys(_EAGER, "tripybuild.eager")
        places["types"] = package  # a module of it
        places["logger"] = "tripybuild.errors.logger"
        places["compile"] = "tripybuild.eager.compile.compile"
        places["Executable"] = "tripybuild.eager.compile.executable"
        places |= dict.fromkeys(_INFOS, "tripybuild.eager.compile.infos")
        places |= dict.fromkeys(_DEVICES, "tripybuild.eager.tensor.device")
        places |= dict.fromkeys(_DTYPES, "tripybuild.types.dtypes")
    places = dict(sorted(places.items()))
    return _FRONT_DOOR.format(
        header=header(SOURCE),
        summary="The operators of the registry, as Python functions on tensors, and its modules.",
        version_import=_VERSION_IMPORT if package == BUILT_IN else _ENTRY_IMPORT,
        entered="" if package == BUILT_IN else _ENTRY.format(digest=_digest(fragments)),
        version=_VERSION if package == BUILT_IN else "",
        imports="\n".join(_imports(places)),
        places="".join(f'    "{name}": "{place}",\n' for name, place in places.items()),
        names="".join(f'    "{name}",\n' for name in sorted(places, key=import_order)),
    )


_ENTRY_IMPORT = "\nfrom tripybuild.process.package_catalog import register\n"
_ENTRY = """
# Executables name the package that their operators are of, with this digest of its declarations.
register(
    __name__,
    "{digest}",
    _PLACES,
)
"""
_VERSION_IMPORT = "\nfrom tripybuild.version import VERSION\n"
_VERSION = "\n__version__ = VERSION\n"
_EAGER = ("Module", "Sequential", "TripyException", "config")
_INFOS = ("Bounds", "DimensionInputInfo", "InputInfo", "NamedDimension", "OutputInfo")
_DEVICES = ("Stream", "default_stream", "device")
_DTYPES = (
    "bfloat16", "bool", "dtype", "float16", "float32", "float4", "float64", "float8", "floating",
    "int32", "int4", "int64", "int8", "integer", "uint8",
)  # fmt: skip


_TYPES = '''{header}"""`{package}.types`: what annotations call what several operators take."""

from collections.abc import Sequence

from {package}.tensor import DimensionSize, Tensor

TensorLike = Tensor | int | float | bool
IntLike = int | DimensionSize
ShapeLike = Sequence[IntLike]
'''
_CONFIG = '''{header}"""`{package}.config`: the settings, as an object of their own."""

import sys

from tripybuild.eager import config

# What is imported is what stands here when this file has run.
sys.modules[__name__] = config  # type: ignore[assignment]
'''


def submodules(package: str) -> dict[str, str]:
    """The names of the front door that programs import as modules of their own, by path."""
    return {
        f"{package}/{name}.py": text.format(header=header(SOURCE), package=package)
        for name, text in (("config", _CONFIG), ("types", _TYPES))
    }


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


# What the hand-written halves of these classes take; programs, and editors, look at the whole.
_TENSOR = """\
A lazily evaluated tensor: computed on first access, then cached.

Operators are functions; those with Python syntax, and a few more, are also methods.
"""
_TENSOR_ARGUMENTS = [
    ("data", "A number, nested lists of numbers, or anything with DLPack, which is copied."),
    ("dtype", "The dtype; by default that of the first number, or of the array."),
    ("device", "The device; it can be specified for numbers and lists only."),
    ("name", "The name in printed graphs."),
]
_NO_TENSOR = ("Raises", [("DiagnosticError", "The data cannot be converted to a tensor.")])
_PARAMETER = """\
A tensor of a module, which may be initialized later.

With a shape, `tp.Parameter((3, 4), tp.float16)`, it is uninitialized; with a tensor,
`tp.Parameter(tp.zeros((4,)))`, it is initialized.
"""
_PARAMETER_ARGUMENTS = [
    ("value", "The tensor, or the shape of an uninitialized parameter."),
    ("dtype", "The dtype of an uninitialized parameter."),
    (
        "ranks",
        "Ranks allowed instead of the shape's; uses check the sizes.",
    ),
    ("optional", "Whether the parameter may stay uninitialized. The attribute is None until then."),
]
_NO_PARAMETER = ("Raises", [("DiagnosticError", "A size is not a whole number, or is negative.")])


def tensor_file(fragments: Iterable[PackageFragment]) -> str:
    """The Tensor: the hand-written half plus a method for each alias that a declaration gives."""
    imports = Imports()
    imports.module("tripyapi as tp")
    imports.name("tripybuild", "eager", "frontend")
    imports.name("tripybuild.frontend.guard", "refuse_calls")
    methods: dict[str, str] = {}
    for each in fragments:
        methods |= each.methods
        for module_name, names in each.imports.items():
            if names:
                imports.name(module_name, *names)
            else:
                imports.module(module_name)
    return (
        f"{header(SOURCE)}\n{imports.text()}\n\n\n"
        "class Tensor(eager.Tensor, of_values=True):\n"
        f"{docstring(_TENSOR, 4, [('Args', _TENSOR_ARGUMENTS), _NO_TENSOR])}\n\n"
        + "\n\n".join(methods[name] for name in sorted(methods))
        + "\n\n    __hash__ = frontend.Tensor.__hash__\n\n\n"
        "class DimensionSize(eager.DimensionTensor, Tensor, of_sizes=True):\n"
        '    """A size of a tensor, which may be known only at run time."""\n\n\n'
        "class Parameter(eager.Parameter, Tensor):\n"
        f"{docstring(_PARAMETER, 4, [('Args', _PARAMETER_ARGUMENTS), _NO_PARAMETER])}\n"
        "\n\n# `tp.tensor(...)` is what other libraries would call, and `tp.tensor` is this file.\n"
        "refuse_calls(__name__)\n"
    )


_OTHERS = '''{header}"""What other systems call what is here: `cat` of PyTorch is `concatenate`."""

NAMES: dict[str, str] = {{{names}}}
'''


def foreign_names_file(fragments: Iterable[PackageFragment]) -> str:
    """The table of the names that are none of the package's own; of several, the first has it."""
    several = list(fragments)
    own = {each.name for each in several}
    found: dict[str, str] = {}
    for each in sorted(several, key=lambda each: each.name):
        for other in each.others:
            if other not in own:
                found.setdefault(other, each.name)
    names = "".join(f'    "{other}": "{found[other]}",\n' for other in sorted(found))
    names = f"\n{names}" if names else ""
    return _OTHERS.format(header=header(SOURCE), names=names)


_DECLARATIONS = '''{header}"""The declarations of this package: what holds for these very files.

`DIGESTS` has each file, `OPERATORS` the file of each and what is looked for in it, and `MODULES`
the file of each.
"""

DIGESTS: dict[str, str] = {{{digests}}}

OPERATORS: dict[str, str] = {{{operators}}}

MODULES: dict[str, str] = {{{modules}}}
'''


def declarations_file(records: Mapping[str, FragmentRecord]) -> str:
    """The index of the registry, with which an importer reads only the files that it needs."""
    paths = {shown.partition("/")[2]: each for shown, each in sorted(records.items())}
    found = [(e.fragment, path) for path, e in paths.items() if e.fragment is not None]
    found.sort(key=lambda each: each[0].name)
    operators = [f'"{f.name}": "{path} {f.entry}"' for f, path in found if not f.is_module]
    return _DECLARATIONS.format(
        header=header(SOURCE),
        digests=_rows(f'"{path}": "{each.digest}"' for path, each in paths.items()),
        operators=_rows(operators),
        modules=_rows(f'"{f.name}": "{path}"' for f, path in found if f.is_module),
    )


def _rows(entries: Iterable[str]) -> str:
    rows = "".join(f"    {each},\n" for each in entries)
    return f"\n{rows}" if rows else ""


_CONFTEST = '''{header}"""The account of what the suites left out, and why."""

{imports}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--full`, which asks every tuple of dtypes."""
    add_full_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """{about}"""
    read_full_option(config)
    report_skips({arguments})
'''
_CONFTEST_ABOUT = "Keep the account of the suites."


def conftest_file(package: str) -> str:
    """The `conftest.py` of the suites; it makes a user's package beside them importable."""
    own = package != BUILT_IN
    about = "Keep the account of the suites, and find the package." if own else _CONFTEST_ABOUT
    arguments = f'config, __file__, "{package}"' if own else "config, __file__"
    imports = Imports()
    imports.module("pytest")
    imports.name("tripybuild.testing.pairwise", "add_full_option")
    imports.name("tripybuild.testing.pairwise", "read_full_option")
    imports.name("tripybuild.testing.skip_report", "report_skips")
    return _CONFTEST.format(
        imports=imports.text(package),
        header=header(SOURCE),
        about=about,
        arguments=arguments,
    )


def index_page(title: str, members: Iterable[PackageFragment]) -> str:
    """All operators, or all modules, by folder, each with its first sentence, and the families.

    ```markdown
    ## nn

    - [softmax](softmax.md): Rescale a tensor along one dimension ...

    ## Families

    - comparison: [eq](eq.md), [ge](ge.md), ...
    ```
    """
    folders: dict[str, list[PackageFragment]] = {}
    families: dict[str, list[PackageFragment]] = {}
    for each in members:
        folders.setdefault(each.folder, []).append(each)
        if each.family is not None:
            families.setdefault(each.family, []).append(each)
    titles = " · ".join(f"[{name}](#{name})" for name in sorted(folders) if name)
    blocks = [page_mark(SOURCE), f"# {title}", *([titles] if titles else [])]
    for folder, inside in sorted(folders.items()):
        lines = (f"- {_link(o)}: {' '.join(o.summary.split())}" for o in inside)
        blocks += [f"## {folder or 'others'}", "\n".join(lines)]
    if families:
        lines = (
            f"- {name}: {', '.join(map(_link, named))}" for name, named in sorted(families.items())
        )
        blocks += ["## Families", "The members of a family share the form of their declarations."]
        blocks += ["\n".join(lines)]
    blocks.append("Generated by `tripybuild gen` from the registry.")
    return "\n\n".join(blocks) + "\n"


def _link(operator: PackageFragment) -> str:
    return f"[{operator.name}]({operator.name}.md)"

"""Who may import whom, and what no module may know. The table is that of ARCHITECTURE.md."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from syntax import statements

from tripybuild.process import paths
from tripybuild.targets.table import TARGETS
from tripybuild.testing.registry import registry

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tripybuild"


def table() -> dict[str, frozenset[str]]:
    """What each layer may import beside itself, as ARCHITECTURE.md says."""
    layers: dict[str, frozenset[str]] = {}
    for line in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines():
        row = re.fullmatch(r"\| (`.+) \| (.+) \| .+ \|", line)
        if row is not None:
            allowed = frozenset(re.findall(r"[\w/]+", row[2]))
            allowed = frozenset(layers) if row[2] == "all above" else allowed
            layers |= dict.fromkeys(re.findall(r"`([\w/]+?)/?`", row[1]), allowed)
    return layers


LAYERS = table()
HEAVY = frozenset(
    {"jax", "jaxlib", "mlir_tensorrt", "onnxruntime", "openvino", "tensorrt", "tensorrt_rtx"}
    | {"torch", "xdsl"}
)
HEAVY_PLACES = frozenset(
    {"stablehlo", "targets/onnx_runtime", "targets/openvino", "targets/xla", "tensorrt", "worker"}
    | {"importer"}
)
# Public names of the package itself: `tripybuild.compile` and `tripybuild.load`.
FRONT = frozenset({"__init__", "__main__"})


def layer(path: Path) -> str:
    """The layer of a module: the innermost of its folders that the table names."""
    return layer_of(path.relative_to(PACKAGE).with_suffix("").as_posix())


def layer_of(module: str) -> str:
    """The layer of a module by its path in the package."""
    parts = module.split("/")
    outward = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((each for each in outward if each in LAYERS), parts[0])


@cache
def tree(path: Path) -> ast.Module:
    """A module's syntax, which several rules read."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """The dotted names that a module imports anywhere, outside of `if TYPE_CHECKING:`."""
    found: list[tuple[int, str]] = []
    for node in statements(tree(path), types=False):
        if isinstance(node, ast.Import):
            found += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            found += ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
    return tuple(found)


def own_layers(path: Path) -> Iterator[tuple[int, str]]:
    """The layers of ours that a module imports."""
    for line, name in imports(path):
        first, *rest = name.split(".")
        if first == "tripybuild" and rest:
            yield line, layer_of("/".join(rest))


MODULES = [p for p in sorted(PACKAGE.rglob("*.py")) if layer(p) not in FRONT | {"data"}]


def place(path: Path) -> str:
    """A file as a test's name."""
    return path.relative_to(ROOT).as_posix()


def test_the_table_names_every_layer():
    """And nothing that is not there."""
    there = {layer(path) for path in MODULES} | {"generated"}
    assert set(LAYERS) == there
    assert set().union(*LAYERS.values()) <= there


def test_layer_imports_what_it_may():
    """A module imports its own layer and those below."""
    wrong = [
        f"{place(path)}:{line}: `{layer(path)}` may not import `{name}`"
        for path in MODULES
        for line, name in own_layers(path)
        if name not in LAYERS[layer(path)] | {layer(path)}
    ]
    assert not wrong, "\n".join(wrong)


def test_heavy_packages_stay_in_their_places():
    """Engines and their bindings are imported below these rooms alone."""
    wrong = [
        f"{place(path)}:{line}: {name}"
        for path in MODULES
        for line, name in imports(path)
        if name.split(".")[0] in HEAVY and layer(path) not in HEAVY_PLACES
    ]
    assert not wrong, "\n".join(wrong)


# Processes of their own, which talk with the one that started them.
TALKING = frozenset({"main.py"})


def calls(path: Path, names: frozenset[str]) -> Iterator[str]:
    """Where a module calls one of these names."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            yield f"{place(path)}:{node.lineno}: {node.func.id}"


def test_only_the_command_line_prints():
    """No `print`, no `sys.stdout`, no `sys.exit` and no `input` outside of `cli`."""
    wrong = []
    for path in MODULES:
        if layer(path) == "cli" or (layer(path) == "worker" and path.name in TALKING):
            continue
        wrong += calls(path, frozenset({"print", "input", "exit", "quit"}))
        wrong += [
            f"{place(path)}:{node.lineno}: sys.{node.attr}"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Attribute)
            and node.attr in {"stdout", "exit"}
            and isinstance(node.value, ast.Name)
            and node.value.id == "sys"
        ]
    assert not wrong, "\n".join(wrong)


def test_nothing_is_evaluated():
    """No `eval`, `exec` or pickle."""
    names = frozenset({"eval", "exec", "compile", "__import__"})
    wrong = [found for path in MODULES for found in calls(path, names)]
    wrong += [
        f"{place(path)}:{line}: {name}"
        for path in MODULES
        for line, name in imports(path)
        if name.split(".")[0] in {"pickle", "marshal", "shelve"}
    ]
    assert not wrong, "\n".join(wrong)


def test_generated_code_knows_no_yaml():
    """Generated packages import what is recorded with and lowered with, and nothing that reads."""
    for path in sorted((ROOT / "generated" / "tripyapi").rglob("*.py")):
        wrong = [name for _, name in own_layers(path) if name not in LAYERS["generated"]]
        assert not wrong, f"{place(path)} imports {wrong}"


def test_recording_runs_without_yaml_pydantic_and_numpy():
    """`trace`, `frontend` and the public functions load none of what reads declarations."""
    code = (
        "import sys, tripyapi as tp\n"
        "from tripybuild.trace import TensorType, Value\n"
        "from tripybuild.types.dtypes import float32\n"
        "from tripybuild.frontend import Tensor\n"
        "x = tp.Tensor.of(Value(TensorType(float32, (2, 3)), name='x'))\n"
        "tp.softmax(x + x, 1)\n"
        "print(*sorted({'yaml', 'pydantic', 'numpy', 'jaxlib'} & set(sys.modules)))"
    )
    assert not printed(code)


def test_eager_tensors_run_without_yaml_and_pydantic():
    """A first result waits for nothing that reads declarations, also where XLA compiles it."""
    code = (
        "import sys, numpy, tripyapi as tp\n"
        "x = tp.Tensor(numpy.zeros((1024, 1024), numpy.float32))\n"
        "numpy.asarray(x + 1.0)\n"
        "assert 'jaxlib' in sys.modules\n"
        "print(*sorted({'yaml', 'pydantic', 'tripybuild.schema', 'xdsl'} & set(sys.modules)))"
    )
    assert not printed(code)


def printed(code):
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'generated'}"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_only_sync_touches_the_disk_in_codegen():
    """Every other module of `codegen` is a function from declarations to text."""
    for path in sorted((PACKAGE / "codegen").rglob("*.py")):
        names = {name.split(".")[0] for _, name in imports(path)}
        if path.name != "sync.py" and path.parent.name != "incremental":
            assert not names & {"pathlib", "os", "shutil", "io", "tempfile"}, path.name


# Names of operators are also words of English, of Python, of NumPy and of the builders' tables. As
# an operator a name is used where code decides by it: where it is compared, matched by `case`, or a
# key of a table. Builders (`stablehlo/`, `tensorrt/`), helpers and vocabularies name functions of
# engines and of Python; there the same words are no operators. Functions may be called `add` or
# `erf`.
OTHER_TABLES = frozenset(
    {"stablehlo", "tensorrt", "targets/xla", "worker", "language", "reference/numerics"}
)
# These words are compared for what they mean in Python, in NumPy, as kinds of arguments, and as
# commands.
COMMON = frozenset(
    {
        "abs", "all", "any", "ceil", "exp", "floor", "log", "max", "min", "pow", "range", "round",
        "slice", "sqrt", "sum", "shape", "size", "equal", "full", "copy", "split", "where", "not",
        "number", "sign",
    }
)  # fmt: skip


def decided_by(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The text constants that code decides by."""
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Dict):
            parts = [key for key in node.keys if key is not None]
        for part in parts:
            items = getattr(part, "elts", [part])
            for item in items:
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    yield item.lineno, item.value


# The rooms that ask a target, or its line of the table, for what is its own.
ASKING = frozenset(
    {"artifact", "cli", "compiler", "eager", "model", "packages", "process", "targets", "weights"}
    | {"compiler/lowering", "worker"}
)


def test_no_module_decides_by_the_name_of_a_target():
    """A new engine is one folder and one line of `targets/table.py`."""
    wrong = [
        f"{place(path)}:{line}: {text!r}"
        for path in MODULES
        if layer(path) in ASKING
        for line, text in decided_by(tree(path))
        if text in TARGETS
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_decides_by_the_name_of_an_operator():
    """If the generator needs to know about an operator, the schema lacks a field."""
    operators = frozenset(registry(paths.registry()).operators) - COMMON
    wrong = [
        f"{place(path)}:{line}: {text!r}"
        for path in MODULES
        if layer(path) not in OTHER_TABLES and path.name != "shapes.py"
        for line, text in decided_by(tree(path))
        if text in operators
    ]
    assert not wrong, "\n".join(wrong)

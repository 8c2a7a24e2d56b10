"""Targets whose files are texts: operator files, specs, snippets, MLIR."""

import ast
import json
import random
import re
import shutil
import zlib
from collections.abc import Container
from functools import partial
from pathlib import Path

import yaml

from fuzzing.edits import mutate, mutate_tree
from fuzzing.harness import CORPUS, Disagreement, Target
from tripybuild.cli.commands import opt_run
from tripybuild.codegen.conformance import find_violations
from tripybuild.codegen.modules.module import module_fragment
from tripybuild.codegen.operators.operator import operator_fragment
from tripybuild.codegen.operators.operator_calls import CallResolver
from tripybuild.codegen.package.package import assemble_package
from tripybuild.codegen.snippets.composition_check import check_builders
from tripybuild.compiler.check.check import check_spec
from tripybuild.compiler.check.devices import find_device
from tripybuild.compiler.session import emit
from tripybuild.documents import document
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import SnippetError, parse
from tripybuild.language.names import called_names, free_names
from tripybuild.language.vocabulary import PYTHON
from tripybuild.packages.builtin import builtin_registry
from tripybuild.process import paths
from tripybuild.schema.formatting import format_document
from tripybuild.schema.load import load
from tripybuild.schema.registry_files import FileSubset
from tripybuild.tensorrt.passes.pipeline import PASSES
from tripybuild.tensorrt.passes.pipeline_text import PassStep
from tripybuild.workspace.matrix import all_builds
from tripybuild.workspace.session import find_tests
from tripybuild.workspace.workspace_file import read_workspace

ROOT = Path(__file__).resolve().parents[3]
NAMED = re.compile(rb"^(?:op|module|family): ([A-Za-z_][A-Za-z_0-9]{0,40})$", re.MULTILINE)
SMALL = 3500  # bytes of a seed
BINDINGS = {
    "n": 3, "x": 2.5, "text": "abc", "yes": True, "none": None, "xs": [1, 2, 3, 4],
    "ys": [[1, 2], [3, 4]], "pair": (2, 3), "table": {"a": 1, "b": [2]}, "many": list(range(200)),
    "large": 2**200,
}  # fmt: skip

SPEC = """\
tripybuild: 1
model: {name}
inputs: {{edges: "F[B, 3]"}}
ranges: {{B: {{max: 8}}}}
outputs: {{total: relu(edges)}}
test: {{against: torch.nn.ReLU, shapes: [{{B: 2}}]}}
"""


class _Everything(Container[str]):
    def __contains__(self, _: object) -> bool:
        return True


def operators(folder: Path) -> Target:
    """Operator files: read, checked, generated, and held against the grammar of generated code."""
    source, root = paths.registry(), folder / "registry"
    texts = {place: Path(source, place).read_bytes() for place in paths.list_files(source, ".yaml")}
    bases = {p: t for p, t in texts.items() if b"\nfamily: " in t or p == "targets.yaml"}
    for place, text in bases.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        (root / place).write_bytes(text)
    known, read_base = builtin_registry(), _Remembered(root)
    others = frozenset(known.operators)

    def read(data: bytes) -> str:
        named = NAMED.search(data)
        path = root / "own" / f"{named[1].decode() if named else 'x'}.yaml"
        shutil.rmtree(root / "own", ignore_errors=True)
        path.parent.mkdir()
        path.write_bytes(data)
        declared, found = load([root], FileSubset(_Everything(), others), read_base)
        _raise_all(found or list(check_builders(declared)))
        modules = frozenset(known.modules) | declared.modules.keys()
        calls = CallResolver(others | declared.operators.keys(), declared.own, "own", modules)
        parts = [operator_fragment(each, calls) for each in declared.operators.values()]
        parts += [module_fragment(each, calls) for each in declared.modules.values()]
        files = assemble_package(parts, {}, "own")
        _raise_all(find_violations(files, "own"))
        for place, text in files.items():
            if place.endswith(".py"):
                ast.parse(text, place)
        return _same_format(path)

    kept = [p for p, t in texts.items() if len(t) < SMALL and p not in bases and b"\nop: " in t]
    made = {place.replace("/", "-"): texts[place] for place in kept[::4]}
    words = _words(texts.values())
    return Target(
        name="operators", suffix=".yaml", read=read, made=made, words=words,
        structured=partial(_mutate_yaml, words=words),
    )  # fmt: skip


class _Remembered:
    """A reader that reads each file of a folder once, but for those below `own`."""

    def __init__(self, root: Path) -> None:
        self.own = root / "own"
        self.found: dict[Path, tuple[document.Document | None, list[Diagnostic]]] = {}

    def __call__(self, path: Path) -> tuple[document.Document | None, list[Diagnostic]]:
        if path.is_relative_to(self.own):
            return document.read(path)
        if path not in self.found:
            self.found[path] = document.read(path)
        return self.found[path]


def specs(folder: Path) -> Target:
    """Models: checked, printed as a graph and, each eighth, lowered; their weights are absent."""
    device = find_device("h200")

    def read(data: bytes) -> str:
        path = folder / "model.yaml"
        path.write_bytes(data)
        try:
            check_spec(path, device)
        except DiagnosticError as error:
            if {each.code for each in error.diagnostics} != {"weights-not-found"}:
                raise
        emit(path, "stablehlo" if zlib.crc32(data) % 8 == 0 else "trace")
        return _same_format(path)

    found = sorted([*(ROOT / "specs").glob("*.yaml"), *(ROOT / "tests/fixtures").glob("*.yaml")])
    texts = {path.name: path.read_bytes() for path in found}
    words = _words(texts.values())
    return Target(
        name="specs", suffix=".yaml", read=read, words=words,
        made={name: text for name, text in texts.items() if len(text) < SMALL},
        structured=partial(_mutate_yaml, words=words),
    )  # fmt: skip


def workspaces(folder: Path) -> Target:
    """Workspaces of two specs: read, and their builds and tests listed."""
    (folder / "specs").mkdir()
    for name in ("volumes", "means"):
        (folder / "specs" / f"{name}.yaml").write_text(SPEC.format(name=name), encoding="utf-8")

    def read(data: bytes) -> str:
        path = folder / "tripybuild.yaml"
        path.write_bytes(data)
        workspace = read_workspace(path)
        all_builds(workspace)
        find_tests(workspace)
        return _same_format(path)

    kept = sorted((CORPUS / "workspaces").glob("*.yaml"))
    words = _words(path.read_bytes() for path in kept)
    return Target(
        name="workspaces", suffix=".yaml", read=read, made={}, words=words,
        structured=partial(_mutate_yaml, words=words),
    )  # fmt: skip


def snippets(_: Path) -> Target:
    """Snippets and expressions: parsed, their names collected, and evaluated."""
    words = [word.encode() for word in (*PYTHON.functions, *BINDINGS)]

    def read(data: bytes) -> str:
        program = parse(data.decode(errors="surrogateescape"), functions=True)
        called_names(program)
        free_names(program)
        evaluate(program, BINDINGS, PYTHON)
        return ""

    return Target(
        name="snippets", suffix=".txt", read=read, made={}, words=words,
        refusals=(SnippetError, EvaluationError),
    )  # fmt: skip


def mlir(_: Path) -> Target:
    """MLIR: parsed, verified, one pass run, printed; what is printed reads back as the same."""
    names = sorted(PASSES)

    def read(data: bytes) -> str:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return "not UTF-8"
        name = names[zlib.crc32(data) % len(names)]
        step = PassStep(PASSES[name])
        generic = bool(zlib.crc32(data) & 1 << 20)
        made = opt_run.run(text, "fuzz.mlir", opt_run.OptOptions(steps=[step], generic=generic))
        _raise_all(made.diagnostics)
        again = opt_run.run(made.text, "again.mlir", opt_run.OptOptions(generic=generic))
        if again.diagnostics or again.text != made.text:
            found = again.diagnostics[0].message if again.diagnostics else "it prints otherwise"
            raise Disagreement(f"after {name}: {found}")
        return name

    made = {}
    for path in sorted((ROOT / "tests/filecheck").rglob("*.mlir")):
        for index, part in enumerate(opt_run.parts(path.read_text())):
            if 0 < len(part.strip()) < 1200 and index % 5 == 1:
                made[f"{path.stem}-{index}"] = part.strip().encode()
    words = _words(
        made.values(), rb"[a-z_]+(?:\.[a-z_]+)+|[!#%@]?[A-Za-z_][A-Za-z_0-9]*|->|::|<[^<>]*>"
    )
    return Target(name="mlir", suffix=".mlir", read=read, made=made, words=words)


def _raise_all(found: list[Diagnostic]) -> None:
    if found:
        raise DiagnosticError(*found)


def _same_format(path: Path) -> str:
    """Hold the formatter to its law: what it writes reads the same, and stays as it is."""
    before, _ = document.read(path)
    assert before is not None
    text = format_document(before)
    if text is None:
        return ""
    after, _ = document.parse(text, path.name)
    if after is None or (
        json.dumps(after.data) != json.dumps(before.data)
        and not _same_data(before.data, after.data)
    ):
        raise Disagreement("fmt writes another file")
    if format_document(after) != text:
        raise Disagreement("fmt is not done after once")
    return ""


def _same_data(one: object, other: object) -> bool:
    """Whether two files say the same: keys have no order, and an expression may be a number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same_data(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same_data, one, other))
    return str(one) == str(other)


def _mutate_yaml(data: bytes, pick: random.Random, words: list[bytes]) -> bytes:
    """Change the tree of a file, and write it as YAML again, a key on each line."""
    try:
        tree = yaml.safe_load(data)
        assert isinstance(tree, dict)
    except (yaml.YAMLError, ValueError, RecursionError, AssertionError, TypeError):
        return mutate(data, pick, words)
    tree = mutate_tree(tree, pick, words)
    if not isinstance(tree, dict):  # the edit took the place of all of it
        return mutate(data, pick, words)
    try:
        lines = [f"{_key(key)}: {json.dumps(value, default=str)}\n" for key, value in tree.items()]
    except TypeError:  # a key is a date
        return mutate(data, pick, words)
    return "".join(lines).encode(errors="surrogatepass")


def _key(key: object) -> str:
    return key if isinstance(key, str) and key.isidentifier() and key.isascii() else json.dumps(key)


def _words(texts: object, form: bytes = rb"[A-Za-z_][A-Za-z_0-9]*|[\[\](){}:,*]") -> list[bytes]:
    """The words of some files, the frequent ones once each."""
    found = {word for text in texts for word in re.findall(form, text)}
    return sorted(word for word in found if len(word) < 24)

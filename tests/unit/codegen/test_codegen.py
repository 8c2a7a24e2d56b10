"""The generator: what it plans, and how it writes."""

import importlib
import json
import re
import warnings
from pathlib import Path

import built_in
import pytest
from jsonschema import Draft7Validator

import tripyapi as tp
from tripybuild.codegen.package.fragment import PackageFragment
from tripybuild.codegen.package.package import foreign_names_file
from tripybuild.codegen.package.plan import plan, schema_file
from tripybuild.codegen.package.sync import differences, write
from tripybuild.codegen.python.file_text import Body, Imports, header
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.keys import FILE_MODELS
from tripybuild.schema.load import load
from tripybuild.schema.reading_order import reading_order

ROOT = Path(__file__).resolve().parents[3]
DECLARATION = """\
tripybuild: 1
op: double
doc: Double each value.
types:
  T: [float32, int32]
inputs:
  input:
    type: T[*S]
    doc: The values.
outputs:
  output:
    type: T[*S]
    doc: Twice the values.
requires:
  not-scalar: len(S) > 0
reference: input + input
lower:
  tensorrt: input + input
  stablehlo: input + input
  onnx: input + input
sample: {S: [2, 3]}
examples:
  - call: double([1.0, 2.0])
    gives: [2.0, 4.0]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A registry with one operator."""
    root = tmp_path_factory.mktemp("registry") / "ops"
    (root / "math").mkdir(parents=True)
    (root / "math" / "double.yaml").write_text(DECLARATION)
    return root


def planned(*roots, package="tripyapi"):
    """The plan of some registries, which must be free of faults."""
    registry, problems = load(list(roots))
    assert not problems, problems
    return plan(registry, package)


def test_plan_is_the_same_twice(folder):
    """Nothing of a run (order, time, address) gets into a file."""
    assert planned(folder) == planned(folder)


def test_plan_has_each_layer_on_the_same_path(folder):
    """One declaration gives one file for each layer, a suite and a page."""
    files = planned(folder)
    assert {
        "tripyapi/ops/math/double.py",
        "tripyapi/trace/math/double.py",
        "tripyapi/lowering/stablehlo/math/double.py",
        "tripyapi/lowering/tensorrt/math/double.py",
        "suites/math/test_double.py",
        "docs/operators/double.md",
        "docs/operators/index.md",
        "schemas/operator.json",
    } <= files.keys()


def test_own_package_has_suites_and_pages_but_no_schemas(folder):
    """Schemas are about the form of files, which is the same for everybody."""
    files = planned(ROOT / "ops_registry", folder, package="mine")
    assert {path.split("/")[0] for path in files} == {"mine", "suites", "docs"}
    assert 'Suite("ops/math/double.yaml", "mine", __file__)' in files["suites/math/test_double.py"]
    assert "mine.double(input: Tensor) -> Tensor" in files["docs/operators/double.md"]


def test_files_name_their_source_and_no_date(folder):
    """The header says where a file comes from; what changes by itself is nowhere."""
    files = planned(folder)
    text = files["tripyapi/trace/math/double.py"]
    assert text.startswith(header("ops/math/double.yaml"))
    assert not any(re.search(r"20\d\d-\d\d|0\.1\.0", text) for text in files.values())


def test_page_reads_well(folder):
    """A page has the signature, the arguments, the laws and the examples of the declaration."""
    page = planned(folder)["docs/operators/double.md"]
    assert "tp.double(input: Tensor) -> Tensor" in page
    assert "| `input` | `T[*S]` |" in page
    assert "- `double/not-scalar`: `len(S) > 0`" in page
    assert "double([1.0, 2.0])\n# gives [2.0, 4.0]" in page


def test_a_shape_that_nothing_reads_is_not_asked_for(tmp_path):
    """An inline operator on tensors of any shape has nothing to check but the dtype."""
    declared = DECLARATION.replace("doc: Double", "inline: true\ndoc: Double")
    start, end = declared.index("requires:"), declared.index("sample:")
    (tmp_path / "ops" / "math").mkdir(parents=True)
    text = f"{declared[:start]}decompose: input + input\n{declared[end:]}"
    file = tmp_path / "ops" / "math" / "double.yaml"
    file.write_text(text.replace("input + input", "add(input, input)"))
    body = planned(ROOT / "ops_registry", file.parent.parent)["tripyapi/ops/math/double.py"]
    assert 'check.element("T", (dtypes.float32, dtypes.int32), input=input)' in body
    assert "check.shape" not in body
    assert "check.match" not in body


CONDITIONS = """
    cases:
      - when: onnx.opset() >= 23 and onnx.holds(len(S) > 0) and onnx.holds(len(S) < 1000) and T == float32
        then: input + input
      - then: onnx.Add(input, input)
"""  # noqa: E501


def test_a_condition_that_is_longer_than_a_line_is_in_parentheses(tmp_path):
    """As the formatter would break it, and as Python needs it."""
    (tmp_path / "math").mkdir()
    declared = DECLARATION.replace("  onnx: input + input\n", f"  onnx:{CONDITIONS}")
    (tmp_path / "math" / "double.yaml").write_text(declared)
    body = planned(tmp_path)["tripyapi/lowering/onnx/math/double.py"]
    assert "    if (\n        onnx.opset() >= 23\n" in body


FAMILY = """\
tripybuild: 1
family: turned
types:
  T: [float32]
inputs:
  angle:
    type: T[*A, P] | number | number[...]
    constant: T == float32
    doc: How far to turn.
attributes:
  twice:
    type: bool
    default: false
    doc: Whether to turn twice.
signatures:
  - (input, angle, place, twice)
requires:
  some: len(places) > 0
infer:
  places: A if place is None else N
sample: {S: [2], A: [3], P: 4}
"""
MEMBER = """\
tripybuild: 1
op: turn
like: turned()
doc: Turn each value.
types:
  I: [int32, int64]
inputs:
  input:
    type: T[*S]
    doc: The values.
  place:
    type: I[*N]
    optional: true
    doc: Where to begin.
outputs:
  output:
    type: T[*S]
    doc: The values, turned.
reference: input
lower:
  tensorrt: trt.reshape(input, [*places[:0], *S]) if P > 0 else input
  stablehlo: input
  onnx: input
examples:
  - call: turn([1.0], [[1.0]])
    gives: [1.0]
"""


def test_a_family_and_its_member_share_the_arguments(tmp_path):
    """Arguments of both, in the signed order; what is inferred binds what it reads."""
    root = tmp_path / "ops"
    root.mkdir()
    (root / "turned.yaml").write_text(FAMILY)
    (root / "turn.yaml").write_text(MEMBER)
    assert list(load([root])[0].operators["turn"].inputs) == ["input", "angle", "place"]
    files = planned(root)
    function = files["tripyapi/ops/turn.py"]
    assert "angle: Tensor | float | Sequence[float],\n    place: Tensor | None = None," in function
    infer = files["tripyapi/trace/turn.py"]
    assert 'angle = check.numbers_or_tensor("angle", angle, T, 0, 1)' in infer
    assert '    if T == dtypes.float32:\n            check.static_tensor("angle", angle)' in infer
    asked = 'if place is not None:\n            check.element("I", (dtypes.int32, dtypes.int64)'
    assert asked in infer
    assert "*A, P = op.angle.shape" in files["tripyapi/lowering/tensorrt/turn.py"]
    assert '"S[0]"' in files["suites/test_turn.py"]
    assert '"A[0]"' not in files["suites/test_turn.py"]


def test_imports_are_in_natural_order():
    """`log2` stands before `log10`, as the linter wants it."""
    front = built_in.files()["tripyapi/__init__.py"]
    places = re.findall(r"from tripyapi.ops.math.(log\w*) import", front)
    assert places == ["log", "log1p", "log2", "log10", "logaddexp", *places[5:]]


def test_write_makes_the_plan_and_then_has_nothing_to_do(folder, tmp_path):
    """A second run writes nothing."""
    files = planned(folder)
    assert len(write(tmp_path, files, "tripyapi")) == len(files)
    assert write(tmp_path, files, "tripyapi") == []


def test_write_removes_what_is_stale_with_its_folder(folder, tmp_path):
    """An operator that is gone leaves no file and no folder behind."""
    files = planned(folder)
    stale = tmp_path / "tripyapi" / "trace" / "old" / "gone.py"
    stale.parent.mkdir(parents=True)
    stale.write_text(header("ops/old/gone.yaml"))
    found = write(tmp_path, files, "tripyapi")
    assert [d.path for d in found if d.kind == "stale"] == ["tripyapi/trace/old/gone.py"]
    assert not stale.parent.exists()


def test_first_differing_line_is_named(folder, tmp_path):
    """A drift is reported by its first line, with what is there and what should be."""
    files = planned(folder)
    write(tmp_path, files, "tripyapi")
    path = "tripyapi/trace/math/double.py"
    lines = files[path].splitlines()
    (tmp_path / path).write_text("\n".join([*lines[:4], "edited = True", *lines[5:]]) + "\n")
    (found,) = differences(tmp_path, files, "tripyapi")
    assert (found.kind, found.line, found.found) == ("different", 5, "edited = True")
    assert found.wanted == lines[4]


def test_foreign_files_stay(folder, tmp_path):
    """What does not say that it was generated is neither overwritten nor removed."""
    mine = tmp_path / "suites" / "test_mine.py"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine = True\n")
    taken = tmp_path / "tripyapi" / "ops" / "math" / "double.py"
    taken.parent.mkdir(parents=True)
    taken.write_text("also_mine = True\n")
    with pytest.raises(DiagnosticError, match="was not generated, and stays as it is"):
        write(tmp_path, planned(folder), "tripyapi")
    assert sorted(each for each in tmp_path.rglob("*") if each.is_file()) == [mine, taken]
    assert mine.read_text() == "mine = True\n"
    assert taken.read_text() == "also_mine = True\n"


@pytest.mark.parametrize("kind", FILE_MODELS)
def test_schema_is_draft_7(kind):
    """No keyword of later drafts, nothing beside a `$ref`, and each `$ref` leads somewhere."""
    schema = json.loads(schema_file(kind))
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    Draft7Validator.check_schema(schema)
    for node in nodes(schema):
        assert not {"prefixItems", "$defs", "unevaluatedProperties"} & node.keys()
        if "$ref" in node:
            assert set(node) == {"$ref"}
            assert node["$ref"].removeprefix("#/definitions/") in schema["definitions"]


@pytest.mark.parametrize("kind", FILE_MODELS)
def test_schema_has_the_keys_in_reading_order(kind):
    """An editor proposes keys in the order in which a file is read."""
    schema = json.loads(schema_file(kind))
    assert tuple(schema["properties"]) == reading_order(FILE_MODELS[kind])
    assert schema["additionalProperties"] is False
    assert schema["required"][0] == "tripybuild"


def nodes(node):
    """All mappings of a document."""
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from nodes(value)
    elif isinstance(node, list):
        for value in node:
            yield from nodes(value)


def test_a_deprecated_operator_warns_at_the_line_that_calls_it(tmp_path, monkeypatch):
    """Once for each line."""
    folder, out = tmp_path / "ops", tmp_path / "out"
    (folder / "math").mkdir(parents=True)
    words = "  since 2.0,\n  write `x + x`.\n"
    text = f"{DECLARATION}since: 1.0.0\ndeprecated: |\n{words}".replace("1.0.0", "'1.0'")
    (folder / "math" / "double.yaml").write_text(text)
    files = planned(ROOT / "ops_registry", folder, package="on_its_way_out")
    write(out, files, "on_its_way_out")
    page = files["docs/operators/double.md"]
    assert "**Deprecated**: since 2.0, write `x + x`." in " ".join(page.split())
    assert "Since 1.0." in page
    monkeypatch.syspath_prepend(str(out))
    package = importlib.import_module("on_its_way_out")
    with pytest.warns(FutureWarning, match="`double` is deprecated: since 2.0, write") as told:
        package.double(tp.ones([2]))
    assert [each.filename for each in told] == [__file__]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            package.double(tp.ones([2]))
    assert len(told) == 1


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("return x", True),
        ("y = [x]", True),
        ("return f(x, *x)", True),
        ("return f(a=x)", True),
        ("return x == 1", True),
        ("return x.shape", True),
        ("return f(\n    1,\n    x,\n)", True),
        ("return f(x=1)", False),
        ("return op.x", False),
        ('return f("x", "a \\"x\\"")', False),
        ("return 'x' + '\"x\"'", False),
        ("x = 1", False),
        ("a, *x = b", False),
    ],
)
def test_names_that_nothing_reads(statement, reads):
    """A name is read where it stands as a value: no keyword, attribute, text or target is that."""
    body = Body(Imports())
    body.add("x = y = 1")
    body.block("if y:").add(statement)
    assert ("x" not in body.unread()) == reads


def test_other_systems_names_are_told_once():
    """What is the package's own name stays its own; of several operators, the first has a name."""

    def part(name, *others):
        return PackageFragment(name, "", "", "", (), {}, {}, {}, others)

    parts = [part("tril", "trilu", "triangle"), part("gelu"), part("fast", "gelu", "triangle")]
    names: dict[str, object] = {}
    exec(foreign_names_file(parts), names)
    assert names["NAMES"] == {"triangle": "fast", "trilu": "tril"}

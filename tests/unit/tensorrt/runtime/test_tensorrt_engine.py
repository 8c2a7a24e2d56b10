"""Tests of engines: their records, that they are the same again, and who builds them."""

import hashlib
import json
import zlib

import ml_dtypes
import numpy as np
import pytest
from tensorrt_programs import PROGRAMS, A, function

import tripybuild
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.runtime import engine, request
from tripybuild.worker import compiler_process, diagnostics_json

PROGRAM = PROGRAMS["tensorrt.softmax"]
WEIGHT = function(
    {"a": A},
    [A],
    f"""
    %w = tensorrt.constant dense_resource<w> : {A}
    %0 = tensorrt.element_wise <kSUM>(%a, %w : {A}, {A}) -> {A}
    %0
    """,
)
TRANSPOSED = function(
    {"a": A},
    ["tensor<3x2xf32>"],
    f"""
    %0 = tensorrt.transpose {{permutation = affine_map<(d0, d1) -> (d1, d0)>}} %a : {A} to tensor<3x2xf32>
    %0
    """,  # noqa: E501
)


@pytest.fixture(scope="module")
def process():
    """One compiler's process for all tests."""
    with compiler_process.CompilerProcess(
        command=(*compiler_process.COMMAND, "tensorrt-rtx")
    ) as made:
        yield made


def refused(process, text, **options):
    """The diagnostics that a compile in the process ends in."""
    with pytest.raises(DiagnosticError) as caught:
        process.compile("tensorrt-rtx", text, options)
    return caught.value.diagnostics


def test_a_record_says_what_is_in_the_engine():
    """Plain data: inputs, outputs, layers and where they are from, the library, the GPUs."""
    options = {"compute_capabilities": ["sm86", "sm89"]}
    record = engine.build(parser.parse(PROGRAM, "a.mlir"), options).record
    assert json.loads(json.dumps(record)) == record
    version = record["library"].pop("version")
    assert version.count(".") >= 2
    port = {"dtype": "float32", "shape": [2, 3], "host": False}
    assert record == {
        "function": "main",
        "library": {"name": "tensorrt-rtx"},
        "compute_capabilities": ["sm86", "sm89"],
        "inputs": [{"name": "arg0", **port, "profiles": []}],
        "outputs": [{"name": "result0", **port}],
        "layers": [
            {
                "name": "[tensorrt.softmax] loc(a.mlir:2:8)",
                "op": "tensorrt.softmax",
                "location": '"a.mlir":2:8',
                "outputs": [{"dtype": "float32", "shape": [2, 3]}],
            }
        ],
    }


@pytest.mark.parametrize(
    "name", ["tensorrt.softmax", "tensorrt.einsum", "tensorrt.if", "tensorrt.shape"]
)
def test_the_same_module_gives_the_same_engine(name):
    """The network's name is the function's, and no counter."""
    first, second = (engine.build(parser.parse(PROGRAMS[name])) for _ in range(2))
    assert bytes(first.plan) == bytes(second.plan)
    assert first.record == second.record


def test_the_functions_of_a_tensorrt_module_are_engines():
    """Each by its name; others of the file are not theirs."""
    inner = PROGRAM.replace("@main", "@first") + PROGRAM.replace("@main", "@second")
    text = f"func.func @main() {{ return }}\ntensorrt.module @trt {{\n{inner}}}"
    module = parser.parse(text)
    assert [each.sym_name.data for each in engine.functions(module)] == ["first", "second"]
    assert engine.build(module, {"function": "second"}).record["function"] == "second"
    with pytest.raises(DiagnosticError) as caught:
        engine.build(module)
    assert caught.value.diagnostics[0].notes == ("functions: `first`, `second`",)


@pytest.mark.parametrize(
    "options",
    [
        {"optimization_level": 0},
        {"workspace": 1 << 30, "timing_iterations": 2},
        {"verbosity": "detailed"},
        {"flags": ["TF32", "STRICT_NANS"]},
        {"compute_capabilities": ["sm75", "sm80", "sm86", "sm89", "sm120", "sm121"]},
    ],
    ids=str,
)
def test_options_reach_the_builder(options):
    """Each is taken, and gives an engine."""
    assert engine.build(parser.parse(PROGRAM), options).plan


def test_the_process_builds_what_this_one_does(process):
    """The same bytes, without a `plan`; its record and digests, with one."""
    here = bytes(engine.build(parser.parse(PROGRAM)).plan)
    assert process.compile("tensorrt-rtx", PROGRAM) == here


def test_the_process_writes_the_engine_where_it_is_told(process, tmp_path):
    """The record comes back, with what the file is."""
    plan = tmp_path / "engine"
    reply = process.compile("tensorrt-rtx", PROGRAM, {"plan": str(plan), "path": "a.mlir"})
    record = json.loads(reply)
    content = plan.read_bytes()
    assert record["plan"] == {
        "size": len(content),
        "digest": hashlib.sha256(content).hexdigest(),
        "crc32": zlib.crc32(content),
    }
    assert record["layers"][0]["location"] == '"a.mlir":2:8'
    process.compile("tensorrt-rtx", PROGRAM, {"plan": str(plan), "path": "a.mlir", "start": 100})
    assert plan.read_bytes() == content[:100] + content
    (diagnostic,) = refused(process, PROGRAM, plan=str(tmp_path / "no" / "engine"))
    assert diagnostic.code == "output-unwritable"


def test_weights_are_mapped_from_a_file(process, tmp_path):
    """By offsets; the same engine as with the array itself, and no copy of it."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    path = tmp_path / "weights"
    path.write_bytes(b"header.." + array.tobytes())
    place = {"dtype": "F32", "shape": [2, 3], "begin": 8, "end": 32}
    weights = {"path": str(path), "tensors": {"w": place}}
    expected = bytes(engine.build(parser.parse(WEIGHT), {}, {"w": array}).plan)
    assert process.compile("tensorrt-rtx", WEIGHT, {"weights": [weights]}) == expected
    (found,) = request.map_arrays(weights).values()
    assert not found.flags.owndata
    assert found.dtype == np.float32


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"end": 33}, "weights-malformed"),
        ({"begin": 9}, "weights-malformed"),
        ({"dtype": "F16"}, "weight-shape"),
        ({"begin": 12}, "weight-shape"),
        ({"path": "nowhere"}, "weights-not-found"),
        ({"name": "v"}, "weight-missing"),
    ],
)
def test_weights_that_are_not_there_are_said_so(process, tmp_path, change, code):
    """Short files, odd bytes, other dtypes, no file, no name."""
    path = tmp_path / "weights"
    path.write_bytes(b"header.." + bytes(24))
    place = {"dtype": "F32", "shape": [2, 3], "begin": 8, "end": 32} | change
    weights = {"path": str(change.get("path", path)), "tensors": {change.get("name", "w"): place}}
    (diagnostic,) = refused(process, WEIGHT, weights=[weights])
    assert diagnostic.code == code


def test_packed_bytes_of_a_file_are_packed_elements(tmp_path):
    """Two of four bits to the byte, as TensorRT has them."""
    path = tmp_path / "weights"
    path.write_bytes(bytes.fromhex("f107"))
    place = {"dtype": "I4", "shape": [3], "begin": 0, "end": 2}
    (found,) = request.map_arrays({"path": str(path), "tensors": {"w": place}}).values()
    assert found.tobytes() == bytes.fromhex("f107")


def test_bytes_of_a_file_may_be_elements_of_four_bits(tmp_path):
    """As NumPy has them, and executables: weights of int4 that were prepared."""
    array = np.array([1, -1, 7, -8, 0], ml_dtypes.int4)
    path = tmp_path / "weights"
    path.write_bytes(array.tobytes())
    place = {"dtype": "int4", "shape": [5], "begin": 0, "end": 5}
    (found,) = request.map_arrays({"path": str(path), "tensors": {"w": place}}).values()
    np.testing.assert_array_equal(found, array, strict=True)


def test_the_process_runs_passes_first(process):
    """Extension operations become layers; a pass that is none is refused."""
    assert refused(process, TRANSPOSED)[0].code == "tensorrt-unsupported"
    assert process.compile("tensorrt-rtx", TRANSPOSED, {"pipeline": ["tensorrt-expand-ops"]})
    (diagnostic,) = refused(process, TRANSPOSED, pipeline=["tensorrt-expand"])
    assert diagnostic.code == "wrong-value"


def test_what_the_process_refuses_keeps_its_place(process):
    """The text's syntax, the dialect's laws, TensorRT's: all with the file and the line."""
    (syntax,) = refused(process, "func.func @main(", path="a.mlir")
    assert (syntax.code, syntax.span.path) == ("mlir-syntax", "a.mlir")
    (invalid,) = refused(process, PROGRAM.replace("axis = 1", "axis = 7"), path="a.mlir")
    assert (invalid.code, invalid.span.line) == ("mlir-invalid", 2)
    gated = {"compute_capabilities": ["sm75"], "path": "a.mlir"}
    (refusal,) = refused(process, PROGRAMS["tensorrt.einsum"], **gated)
    assert refusal.code == "tensorrt-refused"
    assert refusal.span == Span("a.mlir", 2, 8, 2, 9)
    assert "FP32 GEMM" in refusal.notes[0]


def test_diagnostics_go_through_a_message_unchanged():
    """And what is no diagnostic is none; what is too long is cut."""
    given = (
        Diagnostic("a-b", "one", Span("f", 1, 2, 3, 4), "here", ("x", "y"), "try"),
        Diagnostic("c-d", "two"),
    )
    assert (
        diagnostics_json.from_json(json.loads(json.dumps(diagnostics_json.to_json(given)))) == given
    )
    for malformed in (
        None,
        3,
        [3],
        [{"code": "a"}],
        [{**diagnostics_json.to_json(given)[0], "span": {}}],
    ):
        assert diagnostics_json.from_json(malformed) == ()
    long = [Diagnostic("a-b", "x" * 10_000_000, notes=("y" * 10_000,) * 1000)] * 1000
    assert len(json.dumps(diagnostics_json.to_json(long))) < 16_000_000


def test_the_process_says_that_regular_tensorrt_is_missing(process):
    """It is a target by name, and here is no library of it."""
    pytest.importorskip("tensorrt_rtx")
    with pytest.raises(DiagnosticError) as caught:
        process.compile("tensorrt", PROGRAM)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "target-unavailable"
    assert "tripybuild[tensorrt]" in diagnostic.hint


@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_random_numbers_without_dimensions(tmp_path, kind):
    """TensorRT builds no fill of rank 0, so one number is drawn and reshaped."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    path = tmp_path / "drawn.yaml"
    path.write_text(
        "tripybuild: 1\nmodel: drawn\ninputs:\n  x: F[2]\noutputs:\n"
        f"  y: random_{kind}([], dtype=F) + x\n"
    )
    assert tripybuild.compile(path, target="tensorrt-rtx").manifest["target"]

"""Programs of `.pt2` files, read without PyTorch, and files that are damaged or hostile."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.importer.foreign_program import ForeignGraph
from tripybuild.importer.pytorch.serialized_program import read_archive

S = "Symbol('s0', positive=True, integer=True)"
WEIGHT = np.arange(6, dtype=np.float32).reshape(2, 3)


def meta(*sizes: int | str, dtype: int = 7) -> dict[str, Any]:
    """A tensor as the schema has it."""
    listed = [
        {"as_int": size}
        if isinstance(size, int)
        else {"as_expr": {"expr_str": size, "hint": {"as_int": 4}}}
        for size in sizes
    ]
    numbers = [size for size in sizes if isinstance(size, int)]
    strides = [{"as_int": int(np.prod(numbers[at + 1 :]))} for at in range(len(numbers))]
    return {"dtype": dtype, "sizes": listed, "strides": strides, "storage_offset": {"as_int": 0}}


def tensor(name: str) -> dict[str, Any]:
    """A reference to a tensor."""
    return {"as_tensor": {"name": name}}


def program() -> dict[str, Any]:
    """`linear(x, weight)` as PyTorch writes it."""
    node = {
        "target": "torch.ops.aten.linear.default",
        "inputs": [
            {"name": "input", "arg": tensor("x"), "kind": 1},
            {"name": "weight", "arg": tensor("p_weight"), "kind": 1},
        ],
        "outputs": [tensor("linear")],
        "metadata": {"nn_module_stack": "L__self__,,__main__.TwoLayers", "stack_trace": ""},
        "name": "linear",
    }
    graph = {
        "inputs": [tensor("p_weight"), tensor("x")],
        "outputs": [tensor("linear")],
        "nodes": [node],
        "tensor_values": {"p_weight": meta(2, 3), "x": meta(S, 3), "linear": meta(S, 2)},
        "sym_int_values": {},
        "sym_bool_values": {},
    }
    parameter = {"arg": {"name": "p_weight"}, "parameter_name": "fc.weight"}
    signature = {
        "input_specs": [{"parameter": parameter}, {"user_input": {"arg": tensor("x")}}],
        "output_specs": [{"user_output": {"arg": tensor("linear")}}],
    }
    return {
        "graph_module": {"graph": graph, "signature": signature, "module_call_graph": []},
        "range_constraints": {"s0": {"min_val": 2, "max_val": 9}},
        "schema_version": {"major": 8, "minor": 20},
    }


def config() -> dict[str, Any]:
    """The list of weights as PyTorch writes it."""
    entry = {"path_name": "weight_0", "use_pickle": False, "tensor_meta": meta(2, 3)}
    return {"config": {"fc.weight": entry}}


def files(**changed: Any) -> dict[str, bytes]:
    """The files of an archive, some of them changed."""
    known = {"program": program(), "config": config(), "weight": WEIGHT.tobytes()} | changed

    def text(value: Any) -> bytes:
        return value if isinstance(value, bytes) else json.dumps(value).encode()

    return {
        "m/archive_format": b"pt2",
        "m/byteorder": sys.byteorder.encode(),
        "m/models/model.json": text(known["program"]),
        "m/data/weights/model_weights_config.json": text(known["config"]),
        "m/data/weights/weight_0": known["weight"],
        "m/data/sample_inputs/model.pt": b"a pickle that nothing may read",
    }


def written(folder: Path, contents: dict[str, bytes], **how: Any) -> Path:
    """An archive of these files."""
    path = folder / "model.pt2"
    with ZipFile(path, "w", **how) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def refused(path: Path) -> Diagnostic:
    """The one diagnostic of a file that is not read."""
    with pytest.raises(DiagnosticError) as caught:
        read_archive(path)
    (found,) = caught.value.diagnostics
    return found


def test_a_program_is_read(tmp_path: Path) -> None:
    read = read_archive(written(tmp_path, files()))
    assert read.name == "two_layers"
    assert [(each.name, str(each.type)) for each in read.graph.inputs] == [("x", "tensor<Bx3xf32>")]
    assert str(read.ranges["B"]) == "min 2, opt 4, max 9"
    (node,) = read.graph.nodes
    assert (node.operator, list(node.arguments)) == ("linear", ["input", "weight"])
    assert [(name, str(value.type)) for name, value in read.graph.outputs] == [
        ("output", "tensor<Bx2xf32>")
    ]
    np.testing.assert_array_equal(read.weights["fc.weight"].load(), WEIGHT)


def test_a_weight_is_where_its_layout_says(tmp_path: Path) -> None:
    changed, program_ = config(), program()
    transposed = changed["config"]["fc.weight"]["tensor_meta"]
    transposed["sizes"], transposed["strides"] = [{"as_int": 2}] * 2, [{"as_int": 1}, {"as_int": 3}]
    transposed["storage_offset"] = {"as_int": 1}
    program_["graph_module"]["graph"]["tensor_values"]["p_weight"] = meta(2, 2)
    read = read_archive(written(tmp_path, files(config=changed, program=program_)))
    assert read.weights["fc.weight"].load().tolist() == [[1.0, 4.0], [2.0, 5.0]]


def branch(operator: str) -> dict[str, Any]:
    """A graph of one call, whose values have the names of the outer ones."""
    node = {
        "target": f"torch.ops.aten.{operator}",
        "inputs": [{"name": "self", "arg": tensor("x"), "kind": 1}],
        "outputs": [tensor("linear")],
        "metadata": {},
    }
    values = {"x": meta(S, 2), "linear": meta(S, 2)}
    graph = {"inputs": [tensor("x")], "outputs": [tensor("linear")], "nodes": [node]}
    return {"as_graph": {"name": operator, "graph": graph | {"tensor_values": values}}}


def renamed(given: Any, old: str, new: str) -> Any:
    """The same data with another string in the place of one."""
    if isinstance(given, dict):
        return {new if key == old else key: renamed(each, old, new) for key, each in given.items()}
    if isinstance(given, list):
        return [renamed(each, old, new) for each in given]
    return new if given == old else given


@pytest.mark.parametrize(
    ("name", "read_as"),
    [
        ("a b", "a_b"),
        ("x: y\n  evil: 1", "x_y_evil_1"),
        ("1x", "{kind}_1x"),
        ("class", "{kind}_class"),
        ("/a/b", "a_b"),
        ("é", "{kind}"),
        ("__class__", "{kind}_class_"),
        ("a" * 300, "a" * 72),
    ],
)
def test_names_that_are_no_identifiers_become_some(tmp_path: Path, name: str, read_as: str) -> None:
    given = renamed(program(), "x", name)
    read = read_archive(written(tmp_path, files(program=given)))
    assert read.graph.inputs[0].name == read_as.format(kind="input")
    given, weights = (renamed(e, "fc.weight", f"fc.{name}") for e in (program(), config()))
    read = read_archive(written(tmp_path, files(program=given, config=weights)))
    (found,) = read.weights
    assert found == f"fc.{read_as.format(kind='part')}"
    spec = '[1, {"type": "builtins.dict", "context": %s, "children_spec": [%s]}]'
    leaf = '{"type": null, "context": null, "children_spec": []}'
    given = program()
    signature = {"out_spec": spec % (json.dumps(json.dumps([name])), leaf)}
    given["graph_module"]["module_call_graph"] = [{"fqn": "", "signature": signature}]
    read = read_archive(written(tmp_path, files(program=given)))
    assert read.graph.outputs[0][0] == read_as.format(kind="output")


def test_two_weights_that_a_spec_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    given, weights = program(), config()
    signature, graph = given["graph_module"]["signature"], given["graph_module"]["graph"]
    for at, name in enumerate(("a b", "a-b")):
        weights["config"][name] = weights["config"]["fc.weight"]
        graph["tensor_values"][f"w{at}"] = meta(2, 3)
        parameter = {"arg": {"name": f"w{at}"}, "parameter_name": name}
        signature["input_specs"].append({"parameter": parameter})
    found = refused(written(tmp_path, files(program=given, config=weights)))
    assert "`a b` and `a-b` both are `a_b`" in found.message


def test_control_flow_has_graphs(tmp_path: Path) -> None:
    changed = program()
    graph = changed["graph_module"]["graph"]
    operands = {"as_tensors": [{"name": "linear"}]}
    given = [tensor("flag"), branch("relu.default"), branch("exp.default"), operands]
    graph["nodes"].append(
        {
            "target": "torch.ops.higher_order.cond",
            "inputs": [{"name": "", "arg": each, "kind": 1} for each in given],
            "outputs": [{"as_tensors": [{"name": "chosen"}]}],
            "metadata": {},
        }
    )
    graph["tensor_values"] |= {"flag": meta(dtype=12), "chosen": meta(S, 2)}
    signature = changed["graph_module"]["signature"]
    signature["input_specs"].append({"user_input": {"arg": tensor("flag")}})
    signature["output_specs"] = [{"user_output": {"arg": tensor("chosen")}}]
    read = read_archive(written(tmp_path, files(program=changed)))
    linear, node = read.graph.nodes
    assert (node.operator, node.domain, node.is_list) == ("cond", "", False)
    assert list(node.arguments) == ["pred", "true_fn", "false_fn", "operands"]
    assert node.arguments["operands"] == [linear.results[0]]
    chosen = node.arguments["true_fn"]
    assert isinstance(chosen, ForeignGraph)
    assert [each.operator for each in chosen.nodes] == ["relu"]
    assert chosen.nodes[0].arguments["self"] is chosen.inputs[0]
    assert chosen.outputs[0][1] is chosen.nodes[0].results[0]


def test_pytorch_is_not_imported(tmp_path: Path) -> None:
    path = written(tmp_path, files())
    code = (
        "import sys, pathlib\n"
        "from tripybuild.importer.pytorch.serialized_program import read_archive\n"
        "read_archive(pathlib.Path(sys.argv[1])).weights['fc.weight'].load()\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)


def test_a_truncated_file_is_one_diagnostic(tmp_path: Path) -> None:
    path = written(tmp_path, files())
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        assert refused(path).code == "import-malformed"


def test_changed_bytes_are_read_or_refused(tmp_path: Path) -> None:
    """No byte of the directory, of a header or of the JSON leads to anything but a diagnostic."""
    path = written(tmp_path, files())
    whole = path.read_bytes()
    for at in range(0, len(whole), 23):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1 :])
        try:
            for weight in read_archive(path).weights.values():
                weight.load()
        except DiagnosticError as error:
            codes = {each.code for each in error.diagnostics}
            assert codes <= {"import-malformed", "import-unsupported", "import-not-decomposed"}


def test_a_compressed_weight_is_refused(tmp_path: Path) -> None:
    found = refused(written(tmp_path, files(), compression=ZIP_DEFLATED))
    assert "is compressed" in found.message


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sizes": [{"as_int": 2}, {"as_int": 4}]}, "more elements than bytes"),
        ({"strides": [{"as_int": 1 << 40}, {"as_int": 1}]}, "more elements than bytes"),
        ({"storage_offset": {"as_int": -1}}, "a layout that is none"),
        ({"strides": [{"as_int": 1}]}, "a layout that is none"),
        ({"dtype": 99}, "99"),
    ],
)
def test_a_weight_beyond_its_bytes_is_refused(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    changed = config()
    changed["config"]["fc.weight"]["tensor_meta"] |= change
    found = refused(written(tmp_path, files(config=changed)))
    assert found.code == "import-malformed"
    assert words in found.message


def test_a_pickled_weight_is_refused(tmp_path: Path) -> None:
    changed = config()
    changed["config"]["fc.weight"]["use_pickle"] = True
    assert refused(written(tmp_path, files(config=changed))).code == "import-pickled"


def test_two_weights_of_one_name_are_refused(tmp_path: Path) -> None:
    entry = json.dumps(config()["config"]["fc.weight"])
    twice = f'{{"config": {{"fc.weight": {entry}, "fc.weight": {entry}}}}}'.encode()
    assert "`fc.weight` is there twice" in refused(written(tmp_path, files(config=twice))).message
    both = files() | {"m/data/constants/model_constants_config.json": json.dumps(config()).encode()}
    found = refused(written(tmp_path, both))
    assert "two of its weights are called `fc.weight`" in found.message


def test_another_schema_is_refused(tmp_path: Path) -> None:
    changed = program() | {"schema_version": {"major": 9, "minor": 0}}
    found = refused(written(tmp_path, files(program=changed)))
    assert "the schema 9" in found.message


def test_the_archive_of_an_older_version_is_refused(tmp_path: Path) -> None:
    found = refused(written(tmp_path, {"serialized_exported_program.json": b"{}"}))
    assert found.code == "import-pickled"
    assert "torch.export.save(torch.export.load(" in (found.hint or "")


def test_another_archive_is_no_program(tmp_path: Path) -> None:
    assert "no exported program" in refused(written(tmp_path, {"a/data.pkl": b"x"})).message
    missing = files()
    del missing["m/data/weights/weight_0"]
    assert "`data/weights/weight_0`" in refused(written(tmp_path, missing)).message


@pytest.mark.parametrize("kind", ["token", "custom_obj"])
def test_inputs_that_are_no_tensors_are_refused(tmp_path: Path, kind: str) -> None:
    changed = program()
    changed["graph_module"]["signature"]["input_specs"].append({kind: {"arg": {"name": "t"}}})
    found = refused(written(tmp_path, files(program=changed)))
    assert found.code == "import-unsupported"


def test_a_call_that_changes_its_inputs_is_refused(tmp_path: Path) -> None:
    changed = program()
    node = changed["graph_module"]["graph"]["nodes"][0]
    node["target"] = "torch.ops.aten.relu_.default"
    node["inputs"] = [{"name": "self", "arg": tensor("x"), "kind": 1}]
    found = refused(written(tmp_path, files(program=changed)))
    assert found.code == "import-not-decomposed"
    assert "1 call changes what it is given (`relu_`)" in found.message


@pytest.mark.parametrize("key", ["name", "dtype"])
def test_a_value_or_a_type_that_is_not_there_is_refused(tmp_path: Path, key: str) -> None:
    changed = program()
    graph = changed["graph_module"]["graph"]
    if key == "name":
        graph["nodes"] = []
    else:
        weight = changed["graph_module"]["signature"]["input_specs"][0]["parameter"]["arg"]["name"]
        graph["tensor_values"][weight]["dtype"] = 5
    found = refused(written(tmp_path, files(program=changed)))
    assert found.code == "import-malformed"
